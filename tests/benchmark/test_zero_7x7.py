"""The figures of a 7x7 network: whole games, places up to symmetry, and a rerun that goes on."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
from checksum import Checksum

from tengen.errors import TengenError

PROGRAM = "zero_7x7.py"


def test_points_that_a_symmetry_exchanges_have_one_name(program: ModuleType) -> None:
    names = [program.place(point) for point in range(49)]
    assert len(set(names)) == 10  # 4 + 3 + 2 + 1 points of an eighth of the board
    assert program.place(24) == "D4" and program.place(49) == "pass"
    assert {program.place(p) for p in (0, 6, 42, 48)} == {"A1"}
    assert {program.place(p) for p in (1, 5, 7, 13, 35, 41, 43, 47)} == {"B1"}


def test_games_with_itself_come_to_an_end_and_differ(program: ModuleType) -> None:
    games = program.self_play(Checksum(), 8.5, 3, 16, seed=1)
    assert all(game.is_over and game.ending in ("passes", "move limit") for game in games)
    again = program.self_play(Checksum(), 8.5, 3, 16, seed=1)
    assert [game.moves for game in games] == [game.moves for game in again]
    assert len({tuple(game.moves) for game in games}) == 3


def test_games_with_itself_that_were_played_are_not_played_again(program: ModuleType, tmp_path: Path) -> None:
    options = program.Options("uniform", 2, 0, 8, 1, tmp_path)
    program.against_itself(options, 8.5)
    path = tmp_path / "self-8.5.jsonl"
    kept = path.read_text().splitlines()
    more = program.against_itself(program.Options("uniform", 3, 0, 8, 1, tmp_path), 8.5)
    assert path.read_text().splitlines()[:2] == kept and len(path.read_text().splitlines()) == 3
    scores = [json.loads(line)["score"] for line in path.read_text().splitlines()]
    black = more["black"]
    assert [black["wins"], black["draws"], black["losses"]] == [
        sum(score > 0 for score in scores),
        0,
        sum(score < 0 for score in scores),
    ]
    with pytest.raises(TengenError, match="other visits"):
        program.against_itself(program.Options("uniform", 3, 0, 9, 1, tmp_path), 8.5)
