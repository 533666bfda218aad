"""Plays the missing games of a cycle, alone or together with other processes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass

from tengen.data.record import GameRecord
from tengen.evaluators.devices import fastest_device, open_device
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.machine import Device, core_count
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.conditions import RECENT, CycleConditions
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.generate import Generator, to_record
from tengen.selfplay.plan import GamePlan, make_plan
from tengen.selfplay.transport import Transport

_POLL_SECONDS = 0.5
_MAX_BATCH = 128

ProgressCallback = Callable[[int, int, int, int], None]
"""Called with (cycle, games done, games of the cycle, evaluations so far)."""


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
        while len(games.games()) < self.config.games_per_cycle:
            stats += (done := self.help(cycle, conditions, progress))
            if not done.games:  # other processes still play
                time.sleep(_POLL_SECONDS)
        return stats

    def help(self, cycle: int, conditions: CycleConditions, progress: ProgressCallback) -> GenerationStats:
        """Play the games that nobody has played or claimed."""
        games, total = self.transport.cycle_games(cycle), self.config.games_per_cycle
        config, claim = self.config.at(cycle), games.claim(total)
        plans = (_plan(config, cycle, number, conditions) for number in claim)
        try:
            first = next(plans, None)
            if first is None:
                return GenerationStats()
            done = before = len(games.games())
            generator = Generator(config, self._evaluators(cycle), conditions.resign_winrate)
            progress(cycle, done, total, 0)
            for finished in generator.play(itertools.chain([first], plans), self.stop.event):
                games.add([to_record(game, _plan(config, cycle, game.index, conditions)) for game in finished])
                done += len(finished)
                progress(cycle, done, total, generator.evaluations)
            games.flush()
            self.stop.check()
            return GenerationStats(done - before, generator.evaluations)
        finally:
            games.flush()
            claim.release()

    def _evaluators(self, cycle: int) -> list[Evaluator]:
        number = self.config.playing_network(cycle)
        path = self.transport.network(number)
        if path is None:
            raise FileNotFoundError(f"network {number} of the run does not exist yet")
        workers = min(self.config.workers or core_count(), self.config.games_at_once)
        device: Device = self.config.device
        if device == "auto":
            device, _ = fastest_device(path, _MAX_BATCH, workers)
        if device != "cpu":
            return [open_device(path, device, threads=workers, remember=False, max_batch=_MAX_BATCH)] * workers
        # A stream a worker, and no rule that depends on the machine: games repeat bit for bit.
        shared = OpenVinoEvaluator(
            path, threads=workers, streams=workers, max_batch=_MAX_BATCH, remember=False, winograd=False
        )
        return [shared] * workers


def _plan(config: SelfPlayConfig, cycle: int, number: int, conditions: CycleConditions) -> GamePlan:
    return make_plan(
        config,
        cycle,
        number,
        fair_komi=conditions.fair_komi,
        starts=conditions.starts,
        resigns=conditions.resign_winrate > 0,
    )
