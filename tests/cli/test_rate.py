"""`tengen rate` as a person types it: matches, runs and records on one scale, and what is wrong in one line."""

from __future__ import annotations

import csv
import errno
import json
import os
import sys
import warnings
from pathlib import Path

import pytest
from made_matches import series, write_match

from tengen.cli.app import main
from tengen.game import Game
from tengen.sgf import Result, SgfInfo, write_game

DATA = Path(__file__).parents[1] / "data"
GNU = "GNU Go level 10"


def write_run(folder: Path) -> Path:
    """A run of 5x5 whose first network meets random and GNU Go, and whose second meets the first."""
    for name, outcomes, rules in (
        ("rating-00001-vs-random", series("network 1", "random", 9, 1), "tromp-taylor"),
        ("rating-00001-vs-gnu-go-level-10-c0ffee", series("network 1", GNU, 3, 6, 1), "chinese"),
        ("rating-00002-vs-network-1-c0ffee", series("network 2", "network 1", 7, 3), "tromp-taylor"),
        ("gate-00002", series("candidate 2", "network 1", 7, 3), "tromp-taylor"),
    ):
        write_match(folder / "matches" / name, outcomes, rules=rules)
    return folder


def test_matches_runs_and_records_are_put_on_one_scale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = write_match(tmp_path / "match", series("net, 400 visits", GNU, 7, 3))
    run = write_run(tmp_path / "run")
    records = tmp_path / "records"
    records.mkdir()
    for i, winner in enumerate((0, 0, 1)):
        info = SgfInfo(black="Pachi", white=GNU, komi=0.5, rules="chinese", result=Result(winner, None, "resign"))
        (records / f"{i}.sgf").write_bytes(write_game(Game(5, "chinese", 0.5).play(0), info))
    out = tmp_path / "ratings.json", tmp_path / "ratings.csv"
    assert main(["rate", str(match), str(run), str(records), "--json", str(out[0]), "--csv", str(out[1])]) == 0
    printed = capsys.readouterr().out
    for words in ("5x5  43 games", f"{GNU} is 0", "net, 400 visits", "network 2", "Pachi", "first move is worth"):
        assert words in printed, printed
    assert "rated together: chinese with komi 0.5 (23 games); tromp-taylor with komi 0.5 (20 games)" in printed
    found = json.loads(out[0].read_text())["sizes"]
    assert [one["size"] for one in found] == [5]
    elos = {row["player"]: row["elo"] for row in found[0]["players"]}
    assert elos[GNU] == 0 and elos["net, 400 visits"] > 0 > elos["network 1"] > elos["random"]
    assert elos["network 2"] > elos["network 1"]
    rows = list(csv.DictReader(out[1].open()))
    assert [row["player"] for row in rows] == [row["player"] for row in found[0]["players"]]
    assert {row["anchor"] for row in rows} == {GNU}


def test_sizes_anchor_and_names_may_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_match(tmp_path / "all" / "5", series("a", "b", 5, 5))
    write_match(tmp_path / "all" / "7", series("a", "c", 5, 5), size=7)
    assert main(["rate", str(tmp_path / "all"), "--json", "-", "--anchor", "c", "--same", "b=d"]) == 0
    small, large = json.loads(capsys.readouterr().out)["sizes"]
    assert (small["size"], large["size"], large["anchor"]) == (5, 7, "c")
    assert {row["player"] for row in small["players"]} == {"a", "d"}
    assert main(["rate", str(tmp_path / "all"), "--json", "-", "--size", "7", "--no-first-move"]) == 0
    (only,) = json.loads(capsys.readouterr().out)["sizes"]
    assert only["size"] == 7 and only["first_move"] is None


