"""One game: every way to end has its reason, clocks are charged, and the record says what was played."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from known_positions import TRIPLE_KO, TRIPLE_KO_CYCLE
from sgfmill.sgf import Sgf_game

from tengen.engine.clock import TimeControl
from tengen.game import BLACK, WHITE, Game
from tengen.match.conditions import Conditions
from tengen.match.game import MatchGame
from tengen.match.openings import Drawn, GamePair
from tengen.match.outcome import Outcome
from tengen.match.player import Choice, Player, Probabilities, Reply, Turn
from tengen.match.players import RandomPlayer
from tengen.match.schedule import Fixture, fixture
from tengen.sgf import read_game

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


@pytest.mark.parametrize(
    ("rules", "result", "counts"),
    [("chinese", "B+24.5", {"A": 24.5, "B": 24.5}), ("tromp-taylor", "W+0.5", {})],
)
def test_the_board_counts_as_it_stands_where_the_rules_have_no_agreement(
    rules: str, result: str, counts: dict[str, float]
) -> None:
    """Both call White's stone dead; under the literal rules it stands, and every empty point touches both colors."""
    dead = frozenset({SMALL.new_game().point("E5")})
    black, white = Scripted(["C3"], stones=dead), Scripted(["E5"], stones=dead)
    outcome = contest(black, white, conditions=changed(rules=rules))
    assert (outcome.result, outcome.reason, outcome.counts) == (result, "count", counts)


def test_colors_change_with_every_game() -> None:
    outcome = contest(Scripted([]), Scripted(["C3"]), index=1)
    assert (outcome.black, outcome.white, outcome.winner, outcome.result) == ("B", "A", "B", "B+24.5")


@pytest.mark.parametrize(
    ("rules", "score"), [("chinese", 25 - 2), ("aga", 25 - 1), ("japanese", 25 - 2), ("tromp-taylor", 25)]
)
def test_a_handicap_game_is_counted_with_the_bonus_of_its_rules(rules: str, score: float) -> None:
    """Black alone has stones: every point by area, those without a stone by territory."""
    conditions = changed(handicap=2, rules=rules)
    played = MatchGame(conditions, game(1), {"A": Scripted([]), "B": Scripted([])})
    outcome = played.play()
    assert (outcome.score, outcome.black, outcome.winner, outcome.moves) == (score - 0.5, "B", "B", 2)
    sgf = played.sgf(outcome)
    root = Sgf_game.from_bytes(sgf).get_root()
    assert {name: root.get(name) for name in ("HA", "KM")} == {"HA": 2, "KM": 0.5}
    read, info = read_game(sgf)
    assert (read.setup_stones, read.first_to_play) == (conditions.new_game().setup_stones, WHITE)
    assert (read.score(), info.result.score) == (outcome.score, outcome.score)
    assert played.record("x").game().setup_stones == read.setup_stones
    assert (played.record("x").handicap, played.record("x").game().moves) == (2, read.moves)


def test_colors_change_in_a_handicap_game_too() -> None:
    for index, black in ((0, "A"), (1, "B")):
        played = MatchGame(changed(handicap=2), game(index), {"A": Scripted([]), "B": Scripted([])})
        assert (played.names[BLACK], played.game.handicap, played.game.to_play) == (black, 2, WHITE)


def test_the_end_that_pass_alive_area_decides_knows_the_bonus_of_a_handicap() -> None:
    alive = ["A2", "B2", "C2", "D2", "E2", "A4", "B4", "C4", "D4", "E4"]
    for komi, margin in ((14.5, 0.5), (15.5, -0.5)):
        assert Game(5, "chinese", komi).setup(alive, to_play=WHITE).sure_margin() == margin


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
