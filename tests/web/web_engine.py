"""An engine for the tests of the page: quick, without a network, and as predictable as a test wants it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType

import numpy as np

from tengen.engine import Candidate, Count, Limits, SearchQueue, SearchResult, Style
from tengen.errors import NetworkError
from tengen.evaluators import Evaluation, UniformEvaluator
from tengen.game import Game
from tengen.gtp.program import ProgramSettings
from tengen.web.controller import EngineController
from tengen.web.engine import EngineThread, PageEngine, PageEngines
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings


class FakeEngine:
    """Plays the points of `script` while they are legal, then the first legal point; thinks one visit a step.

    With `endless` a search that asks for more than 1,000 visits runs until it is stopped, as an analysis does.
    """

    def __init__(
        self, script: Iterable[int] = (), passes: bool = False, resigns: bool = False, endless: bool = True
    ) -> None:
        self.script, self.passes, self.resigns, self.endless = list(script), passes, resigns, endless
        self.style = Style()
        self.searches: list[tuple[int, Limits]] = []
        self.decided: list[bool] = []
        self.thinking = threading.Event()
        self._stop = threading.Event()
        self._game: Game | None = None

    def forget(self) -> None:
        """There is no tree."""

    def set_position(self, game: Game) -> None:
        self._game = game.copy()

    def stop(self) -> None:
        self._stop.set()

    def think(
        self,
        limits: Limits,
        on_progress: Callable[[SearchResult], None] | None = None,
        *,
        until: Callable[[], bool] | None = None,
        every: float = 0.25,
        decide: bool = True,
    ) -> SearchResult:
        assert self._game is not None
        self._stop.clear()
        self.thinking.set()
        self.searches.append((len(self._game.moves), limits))
        self.decided.append(decide)
        result = self.result(self._game, min(limits.visits or 1, 1000))
        if on_progress is not None:
            on_progress(result)
        while self.endless and (limits.visits or 0) > 1000 and not self._stop.wait(0.02) and not (until and until()):
            pass
        self.thinking.clear()
        return result

    def count(self, game: Game) -> Count:
        dead = tuple(game.dead_by_playouts(32))
        return Count(game.score(dead), dead, game.ownership_by_playouts(32), game.owners(dead))

    def raw(self, game: Game) -> Evaluation:
        return UniformEvaluator().evaluate([game])

    def result(self, game: Game, visits: int) -> SearchResult:
        """What a search of `game` says: the script's move, and a winrate of 60% and 2.5 points for the side to move."""
        legal = game.legal_points()
        scripted = [point for point in self.script if game.is_legal(point)]
        best = game.size**2 if self.passes or not legal else (scripted or legal)[0]
        others = [point for point in legal if point != best][:4]
        candidates = tuple(
            Candidate(
                point, max(1, visits >> rank), 0.6 - 0.03 * rank, 2.5 - rank, 0.5**rank, 0.5, (point, *others[:3])
            )
            for rank, point in enumerate([best, *others])
        )
        ownership = np.full((game.size, game.size), 0.8, np.float32)
        return SearchResult(best, self.resigns, game.to_play, candidates, 0.6, 2.5, ownership, visits, visits, 0.01)


class FlawedEngine(FakeEngine):
    """Takes no position while it `fails`."""

    fails = True

    def set_position(self, game: Game) -> None:
        if self.fails:
            raise NetworkError("it is gone")
        super().set_position(game)


class FakeEngines:
    """What pages get: the engine that `make` makes, whatever its network, and these programs."""

    def __init__(
        self,
        make: Callable[[], FakeEngine] = FakeEngine,
        network: str = "a fake",
        programs: Mapping[str, ProgramSettings] = MappingProxyType({}),
    ) -> None:
        self._make, self._network, self.programs = make, network, programs
        self.made: list[str] = []

    def network(self, size: int) -> str:
        return self._network

    def ladder_network(self, size: int) -> str:
        return self._network

    def networks(self, size: int) -> dict[str, str]:
        return {"other": "Other"}

    def __call__(self, network: str = "") -> FakeEngine:
        self.made.append(network)
        return self._make()

    def queue(self, network: str = "") -> SearchQueue:
        return SearchQueue(UniformEvaluator())

    def warm_up(self, size: int) -> None:
        """Nothing to load."""


Scene = Callable[[EngineController, FakeEngine, list[str]], Awaitable[None]]


def perform(
    scene: Scene,
    settings: GameSettings,
    engine: FakeEngine | None = None,
    real: PageEngine | None = None,
    engines: PageEngines | None = None,
) -> None:
    """Run a controller for a new session beside the scene, with a fake engine, a real one, or what `engines` make."""
    played_by = engine or FakeEngine()

    async def run() -> None:
        messages: list[str] = []
        thread = EngineThread(engines or (lambda network: real or played_by))
        session, known = GameSession(settings), engines or FakeEngines()
        controller = EngineController(
            session, thread, known, changed=lambda: None, notify=messages.append, min_seconds=0
        )
        task = asyncio.create_task(controller.run())
        try:
            await asyncio.wait_for(scene(controller, played_by, messages), 60)
        finally:
            task.cancel()
            controller.close()
            thread.close()

    asyncio.run(run())


async def until(happens: Callable[[], object]) -> None:
    """Wait for something true."""
    while not happens():
        await asyncio.sleep(0.005)
