"""Whole trees as text, and the signature: a change in what the search does shows as a diff.

`UPDATE_GOLDEN=1 pytest tests/search/test_golden.py` writes them anew, to be read before they are committed.
"""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest
from known_answers import Noise

from tengen.engine.params import SearchParams, playout_params
from tengen.engine.search import TreeSearch
from tengen.evaluators import Evaluator, UniformEvaluator
from tengen.game import Game

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
FIGHT = ". . X O .\n. X X O .\n. X O O O\nX X O . O\n. X O O ."

TREES = {
    "tree-5x5-endgame-uniform": (Game.from_diagram(FIGHT, komi=0.5), UniformEvaluator(), 1, 120, SearchParams()),
    "tree-7x7-noise": (Game(7), Noise(), 1, 150, SearchParams()),
    "tree-7x7-noise-batched": (Game(7), Noise(), 8, 150, SearchParams()),
    "tree-7x7-noise-root": (Game(7), Noise(), 4, 150, SearchParams(noise_weight=0.25, root_temperature=1.3)),
    "tree-7x7-gumbel": (Game(7), Noise(), 1, 65, SearchParams(selection="gumbel")),
    "tree-7x7-leela-zero": (Game(7), Noise(), 8, 150, SearchParams.preset("leela-zero")),
    "tree-7x7-darkforest": (
        Game(7),
        Noise(),
        8,
        150,
        SearchParams(selection="puct-darkforest", c_puct=10, puct_noise=0.2),
    ),
    "tree-7x7-rave": (Game(7), UniformEvaluator(), 1, 400, playout_params("local", "local")),
    "tree-7x7-uct": (Game(7), UniformEvaluator(), 1, 400, playout_params("uniform", "uniform", "uct")),
    "tree-7x7-bakago": (
        Game(7),
        Noise(),
        4,
        400,
        SearchParams(
            score_weight=0,
            lcb=False,
            selection="uct",
            uct_exploration=2**0.5,
            playout="bakago",
            playouts=3,
            playout_weight=1,
            playout_slope=1,
            playout_decay=0.98,
            expand_visits=32,
            candidate_mass=0.8,
            candidate_max=45,
            candidate_min=2,
        ),
    ),
    "tree-7x7-graph": (Game(7), Noise(), 8, 400, SearchParams(transpositions=True)),
    "tree-7x7-katago": (Game(7), Noise(), 1, 150, SearchParams.preset("katago-selfplay")),
}


def compare(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("name", list(TREES))
def test_tree(name: str) -> None:
    game, evaluator, batch, visits, params = TREES[name]
    assert isinstance(evaluator, Evaluator)
    search = TreeSearch(evaluator, params, batch, seed=1)
    search.set_root(game)
    search.run(visits)
    compare(name, f"{game}\n{search.text(depth=4)}play {search.choose()}\n")


def signature_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("signature", ROOT / "benchmarks" / "signature.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_signature() -> None:
    compare("signature", f"{signature_script().signature(300)}\n")
