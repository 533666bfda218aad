"""The count between players: it matches counts made by hand, and playouts decide where the players disagree."""

from __future__ import annotations

import numpy as np
import pytest
from checksum import Checksum
from known_positions import SEKI

from tengen.engine.params import SearchParams
from tengen.engine.search import MoveRestriction, TreeSearch
from tengen.game import BLACK, Game
from tengen.match.counting import count_by_opinions

# Black holds the left three columns but for C5, 14 points, White the two on the right, 10; C5 is neutral. All live.
FINISHED = """
. X . O .
X X X O O
. X X O .
X X X O O
X . X O .
"""


def finished(komi: float = 0.5) -> Game:
    return Game.from_diagram(FINISHED, "chinese", komi)


def test_a_settled_board_counts_by_area() -> None:
    game = finished()
    assert game.score() == 14 - 10 - 0.5
    nobody: frozenset[int] = frozenset()
    verdict = count_by_opinions(game, {"A": nobody, "B": nobody})
    assert (verdict.score, verdict.disputed) == (3.5, False)
    assert set(verdict.counts) == {"A", "B"}


def test_playouts_check_a_single_opinion_and_replace_none() -> None:
    game = finished()
    verdict = count_by_opinions(game, {"A": None, "B": frozenset()})
    assert (verdict.counts, verdict.disputed) == ({"B": 3.5, "playouts": 3.5}, False)
    black = frozenset(p for p in range(25) if game.board[divmod(p, 5)] == 0)
    verdict = count_by_opinions(game, {"A": None, "B": black})  # B has an interest
    assert (verdict.score, verdict.counts, verdict.disputed) == (3.5, {"B": -25.5, "playouts": 3.5}, True)
    verdict = count_by_opinions(game, {"A": None, "B": None})
    assert set(verdict.counts) == {"playouts"} and not verdict.disputed


def test_a_score_without_dead_stones_needs_a_second_opinion() -> None:
    game = finished()
    assert count_by_opinions(game, {"A": 3.5, "B": frozenset()}).counts == {"A": 3.5, "B": 3.5}
    assert set(count_by_opinions(game, {"A": -200.0, "B": None}).counts) == {"A", "playouts"}
    verdict = count_by_opinions(game, {"A": -200.0, "B": frozenset()})
    assert verdict.disputed and verdict.score == verdict.counts["playouts"]


def test_playouts_decide_where_the_players_disagree() -> None:
    game = finished()
    white = frozenset(p for p in range(25) if game.board[divmod(p, 5)] == 1)
    verdict = count_by_opinions(game, {"A": frozenset(), "B": white})
    assert verdict.counts["A"] == 3.5 and verdict.counts["B"] == 24.5
    assert set(verdict.counts) == {"A", "B", "playouts"}
    assert not verdict.disputed, "both counts name Black"
    black = frozenset(p for p in range(25) if game.board[divmod(p, 5)] == 0)
    assert count_by_opinions(game, {"A": frozenset(), "B": black}).disputed


@pytest.mark.parametrize(
    ("komi", "margin"),
    [
        (0.5, 14 - 11 - 0.5),  # Black's 14 against all the rest
        (3.5, None),  # Black leads by half a point, but only if C5 stays neutral
        (9.5, 15 - 10 - 9.5),  # White's 10 against all the rest
    ],
)
def test_a_majority_of_pass_alive_points_wins(komi: float, margin: float | None) -> None:
    assert finished(komi=komi).sure_margin() == margin


def test_no_majority_on_an_open_board_or_under_territory_rules() -> None:
    assert Game(9).sure_margin() is None
    assert Game.from_diagram(FINISHED, "japanese", 0.5).sure_margin() is None


# Black has A, B and their eyes A5, A3, A1: 7 stones, 3 points. White has 9 stones and the points D5, E5, E3, D1 and E1;
# the black stone at D3 is dead among them: 15 of area, 6 points and a prisoner of territory.
CAUGHT = """
. X O . .
X X O O O
. X O X .
X X O O O
. X O . .
"""


def points(game: Game, *vertices: str) -> frozenset[int]:
    return frozenset(map(game.point, vertices))


def agreed(game: Game, *dead: str) -> float:
    """The score when both players name these dead stones."""
    verdict = count_by_opinions(game, {"A": points(game, *dead), "B": points(game, *dead)})
    assert set(verdict.counts) == {"A", "B"} and not verdict.disputed
    return verdict.score


@pytest.mark.parametrize(
    ("rules", "dead", "score"),
    [
        ("chinese", ["D3"], 10 - 15),
        ("chinese", [], 11 - 13),  # D3 lives, E3 is neutral
        ("japanese", ["D3"], 3 - 6 - 1),
        ("japanese", [], 3 - 4),
        ("chinese", ["D3", "C5", "C4", "C3", "C2", "C1", "D4", "E4", "D2", "E2"], 25),
    ],
)
@pytest.mark.parametrize("komi", [0.5, 0.0, 7.5, -3.0])
def test_what_the_players_agree_on_is_taken_off_and_counted(
    rules: str, dead: list[str], score: float, komi: float
) -> None:
    assert agreed(Game.from_diagram(CAUGHT, rules, komi), *dead) == score - komi


