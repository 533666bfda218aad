"""An engine beside a page: searches run on a thread of their own, and the page asks for the latest news."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from tengen.engine import Count, Limits, SearchResult, Style
from tengen.game import Game

T = TypeVar("T")

NEWS_SECONDS = 0.2


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

    def stop(self) -> None: ...


class PageEngines(Protocol):
    """Where pages get their engines from; `network` names the one that plays on a board of a size, empty for none."""

    def network(self, size: int) -> str: ...

    def __call__(self) -> PageEngine: ...

    def warm_up(self, size: int) -> None: ...


class Thinker:
    """One page's engine, made by `make` on its own thread at the first task.

    At most one task runs; a new one or `stop` ends it.
    """

    def __init__(self, make: Callable[[], PageEngine]) -> None:
        self._make = make
        self._engine: PageEngine | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="tengen-engine")
        self._ticket = 0
        self._news: tuple[int, SearchResult] | None = None

    @property
    def latest(self) -> SearchResult | None:
        """The newest interim result of the running search."""
        news = self._news
        return news[1] if news is not None and news[0] == self._ticket else None

    async def think(self, game: Game, limits: Limits, style: Style, anew: bool = False) -> SearchResult | None:
        """The result of a search of `game`, `anew` without the tree of the last one.

        What was found so far where it is stopped; None where it had not begun.
        """

        def task(ticket: int, engine: PageEngine) -> SearchResult:
            def progress(result: SearchResult) -> None:
                self._news = (ticket, result)

            if anew:
                engine.forget()
            engine.style = style
            engine.set_position(copy)
            return engine.think(limits, progress, until=lambda: ticket != self._ticket, every=NEWS_SECONDS)

        copy = game.copy()
        return await self._run(task)

    async def count(self, game: Game) -> Count | None:
        """The engine's count of a finished game; None where it was stopped before it began."""
        copy = game.copy()
        return await self._run(lambda _, engine: engine.count(copy))

    def stop(self) -> None:
        """End the running task; from any thread."""
        self._ticket += 1
        if self._engine is not None:
            self._engine.stop()

    def close(self) -> None:
        """Stop, and let the thread end without waiting for it."""
        self.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _run(self, task: Callable[[int, PageEngine], T]) -> T | None:
        self.stop()
        ticket = self._ticket

        def work() -> T | None:
            if ticket != self._ticket:
                return None
            if self._engine is None:
                self._engine = self._make()
            return task(ticket, self._engine) if ticket == self._ticket else None

        return await asyncio.wrap_future(self._pool.submit(work))
