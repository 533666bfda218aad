"""The ends of ratings that no game bounds: small pools, and a linear program that finds the same."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from tengen.ratings.elo import Ratings, fit
from tengen.ratings.open_ends import OpenEnds
from tengen.ratings.score import Score


def test_a_rating_without_a_chain_of_points_is_a_guess() -> None:
    # Both beat the same third player: nothing says who of them is the better one.
    ratings = fit([Score("a", "c", 9), Score("b", "c", 9)], "a")
    assert (ratings["b"].open_low, ratings["b"].open_high) == (True, True)
    assert any(warning.startswith("b: ") and "guess" in warning for warning in ratings.warnings)
    # One draw between them is a point each way.
    joined = fit([Score("a", "c", 9), Score("b", "c", 9), Score("a", "b", 0, 1, 0)], "a")
    assert (joined["b"].open_low, joined["b"].open_high) == (False, False)


WON_BY_BLACK = [Score("a", "b", 20), Score("b", "a", 20)]


def opens(ratings: Ratings) -> dict[str, tuple[bool, bool]]:
    """The open ends of all players but the anchor, and of the first move."""
    found = [rating for rating in ratings.players if rating.player != ratings.anchor]
    found += [ratings.first_move] if ratings.first_move else []
    return {rating.player: (rating.open_low, rating.open_high) for rating in found}


def test_no_game_bounds_the_worth_of_the_first_move_where_one_color_wins() -> None:
    """The first move may be worth any number of Elo, and outweigh any difference between the players."""
    ratings = fit(WON_BY_BLACK, "a", first_move=True)
    assert opens(ratings) == {"b": (True, True), "first move": (False, True)}
    (warning,) = ratings.warnings
    assert warning.startswith("Black won every game: no game bounds the worth of the first move from above, nor")
    assert warning.endswith(": b")
    assert str(ratings.first_move).endswith(" to ?]") and str(ratings["b"]) == "+0 [? to ?]"
    assert opens(fit(WON_BY_BLACK, "a")) == {"b": (False, False)}
    by_white = fit([Score("a", "b", 0, 0, 20), Score("b", "a", 0, 0, 20)], "a", first_move=True)
    assert opens(by_white) == {"b": (True, True), "first move": (True, False)}
    assert by_white.warnings[0].startswith(
        "White won every game: no game bounds the worth of the first move from below"
    )


def test_games_with_a_weak_player_do_not_bound_the_worth_of_the_first_move() -> None:
    weak = [Score(black, "weak", 5) for black in "ab"] + [Score("weak", white, 0, 0, 5) for white in "ab"]
    ratings = fit([*WON_BY_BLACK, *weak], "a", first_move=True)
    assert opens(ratings) == {"b": (True, True), "weak": (True, False), "first move": (False, True)}
    assert ratings.warnings[1].startswith("no game bounds the worth of the first move from above, nor")
    # One win as White may be due to strength; one of each player is not.
    once = [*WON_BY_BLACK, Score("a", "b", 0, 0, 1)]
    assert opens(fit(once, "a", first_move=True)) == {"b": (False, True), "first move": (False, True)}
    bounded = fit([*once, Score("b", "a", 0, 0, 1)], "a", first_move=True)
    assert opens(bounded) == {"b": (False, False), "first move": (False, False)} and not bounded.warnings


def test_who_always_had_the_same_color_is_rated_by_the_prior_of_the_first_move() -> None:
    ratings = fit([Score("a", "b", 50, 0, 50)], "a", first_move=True)
    assert opens(ratings) == {"b": (False, False), "first move": (True, True)}
    assert ratings.warnings == (
        "the games do not separate the worth of the first move from strength: its interval is a guess",
    )


def can_go(limits: list[list[float]], i: int, *, first_move: bool) -> tuple[bool, bool]:
    """Whether entry i of five can go down and up within limits; the anchor stays, the first move's worth if it must."""
    box = [(0, 0), *[(-1, 1)] * 3, (-1, 1) if first_move else (0, 0)]
    down, up = (
        linprog([-side * float(j == i) for j in range(5)], limits, [0.0] * len(limits), bounds=box).fun < -1e-6
        for side in (-1, 1)
    )
    return bool(down), bool(up)


def test_open_ends_are_those_of_a_linear_program() -> None:
    """An end is open when all games allow a direction with it: 40 pools of four players and few games."""
    rng = np.random.default_rng(4)
    names, seen = list("abcd"), set()
    for _ in range(40):
        more = [rng.choice(4, 2, replace=False).tolist() for _ in range(rng.integers(1, 12))]
        pairs: list[list[int]] = [[0, 1], [1, 2], [2, 3], *more]
        scores = [Score(names[i], names[j], *map(int, rng.multinomial(1, [0.65, 0.05, 0.3]))) for i, j in pairs]
        limits: list[list[float]] = []
        for score in scores:
            row = [float((score.black == name) - (score.white == name)) for name in names] + [1.0]
            limits += [[-x for x in row]] if score.wins or score.draws else []
            limits += [row] if score.losses or score.draws else []
        found = OpenEnds.of(names, scores, first_move=True)
        first = can_go(limits, 4, first_move=True)
        assert found.first_move == first
        told = first[0] != first[1]
        ends = {name: can_go(limits, i, first_move=told) for i, name in enumerate("bcd", 1)}
        assert found.players == {"a": (False, False), **ends}
        seen.add(first)
    assert len(seen) == 4
