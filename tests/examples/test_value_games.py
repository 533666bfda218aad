"""The example of value games: the position after the random move is the last one, and learns the result of the game."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from tengen.data import GameRecord, Store
from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator

EXAMPLE = Path(__file__).parents[2] / "examples" / "value_games.py"
KOMI = 9


class InOrder(UniformEvaluator):
    """Prefers the first points of the board, or the last ones."""

    def __init__(self, first: bool) -> None:
        super().__init__()
        self.name, self._first = "first" if first else "last", first

    def infer(self, batch: InputBatch) -> Evaluation:
        found = super().infer(batch)
        order = np.arange(1, found.policy.shape[1] + 1, dtype=np.float32)[:: -1 if self._first else 1]
        return Evaluation(np.broadcast_to(order / order.sum(), found.policy.shape).copy(), found.value)


def run(out: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[GameRecord]:
    """The games of a run of the example on 7x7: the first policy plays the first free point, the second the last."""
    monkeypatch.setattr("tengen.evaluators.load.load_evaluator", lambda name, **_: InOrder(name == "first"))
    given = ["first", "last", "--size=7", f"--komi={KOMI}", "--temperatures", "0", "0", f"--out={out}"]
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
    numbers, random = [], []
    for long, game in zip(whole, short, strict=True):
        assert np.array_equal(game.moves, long.moves[: len(game.moves)]) and game.ownership is None
        assert long.ownership is not None
        score = np.sum(long.ownership == 0) - np.sum(long.ownership == 1) - KOMI
        assert game.score == long.score == score and game.winner == long.winner == (2 if score == 0 else score < 0)
        game.game(), long.game()  # all moves are legal
        number, points = len(game.moves) - 2, game.points.tolist()
        assert points[:number] == list(range(number)) and points[-1] == 48 - (points[number] == 48)
        numbers.append(number)
        random.append(points[number])
    assert set(numbers) == set(range(10)) and len(set(random)) > 20
    # Fewer games are the first of these, though others may have ended earlier.
    few = run(tmp_path / "few", monkeypatch, "--games=7", "--latest=10", "--seed=3")
    assert [game.hash for game in few] == [game.hash for game in short[:7]]


def test_arguments_out_of_range_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(tmp_path / "store", monkeypatch, "--latest=99")
    assert "--latest: games end after 98 moves: give a number up to that, not 99" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        run(tmp_path / "store", monkeypatch, "--temperatures", "-1", "nan")
    assert "-1 is no temperature: give 0 or more" in capsys.readouterr().err
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "mine").touch()
    with pytest.raises(SystemExit, match=r"error: .*store"):
        run(tmp_path / "store", monkeypatch, "--games=2")
