"""The games of one cycle: what they follow from, and playing those that are missing."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tengen.data.record import GameRecord
from tengen.data.store import Store
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.machine import core_count
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.config import ZeroConfig
from tengen.selfplay.folder import RunFolder
from tengen.selfplay.generate import Generator
from tengen.selfplay.high_surprise import hard_starts
from tengen.selfplay.komi import fair_komi
from tengen.selfplay.pending import Claims, PendingGames
from tengen.selfplay.plan import GamePlan, Start, make_plan
from tengen.selfplay.record import to_record
from tengen.selfplay.resign import threshold

RECENT = 4
"""Cycles whose games say what komi is fair, when to resign and which positions are hard."""
_POLL_SECONDS = 0.5
_LARGEST_BATCH = 128

Progress = Callable[[int, int, int, int], None]
"""Called with (cycle, games done, games of the cycle, evaluations so far)."""


@dataclass(frozen=True)
class Effort:
    """What this process did for a cycle: games that it finished, positions that it evaluated for them."""

    games: int = 0
    evaluations: int = 0

    def __add__(self, other: Effort) -> Effort:
        return Effort(self.games + other.games, self.evaluations + other.evaluations)


@dataclass(frozen=True)
class Terms:
    """What the games of a cycle follow from, beside the recipe: all of it from the games of the cycles before."""

    fair_komi: dict[int, float]
    resign_winrate: float = 0.0
    starts: list[Start] = field(default_factory=list)

    @classmethod
    def of(cls, config: ZeroConfig, recent: list[GameRecord], cycle: int) -> Terms:
        """From the games of the last RECENT cycles before `cycle`."""
        now, sizes = config.at(cycle), config.game.sizes
        komi = {size: fair_komi((game for game in recent if game.size == size), now.game.komi) for size in sizes}
        resign = config.resign
        winrate = 0.0
        if resign is not None and cycle >= resign.after:
            winrate = threshold((game for game in recent if was_played_out(config, game.source)), resign)
        return cls(komi, winrate, hard_starts(recent) if now.opening.hard else [])


def was_played_out(config: ZeroConfig, source: str) -> bool:
    """Whether nobody was allowed to resign the game of this source, whatever the threshold of its time."""
    cycle, _, index = source.partition("/")
    if config.resign is None or int(cycle) < config.resign.after:
        return True
    return not make_plan(config, int(cycle), int(index), resigns=True).may_resign


class RecentGames:
    """The games of the RECENT cycles before a cycle, read from the store where this process has not played them."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._games: dict[int, list[GameRecord]] = {}

    def add(self, cycle: int, games: list[GameRecord]) -> None:
        """All games of a cycle, in their order."""
        self._games[cycle] = games

    def of(self, cycle: int) -> list[GameRecord]:
        """The games of one cycle, in their order."""
        known = self._games.get(cycle)
        if known is not None:
            return known
        shard = Store.open(self._folder.games).shards[cycle]
        return [shard.row(i) for i in range(len(shard))]

    def before(self, cycle: int) -> list[GameRecord]:
        wanted = range(max(0, cycle - RECENT), cycle)
        self._games = {known: games for known, games in self._games.items() if known in wanted}
        self._games |= {earlier: self.of(earlier) for earlier in wanted}
        return [game for earlier in wanted for game in self._games[earlier]]


class CyclePlayer:
    """Plays cycles of a run, alone or beside other processes that do the same."""

    def __init__(self, config: ZeroConfig, folder: RunFolder, stop: ShutdownFlag) -> None:
        self.config = config
        self.folder = folder
        self.stop = stop

    def play(self, cycle: int, terms: Terms, pending: PendingGames, progress: Progress) -> Effort:
        """Play until `pending` holds all games of the cycle; return what of it was done here.

        Raises KeyboardInterrupt on a wish to stop, when the finished games are safe.
        """
        pending.begin()
        effort = Effort()
        while len(pending.games()) < self.config.games_per_cycle:
            effort += (done := self.help(cycle, terms, pending, progress))
            if not done.games:  # others still play
                time.sleep(_POLL_SECONDS)
        return effort

    def help(self, cycle: int, terms: Terms, pending: PendingGames, progress: Progress) -> Effort:
        """Play what nobody has played or is playing; return what was done."""
        total = self.config.games_per_cycle
        claims = Claims(pending, total)
        config = self.config.at(cycle)
        plans = (_plan(config, cycle, number, terms) for number in claims)
        try:
            first = next(plans, None)
            if first is None:
                return Effort()
            done = before = len(pending.games())
            generator = Generator(config, self._evaluators(cycle), terms.resign_winrate)
            progress(cycle, done, total, 0)
            for finished in generator.play(itertools.chain([first], plans), self.stop.event):
                pending.add([to_record(game, _plan(config, cycle, game.index, terms)) for game in finished])
                done += len(finished)
                progress(cycle, done, total, generator.evaluations)
            pending.flush()
            self.stop.check()
            return Effort(done - before, generator.evaluations)
        finally:
            pending.flush()
            claims.release()

    def _evaluators(self, cycle: int) -> list[Evaluator]:
        workers = self.config.workers or core_count()
        path = self.folder.network(self.config.playing_network(cycle))
        number = min(workers, self.config.games_at_once)
        shared = OpenVinoEvaluator(path, threads=number, streams=number, max_batch=_LARGEST_BATCH, remember=False)
        return [shared] * number


def _plan(config: ZeroConfig, cycle: int, number: int, terms: Terms) -> GamePlan:
    return make_plan(
        config,
        cycle,
        number,
        fair_komi=terms.fair_komi,
        starts=terms.starts,
        resigns=terms.resign_winrate > 0,
    )
