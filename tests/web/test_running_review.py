"""The review that runs beside a page: its thread and its language."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from web_engine import until

from tengen.engine import SearchQueue
from tengen.errors import NetworkError
from tengen.evaluators import UniformEvaluator
from tengen.web.language import use
from tengen.web.players import PEOPLE
from tengen.web.running_review import RunningReview
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings


def test_reviews_leave_the_threads_that_open_records_free() -> None:
    """Each held one of the few threads of asyncio to its end: after six nobody could open a record."""
    begun, going_on = threading.Event(), threading.Event()

    def queue() -> SearchQueue:
        begun.set()
        assert going_on.wait(30)
        raise NetworkError("it is gone")

    async def scene() -> list[str]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        messages: list[str] = []
        session = GameSession(GameSettings(size=9, players=PEOPLE))
        running = RunningReview(
            session.analyses, session.line, queue, 2, lambda found, message: messages.append(message)
        )
        try:
            await until(begun.is_set)
            await asyncio.wait_for(asyncio.to_thread(int), 5)
        finally:
            going_on.set()
        await until(lambda: messages)
        await until(lambda: not any(thread.name.startswith("tengen-review") for thread in threading.enumerate()))
        assert running.progress == (0, 1)
        return messages

    assert asyncio.run(scene()) == ["it is gone"]


def test_a_review_speaks_the_language_of_its_page() -> None:
    class Valueless(UniformEvaluator):
        has_value = False

    async def scene() -> list[str]:
        use("ja")
        messages: list[str] = []
        session = GameSession(GameSettings(size=9, players=PEOPLE))
        running = RunningReview(
            session.analyses,
            session.line,
            lambda: SearchQueue(Valueless()),
            2,
            lambda found, message: messages.append(message),
        )
        await until(lambda: messages)
        assert running.progress == (0, 1)
        return messages

    (message,) = asyncio.run(scene())
    assert message.startswith("uniform") and not message.isascii()