def test_a_whole_komi_can_make_a_draw() -> None:
    assert agreed(finished(komi=4)) == 0
    game = finished(komi=4)
    black = frozenset(p for p in range(25) if game.board[divmod(p, 5)] == 0)
    verdict = count_by_opinions(game, {"A": frozenset(), "B": black})
    assert verdict.disputed, "a draw and a win are different winners"
    assert game.sure_margin() is None


def test_dame_count_for_neither_side() -> None:
    # 14 - 10 of area; under territory rules the eyes alone: A5, A3, B1 against E5, E3, E1. C5 counts for nobody.
    assert agreed(finished(komi=0.5)) == 3.5
    assert agreed(Game.from_diagram(FINISHED, "japanese", 0.5)) == 3 - 3 - 0.5
    game = Game.from_diagram(FINISHED, "chinese", 0.5).play("C5").play("pass").play("pass")
    assert agreed(game) == 4.5
    game = Game.from_diagram(FINISHED, "japanese", 0.5).play("C5").play("pass").play("pass")
    assert agreed(game) == -0.5


def test_prisoners_count_under_territory_rules_alone() -> None:
    game = {rules: Game.from_diagram(CAUGHT, rules, 0.5, to_play=1) for rules in ("chinese", "japanese")}
    for one in game.values():
        one.play("E3").play("pass").play("pass")  # White takes D3
    assert agreed(game["chinese"]) == 10 - 15 - 0.5
    assert agreed(game["japanese"]) == 3 - (5 - 1 + 1) - 1 - 0.5  # E3 is filled, D3 is free, one prisoner


def test_stones_in_seki_live_and_shared_liberties_are_neutral() -> None:
    # Area: Black's 26 stones and the eyes F9, F7; White's 43 and 8 eyes; C9 and C8 are shared. Territory: the eyes of
    # those outside the seki alone.
    assert agreed(Game.from_diagram(SEKI, "chinese", 7.5)) == 28 - 51 - 7.5
    assert agreed(Game.from_diagram(SEKI, "japanese", 7.5)) == 2 - 8 - 7.5


def test_playouts_see_a_seki_that_a_player_denies() -> None:
    game = Game.from_diagram(SEKI, "chinese", 7.5)
    six = points(game, "B9", "B8", "B7", "C7", "B6", "C6")
    verdict = count_by_opinions(game, {"A": frozenset(), "B": six})
    assert verdict.counts == {"A": 28 - 51 - 7.5, "B": 22 - 59 - 7.5, "playouts": 28 - 51 - 7.5}
    assert verdict.score == 28 - 51 - 7.5 and not verdict.disputed


def test_the_dead_stone_that_a_player_denies_decides_who_won() -> None:
    game = Game.from_diagram(CAUGHT, "chinese", -3.5)
    verdict = count_by_opinions(game, {"A": frozenset(), "B": points(game, "D3")})
    assert verdict.counts == {"A": 1.5, "B": -1.5, "playouts": -1.5}
    assert verdict.disputed and verdict.score == -1.5


@pytest.mark.parametrize(
    ("rules", "score"),
    [
        ("chinese", 81 - 3),  # a point for each handicap stone
        ("aga", 81 - 2),  # for each but the first
        ("tromp-taylor", 81),
        ("japanese", 81 - 3),  # none, but stones are no territory
    ],
)
def test_handicap_stones_cost_what_the_rules_say(rules: str, score: float) -> None:
    game = Game(9, rules, 0.5)
    game.place_handicap(3)
    assert agreed(game.play("pass").play("pass")) == score - 0.5


# Black lives with two eyes, and a White stone stands in what his wall encloses; the right side is White's.
DEAD_INSIDE = """
. X . X O
X X X X O
. O X O O
X X X O .
X . X O O
"""


def with_dead_stone(rules: str = "tromp-taylor", komi: float = 0.5) -> Game:
    return Game.from_diagram(DEAD_INSIDE.strip(), rules, komi=komi).play("pass").play("pass")


def test_a_stone_in_the_opponents_pass_alive_territory_is_dead() -> None:
    game = with_dead_stone()
    assert game.pass_dead() == [game.point("B3")]
    counted = game.end_by_rules()
    standing = game.end_by_rules(dead_stones="none")
    assert counted is not None and standing is not None and counted.owners is not None
    assert (counted.score, standing.score) == (17 - 8 - 0.5, 15 - 9 - 0.5)  # A3 touches both while B3 stands
    assert counted.owners.ravel()[game.point("B3")] == BLACK
    assert np.isclose(counted.score, game.score(game.pass_dead()))


@pytest.mark.parametrize("komi", [7.5, 8.5])
def test_the_search_that_passes_and_the_count_agree(komi: float) -> None:
    """At komi 7.5 Black wins by the dead stone, at 8.5 he wins by half a point; as it stands White would."""
    game = Game.from_diagram(DEAD_INSIDE.strip(), "tromp-taylor", komi=komi).play("pass")
    search = TreeSearch(Checksum(), SearchParams(score_weight=0.0), 1)
    search.set_root(game, [MoveRestriction(game.to_play, [game.pass_point], allow=True)])
    search.run(20)
    ending = game.copy().play("pass").end_by_rules()
    assert ending is not None and ending.score is not None
    assert ending.winner == BLACK
    assert search.stats().value[0] == (1 if game.to_play == BLACK else -1)
