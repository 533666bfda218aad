"""Plays the missing games of a cycle, alone or together with other processes."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Container, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tengen.data.record import GameRecord
from tengen.evaluators.device_rates import fastest_device
from tengen.evaluators.devices import EvaluatorOptions, open_device
from tengen.evaluators.evaluator import Evaluator
from tengen.machine import Device
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.conditions import RECENT, CycleConditions
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.generate import GameGenerator, playing_threads, to_record
from tengen.selfplay.plan import GamePlan, make_plan
from tengen.selfplay.transport import BLOCK, Transport

_logger = logging.getLogger(__name__)
_POLL_SECONDS = 0.5
_LONG = 120.0  # seconds without a game of other processes, after which a warning says which are missing
_MAX_BATCH = 128

ProgressCallback = Callable[[int, int, int, int], None]
"""Called with (cycle, games done, games of the cycle, evaluations so far)."""


PlayedGames: TypeAlias = tuple[list[GameRecord], int]
"""Finished games, and the evaluations since the ones before."""


@dataclass(frozen=True)
class GenerationStats:
    """What this process did for a cycle: games that it finished, positions that it evaluated for them."""

    games: int = 0
    evaluations: int = 0

    def __add__(self, other: GenerationStats) -> GenerationStats:
        return GenerationStats(self.games + other.games, self.evaluations + other.evaluations)


class RecentGames:
    """The games of the RECENT cycles before a cycle, read from the store where this process has not played them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._games: dict[int, list[GameRecord]] = {}

    def add(self, cycle: int, games: list[GameRecord]) -> None:
        """All games of a cycle, by number."""
        self._games[cycle] = games

    def of(self, cycle: int) -> list[GameRecord]:
        """The games of one cycle, by number."""
        known = self._games.get(cycle)
        return self._transport.stored_games(cycle) if known is None else known

    def before(self, cycle: int) -> list[GameRecord]:
        wanted = range(max(0, cycle - RECENT), cycle)
        self._games = {known: games for known, games in self._games.items() if known in wanted}
        self._games |= {earlier: self.of(earlier) for earlier in wanted}
        return [game for earlier in wanted for game in self._games[earlier]]


class CyclePlayer:
    """Plays cycles of a run; other processes with the same transport share the work."""

    def __init__(self, config: SelfPlayConfig, transport: Transport, stop: ShutdownFlag) -> None:
        self.config = config
        self.transport = transport
        self.stop = stop

    def play(self, cycle: int, conditions: CycleConditions, progress: ProgressCallback) -> GenerationStats:
        """Play until all games of the cycle are finished, and return what this process did.

        Raises KeyboardInterrupt on a requested shutdown, after the finished games are safe.
        """
        games, stats = self.transport.cycle_games(cycle), GenerationStats()
        games.begin()
        known, since, warned = -1, 0.0, False
        while len(there := games.numbers()) < self.config.games_per_cycle:
            self.stop.check()
            stats += (done := self.help(cycle, conditions, progress))
            if done.games or len(there) > known:
                known, since = len(there), time.monotonic()
            elif not warned and time.monotonic() - since > _LONG:
                warned = True
                _logger.warning("%s", _waits(cycle, there, self.config.games_per_cycle))
            if not done.games:  # other processes still play
                time.sleep(_POLL_SECONDS)
        return stats

    def help(self, cycle: int, conditions: CycleConditions, progress: ProgressCallback) -> GenerationStats:
        """Play the games that nobody has played or claimed."""
        games, total = self.transport.cycle_games(cycle), self.config.games_per_cycle
        claim = games.claim(total)
        numbers = iter(claim)
        try:
            first = next(numbers, None)
            if first is None:
                return GenerationStats()
            done = before = len(games.numbers())
            evaluations = 0
            progress(cycle, done, total, 0)
            network = self.network(cycle)
            with closing(self.played(cycle, conditions, network, itertools.chain([first], numbers))) as batches:
                for records, more in batches:
                    games.add(records)
                    done += len(records)
                    evaluations += more
                    progress(cycle, done, total, evaluations)
            games.flush()
            self.stop.check()
            return GenerationStats(done - before, evaluations)
        finally:
            games.flush()
            claim.release()

    def network(self, cycle: int) -> Path:
        """The file of the network that plays in a cycle. Raises FileNotFoundError where it does not exist yet."""
        number = self.config.playing_network(cycle)
        path = self.transport.network(number)
        if path is None:
            raise FileNotFoundError(f"network {number} of the run does not exist yet")
        return path

    def played(
        self, cycle: int, conditions: CycleConditions, network: Path, numbers: Iterable[int]
    ) -> Generator[PlayedGames, None, None]:
        """Play the games of these numbers until all are finished or a shutdown is requested."""
        evaluators = open_evaluators(self.config, network)
        yield from play_games(self.config, cycle, conditions, evaluators, numbers, self.stop.event)


def _waits(cycle: int, there: Container[int], total: int) -> str:
    """What to do where other processes have claimed the missing games and finish none."""
    missing = [number for number in range(total) if number not in there]
    blocks = ", ".join(map(str, sorted({number // BLOCK for number in missing})))
    return (
        f"no new game of cycle {cycle} for {_LONG:.0f} s: another process has claimed the missing {len(missing)} games "
        f"(locked blocks of {BLOCK}: {blocks}). If it was stopped or hangs, continue or end it; games of a process "
        "that has ended are played here"
    )


def play_games(
    config: SelfPlayConfig,
    cycle: int,
    conditions: CycleConditions,
    evaluators: Sequence[Evaluator],
    numbers: Iterable[int],
    stop: threading.Event | None = None,
) -> Generator[PlayedGames, None, None]:
    """Play the games of a cycle with these numbers on this machine, and give them as they finish.

    Numbers that `numbers` has after it has ended are played too, while games are under way. After `stop` no more games
    come.
    """
    now = config.at(cycle)
    pool = GameGenerator(now, evaluators, conditions.resign_winrate)
    plans = map(lambda number: _plan(now, cycle, number, conditions), numbers)  # a generator would end for good
    before = 0
    for finished in pool.play(plans, stop):
        total = pool.evaluations
        yield [to_record(game, _plan(now, cycle, game.index, conditions)) for game in finished], total - before
        before = total


def open_evaluators(config: SelfPlayConfig, network: Path) -> list[Evaluator]:
    """The evaluators of this network that a generator needs, by the recipe."""
    workers = playing_threads(config)
    # A stream a worker, and no rule that depends on the machine: games repeat bit for bit.
    options = EvaluatorOptions(threads=workers, streams=workers, max_batch=_MAX_BATCH, remember=False, native=False)
    device: Device = config.device
    if device == "auto":
        device, _ = fastest_device(network, _MAX_BATCH, **options)
    return [open_device(network, device, **options)] * workers


def _plan(config: SelfPlayConfig, cycle: int, number: int, conditions: CycleConditions) -> GamePlan:
    return make_plan(
        config,
        cycle,
        number,
        fair_komi=conditions.fair_komi,
        starts=conditions.starts,
        resigns=conditions.resign_winrate > 0,
    )
