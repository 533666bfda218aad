"""The example of value games: the position after the random move is the last one, and learns the result of the game."""

import json
import runpy
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tengen.data import GameRecord, Store

EXAMPLE = Path(__file__).parents[2] / "examples" / "value_games.py"
KOMI = 9


def run(out: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[GameRecord]:
    """The games of a run of the example on 7x7, by raw policies whose moves are the most likely ones."""
    given = ["zero-7x7", "zero-7x7", "--size=7", f"--komi={KOMI}", "--temperatures", "0", "0", f"--out={out}"]
    monkeypatch.setattr(sys, "argv", ["value_games.py", *given, *words])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    return list(Store.open(out))


def test_a_game_goes_on_to_its_end_behind_the_random_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--games=40", "--latest=10", "--seed=3")
    whole = run(tmp_path / "whole", monkeypatch, *options, "--whole")
    assert json.loads(capsys.readouterr().out)["moves"] == sum(len(game.moves) for game in whole)
    short = run(tmp_path / "short", monkeypatch, *options)
    assert len(whole) == len(short) == 40
    for long, game in zip(whole, short, strict=True):
        assert np.array_equal(game.moves, long.moves[: len(game.moves)]) and game.ownership is None
        assert long.ownership is not None
        score = np.sum(long.ownership == 0) - np.sum(long.ownership == 1) - KOMI
        assert game.score == long.score == score and game.winner == long.winner == (2 if score == 0 else score < 0)
        game.game(), long.game()  # all moves are legal
    numbers = [len(game.moves) - 2 for game in short]  # of the random moves
    assert set(numbers) == set(range(10))
    # Up to the random moves all games are one, and these are not those of the policy.
    for (a, game), (b, other) in combinations(zip(numbers, short, strict=True), 2):
        assert np.array_equal(game.points[: min(a, b)], other.points[: min(a, b)])
    line = short[int(np.argmax(numbers))].points
    assert np.mean([game.points[n] == line[n] for n, game in zip(numbers, short, strict=True) if n < 9]) < 0.2


def test_arguments_out_of_range_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(tmp_path / "store", monkeypatch, "--latest=99")
    assert "--latest: games end after 98 moves: give a number up to that, not 99" in capsys.readouterr().err
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "mine").touch()
    with pytest.raises(SystemExit, match=r"error: .*store"):
        run(tmp_path / "store", monkeypatch, "--games=2")
