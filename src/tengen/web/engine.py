"""The engines of a page: a search thread for each page, and networks that all of them share."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary

from tengen.engine import Count, Engine, Limits, SearchQueue, SearchResult, Style
from tengen.engine.levels import levels_on
from tengen.engine.params import SearchParams, playout_params
from tengen.errors import NetworkError, unknown_name
from tengen.evaluators.devices import check_device
from tengen.evaluators.evaluation import Evaluation
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.installed_networks import default_by_size, find_network, installed
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.network_file import read_card
from tengen.game import Game
from tengen.gtp.program import ProgramSettings
from tengen.machine import Device, core_count
from tengen.web.language import _

T = TypeVar("T")

PROGRESS_SECONDS = 0.2
NO_NETWORK = ("none", "uniform")
PLAYOUTS_PER_VISIT = 25  # without a network
CACHED_POSITIONS = 20_000  # about 60 MB on 19x19; all pages share them
CACHED_BY_CHOICE = 4_000  # of each network that a person has chosen


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
        decide: bool = True,
    ) -> SearchResult: ...

    def count(self, game: Game) -> Count: ...

    def raw(self, game: Game) -> Evaluation: ...

    def stop(self) -> None: ...


class PageEngines(Protocol):
    """Makes the engines of pages, and the queues of their reviews, with an installed network or, for an empty name, the
    one that plays by default; names the GTP programs that a page may run.

    `network` is the name of the default network for a board size, empty without one, `ladder_network` that of the
    levels there; `networks` are the installed ones by name, with what a person reads.
    """

    programs: Mapping[str, ProgramSettings]

    def network(self, size: int) -> str: ...

    def ladder_network(self, size: int) -> str: ...

    def networks(self, size: int) -> dict[str, str]: ...

    def __call__(self, network: str = "") -> PageEngine: ...

    def queue(self, network: str = "") -> SearchQueue: ...

    def warm_up(self, size: int) -> None: ...


class EngineThread:
    """Runs the engines of one page on a thread of its own: one for each network, which `make` makes at its first task.

    At most one task runs: a new task and `stop` end the running one.
    """

    def __init__(self, make: Callable[[str], PageEngine]) -> None:
        self._make = make
        self._engines: dict[str, PageEngine] = {}
        self._owners: dict[str, object] = {}  # for whom the tree of each engine was searched
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="tengen-engine")
        self._ticket = 0
        self._progress: tuple[int, SearchResult] | None = None

    @property
    def latest(self) -> SearchResult | None:
        """The latest interim result of the running search, None before the first."""
        progress = self._progress
        return progress[1] if progress is not None and progress[0] == self._ticket else None

    async def think(
        self,
        game: Game,
        limits: Limits,
        style: Style,
        network: str = "",
        owner: object = None,
        *,
        decide: bool = True,
    ) -> SearchResult | None:
        """Search a position with a network, to `decide` on a move or to analyze. A tree that was searched for another
        `owner` is dropped: it would make a level stronger or weaker than its visits.

        A search that is stopped returns what it has found; None where it had not begun.
        """

        def task(ticket: int, engine: PageEngine) -> SearchResult:
            def progress(result: SearchResult) -> None:
                self._progress = (ticket, result)

            if self._owners.get(network) != owner:
                engine.forget()
            self._owners[network] = owner
            engine.style = style
            engine.set_position(copy)
            return engine.think(
                limits, progress, until=lambda: ticket != self._ticket, every=PROGRESS_SECONDS, decide=decide
            )

        copy = game.copy()
        return await self._run(task, network)

    async def count(self, game: Game, network: str = "") -> Count | None:
        """Count a finished game with a network; None where the task was stopped before it began."""
        copy = game.copy()
        return await self._run(lambda _, engine: engine.count(copy), network)

    async def raw(self, game: Game, network: str = "") -> Evaluation | None:
        """A network's output for a position, one row; None where the task was stopped before it began."""
        copy = game.copy()
        return await self._run(lambda _, engine: engine.raw(copy), network)

    def stop(self) -> None:
        """End the running task. May be called from any thread."""
        self._ticket += 1
        for engine in list(self._engines.values()):
            engine.stop()

    def close(self) -> None:
        """Stop, let the thread end on its own, and give up the engines with their trees: the page outlives its tab."""
        self.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._engines, self._progress = {}, None

    async def _run(self, task: Callable[[int, PageEngine], T], network: str = "") -> T | None:
        self.stop()
        ticket = self._ticket

        def work() -> T | None:
            if ticket != self._ticket:
                return None
            if (engine := self._engines.get(network)) is None:
                engine = self._engines[network] = self._make(network)
            return task(ticket, engine) if ticket == self._ticket else None

        return await asyncio.wrap_future(self._pool.submit(work))


