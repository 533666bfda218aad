"""`tengen match`: players and options, or one file with options over it; what is wrong is said in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import katago_twin
import pytest
from hostile import command_line

from tengen.cli.app import main
from tengen.match.settings import MatchSettings
from tengen.match.sprt import Sprt

FILE = """
players: [a=random, {name: b, player: playouts, visits: 5}, c=random]
schedule: ladder
games: 2
conditions: {size: 5, komi: 0.5, turns: 3}
"""


@pytest.fixture(autouse=True)
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spares the time of drawing."""
    monkeypatch.setattr("tengen.ratings.report.write_report", lambda folder: None)


def about(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "match.json").read_text())
    return found


def test_a_file_and_options_over_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "three.yaml", tmp_path / "out"
    path.write_text(FILE)
    words = [str(path), "--out", str(out), "--workers", "1"]
    assert main(["match", *words, "--komi", "1.5", "--back", "2", "--set", "conditions.seed=7", "--threads", "2"]) == 0
    printed = capsys.readouterr()
    assert "c - b: " in printed.out and f"are in {out}" in printed.out
    assert printed.err.startswith("6 games, 1 at once: ladder, a - b - c\n")
    found = about(out)
    assert found["schedule"] == {"kind": "ladder", "anchors": 1, "back": 2}
    assert (found["conditions"]["komi"], found["conditions"]["seed"], found["conditions"]["turns"]) == (1.5, 7, 3)
    assert [player["threads"] for player in found["players"]] == [1, 2, 1]  # `random` has none
    assert main(["match", *words]) == 2
    assert "holds a match with schedule.back = 2, not 1" in capsys.readouterr().err


def test_players_as_words_play_in_a_folder_of_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["a=random", "random", "--games", "2", "--size", "5", "--set", "conditions.turns=3", "--quiet"]
    assert main(["match", *words, "--sprt", "0,50", "--alpha", "0.1"]) == 0
    found = about(tmp_path / "matches" / "a-random")
    assert [player["name"] for player in found["players"]] == ["a", "random"]
    assert found["sprt"] == {"elo0": 0, "elo1": 50, "alpha": 0.1, "beta": 0.05}
    assert main(["match", *words, "--within", "20", "--out", "within"]) == 0
    assert about(tmp_path / "within")["within"] == 20


def test_options_of_the_test_and_of_time_reach_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[MatchSettings] = []
    monkeypatch.setattr("tengen.cli.match._play", lambda match, *_: given.append(match))
    words = ["playouts", "b=gtp:program --gtp", "--sprt", "0,50", "--beta", "0.2", "--time", "1m+5s"]
    assert main(["match", *words, "--move-seconds", "9.5"]) == 0
    (match,) = given
    assert match.sprt == Sprt(elo0=0, elo1=50, alpha=0.05, beta=0.2)
    assert [(player.time, player.move_seconds) for player in match.players] == [("1m+5s", 180), ("1m+5s", 9.5)]


def test_a_file_of_katago_is_a_player(tmp_path: Path) -> None:
    network = katago_twin.written(tmp_path / "tiny.txt", metadata=False)
    words = [str(network), "random", "--visits", "2", "--games", "2", "--size", "5", "--set", "conditions.turns=3"]
    assert main(["match", *words, "--workers", "1", "--quiet", "--out", str(tmp_path / "out")]) == 0
    assert [player["name"] for player in about(tmp_path / "out")["players"]] == ["tiny, 2 visits", "random"]


def test_another_schedule_than_the_files_leaves_its_fields_out(tmp_path: Path) -> None:
    path, out = tmp_path / "three.yaml", tmp_path / "out"
    path.write_text(FILE.replace("ladder", "{kind: ladder, back: 2}"))
    assert main(["match", str(path), "--out", str(out), "--quiet", "--schedule", "gauntlet", "--anchors", "2"]) == 0
    assert about(out)["schedule"] == {"kind": "gauntlet", "anchors": 2, "back": 1}


def test_copies_of_games_are_told_at_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.txt").write_text("C3 D3\n")
    words = ["a=playouts@1", "b=playouts@1", "--size", "5", "--openings", str(tmp_path / "one.txt"), "--games", "6"]
    words += ["--set", "conditions.turns=1", "--out", str(tmp_path / "out"), "--quiet"]
    assert main(["match", *words]) == 0
    assert "note: only 1 of 6 games between a and b differ: their interval is too narrow" in capsys.readouterr().out


@pytest.mark.slow
def test_a_network_that_has_not_learned_the_board_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "match",
        "policy:zero-7x7",
        "random",
        "--games",
        "2",
        "--quiet",
        "--workers",
        "1",
        "--device",
        "cpu",
        "--out",
    ]
    for size, told in ((9, "warning: zero-7x7 learned 7x7, not 9x9"), (7, "")):
        assert main([*words, str(tmp_path / str(size)), "--size", str(size), "--openings", "random"]) == 0
        printed = capsys.readouterr().err
        assert told in printed and ("warning" in printed) == bool(told)
    assert [player["device"] for player in about(tmp_path / "7")["players"]] == ["cpu", "auto"]


def test_a_rerun_with_fewer_games_says_that_there_are_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["a=random", "b=random", "--size", "5", "--set", "conditions.turns=3", "--quiet", "--out", str(tmp_path)]
    assert main(["match", *words, "--games", "4"]) == 0
    assert "not in these figures" not in capsys.readouterr().out
    assert main(["match", *words, "--games", "2"]) == 0
    printed = capsys.readouterr()
    assert "2 games in the folder are not in these figures, which are of 2 a pairing" in printed.out
    assert printed.err == "no game was missing: all 2 were played before\n"


