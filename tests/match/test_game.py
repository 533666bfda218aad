"""One game at a time: every way to end has a reason, and no program can spoil the match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tengen.engine.clock import TimeControl
from tengen.game import Game
from tengen.match.game import Conditions, MatchGame, Outcome
from tengen.match.openings import Drawn, Pair
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
    opening = Drawn(conditions).moves([Pair(game(index).round, (a, b))])[0]
    return MatchGame(conditions, game(index), {"A": a, "B": b}).play(opening)


def game(index: int) -> Fixture:
    return fixture([("A", "B")], index)


def changed(**fields: Any) -> Conditions:
    return SMALL.model_copy(update=fields)


def timed(a: str = "", b: str = "", lag: float = 0.1) -> MatchGame:
    """A game of players with these clocks, if any."""
    controls = {name: TimeControl.parse(word) for name, word in (("A", a), ("B", b)) if word}
    return MatchGame(changed(lag=lag), game(0), {"A": Scripted([]), "B": Scripted([])}, controls)


def test_two_passes_are_counted() -> None:
    outcome = contest(Scripted(["C3"]), Scripted([]))
    assert (outcome.winner, outcome.result, outcome.reason, outcome.moves) == ("A", "B+24.5", "count", 3)
    assert outcome.counts == {"A": 24.5, "B": 24.5}
    assert outcome.visits == {"A": 10.0, "B": 10.0}


def test_colours_change_with_every_game() -> None:
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


def test_a_game_of_given_turns_ends_with_them_and_is_counted_as_it_stands() -> None:
    outcome = contest(Scripted(["C3"]), Scripted(["A1"]), conditions=changed(turns=3))
    assert (outcome.moves, outcome.reason, outcome.counts) == (6, "limit", {})
    assert outcome.result == "W+0.5"  # a stone each, and every empty point touches both
    long = changed(turns=40)
    assert [contest(RandomPlayer(), RandomPlayer(), i, long).moves for i in range(3)] == [80, 80, 80]


def test_numbered_games_tell_the_players_the_number_of_their_pair() -> None:
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


def test_each_player_is_told_its_own_clock() -> None:
    class Asking(Scripted):
        def choose(self, turns: Sequence[Turn]) -> list[Reply]:
            told.append(None if turns[0].clock is None else turns[0].clock.control)
            return super().choose(turns)

    told: list[TimeControl | None] = []
    controls = {"A": TimeControl.absolute(60)}
    MatchGame(SMALL, game(0), {"A": Asking(["C3"]), "B": Asking([])}, controls).play()
    assert told == [controls["A"], None, controls["A"]]


def test_random_games_end() -> None:
    black = "A"
    for index in range(4):
        outcome = contest(RandomPlayer(), RandomPlayer(), index, Conditions(size=7, opening=2))
        assert outcome.reason in ("count", "sure", "cycle", "limit")
        black = outcome.black
    assert black == "B"
