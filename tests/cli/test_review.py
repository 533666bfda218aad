"""The command that reviews games: its files, their names, and games that cannot be reviewed."""

import errno
import json
import re
from pathlib import Path

import pytest
from review.reviewed_game import RECORD

from tengen.cli.app import main
from tengen.evaluators import UniformEvaluator, installed_networks
from tengen.evaluators.installed_networks import find_network


def test_the_command_writes_three_files_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games"
    games.mkdir()
    (games / "one.sgf").write_bytes(RECORD + RECORD)
    (games / "two.sgf").write_bytes(b"(;SZ[7]HA[5];W[dd])")
    command = ["review", str(games), "--visits", "4", "--net", "zero-7x7", "--out", str(tmp_path / "out"), "--quiet"]
    assert main(command) == 2
    told = capsys.readouterr()
    assert "two: " in told.err and "1 of 3 games could not be reviewed" in told.err
    names = {f"{name}-review.{form}" for name in ("one", "one-2") for form in ("sgf", "html", "json")}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    page = (tmp_path / "out" / "one-review.html").read_text()
    assert "Ann" in page and not any(word in page for word in ("<script", " src=", ' href="http', "@import"))
    assert json.loads((tmp_path / "out" / "one-review.json").read_text())["moves"][2]["number"] == 3
    stamp = (tmp_path / "out" / "one-review.sgf").stat().st_mtime_ns
    assert main(command[:-1]) == 2 and "one: reviewed already" in capsys.readouterr().out
    assert (tmp_path / "out" / "one-review.sgf").stat().st_mtime_ns == stamp
    assert main([*command, "--format", "pdf"]) == 2 and "unknown format 'pdf'" in capsys.readouterr().err


@pytest.mark.parametrize("advice", [{}, {"playouts": 1, "playout_weight": 1}])
def test_a_network_without_a_value_is_refused_unless_its_search_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], advice: dict[str, int]
) -> None:
    """It found that no move lost anything."""
    network = UniformEvaluator()
    network.has_value, network.advice = False, advice
    monkeypatch.setattr("tengen.review.work.load_evaluator", lambda *_, **__: network)
    (tmp_path / "a.sgf").write_bytes(b"(;SZ[7];B[dd])")
    out = tmp_path / "out"
    command = ["review", str(tmp_path / "a.sgf"), "--visits", "4", "--net", "zero-7x7", "--out", str(out)]
    assert main(command) == (0 if advice else 2)
    if advice:
        assert len(list(out.iterdir())) == 3
    else:
        told = capsys.readouterr().err
        assert "a: uniform has no value, which a review needs: choose another network with --net\n" in told
        assert not list(out.iterdir())


def test_a_full_disk_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_space(path: Path) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded", str(path))

    monkeypatch.setattr("tengen.cli.review.write_whole", no_space)
    (tmp_path / "two.sgf").write_bytes(RECORD + RECORD)
    command = [
        "review",
        str(tmp_path / "two.sgf"),
        "--visits",
        "2",
        "--net",
        "zero-7x7",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(command) == 2
    assert capsys.readouterr().err.count("the disk is full") == 1


def test_nothing_is_searched_for_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*, dir: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(dir))

    monkeypatch.setattr("tengen.cli.review.TemporaryFile", refused)
    monkeypatch.setattr("tengen.review.work.ReviewWork.review", lambda *_: pytest.fail("it was searched"))
    (tmp_path / "a.sgf").write_bytes(RECORD)
    out = tmp_path / "out"
    assert main(["review", str(tmp_path / "a.sgf"), "--net", "zero-7x7", "--out", str(out)]) == 2
    assert capsys.readouterr().err == f"error: permission denied: {out}\n"


