"""One game: every way to end has its reason, clocks are charged, and counts match those made by hand."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from checksum import Checksum
from known_positions import SEKI, TRIPLE_KO, TRIPLE_KO_CYCLE
from sgfmill.sgf import Sgf_game

from tengen.engine.clock import TimeControl
from tengen.engine.params import SearchParams
from tengen.engine.search import MoveRestriction, TreeSearch
from tengen.game import BLACK, WHITE, Game
from tengen.match.game import Conditions, MatchGame, Outcome, count
from tengen.match.openings import Drawn, GamePair
from tengen.match.player import Choice, Player, Probabilities, Reply, Turn
from tengen.match.players import RandomPlayer
from tengen.match.schedule import Fixture, fixture

SMALL = Conditions(size=5, komi=0.5, opening=0)


@dataclass
class Scripted(Player):
    """Plays its script, then passes, in one game at a time."""

    script: list[str]
    name: str = "scripted"
    stones: frozenset[int] | None = frozenset()
    weights: dict[int, float] = field(default_factory=dict)

    def start_game(self, id: int, game: Game, seed: int) -> None:
        self.waiting = list(self.script)

    def choose(self, turns: Sequence[Turn]) -> list[Reply]:
        (turn,) = turns
        word = self.waiting.pop(0) if self.waiting else "pass"
        return [Choice(turn.game.point("pass" if word == "resign" else word), resign=word == "resign", visits=10)]

    def opening_policy(self, games: Sequence[Game]) -> Probabilities | None:
        if not self.weights:
            return None
        policy = np.zeros((len(games), games[0].size ** 2 + 1), np.float32)
        for point, weight in self.weights.items():
            policy[:, point] = weight
        return policy

    def dead(self, id: int, game: Game) -> frozenset[int] | None:
        return self.stones


def contest(a: Player, b: Player, index: int = 0, conditions: Conditions = SMALL) -> Outcome:
    """A game of these players; the opening is drawn."""
    opening = Drawn(conditions).moves([GamePair(game(index).round, (a, b))])[0]
    return MatchGame(conditions, game(index), {"A": a, "B": b}).play(opening)


def game(index: int) -> Fixture:
    return fixture([("A", "B")], index)


def changed(**fields: Any) -> Conditions:
    return SMALL.model_copy(update=fields)


def timed(a: str = "", b: str = "", **fields: Any) -> MatchGame:
    """A game of players with these clocks, if any."""
    controls = {name: TimeControl.parse(word) for name, word in (("A", a), ("B", b)) if word}
    return MatchGame(changed(**fields), game(0), {"A": Scripted([]), "B": Scripted([])}, controls)


def test_two_passes_are_counted() -> None:
    outcome = contest(Scripted(["C3"]), Scripted([]))
    assert (outcome.winner, outcome.result, outcome.reason, outcome.moves) == ("A", "B+24.5", "count", 3)
    assert outcome.counts == {"A": 24.5, "B": 24.5}
    assert outcome.visits == {"A": 10.0, "B": 10.0}


def test_colors_change_with_every_game() -> None:
    outcome = contest(Scripted([]), Scripted(["C3"]), index=1)
    assert (outcome.black, outcome.white, outcome.winner, outcome.result) == ("B", "A", "B", "B+24.5")


def test_resignation() -> None:
    outcome = contest(Scripted(["C3", "resign"]), Scripted(["B2"]))
    assert (outcome.winner, outcome.result, outcome.reason) == ("B", "W+R", "resign")


def test_an_illegal_move_loses_and_is_named() -> None:
    outcome = contest(Scripted(["C3"]), Scripted(["C3"]))
    assert (outcome.winner, outcome.result, outcome.reason) == ("A", "B+F", "illegal")
    assert "C3" in outcome.detail


def test_a_draw_has_no_winner() -> None:
    even = Conditions(size=5, komi=0, opening=0)
    outcome = contest(Scripted([]), Scripted([]), conditions=even)
    assert (outcome.winner, outcome.result) == (None, "Draw")


@pytest.mark.parametrize(
    ("script", "komi", "ending", "winner", "score"),
    [(["C3"], 0.5, "count", BLACK, 24.5), ([], 0.5, "count", WHITE, -0.5), ([], 0, "draw", 2, 0)],
)
def test_a_record_says_how_its_game_ended(
    script: list[str], komi: float, ending: str, winner: int, score: float
) -> None:
    conditions = changed(komi=komi, dead_stones="none")
    played = MatchGame(conditions, game(0), {"A": Scripted(script), "B": Scripted([])})
    played.play()
    found = played.record("x")
    assert (found.ending, found.winner, found.score, found.source) == (ending, winner, score, "x")


def test_the_record_of_a_cycle_has_no_winner() -> None:
    played = timed(dead_stones="none")
    played.game = Game.from_diagram(TRIPLE_KO, "chinese")
    for point in TRIPLE_KO_CYCLE * 2:
        outcome = played.answer(Choice(played.game.point(point)), 0.0)
    assert outcome is not None and (outcome.reason, outcome.result) == ("cycle", "Void")
    found = played.record("x")
    assert (found.ending, found.winner, found.score) == ("void", None, None)


def test_a_game_of_given_turns_ends_with_them_and_is_counted_as_it_stands() -> None:
    outcome = contest(Scripted(["C3"]), Scripted(["A1"]), conditions=changed(turns=3))
    assert (outcome.moves, outcome.reason, outcome.counts) == (6, "limit", {})
    assert outcome.result == "W+0.5"  # a stone each, and every empty point touches both
    long = changed(turns=40)
    assert [contest(RandomPlayer(), RandomPlayer(), i, long).moves for i in range(3)] == [80, 80, 80]


def test_numbered_games_have_the_number_of_their_round_as_seed() -> None:
    assert [changed(numbered=True).player_seed(game(index)) for index in range(5)] == [1, 1, 2, 2, 3]
    assert len({SMALL.player_seed(game(index)) for index in range(5)}) == 5


def test_a_player_whose_clock_runs_out_loses_on_time() -> None:
    played = timed(a="2s+0", b="1s+1s")
    assert played.answer(Choice(12), 1.9) is None
    assert played.answer(Choice(7), 1.0) is None
    outcome = played.answer(Choice(8), 0.4)
    assert outcome is not None and (outcome.winner, outcome.result, outcome.reason) == ("B", "W+T", "time")
    assert outcome.detail == "A took 0.40 s for a move, more than its clock had"
    assert (outcome.moves, outcome.seconds) == (2, {"A": 2.3, "B": 1.0})


def test_the_lag_of_the_machine_is_not_charged() -> None:
    played = timed(a="1s+0", lag=0.5)
    for point in range(0, 20, 2):
        assert played.answer(Choice(point), 0.5) is None
        assert played.answer(Choice(point + 1), 99) is None, "the other one has no clock"
    clock = played.clocks[0]
    assert clock is not None and clock.main == 1 and played.clocks[1] is None


def test_each_player_gets_its_own_clock() -> None:
    class Asking(Scripted):
        def choose(self, turns: Sequence[Turn]) -> list[Reply]:
            given.append(None if turns[0].clock is None else turns[0].clock.control)
            return super().choose(turns)

    given: list[TimeControl | None] = []
    controls = {"A": TimeControl.absolute(60)}
    MatchGame(SMALL, game(0), {"A": Asking(["C3"]), "B": Asking([])}, controls).play()
    assert given == [controls["A"], None, controls["A"]]


@pytest.mark.parametrize(
    ("a", "b", "time"),
    [
        ("10m+5x30s", "10m+5x30s", {"TM": "600", "OT": "5x30 byo-yomi"}),
        ("1h+25/5m", "1h+25/5m", {"TM": "3600", "OT": "25/300 Canadian"}),
        ("5m+3s", "5m+3s", {"TM": "300", "OT": "3 fischer"}),
        ("5m+0", "5m+0", {"TM": "300"}),
        ("5m+0", "6m+0", {}),
        ("5m+0", "", {}),
        ("", "", {}),
    ],
)
def test_a_record_has_date_conditions_and_the_time_of_both_players(a: str, b: str, time: dict[str, str]) -> None:
    before, played = datetime.date.today(), timed(a, b, komi=-3.5, rules="aga")
    root = Sgf_game.from_bytes(played.sgf(played.play())).get_root()
    asked = ("TM", "OT", "KM", "RU", "AP", "RE")
    found = {name: root.get_raw(name).decode() for name in asked if root.has_property(name)}
    assert found == {"KM": "-3.5", "RU": "aga", "AP": "Tengen", "RE": "B+3.5", **time}
    assert before.isoformat() <= root.get_raw("DT").decode() <= datetime.date.today().isoformat()


def test_random_games_end() -> None:
    black = "A"
    for index in range(4):
        outcome = contest(RandomPlayer(), RandomPlayer(), index, Conditions(size=7, opening=2))
        assert outcome.opening == 2
        assert outcome.reason in ("count", "majority", "cycle", "limit")
        black = outcome.black
    assert black == "B"


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
    verdict = count(game, {"A": nobody, "B": nobody})
    assert (verdict.score, verdict.disputed) == (3.5, False)
    assert set(verdict.counts) == {"A", "B"}


def test_one_opinion_is_enough_and_playouts_replace_none() -> None:
    game = finished()
    assert count(game, {"A": None, "B": frozenset()}).counts == {"B": 3.5}
    verdict = count(game, {"A": None, "B": None})
    assert set(verdict.counts) == {"playouts"}


def test_a_score_without_dead_stones_needs_a_second_opinion() -> None:
    game = finished()
    assert count(game, {"A": 3.5, "B": frozenset()}).counts == {"A": 3.5, "B": 3.5}
    assert set(count(game, {"A": -200.0, "B": None}).counts) == {"A", "playouts"}
    verdict = count(game, {"A": -200.0, "B": frozenset()})
    assert verdict.disputed and verdict.score == verdict.counts["playouts"]


def test_playouts_decide_where_the_players_disagree() -> None:
    game = finished()
    white = frozenset(p for p in range(25) if game.board[divmod(p, 5)] == 1)
    verdict = count(game, {"A": frozenset(), "B": white})
    assert verdict.counts["A"] == 3.5 and verdict.counts["B"] == 24.5
    assert set(verdict.counts) == {"A", "B", "playouts"}
    assert not verdict.disputed, "both counts name Black"
    black = frozenset(p for p in range(25) if game.board[divmod(p, 5)] == 0)
    assert count(game, {"A": frozenset(), "B": black}).disputed


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
    verdict = count(game, {"A": points(game, *dead), "B": points(game, *dead)})
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
    verdict = count(game, {"A": frozenset(), "B": black})
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
    verdict = count(game, {"A": frozenset(), "B": six})
    assert verdict.counts == {"A": 28 - 51 - 7.5, "B": 22 - 59 - 7.5, "playouts": 28 - 51 - 7.5}
    assert verdict.score == 28 - 51 - 7.5 and not verdict.disputed


def test_the_dead_stone_that_a_player_denies_decides_who_won() -> None:
    game = Game.from_diagram(CAUGHT, "chinese", -3.5)
    verdict = count(game, {"A": frozenset(), "B": points(game, "D3")})
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