@pytest.mark.parametrize(
    ("word", "anchor", "elo"),
    [("b", "b", 0), ("b=1800", "b", 1800), ("bot -c visits=9", "bot -c visits=9", 0), ("b=-250.5", "b", -250.5)],
)
def test_the_anchor_may_be_given_its_elo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], word: str, anchor: str, elo: float
) -> None:
    write_match(tmp_path / "m", [*series("a", "b", 5, 5), *series("a", "bot -c visits=9", 5, 3, start=10)])
    assert main(["rate", str(tmp_path / "m"), "--anchor", word, "--json", "-"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["sizes"]
    assert (one["anchor"], one["anchor_elo"]) == (anchor, elo)
    rows = {row["player"]: (row["low"], row["elo"], row["high"]) for row in one["players"]}
    assert rows[anchor] == (elo, elo, elo) and rows["a"][0] < rows["a"][1] < rows["a"][2]
    assert abs(rows["a"][1] - elo) < 300
    assert main(["rate", str(tmp_path / "m"), "--anchor", word]) == 0
    printed = capsys.readouterr().out
    assert f"{anchor} is {elo:g}" in printed and f" {round(elo):,} " in printed


def test_games_with_a_handicap_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The model has one worth of the first move for all games."""
    for name in ("even", "handicap"):
        write_match(tmp_path / name, series("a", "b", 3, 1))
    path = tmp_path / "handicap" / "match.json"
    about = json.loads(path.read_text())
    about["conditions"]["handicap"] = 2
    path.write_text(json.dumps(about))
    assert main(["rate", str(tmp_path), "--json", "-"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["sizes"]
    assert one["games"] == 4 and "4 left out, games with handicap" in one["warnings"][0]
    assert main(["rate", str(path.parent)]) == 2
    assert "no games to rate in" in (error := capsys.readouterr().err) and "4 left out, games with handicap" in error


def test_a_report_of_several_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = write_match(tmp_path / "one", series("a", "b", 5, 5))
    run = write_run(tmp_path / "run")
    assert main(["rate", str(one), str(run), "--report", str(tmp_path / "out")]) == 0
    assert "report.html" in capsys.readouterr().out.replace("\n", "")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.html", "report.png", "games.csv"}


def test_data_on_the_way_out_do_not_keep_the_files_from_being_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match, ratings = write_match(tmp_path / "m", series("a", "b", 3, 1)), tmp_path / "r.csv"
    out = tmp_path / "out[" / "x]"  # no markup of Rich
    assert main(["rate", str(match), "--json", "-", "--csv", str(ratings), "--report", str(out)]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["sizes"][0]["games"] == 4 and "report:" in printed.err
    assert ratings.exists() and (out / "report.html").exists()


def test_a_table_on_the_way_out_is_read_by_a_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_match(tmp_path / "m", series("a", "b", 3, 1))
    assert main(["rate", "m", "--csv", "-", "--json", "r.json"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["player"] for row in rows] == [
        row["player"] for row in json.loads(Path("r.json").read_text())["sizes"][0]["players"]
    ]
    assert not Path("-").exists()
    assert main(["rate", "m", "--csv", "-", "--json", "-"]) == 2
    assert "give a file to one of them" in capsys.readouterr().err


def test_a_terminal_shows_how_many_of_the_players_are_rated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_match(tmp_path / "match", series("a", "b", 5, 5))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for many in (3, 2):
        monkeypatch.setattr("tengen.cli.rate._MANY", many)
        assert main(["rate", str(tmp_path / "match"), "--json", "-"]) == 0
        printed = capsys.readouterr()
        assert json.loads(printed.out)["sizes"][0]["games"] == 10
        assert bool(printed.err) == (many == 2)
    assert "ratings on 5x5" in printed.err and "100.0%" in printed.err


def test_games_that_are_named_twice_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = write_match(tmp_path / "all" / "m", series("a", "b", 3, 1))
    words = [str(match / "games"), str(match), str(tmp_path / "all"), str(match / "games" / "00000.sgf")]
    assert main(["rate", *words, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["sizes"][0]["games"] == 4


def test_the_default_anchor_does_not_depend_on_the_order_of_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = ("ab", "cd", "ef", "gh")
    folders = [str(write_match(tmp_path / name, series(*name, 3, 3))) for name in pairs]  # type: ignore[misc]
    for words in (folders, folders[::-1]):
        assert main(["rate", *words, "--json", "-"]) == 0
        assert json.loads(capsys.readouterr().out)["sizes"][0]["anchor"] == "a"


def test_records_beside_matches_are_left_out_with_a_note_unless_they_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    info = SgfInfo(black="a", white="b", komi=0.5, rules="chinese", result=Result(0, None, "resign"))
    write_match(tmp_path / "m", series("a", "b", 3, 1))
    for name in ("1.sgf", "more/2.sgf", "more/3.SGF"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(write_game(Game(5, "chinese", 0.5).play(0), info))
    notes = []
    for more in ([], ["more"], ["more", "1.sgf"]):
        assert main(["rate", str(tmp_path), *(str(tmp_path / name) for name in more), "--json", "-"]) == 0
        (one,) = json.loads(capsys.readouterr().out)["sizes"]
        notes.append((one["games"], [text.split(": ")[1] for text in one["warnings"] if "beside" in text]))
    left_out = "the SGF files beside its matches are left out ({}, such as 1.sgf); name them or their folder too"
    assert notes == [(4, [left_out.format(3)]), (6, [left_out.format(1)]), (7, [])]


def test_copies_of_a_record_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for i in range(6):
        (tmp_path / f"{i}.sgf").write_bytes((DATA / "fox-duplicate-1.sgf").read_bytes())
    assert main(["rate", str(tmp_path), "--report", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr()
    assert "note: only 1 of 6 games between 辜梓豪 and 박정환 differ" in printed.out
    assert (tmp_path / "out" / "report.html").read_text().count(
        "Only 1 of 6 games between 辜梓豪 and 박정환 differ"
    ) == 1


def test_letters_that_no_font_has_are_drawn_without_a_warning(tmp_path: Path) -> None:
    match = write_match(tmp_path / "m", series("辜梓豪", "박정환", 3, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["rate", str(match), "--report", str(tmp_path / "out")]) == 0
    assert ">辜梓豪<" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text")
def test_names_that_are_no_utf_8_are_written_by_their_codes(tmp_path: Path) -> None:
    folder, player = tmp_path / os.fsdecode(b"m\xff"), os.fsdecode(b"net \xff")
    test = {"elo0": 0, "elo1": 50, "alpha": 0.05, "beta": 0.05}
    write_match(folder, series(player, "b", 3, 1), sprt=test, kind="head-to-head")
    files = [word for kind in ("json", "csv", "report") for word in (f"--{kind}", str(tmp_path / kind))]
    assert main(["rate", str(folder), *files]) == 0
    for name in ("json", "csv", "report/report.html", "report/games.csv"):
        assert r"net \udcff" in (tmp_path / name).read_text(), name


@pytest.mark.parametrize("option", ["json", "csv"])
def test_a_full_disk_leaves_the_file_of_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    write_match(tmp_path / "m", series("a", "b", 5, 5))
    out = tmp_path / "out"
    words = ["rate", str(tmp_path / "m"), f"--{option}", str(out)]
    assert main(words) == 0
    before = out.read_bytes()

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("tengen.disk.sync_file", full)
    assert main(words) == 2
    assert f"the disk is full: {out}" in capsys.readouterr().err.replace("\n", "")
    assert out.read_bytes() == before and {path.name for path in tmp_path.iterdir()} == {"m", "out"}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
@pytest.mark.parametrize("option", ["json", "csv"])
def test_a_link_stays_a_link(tmp_path: Path, option: str) -> None:
    """As /dev/stderr is one."""
    write_match(tmp_path / "m", series("a", "b", 5, 5))
    (tmp_path / "link").symlink_to(tmp_path / "out")
    assert main(["rate", str(tmp_path / "m"), f"--{option}", str(tmp_path / "link")]) == 0
    assert (tmp_path / "link").is_symlink() and "anchor" in (tmp_path / "out").read_text()
    (tmp_path / "match").symlink_to(tmp_path / "m" / "match.json")
    assert main(["rate", str(tmp_path / "m"), f"--{option}", str(tmp_path / "match")]) == 2


@pytest.mark.parametrize("option", ["json", "csv"])
def test_a_record_behind_an_option_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    """In other commands --json is a flag."""
    for name in ("a.sgf", "b.SGF", "c.txt", "games.zip", "old.txt", f"old.{option}"):
        (tmp_path / name).write_text("(;SZ[5]PB[a]PW[b]RE[B+R];B[cc])")
    write_match(tmp_path / "m", series("a", "b", 5, 5))
    (tmp_path / "m" / "games.csv").write_text("a,b")
    match = {path: path.read_bytes() for path in (tmp_path / "m").iterdir() if path.is_file()}
    for name in ("a.sgf", "b.SGF", "new.sgf", "new.sgfs", "c.txt", "games.zip", ".", "m/match.json", "m/games.csv"):
        given = [str(tmp_path / "a.sgf"), str(tmp_path / "c.txt")]
        assert main(["rate", f"--{option}", str(tmp_path / name), *given]) == 2
        refused = f"error: --{option} takes a file to write, not {tmp_path / name}: "
        assert capsys.readouterr().err == f"{refused}give FILE.{option}, or - to print\n"
    assert (tmp_path / "a.sgf").read_text().startswith("(;") and not (tmp_path / "new.sgf").exists()
    assert match == {path: path.read_bytes() for path in match}
    for name in ("old.txt", f"old.{option}"):
        assert main(["rate", f"--{option}", str(tmp_path / name), str(tmp_path / "a.sgf")]) == 0
        assert "(;" not in (tmp_path / name).read_text(), "the second run writes the figures anew"
        assert "5x5  1 game; " in capsys.readouterr().out


def test_a_report_of_one_size_says_nothing_of_the_others(tmp_path: Path) -> None:
    write_match(tmp_path / "all" / "five", series("a", "b", 5, 5))
    write_match(tmp_path / "all" / "seven", series("a", "c", 5, 5), size=7)
    assert main(["rate", str(tmp_path / "all"), "--size", "5", "--report", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "report.html").read_text()
    assert "5x5, Chinese" in text and "7x7, Chinese" not in text and "seven" not in text


@pytest.mark.parametrize(
    ("same", "names"),
    [
        ("bot -c visits=9=bot", {"a", "b", "bot", "bot -c visits"}),
        ("bot -c visits=a", {"a", "b", "bot -c visits=9"}),
        ("a=bot -c visits=9", {"b", "bot -c visits", "bot -c visits=9"}),
    ],
)
def test_names_that_are_merged_may_contain_an_equals_sign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], same: str, names: set[str]
) -> None:
    """The default name of a program is its command line."""
    bots = "bot -c visits=9", "bot -c visits"
    write_match(tmp_path / "one", [*series(*bots, 2, 1), *series("a", "b", 2, 1, start=3)])
    assert main(["rate", str(tmp_path), "--json", "-", "--same", same]) == 0
    assert {row["player"] for row in json.loads(capsys.readouterr().out)["sizes"][0]["players"]} == names


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "there is no such folder or file"),
        (["empty"], "empty holds nothing to rate; that would be match folders, folders of these, self-play runs"),
        (["unplayed"], "no games to rate in"),
        (["match", "--size", "9"], "there are no games on 9x9; there are 5x5"),
        (["match", "--anchor", "gnugo"], "'gnugo' cannot be the anchor: it has no games; there are a; b"),
        (["match", "--anchor", "gnugo=9"], "'gnugo=9' cannot be the anchor: it has no games; there are a; b"),
        (["match", "--anchor", "a=strong"], "--anchor takes NAME or NAME=ELO, such as a=1800, not 'a=strong'"),
        (["match", "--anchor", "a=nan"], "--anchor takes NAME or NAME=ELO, such as a=1800, not 'a=nan'"),
        (["match", "--same", "a"], "--same takes NAME=OTHER, not 'a'"),
        (["match", "--same", "x=y"], "there is no player 'x'; there are a; b"),
        (["old"], "match.json has version 1; this Tengen knows"),
        (["runs"], "runs holds matches in deeper folders, such as "),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    write_match(tmp_path / "match", series("a", "b", 1, 1))
    write_match(tmp_path / "unplayed", [])
    write_match(tmp_path / "old", [], version=1)
    write_match(tmp_path / "runs" / "a" / "match", series("a", "b", 1, 1))
    assert main(["rate", *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and message in error
