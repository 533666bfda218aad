"""One game at a time: every way to end has a reason, and no program can spoil the match."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from tengen.arena.conditions import Conditions
from tengen.arena.contest import Contest
from tengen.arena.openings import opening
from tengen.arena.outcome import Outcome
from tengen.arena.players import Choice, Player, ProgramPlayer, RandomPlayer, RawPlayer, Strength, open_player
from tengen.arena.schedule import Fixture, fixture
from tengen.evaluators import Evaluation, UniformEvaluator
from tengen.evaluators.protocol import Floats
from tengen.game import Game

SMALL = Conditions(size=5, komi=0.5, opening=0)
HOSTILE = Path(__file__).parent / "hostile.py"
GNUGO = shutil.which("gnugo", path="/usr/games:/usr/bin:/usr/local/bin")
needs_gnugo = pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed (Debian's package gnugo)")


@dataclass
class Scripted:
    """Plays what it is told, then passes."""

    script: list[str]
    name: str = "scripted"
    stones: frozenset[int] | None = frozenset()
    weights: dict[int, float] = field(default_factory=dict)

    def begin(self, game: Game, seed: int) -> None:
        self.waiting = list(self.script)

    def choose(self, game: Game) -> Choice:
        word = self.waiting.pop(0) if self.waiting else "pass"
        return Choice(game.point("pass" if word == "resign" else word), resign=word == "resign", visits=10)

    def policy(self, game: Game) -> np.ndarray | None:
        if not self.weights:
            return None
        policy = np.zeros(game.size**2 + 1, np.float32)
        for point, weight in self.weights.items():
            policy[point] = weight
        return policy

    def dead(self, game: Game) -> frozenset[int] | None:
        return self.stones

    def close(self) -> None: ...


def contest(a: Player, b: Player, index: int = 0, conditions: Conditions = SMALL) -> Outcome:
    return Contest(conditions, game(index), {"A": a, "B": b}).play()


def game(index: int) -> Fixture:
    return fixture([("A", "B")], index)


def against(kind: str, moves: list[str], move_seconds: float = 20.0) -> Outcome:
    program = ProgramPlayer(shlex.join([sys.executable, str(HOSTILE), kind]), move_seconds)
    try:
        return contest(Scripted(moves), program)
    finally:
        program.close()


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


def test_the_opening_is_shared_by_a_pair_and_varies_between_pairs() -> None:
    conditions = Conditions(size=9, opening=4, seed=3)
    players: list[Player] = [RandomPlayer(), Scripted([])]
    openings = [opening(conditions, pair, players) for pair in range(20)]
    assert openings == [opening(conditions, pair, players) for pair in range(20)]
    assert len({tuple(moves) for moves in openings}) > 15
    rows, cols = np.divmod([p for moves in openings for p in moves], 9)
    assert min(rows.min(), cols.min()) >= 2 and max(rows.max(), cols.max()) <= 6


def test_the_opening_follows_a_policy_where_there_is_one() -> None:
    players: list[Player] = [RandomPlayer(), Scripted([], weights={12: 1.0, 7: 1.0})]
    assert set(opening(Conditions(size=5, opening=2), 0, players)) == {7, 12}


@pytest.mark.parametrize(
    ("kind", "reason", "result"),
    [
        ("dies", "died", "B+F"),
        ("stone-on-stone", "illegal", "B+F"),
        ("nonsense-move", "nonsense", "B+F"),
        ("refuses", "refused", "B+F"),
        ("resigns", "resign", "B+R"),
        ("only-9x9", "refused", "B+F"),
    ],
)
def test_a_program_that_misbehaves_loses_with_the_reason(kind: str, reason: str, result: str) -> None:
    outcome = against(kind, ["A1", "B2", "C3", "D4", "E5"])
    assert (outcome.winner, outcome.reason, outcome.result) == ("A", reason, result)
    if kind == "dies":
        assert outcome.last_words == ("out of memory, goodbye",)


def test_a_program_that_hangs_loses_on_time() -> None:
    outcome = against("hangs", ["A1", "B2", "C3", "D4"], move_seconds=0.3)
    assert (outcome.winner, outcome.reason, outcome.result) == ("A", "timeout", "B+T")


def test_a_program_that_cannot_name_dead_stones_leaves_the_count_to_the_other() -> None:
    outcome = against("polite", ["C3"])
    assert (outcome.reason, outcome.counts) == ("count", {"A": 24.5})


def test_a_game_of_given_turns_ends_with_them_and_is_counted_as_it_stands() -> None:
    outcome = contest(Scripted(["C3"]), Scripted(["A1"]), conditions=replace(SMALL, turns=3))
    assert (outcome.moves, outcome.reason, outcome.counts) == (6, "limit", {})
    assert outcome.result == "W+0.5"  # a stone each, and every empty point touches both
    long = replace(SMALL, turns=40)
    assert [contest(RandomPlayer(), RandomPlayer(), i, long).moves for i in range(3)] == [80, 80, 80]


def test_numbered_games_tell_the_players_the_number_of_their_pair() -> None:
    assert [replace(SMALL, numbered=True).player_seed(game(index)) for index in range(5)] == [1, 1, 2, 2, 3]
    assert len({SMALL.player_seed(game(index)) for index in range(5)}) == 5


class Fixed(UniformEvaluator):
    """Nine tenths for pass, the rest for points by their number: the last point of the board has most."""

    def evaluate(self, planes: Floats, scalars: Floats, mask: Floats) -> Evaluation:
        found = super().evaluate(planes, scalars, mask)
        weights = np.arange(1, found.policy.shape[1])
        found.policy[:] = np.append(weights / weights.sum() / 10, 0.9)
        return found


def test_a_raw_policy_draws_its_first_move_and_then_plays_the_likeliest() -> None:
    player = RawPlayer(Fixed())
    begun: Counter[int] = Counter()
    for seed in range(300):
        player.begin(Game(5), seed)
        begun[player.choose(Game(5)).point] += 1
    # Point i has weight i + 1 of 325: expected 300 * 205 / 325 = 189 in the lower two fifths of the weights' order.
    assert 25 not in begun and 165 < sum(begun[point] for point in range(15, 25)) < 225
    assert player.choose(Game(5)).point == 24
    assert player.choose(Game(5).play(24)).point == 23
    player.begin(Game(5), 7)
    first = player.choose(Game(5)).point
    player.begin(Game(5), 7)
    assert player.choose(Game(5)).point == first


def test_a_raw_policy_passes_only_where_no_point_is_legal() -> None:
    full = Game.from_diagram("OOOOO/O.OOO/OOOOO/OOO.O/OOOOO".replace("/", "\n"))
    assert RawPlayer(Fixed()).choose(full).point == 25


def test_a_network_under_symmetries_plays_by_the_seed_of_the_game() -> None:
    conditions = Conditions(size=7, komi=9, opening=0)
    player = open_player("policy:default", Strength(symmetries=True), 10)
    games = []
    for index in (0, 2, 4, 6, 0):
        contest = Contest(replace(conditions, turns=8), game(index), {"A": player, "B": player})
        contest.play()
        games.append(tuple(contest.game.moves))
    assert games[0] == games[4] and len(set(games)) > 1


def test_random_games_end() -> None:
    black = "A"
    for index in range(4):
        outcome = contest(RandomPlayer(), RandomPlayer(), index, Conditions(size=7, opening=2))
        assert outcome.reason in ("count", "sure", "cycle", "limit")
        black = outcome.black
    assert black == "B"


@needs_gnugo
def test_gnugo_beats_random_moves_and_agrees_with_the_count() -> None:
    program = ProgramPlayer("gnugo --mode gtp --level 1 --chinese-rules", 60)
    try:
        assert program.name == "GNU Go level 1"
        outcomes = [contest(RandomPlayer(), program, index, Conditions(size=7, opening=0)) for index in range(2)]
    finally:
        program.close()
    assert [outcome.winner for outcome in outcomes] == ["B", "B"]