def test_a_player_that_fails_is_an_error_after_the_report_of_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["a=random", "b=random", f"mortal=gtp:{command_line('dies', 1)}", "--size", "5", "--openings", "random"]
    words += ["--set", "conditions.turns=3", "--quiet", "--workers", "1", "--games", "4", "--out", str(tmp_path)]
    assert main(["match", *words]) == 2
    printed = capsys.readouterr()
    assert "a - b: " in printed.out and f"report.html are in {tmp_path}" in printed.out
    assert printed.err.startswith("error: mortal failed to start 3 games in a row: ")


@pytest.mark.slow
def test_a_handicap_is_a_condition_of_the_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, old = tmp_path / "out", tmp_path / "old"
    words = ["random", "playouts@5", "--size", "5", "--komi", "0.5", "--openings", "random", "--workers", "1"]
    words += ["--quiet", "--set", "conditions.turns=3"]
    assert main(["match", *words, "--out", str(out), "--games", "2", "--handicap", "2"]) == 0
    assert main(["match", *words, "--out", str(out), "--games", "4", "--handicap", "2"]) == 0
    assert about(out)["conditions"]["handicap"] == 2
    assert [path.read_text().count("HA[2]") for path in sorted((out / "games").iterdir())] == [1] * 4
    capsys.readouterr()
    assert main(["match", *words, "--out", str(out), "--games", "4"]) == 2
    assert "conditions.handicap = 2, not null" in capsys.readouterr().err
    assert main(["match", *words, "--out", str(old), "--games", "2"]) == 0
    settings = about(old)
    del settings["conditions"]["handicap"]  # as in a folder of an earlier version
    (old / "match.json").write_text(json.dumps(settings))
    assert main(["match", *words, "--out", str(old), "--games", "4", "--handicap", "0"]) == 0


def test_numbered_names_are_explained_at_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in "ab":
        (tmp_path / folder).mkdir()
        script = tmp_path / folder / "bot"
        script.write_text(f"#!/bin/sh\nexec {command_line('plays:C3')}\n")
        script.chmod(0o755)
    bots = [f"gtp:{tmp_path / folder / 'bot'}" for folder in "ab"]
    words = ["--size", "5", "--openings", "random", "--games", "2", "--workers", "1", "--out", str(tmp_path / "m")]
    assert main(["match", *bots, *words]) == 0
    printed = capsys.readouterr()
    assert f"note: bot is {bots[0]}; bot (2) is {bots[1]}\n" in printed.out
    assert f"bot is {bots[0]}\nbot (2) is {bots[1]}\n" in printed.err


def test_games_beside_the_deciding_one_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All 60 are played side by side; the limit of games is not why the last ones do not count."""
    words = ["a=random", "b=random", "--size", "5", "--set", "conditions.turns=3", "--quiet", "--out", str(tmp_path)]
    assert main(["match", *words, "--games", "60", "--within", "30", "--komi", "20"]) == 0
    printed = capsys.readouterr().out
    counted = json.loads((tmp_path / "summary.json").read_text())["games"]
    late = f"{60 - counted} games in the folder are not in these figures"
    assert f"{late}, played after the pairing was decided\n" in printed
    assert 0 < counted < 60 and "a pairing at most" not in printed


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["random"], "two players or more, or one YAML file"),
        (["nowhere.yaml"], "nowhere.yaml: there is no such file"),
        (["random"] * 3 + ["--schedule", "head-to-head"], "error: head-to-head is for two players, not 3"),
        (["random", "random", "--schedule", "gauntlet", "--anchors", "2"], "error: 2 of 2 players cannot be anchors"),
        (["random", "random", "--sprt", "5,0"], "sprt: elo0 must be below elo1, both within 2000, not 5 and 0"),
        (["random", "random", "--sprt", "3"], "--sprt 3: write two differences"),
        (["random", "random", "--alpha", "0.1"], "alpha 0.1 without a sequential test: alpha and beta need --sprt"),
        (["random", "random", "--anchors", "1"], "anchors 1 is for a gauntlet, not for a head-to-head"),
        (["random"] * 3 + ["--back", "2"], "back 2 is for a ladder, not for a round-robin"),
        (["random"] * 3 + ["--schedule", "ladder", "--anchors", "2"], "anchors 2 is for a gauntlet, not for a ladder"),
        (["random", "random", "--opening", "500"], "19x19 has at most 120 moves, a third of its points, not 500"),
        (
            ["random", "random", "--size", "5", "--opening", "9"],
            "5x5 has at most 8 moves, a third of its points, not 9",
        ),
        (["random", "random", "--size", "5", "--handicap", "1"], "handicap of 1 stones on a 5x5 board; allowed: 2 to"),
        (["random", "random", "--games", "5"], "even number, not 5"),
        (["random", "random", "--set", "conditions.kommi=3"], "did you mean conditions.komi"),
        (["random", "random", "--rules", "house"], "unknown rules 'house'"),
        (["random", "random", "--openings", "nowhere"], "'nowhere' do not exist"),
        (["random", "random", "--visits", "0"], "'--visits': Input should be greater than or equal to 1 (found '0')"),
        (["random", "random", "--threads", "0"], "'--threads': Input should be greater than or equal to 1 (found '0')"),
        (["random", "random", "--workers", "0"], "workers must be 1 or more"),
        (["random", "defualt"], "no network 'defualt'"),
        (["random", "random", "--set", "defaults.vists=3"], "did you mean visits"),
        (["random", "default@fast"], "'fast' is not a limit"),
    ],
)
def test_what_is_wrong_is_one_line_and_writes_nothing(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["match", *words]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert says in errors[-1] and errors[-1].startswith("error: ") and "found {" not in errors[-1]
    assert not list(tmp_path.iterdir())
