"""The review of a game, which runs in the background of the page that shows the game."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from tengen.engine import SearchQueue, SearchResult
from tengen.errors import NetworkError, TengenError
from tengen.game import Game
from tengen.review.game import MAX_POSITIONS, GameReview, positions_of, review
from tengen.sgf import GameNode
from tengen.web.analyses import GameAnalyses
from tengen.web.language import _

_logger = logging.getLogger(__name__)

T = TypeVar("T")


class RunningReview:
    """Searches every position of a line of a game to the same depth, many at once, on a queue of its own that
    `make_queue` makes; `analyses` gets the results.

    `on_end` is called at the end, unless the review was stopped, with the review and a message, empty where nothing
    failed. A page that takes over the game replaces it.
    """

    def __init__(
        self,
        analyses: GameAnalyses,
        line: Sequence[GameNode],
        make_queue: Callable[[], SearchQueue],
        visits: int,
        on_end: Callable[[GameReview | None, str], None],
    ) -> None:
        self.on_end = on_end
        self._analyses, self._line = analyses, line
        self._make_queue, self._visits = make_queue, visits
        self._keys = {node: analyses.search_key(node) for node in line}
        self._over = threading.Event()
        self._loop = asyncio.get_running_loop()
        # Of its own: asyncio has few threads, and those who open records need them while reviews run.
        self._thread = ThreadPoolExecutor(1, "tengen-review")
        self.progress = (0, len(line))
        """Positions that have been searched, and all of them. It changes on the thread that may stop the review."""
        self._task = self._loop.create_task(self._run())

    def stop(self) -> None:
        """End the review; what it has searched stays."""
        self._over.set()

    async def _run(self) -> None:
        found, message = None, ""
        try:
            if (number := len(self._line)) > MAX_POSITIONS:
                limits = {"n": number, "limit": MAX_POSITIONS}
                raise TengenError(_("the line has {n:,} positions: {limit:,} is the limit of a review", **limits))
            positions = await self._beside(lambda: positions_of(self._analyses.tree, self._line))
            if self._over.is_set():
                return
            self.progress = (0, len(positions))
            found = await self._beside(lambda: self._search(positions))
            if self._is_stale():
                found, message = None, _("the review has stopped: the positions of the game have changed")
        except asyncio.CancelledError:  # the server ends, and waits for the thread that searches
            self.stop()
            await asyncio.to_thread(self._thread.shutdown)
            raise
        except TengenError as error:
            message = str(error)
        except Exception:
            _logger.exception("the review failed")
            message = _("the review failed: the server log has the reason")
        finally:
            self._thread.shutdown(wait=False)
        if not self._over.is_set():
            self.on_end(found, message)

    async def _beside(self, work: Callable[[], T]) -> T:
        """Do some work on the thread of this review, in the language of the page."""
        context = copy_context()
        return await self._loop.run_in_executor(self._thread, lambda: context.run(work))

    def _search(self, positions: Sequence[tuple[GameNode, Game]]) -> GameReview | None:
        tree = self._analyses.tree
        with self._make_queue() as queue:
            if not queue.has_value(tree.size):
                name = queue.evaluator.on(tree.size).name
                raise NetworkError(_("{name} has no value, which a review needs: choose another network", name=name))
            return review(tree, positions, queue, self._visits, self._keep, self._should_end)

    def _keep(self, node: GameNode, result: SearchResult) -> None:
        self._analyses.add(node, result, self._keys[node])
        self._loop.call_soon_threadsafe(self._count)

    def _count(self) -> None:
        searched, all_of_them = self.progress
        self.progress = (searched + 1, all_of_them)

    def _should_end(self) -> bool:
        return self._over.is_set() or self._is_stale()

    def _is_stale(self) -> bool:
        """Whether an edit or another network has changed what is searched."""
        return any(self._analyses.search_key(node) != key for node, key in self._keys.items())