def test_a_record_that_is_not_there_makes_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["review", "typo.sgf", "--net", "zero-7x7"]) == 2
    assert "typo.sgf: there is no such file" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_force_makes_the_review_of_the_same_game_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The review of another game of the same name was overwritten."""
    out = tmp_path / "out"
    for folder in "xy":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.sgf").write_text(f"(;SZ[7]PB[{folder}];B[dd])")

    def made(folder: str, visits: int, *more: str) -> str:
        command = ["review", str(tmp_path / folder / "a.sgf"), "--net", "zero-7x7", "--out", str(out), "--quiet"]
        assert main([*command, "--format", "json", "--visits", str(visits), *more]) == 0
        return capsys.readouterr().out.partition(":")[0]

    assert [made(folder, 2) for folder in "xy"] == ["a", "a-2"]
    again = [made(folder, visits, "--force") for folder in "yx" for visits in (2, 3)]
    assert again == ["a-2", "a-2", "a", "a"]
    found = {path.name: json.loads(path.read_text())["black"] for path in out.iterdir()}
    assert found == {"a-review.json": "x", "a-2-review.json": "y"}
    # One of an earlier version, which told record and settings in one.
    review = out / "a-review.json"
    review.write_text(re.sub(r'"source": "[0-9a-f]{16}', '"source": "', review.read_text()))
    assert [made("x", 3), made("x", 3, "--force"), made("y", 3, "--force")] == ["a", "a", "a-2"]


def test_names_of_players_are_no_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.sgf").write_bytes(b"(;SZ[7]PB[a [/b\\] c]PW[[i\\]];B[dd];W[cc])")
    command = ["review", str(tmp_path / "a.sgf"), "--visits", "2", "--net", "zero-7x7", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "a [/b] c" in told and "[i]" in told


def test_every_game_has_a_review_of_its_own(tmp_path: Path) -> None:
    """Also where the name that is made for one game is that of another; the names do not depend on what is there."""
    for place, games in {"x/a": 1, "y/a": 2, "z/a-2": 1, "z/a-2-2": 1}.items():
        path = tmp_path / f"{place}.sgf"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(b"(;SZ[7]PB[%s %d];B[dd])" % (place.encode(), number) for number in range(games)))
    paths = [str(tmp_path / folder) for folder in "xyz"]
    command = ["review", *paths, "--visits", "2", "--net", "zero-7x7", "--out", str(tmp_path / "out"), "--quiet"]
    for _ in range(2):
        assert main([*command, "--format", "json"]) == 0
        found = [json.loads(path.read_text())["black"] for path in (tmp_path / "out").iterdir()]
        assert sorted(found) == ["x/a 0", "y/a 0", "y/a 1", "z/a-2 0", "z/a-2-2 0"]


def test_a_hash_in_the_name_of_a_file_or_folder_is_no_number_of_a_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "x#"
    folder.mkdir()
    (folder / "a#7.sgf").write_bytes(b"(;SZ[7];B[dd])(;SZ[7];B[ee])")
    (folder / "b#7.sgf").write_bytes(b"no game")
    command = ["review", str(tmp_path), "--visits", "2", "--net", "zero-7x7", "--out", str(tmp_path / "out"), "--quiet"]
    assert main([*command, "--format", "json"]) == 2
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a-7-2-review.json", "a-7-review.json"]
    assert "b-7: no game tree" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["json", "html", "sgf"])
def test_a_review_is_left_out_only_where_record_and_settings_are_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    record, out = tmp_path / "a.sgf", tmp_path / "out"
    command = ["review", str(record), "--net", "zero-7x7", "--out", str(out), "--quiet", "--format", form]
    names = []
    for player, visits in (("Ann", 2), ("Bo", 2), ("Bo", 3), ("Bo", 2), ("Ann", 2)):
        record.write_text(f"(;SZ[7]PB[{player}];B[dd])")
        assert main([*command, "--visits", str(visits)]) == 0
        names.append(capsys.readouterr().out.replace(f"{out}/", "").strip())
    made = [f"{name}: {name}-review.{form}" for name in ("a", "a-2", "a-3")]
    assert names == [*made, "a-2: reviewed already", "a: reviewed already"]
    assert all(player in (out / f"{name}-review.{form}").read_text() for name, player in (("a", "Ann"), ("a-2", "Bo")))
    # Another format of one of them, and all of them for a new game, which has the name of none.
    assert main([*command[:-1], "json,html,sgf", "--visits", "2"]) == 0
    assert capsys.readouterr().out.count("a-review.") == 3
    record.write_text("(;SZ[7]PB[Cyd];B[dd])")
    assert main([*command[:-1], "json,html,sgf", "--visits", "2"]) == 0
    assert capsys.readouterr().out.count("a-4-review.") == 3


def test_another_network_of_the_same_name_makes_another_review(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run of a recipe always names its network alike, and `default` is another one after an update."""
    record, out = tmp_path / "a.sgf", tmp_path / "out"
    record.write_bytes(b"(;SZ[7];B[dd])")
    command = ["review", str(record), "--visits", "2", "--out", str(out), "--quiet", "--format", "json", "--net"]
    for folder, name in (("a", "zero-7x7"), ("b", "zero-9x9"), ("c", "zero-7x7")):
        net = tmp_path / folder / "net.onnx"
        net.parent.mkdir()
        net.write_bytes(find_network(name).read_bytes())
        assert main([*command, str(net)]) == 0
    assert "a: reviewed already" in capsys.readouterr().out, "the same network at another path"
    monkeypatch.setattr(installed_networks, "DEFAULT_NAME", tmp_path / "default")
    for number, networks in enumerate(("zero-9x9\n7 zero-7x7", "zero-9x9\n13 zero-7x7", "zero-9x9\n7 zero-7x7"), 3):
        (tmp_path / "default").write_text(networks)
        assert main([*command, "default"]) == 0
        assert ("reviewed already" in capsys.readouterr().out) is (number == 5)
    made = [json.loads((out / f"{name}-review.json").read_text())["engine"] for name in ("a", "a-2", "a-3")]
    assert made == ["zero-7x7", "zero-9x9", "zero-7x7"]


