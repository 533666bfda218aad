"""The example of games of a raw policy: whole games, legal, with mistakes, the same for the same seed."""

import runpy
from pathlib import Path

import numpy as np

from tengen.data.importer import import_games
from tengen.data.store import Store
from tengen.evaluators.load import load_evaluator

EXAMPLE = Path(__file__).parents[2] / "examples" / "policy_games.py"


def test_games_for_a_teacher(tmp_path: Path) -> None:
    play = runpy.run_path(str(EXAMPLE))["play"]
    evaluator = load_evaluator("distilled-b8c64", batch=16, threads=1)
    path = tmp_path / "7.sgf"
    moves = play(evaluator, path, size=7, games=40, komi=9.0, at_once=16, seed=3)
    report = import_games([path], tmp_path / "games")
    assert (report.games, report.kept) == (40, 40)
    store = Store.open(tmp_path / "games")
    records = [store.row(row) for row in range(len(store))]
    assert sum(len(record.moves) for record in records) == moves
    # Games end by two passes or at the limit of moves.
    assert all(len(r.moves) == 98 or r.points[-2:].tolist() == [49, 49] for r in records)
    # Most games have the komi given, the others that of one of their positions.
    assert 0.4 < np.mean([record.komi == 9 for record in records]) < 0.95
    # The same for the same seed, other games for another one.
    for seed, same in ((3, True), (4, False)):
        play(evaluator, tmp_path / "again.sgf", size=7, games=40, komi=9.0, at_once=16, seed=seed)
        assert ((tmp_path / "again.sgf").read_bytes() == path.read_bytes()) == same
