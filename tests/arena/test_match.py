"""Whole matches: equal conditions, several workers, interruption, refusal before anything is written."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from offspring import Offspring

from tengen.arena.conditions import Conditions
from tengen.arena.journal import VERSION, read_folder
from tengen.arena.match import play_match
from tengen.arena.outcome import Outcome, Reason
from tengen.arena.schedule import fixture
from tengen.arena.summary import game_line, score_line, summarize, tally
from tengen.arena.table import MatchSettings, Strength
from tengen.errors import RecipeError, TengenError
from tengen.sgf import read_game

ROOT = Path(__file__).parents[2]
HOSTILE = Path(__file__).parent / "hostile.py"
TINY = Conditions(size=5, komi=0.5, opening=2)


def program(kind: str) -> str:
    return "gtp:" + shlex.join([sys.executable, str(HOSTILE), kind])


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]


def test_a_match_keeps_every_game(tmp_path: Path) -> None:
    settings = MatchSettings("random", "playouts", games=6, conditions=TINY, strength=Strength(visits=20))
    figures = play_match(settings, tmp_path / "match", workers=2)
    assert figures["games"] == 6 and figures["wins"] + figures["draws"] + figures["losses"] == 6
    rows = sorted(lines(tmp_path / "match"), key=lambda row: int(str(row["index"])))
    assert [row["index"] for row in rows] == list(range(6))
    about, outcomes = read_folder(tmp_path / "match")
    other = about.names[1]
    assert about.names[0] == "random" and (about.games, about.schedule) == (6, {"kind": "head-to-head"})
    assert about.conditions["size"] == 5 and about.players[1]["player"] == "playouts"
    assert [json.loads(json.dumps(asdict(outcome))) for outcome in outcomes] == rows
    assert [row["black"] for row in rows] == ["random", other] * 3
    assert [row["white"] for row in rows] == [other, "random"] * 3
    assert [(row["pair"], row["round"]) for row in rows] == [(0, 0), (0, 0), (1, 1), (1, 1), (2, 2), (2, 2)]
    assert json.loads((tmp_path / "match" / "summary.json").read_text()) == figures
    for row in rows:
        game, info = read_game(tmp_path / "match" / "games" / f"{row['index']:05d}.sgf")
        assert len(game.moves) == row["moves"]
        assert str(info.result) == row["result"]
        assert (info.black, info.white) == (row["black"], row["white"])


def test_both_games_of_a_pair_begin_alike(tmp_path: Path) -> None:
    play_match(MatchSettings("random", "random", games=4, conditions=TINY), tmp_path)
    begun = [read_game(tmp_path / "games" / f"{i:05d}.sgf")[0].moves[:2] for i in range(4)]
    assert begun[0] == begun[1] and begun[2] == begun[3] and begun[0] != begun[2]


def test_a_second_run_goes_on_and_a_longer_one_adds(tmp_path: Path) -> None:
    play_match(MatchSettings("random", "random", games=2, conditions=TINY), tmp_path)
    first = (tmp_path / "games.jsonl").read_bytes()
    with (tmp_path / "games.jsonl").open("ab") as file:
        file.write(b'{"index": 2, "bla')  # killed while it wrote
    play_match(MatchSettings("random", "random", games=4, conditions=TINY), tmp_path)
    assert (tmp_path / "games.jsonl").read_bytes().startswith(first)
    assert sorted(int(str(row["index"])) for row in lines(tmp_path)) == [0, 1, 2, 3]


def test_another_match_does_not_mix_in(tmp_path: Path) -> None:
    play_match(MatchSettings("random", "random", games=1, conditions=TINY), tmp_path)
    with pytest.raises(TengenError, match="players 2: player = random, not playouts"):
        play_match(MatchSettings("random", "playouts", games=1, conditions=TINY), tmp_path)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        (program("only-9x9"), "unacceptable size"),
        ("gtp:no-such-program", "no-such-program"),
        ("no-such-network", "no-such-network"),
    ],
)
def test_a_player_that_cannot_play_is_named_before_the_first_game(word: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(TengenError, match=says):
        play_match(MatchSettings("random", word, games=2, conditions=TINY), tmp_path / "match")
    assert not (tmp_path / "match").exists()


def test_a_program_that_dies_every_game_loses_every_game(tmp_path: Path) -> None:
    figures = play_match(MatchSettings("random", program("dies"), games=3, conditions=TINY), tmp_path)
    assert figures["wins"] == 3
    assert {row["reason"] for row in lines(tmp_path)} == {"died"}
    assert lines(tmp_path)[0]["last_words"] == ["some chatter", "out of memory, goodbye"]


def test_kill_and_rerun_gives_every_game_once(tmp_path: Path, offspring: Offspring) -> None:
    command = [sys.executable, "-m", "tengen", "match", "random", program("polite"), "--games", "300", "--size", "7"]
    command += ["--komi", "0.5", "--workers", "2", "--out", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "games.jsonl").exists() or len(lines_so_far(tmp_path)) < 20:
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.02)
    child.kill()
    child.communicate()
    assert len(lines_so_far(tmp_path)) < 300, "the match must not have ended before it was killed"
    assert offspring.gone(15), "the workers and their programs end with the match"
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=True)
    assert "300 of 300" not in done.stdout
    assert Counter(row["index"] for row in lines(tmp_path)) == Counter(range(300))


def test_ctrl_c_is_quiet_and_leaves_no_process(tmp_path: Path, offspring: Offspring) -> None:
    command = [sys.executable, "-m", "tengen", "match", "random", program("hangs"), "--games", "2", "--size", "7"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    child = subprocess.Popen(
        [*command, "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    assert child.stdout is not None and b"A is" in child.stdout.readline()
    time.sleep(0.5)
    os.killpg(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert child.returncode == 130
    assert errors == b""
    assert offspring.gone()


def lines_so_far(folder: Path) -> list[bytes]:
    return (folder / "games.jsonl").read_bytes().splitlines()


def outcome(index: int, winner: str | None, result: str, reason: Reason, moves: int, **more: Any) -> Outcome:
    """The game of this number between `one` and `two`."""
    game = fixture([("one", "two")], index)
    return Outcome(**asdict(game), winner=winner, result=result, reason=reason, moves=moves, **more)


def test_a_folder_without_a_match_we_know_is_named(tmp_path: Path) -> None:
    with pytest.raises(TengenError, match="holds no match"):
        read_folder(tmp_path)
    (tmp_path / "match.json").write_text('{"version": 1}')
    with pytest.raises(TengenError, match=f"version 1; this Tengen knows {VERSION}"):
        read_folder(tmp_path)
    (tmp_path / "match.json").write_text("[")
    with pytest.raises(TengenError, match="not what a match writes"):
        read_folder(tmp_path)


def test_figures_and_lines() -> None:
    outcomes = [
        outcome(0, "one", "B+R", "resign", 101, seconds={"one": 3.0, "two": 4.0}, visits={"one": 400.0}),
        outcome(1, "one", "W+2.5", "count", 250, score=-2.5, counts={"one": -2.5, "two": 1.5}, disputed=True),
        outcome(2, None, "Draw", "count", 260, score=0, counts={"one": 0, "two": 0}),
        outcome(3, "two", "B+T", "timeout", 11),
    ]
    figures = summarize(outcomes, ("one", "two"))
    assert (figures["wins"], figures["draws"], figures["losses"], figures["score"]) == (2, 1, 1, 0.625)
    assert (figures["a_as_black"], figures["a_as_white"]) == ("1.5 of 2", "1 of 2")
    assert figures["endings"] == {"one by count": 1, "one by resign": 1, "two by timeout": 1, "draw count": 1}
    assert (figures["counted"], figures["counted_apart"], figures["disputed"]) == (2, 1, 1)
    assert score_line(tally(outcomes, "one")).startswith("A 2.5 - 1.5 B, 62.5% [")
    assert game_line(outcomes[0]) == "game 0: B+R (resign), one - two, 101 moves, 7 s"
    assert "differ" in game_line(outcomes[1])


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(RecipeError, match="games"):
        MatchSettings("random", "random", games=0)