class Engines:
    """Call it to make an engine. All engines share their networks, which are loaded when they are first used.

    The default network stays loaded. One that a person has chosen is given up with the last engine that uses it: it has
    some 35 MB and threads of its own.

    Raises NetworkError at once for a missing file, one that is not a network, and a device that this machine lacks.
    Names that come from a page are looked up among the installed networks only.
    """

    def __init__(
        self, network: str, device: Device = "auto", programs: Mapping[str, ProgramSettings] = MappingProxyType({})
    ) -> None:
        check_device(device)
        self.programs = programs
        self._device = device
        self._network = "" if network in NO_NETWORK else read_card(find_network(network)).name
        self._by_size = default_by_size(network)
        self._source = "uniform" if network in NO_NETWORK else network
        alone = network == "none"
        self._params = playout_params().model_copy(update={"playouts": PLAYOUTS_PER_VISIT}) if alone else SearchParams()
        self._sizes: dict[str, list[int]] = {path.stem: card.board_sizes for path, card in installed()}
        self._default: Evaluator | None = None
        self._chosen: WeakValueDictionary[str, Evaluator] = WeakValueDictionary()
        self._loading = threading.Lock()

    def network(self, size: int) -> str:
        """The name of the default network for this board size; empty without one."""
        return self._by_size[size].stem if size in self._by_size else self._network

    def ladder_network(self, size: int) -> str:
        """Where the default networks play, that with which the levels were measured on this size; else `network`."""
        measured = levels_on(size)[0]
        known = self._source == "default" and measured.size == size and measured.network in self._sizes
        return measured.network if known else self.network(size)

    def networks(self, size: int) -> dict[str, str]:
        """The installed networks by name with a label, first those that were trained on this board size."""
        names = sorted(self._sizes, key=lambda name: size not in self._sizes[name])
        return {name: name if size in self._sizes[name] else f"{name} ({_boards(self._sizes[name])})" for name in names}

    def __call__(self, network: str = "") -> Engine:
        return Engine(self._loaded(network), self._params_of(network), seed=secrets.randbits(31), threads=core_count())

    def queue(self, network: str = "") -> SearchQueue:
        """A queue that searches many positions with the same network."""
        return SearchQueue(self._loaded(network), self._params_of(network), threads=core_count())

    def _params_of(self, network: str) -> SearchParams:
        return SearchParams() if network else self._params

    def _loaded(self, network: str) -> Evaluator:
        if network and network not in self._sizes:
            raise NetworkError(unknown_name("network", network, self._sizes))
        with self._loading:
            if not network:
                if self._default is None:
                    self._default = load_evaluator(self._source, self._device, cache=CACHED_POSITIONS)
                return self._default
            if (evaluator := self._chosen.get(network)) is None:
                evaluator = self._chosen[network] = load_evaluator(network, self._device, cache=CACHED_BY_CHOICE)
            return evaluator

    def warm_up(self, size: int) -> None:
        """Load the default network and compile it for this board size, so that the first move is fast."""
        self().warm_up(size)


def _boards(sizes: Collection[int]) -> str:
    """Board sizes for people: `19x19`, `9x9 to 19x19`."""
    low, high = min(sizes, default=0), max(sizes, default=0)
    return f"{low}x{low}" if low == high else _("{low}x{low} to {high}x{high}", low=low, high=high)
