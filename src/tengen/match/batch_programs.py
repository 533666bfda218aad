"""Games of a network against a GTP program: our side moves in all games at once, several copies of the program think.

The referee is the arena's. Our side is batched as in a duel; the program's copies are told and asked in a few threads,
which only wait, so that as many of them compute at a time.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np

from tengen.engine.clock import Clock
from tengen.engine.count import Counter
from tengen.errors import TengenError
from tengen.evaluators.evaluator import Evaluator
from tengen.game import Game
from tengen.match.batch_player import Player, RawPolicies, Searches
from tengen.match.conditions import Conditions
from tengen.match.game import Contest
from tengen.match.outcome import FAILURES, Outcome
from tengen.match.player import Choice, Probabilities
from tengen.match.player import Player as Seated
from tengen.match.program_player import ProgramPlayer
from tengen.match.schedule import fixture
from tengen.match.spec import PlayerSpec
from tengen.match.summary import tally
from tengen.rules import Rules

NETWORK, PROGRAM = "network", "program"
"""The names of the players in outcomes."""

_COPIES = 8  # of the program, a game each
_SEARCH = 2  # what the seeds are for


@dataclass(frozen=True)
class ProgramGames:
    """The games in their order, between `NETWORK` and `PROGRAM`. `trouble` says in words why some of them are missing.

    `distinct` counts the different ones.
    """

    outcomes: list[Outcome]
    distinct: int
    trouble: str = ""
    seconds: float = 0.0


def program_rules(rules: str) -> str:
    """The rules of a game against a program, for a run of these rules.

    Area scoring becomes `chinese`, under which the players agree on dead stones: Tromp and Taylor's rules would count
    against every program that passes, as all do, before it has captured them.
    """
    return "chinese" if Rules.parse(rules).scoring == "area" else rules


def play_program(
    player: Player,
    command: str,
    conditions: Conditions,
    games: int,
    *,
    copies: int = _COPIES,
    thinking: int = 2,
    move_seconds: float = 60.0,
    threads: int = 1,
) -> ProgramGames:
    """Play `games` against the program of this command line, of which the network is Black in every other one.

    Up to `copies` of the program are started, of which `thinking` compute at a time. Openings are drawn from the
    network's policy. A program that dies, hangs or talks nonsense loses that game with the reason (`FAILURES`), and is
    started anew; when it cannot be, the games that are left are not played. With a program that plays alike for a seed
    the games are a function of the arguments. Raises TengenError when the program is not there or refuses the
    conditions.
    """
    started = time.perf_counter()
    with ExitStack() as stack:
        crew = stack.enter_context(ThreadPoolExecutor(max(1, thinking)))
        hall = _Hall(player, command, conditions, range(games), move_seconds, threads)
        stack.callback(hall.close)
        hall.open(min(copies, games))
        while hall.seat(crew):
            hall.move(crew)
        outcomes = [hall.outcomes[index] for index in sorted(hall.outcomes)]
    return ProgramGames(outcomes, len(hall.lines), hall.trouble, time.perf_counter() - started)


class Network:
    """A network in the chair of a match: it opens games and counts them; its moves come from outside, in batches."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.name = evaluator.name
        self._evaluator = evaluator
        self._counter = Counter(evaluator)

    def begin(self, game: Game, seed: int) -> None:
        pass

    def choose(self, game: Game, clock: Clock | None = None) -> Choice:
        raise RuntimeError("the moves of a batch come from its searches")

    def policy(self, game: Game) -> Probabilities:
        """Of an opening move: nobody passes there."""
        policy: Probabilities = self._evaluator.evaluate([game]).policy[0]
        policy[-1] = 0
        legal = np.array(game.legal_points())
        if not policy[legal].any():
            policy[legal] = 1
        return policy

    def dead(self, game: Game) -> frozenset[int]:
        return frozenset(self._counter.count(game).dead)

    def score(self, game: Game) -> None:
        return None

    def close(self) -> None:
        pass