def test_reviews_in_a_folder_are_no_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each run reviewed the reviews of the last one, where they lie in the same folder."""
    (tmp_path / "a.sgf").write_bytes(b"(;SZ[7];B[dd])")
    out = tmp_path / "reviews"
    command = ["--net", "zero-7x7", "--visits", "2", "--out", str(out), "--quiet"]
    for _ in range(2):
        assert main(["review", str(tmp_path), *command]) == 0
    assert len(list(out.iterdir())) == 3
    assert main(["review", str(out / "a-review.sgf"), *command]) == 0, "it is named"
    assert len(list(out.iterdir())) == 6


def test_a_record_of_another_format_beside_its_sgf_is_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.sgf").write_bytes(b"(;SZ[7];B[dd])")
    (tmp_path / "a.gib").write_bytes(b"\\HS\r\n\\[GIBOKIND=Global\\]\r\n")
    command = ["--net", "zero-7x7", "--visits", "2", "--out", str(tmp_path / "out"), "--quiet", "--format", "json"]
    assert main(["review", str(tmp_path), *command]) == 0
    assert capsys.readouterr().err == "" and len(list((tmp_path / "out").iterdir())) == 1
    assert main(["review", str(tmp_path / "a.gib"), *command]) == 2
    assert "a GIB file: convert it to SGF first" in capsys.readouterr().err, "it is named"


def test_a_game_whose_review_cannot_be_written_does_not_end_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "\u56f2" * 80  # 240 bytes
    for name in ("a", long, "z"):
        (tmp_path / f"{name}.sgf").write_bytes(b"(;SZ[7]PB[%s];B[dd])" % name.encode()[:1])
    (tmp_path / "out" / "a-review.json").mkdir(parents=True)
    command = ["review", str(tmp_path), "--net", "zero-7x7", "--out", str(tmp_path / "out"), "--visits", "2"]
    assert main([*command, "--quiet", "--format", "json", "--force"]) == 2
    told = capsys.readouterr()
    assert "a: " in told.err and "1 of 3 games could not be reviewed" in told.err
    assert (tmp_path / "out" / f"{long[:66]}-review.json").exists() and "z: " in told.out


@pytest.mark.parametrize(
    ("text", "problem", "moves"),
    [
        (b";B[cc];W[dd];B[zz];W[ee]", "a point off the board", 2),
        (b";B[cc];W[dd];B[dd];W[ee]", "occupied", 2),
        (b";B[cc];AW[ee];W[dd]", "stones are set up after move 1", 2),
        (b";B[cc];W[dd];B[ee]C[x", "the text breaks off", 3),
        (b"RU[Lasker-Maas];B[cc];W[dd]", "Lasker-Maas", 2),
        (b"HA[4];W[dd];B[dc]", "", 2),
        (b"HA[5];W[cc];B[dd]", "handicap stones not given: HA[5]", None),
    ],
)
def test_problems_of_a_record_are_said_and_a_game_of_unknown_handicap_is_refused(
    text: bytes, problem: str, moves: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    komi = b"" if b"RU" in text else b"KM[0.5]"  # of unknown rules no usual komi is known either
    (tmp_path / "a.sgf").write_bytes(b"(;SZ[7]" + komi + text + (b"" if b"C[x" in text else b")"))
    command = ["review", str(tmp_path / "a.sgf"), "--visits", "2", "--net", "zero-7x7", "--quiet"]
    assert main([*command, "--out", str(tmp_path)]) == (2 if moves is None else 0)
    assert problem in capsys.readouterr().err
    if moves is None:
        assert not (tmp_path / "a-review.json").exists()
        return
    found = json.loads((tmp_path / "a-review.json").read_text())
    assert len(found["moves"]) == moves and len(found["problems"]) == bool(problem)
    assert all(problem in one for one in found["problems"])
    assert problem in (tmp_path / "a-review.html").read_text()


def test_a_game_without_moves_has_no_empty_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.sgf").write_text("(;SZ[7]KM[9])")
    assert main(["review", str(tmp_path / "a.sgf"), "--out", str(tmp_path), "--visits", "2", "--format", "json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line == f"a: {tmp_path / 'a-review.json'}"
