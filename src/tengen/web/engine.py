"""The engine of a page: a search thread for each page, and one network for all of them."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from tengen.engine import Count, Engine, Limits, SearchQueue, SearchResult, Style
from tengen.engine.params import SearchParams, playout_params
from tengen.evaluators.evaluation import Evaluation
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.network_file import default_by_size, find_network, read_card
from tengen.game import Game
from tengen.machine import Device, core_count

T = TypeVar("T")

PROGRESS_SECONDS = 0.2
NO_NETWORK = ("none", "uniform")
PLAYOUTS_PER_VISIT = 25  # without a network
CACHED_POSITIONS = 20_000  # about 60 MB on 19x19; all pages share them


class PageEngine(Protocol):
    """The part of `tengen.engine.Engine` that a page uses."""

    style: Style  # how the next search plays; may be changed between searches

    def forget(self) -> None: ...

    def set_position(self, game: Game) -> None: ...

    def think(
        self,
        limits: Limits,
        on_progress: Callable[[SearchResult], None] | None = None,
        *,
        until: Callable[[], bool] | None = None,
        every: float = 0.25,
    ) -> SearchResult: ...

    def count(self, game: Game) -> Count: ...

    def raw(self, game: Game) -> Evaluation: ...

    def stop(self) -> None: ...


class PageEngines(Protocol):
    """Makes the engines of pages, and the queues of their reviews.

    `network` is the name of the network for a board size, empty without one.
    """

    def network(self, size: int) -> str: ...

    def __call__(self) -> PageEngine: ...

    def queue(self) -> SearchQueue: ...

    def warm_up(self, size: int) -> None: ...


class EngineThread:
    """Runs one page's engine on a thread of its own. `make` is called there at the first task.

    At most one task runs: a new task and `stop` end the running one.
    """

    def __init__(self, make: Callable[[], PageEngine]) -> None:
        self._make = make
        self._engine: PageEngine | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="tengen-engine")
        self._ticket = 0
        self._progress: tuple[int, SearchResult] | None = None

    @property
    def latest(self) -> SearchResult | None:
        """The latest interim result of the running search, None before the first."""
        progress = self._progress
        return progress[1] if progress is not None and progress[0] == self._ticket else None

    async def think(self, game: Game, limits: Limits, style: Style, anew: bool = False) -> SearchResult | None:
        """Search a position; with `anew` without the tree of the last search.

        A search that is stopped returns what it has found; None where it had not begun.
        """

        def task(ticket: int, engine: PageEngine) -> SearchResult:
            def progress(result: SearchResult) -> None:
                self._progress = (ticket, result)

            if anew:
                engine.forget()
            engine.style = style
            engine.set_position(copy)
            return engine.think(limits, progress, until=lambda: ticket != self._ticket, every=PROGRESS_SECONDS)

        copy = game.copy()
        return await self._run(task)

    async def count(self, game: Game) -> Count | None:
        """Count a finished game; None where the task was stopped before it began."""
        copy = game.copy()
        return await self._run(lambda _, engine: engine.count(copy))

    async def raw(self, game: Game) -> Evaluation | None:
        """The network's output for a position, one row; None where the task was stopped before it began."""
        copy = game.copy()
        return await self._run(lambda _, engine: engine.raw(copy))

    def stop(self) -> None:
        """End the running task. May be called from any thread."""
        self._ticket += 1
        if self._engine is not None:
            self._engine.stop()

    def close(self) -> None:
        """Stop, let the thread end on its own, and give up the engine with its tree: the page outlives its tab."""
        self.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._engine = self._progress = None

    async def _run(self, task: Callable[[int, PageEngine], T]) -> T | None:
        self.stop()
        ticket = self._ticket

        def work() -> T | None:
            if ticket != self._ticket:
                return None
            if (engine := self._engine) is None:
                engine = self._engine = self._make()
            return task(ticket, engine) if ticket == self._ticket else None

        return await asyncio.wrap_future(self._pool.submit(work))


class Engines:
    """Call it to make an engine. All engines share one network, which is loaded at the first call or by `warm_up`.

    Raises NetworkError at once for a missing file or one that is not a network.
    """

    def __init__(self, network: str, device: Device = "auto") -> None:
        self._device = device
        self._network = "" if network in NO_NETWORK else read_card(find_network(network)).name
        self._by_size = default_by_size() if network == "default" else {}
        self._source = "uniform" if network in NO_NETWORK else network
        alone = network == "none"
        self._params = playout_params().model_copy(update={"playouts": PLAYOUTS_PER_VISIT}) if alone else SearchParams()
        self._evaluator: Evaluator | None = None
        self._loading = threading.Lock()

    def network(self, size: int) -> str:
        """The name of the network for this board size; empty without one."""
        return self._by_size[size].stem if size in self._by_size else self._network

    def __call__(self) -> Engine:
        return Engine(self._loaded(), self._params, seed=secrets.randbits(31), threads=core_count())

    def queue(self) -> SearchQueue:
        """A queue that searches many positions with the same network."""
        return SearchQueue(self._loaded(), self._params, threads=core_count())

    def _loaded(self) -> Evaluator:
        with self._loading:
            if self._evaluator is None:
                self._evaluator = load_evaluator(self._source, self._device, cache=CACHED_POSITIONS)
            return self._evaluator

    def warm_up(self, size: int) -> None:
        """Load the network and compile it for this board size, so that the first move is fast."""
        self().warm_up(size)