@dataclass
class _Hall:
    """Tables with a game each, until all games of these numbers are played."""

    player: Player
    command: str
    conditions: Conditions
    numbers: range
    move_seconds: float
    threads: int
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    lines: set[tuple[tuple[int, int], ...]] = field(default_factory=set)
    trouble: str = ""

    def __post_init__(self) -> None:
        self._waiting = deque(self.numbers)
        self._network = Network(self.player.evaluator)
        self._free: list[ProgramPlayer] = []
        self._playing: list[Contest] = []
        seeds = np.random.default_rng([self.conditions.seed, _SEARCH]).integers(0, 1 << 62, len(self.numbers))
        self._ours: RawPolicies | Searches
        if self.player.visits > 1:
            self._ours = Searches(self.player, seeds.tolist(), self.threads)
        else:
            plies = self.conditions.longest if self.player.temperature > 0 else 0
            random = np.random.default_rng([self.conditions.seed, _SEARCH]).random((len(self.numbers), plies))
            self._ours = RawPolicies(self.player, random)

    def open(self, copies: int) -> None:
        """Start the program so many times, and see that it takes the conditions."""
        for _ in range(copies):
            self._free.append(self._start())
        self._free[0].begin(self.conditions.new_game(), seed=0)

    def close(self) -> None:
        for program in [*self._free, *(_program(contest) for contest in self._playing)]:
            program.close()

    def seat(self, crew: ThreadPoolExecutor) -> bool:
        """Begin games at all free copies; whether any is left to play."""
        new = []
        while self._free and self._waiting:
            players: dict[str, Seated] = {NETWORK: self._network, PROGRAM: self._free.pop()}
            game = fixture([(NETWORK, PROGRAM)], self._waiting.popleft())
            new.append(Contest(self.conditions, game, players))
        self._playing += new
        for contest, outcome in zip(new, crew.map(Contest.begin, new), strict=True):
            self._settle(contest, outcome or contest.ended())
        return bool(self._playing or (self._free and self._waiting))

    def move(self, crew: ThreadPoolExecutor) -> None:
        """A move in every game."""
        theirs = [contest for contest in self._playing if contest.to_move == PROGRAM]
        mine = [contest for contest in self._playing if contest.to_move == NETWORK]
        answers = crew.map(_turn, theirs)
        begun = time.perf_counter()
        if mine:
            points = self._ours.moves([c.game for c in mine], [c.fixture.index for c in mine])
            each = (time.perf_counter() - begun) / len(mine)
            visits = self.player.visits if self.player.visits > 1 else 0
            for contest, point in zip(mine, points, strict=True):
                self._settle(contest, contest.answer(Choice(point, visits=visits), each) or contest.ended())
        for contest, outcome in zip(theirs, list(answers), strict=True):
            self._settle(contest, outcome)

    def _settle(self, contest: Contest, outcome: Outcome | None) -> None:
        """Clear the table of a game that ended; a program that failed there is started anew."""
        if outcome is None:
            return
        self.outcomes[outcome.index] = outcome
        self.lines.add(tuple(contest.game.moves))
        self._playing.remove(contest)
        program = _program(contest)
        if outcome.reason not in FAILURES:
            self._free.append(program)
            return
        program.close()
        try:
            self._free.append(self._start())
        except TengenError as error:
            self.trouble = f"{error}; it could not be started again"

    def _start(self) -> ProgramPlayer:
        return ProgramPlayer(PlayerSpec(player=f"gtp:{self.command}", move_seconds=self.move_seconds))


def _turn(contest: Contest) -> Outcome | None:
    return contest.turn() or contest.ended()


def _program(contest: Contest) -> ProgramPlayer:
    player = contest.players[PROGRAM]
    assert isinstance(player, ProgramPlayer)
    return player


def points(outcomes: Sequence[Outcome], black: bool) -> tuple[int, int, int]:
    """The network's wins, draws and losses with one colour, without the games in which the program
    failed (`FAILURES`), which say nothing about strength."""
    fair = [o for o in outcomes if o.reason not in FAILURES and (o.black == NETWORK) == black]
    found = tally(fair, NETWORK)
    return found.wins, found.draws, found.losses


def failures(outcomes: Sequence[Outcome]) -> str:
    """The games in which the program failed, in words; empty if none."""
    broken = [o for o in outcomes if o.reason in FAILURES]
    if not broken:
        return ""
    words = f" ({broken[0].last_words[-1]})" if broken[0].last_words else ""
    return f"{len(broken)} of {len(outcomes)} games do not count, the program failed: {broken[0].detail}{words}"
