"""Games of a self-play run by the workers of a Ray cluster.

The run folder stays with the process that leads the run. A game depends on recipe, cycle, number, network and earlier
games alone, so any number of workers on processors of one kind plays the same games.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path

from tengen.cluster import Cluster
from tengen.evaluators.evaluator import Evaluator
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.conditions import CycleConditions
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.play import CyclePlayer, PlayedGames, open_evaluators, play_games
from tengen.selfplay.transport import Transport, number_of


class ClusterPlayer(CyclePlayer):
    """Plays cycles by the workers of a cluster. No other process shares the work."""

    def __init__(self, config: SelfPlayConfig, transport: Transport, stop: ShutdownFlag, cluster: Cluster) -> None:
        super().__init__(config, transport, stop)
        self._cluster = cluster

    def played(
        self, cycle: int, conditions: CycleConditions, network: Path, numbers: Iterable[int]
    ) -> Generator[PlayedGames, None, None]:
        threads = {"workers": self.config.workers or max(1, int(self.config.cluster.cpus))}
        work = SelfPlayWork(self.config.model_copy(update=threads), cycle, conditions, network.read_bytes())
        # A quarter more than play at once, so that a game that ends is followed before the news reach this process.
        ahead = self.config.games_at_once * 5 // 4 + 1
        for new, (records, more) in self._cluster.run(work, list(numbers), ahead, self.stop.event.is_set):
            yield [record for record in records if number_of(record) in new], more


class SelfPlayWork:
    """Plays the games of a cycle by their numbers: the `Work` of self-play."""

    def __init__(self, config: SelfPlayConfig, cycle: int, conditions: CycleConditions, network: bytes) -> None:
        self._config = config
        self._cycle = cycle
        self._conditions = conditions
        self._network = network
        self._evaluators: list[Evaluator] | None = None

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], PlayedGames]]:
        """The games with these numbers, as they finish."""
        if self._evaluators is None:
            self._folder = tempfile.TemporaryDirectory(prefix="tengen-")
            path = Path(self._folder.name) / "network.onnx"
            path.write_bytes(self._network)
            self._evaluators = open_evaluators(self._config, path)
        for records, evaluations in play_games(
            self._config, self._cycle, self._conditions, self._evaluators, items, stop
        ):
            yield [number_of(record) for record in records], (records, evaluations)

    def close(self) -> None:
        if self._evaluators is not None:
            self._evaluators = None
            self._folder.cleanup()
