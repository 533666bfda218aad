"""A conversation with an analysis server in this process."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any

from checksum import Checksum

from tengen.analysis.config import AnalysisSettings
from tengen.analysis.server import AnalysisServer
from tengen.evaluators import Evaluator
from tengen.evaluators.human import HumanNetwork

Fields = dict[str, Any]
PLAIN: Fields = {"id": "q", "moves": [], "rules": "tromp-taylor", "boardXSize": 5, "boardYSize": 5, "maxVisits": 20}


class Talk:
    """Sends queries and keeps the answers in their order; `at_once` positions are searched side by side."""

    def __init__(
        self,
        evaluator: Evaluator | None = None,
        *,
        at_once: int = 16,
        cache: int = 0,
        batch: int = 8,
        human: HumanNetwork | None = None,
        on_size: Callable[[int], object] = lambda size: None,
        **settings: object,
    ):
        self.answers: list[Fields] = []
        self._arrived = threading.Condition()
        changed, changes = AnalysisSettings.default().changed(settings)
        assert not changes.unknown
        changed = replace(changed, at_once=at_once)
        self.server = AnalysisServer(
            evaluator or Checksum(), changed, self._write, cache=cache, batch=batch, human=human, on_size=on_size
        )

    def _write(self, text: str) -> None:
        assert text.endswith("\n") and text.count("\n") == 1
        with self._arrived:
            self.answers.append(json.loads(text))
            assert json.dumps(self.answers[-1], sort_keys=True, separators=(",", ":")) + "\n" == text
            self._arrived.notify_all()

    def send(self, **changes: object) -> None:
        """A query on 5x5 with these fields; a field of None is left out."""
        self.server.handle(json.dumps({k: v for k, v in {**PLAIN, **changes}.items() if v is not None}))

    def act(self, action: str, **fields: object) -> None:
        self.server.handle(json.dumps({"id": "action", "action": action, **fields}))

    def ask(self, **changes: object) -> list[Fields]:
        """The answers that a query gets, once it is answered."""
        before = len(self.answers)
        self.send(**changes)
        self.server.finish()
        return self.answers[before:]

    def wait(self, count: int) -> list[Fields]:
        """All answers, once there are so many."""
        deadline = time.monotonic() + 30
        with self._arrived:
            while len(self.answers) < count:
                assert self._arrived.wait(deadline - time.monotonic()), f"{len(self.answers)} answers of {count}"
        return self.answers

    def __enter__(self) -> Talk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.close()
