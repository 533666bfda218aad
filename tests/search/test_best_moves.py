"""Small boards where the best move is known: every kind of search without a network must find it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tengen.coords import to_gtp
from tengen.engine.params import SearchParams, playout_params
from tengen.engine.search import TreeSearch
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, WHITE, Game


@dataclass(frozen=True)
class Problem:
    """A position, the komi at which the best move alone wins, and that move."""

    diagram: str
    komi: float
    best: str
    to_play: int = BLACK


# White has three points in a row, bent in the corner, or a bulky five: who plays the vital point first decides between
# 36 points for Black and a living White.
THREE_IN_A_ROW = """
    . . . O X .
    O O O O X X
    X X X X X .
    . X . X X X
    X X X . X .
    . X . X X X
"""
BENT_IN_THE_CORNER = """
    . . O X . X
    . O O X X .
    O O X X . X
    X X X . X X
    . X . X X .
    X . X . X X
"""
BULKY_FIVE = """
    . . . O X .
    . . O O X X
    O O O X X .
    X X X . X X
    . X X X . X
    X . X . X .
"""

PROBLEMS = {
    "three in a row, killed": Problem(THREE_IN_A_ROW, 20.5, "B6"),
    "three in a row, saved": Problem(THREE_IN_A_ROW, 20.5, "B6", WHITE),
    "bent three in the corner, killed": Problem(BENT_IN_THE_CORNER, 20.5, "A6"),
    "bent three in the corner, saved": Problem(BENT_IN_THE_CORNER, 20.5, "A6", WHITE),
    "bulky five, killed": Problem(BULKY_FIVE, 14.5, "B6"),
    "bulky five, saved": Problem(BULKY_FIVE, 14.5, "B6", WHITE),
}

SEARCHES = {
    "rave": (playout_params(), 4_000),
    "rave, uniform playouts": (playout_params("uniform", "uniform"), 6_000),
    "uct": (playout_params("local", "local", "uct"), 6_000),
    "puct": (playout_params("local", "local", "puct"), 4_000),
    "puct, a graph": (SearchParams(transpositions=True), 12_000),
    "puct, no playouts": (SearchParams(), 12_000),
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_best_move_is_found(problem: str, search: str) -> None:
    known, (params, visits) = PROBLEMS[problem], SEARCHES[search]
    game = Game.from_diagram(known.diagram, "tromp-taylor", known.komi, known.to_play)
    assert chosen(game, params, visits) == known.best


@pytest.mark.parametrize(("policy", "visits"), [("local", 4_000), ("uniform", 24_000)])
def test_the_centre_of_5x5(policy: str, visits: int) -> None:
    """The whole board is Black's if he begins in the centre (van der Werf 2003), and not otherwise."""
    assert chosen(Game(5, "tromp-taylor", 10.5), playout_params(policy, policy), visits) == "C3"


def test_a_centre_point_of_6x6() -> None:
    """The four points are one by symmetry. 6x6 is not solved; the common view is that Black wins by 4."""
    assert chosen(Game(6, "tromp-taylor", 3.5), playout_params("local"), 8_000) in {"C3", "C4", "D3", "D4"}


def chosen(game: Game, params: SearchParams, visits: int) -> str:
    search = TreeSearch(UniformEvaluator(), params, seed=1)
    search.set_root(game)
    search.run(visits)
    point = search.choose()
    assert point is not None
    return to_gtp(point, game.size)
