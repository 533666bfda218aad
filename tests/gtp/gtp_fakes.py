"""A scripted engine and a session around it: GTP without a network, a search or a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tengen import coords
from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams
from tengen.engine.result import Candidate, Count, RootEvaluation, SearchResult
from tengen.engine.search import PV_LENGTH, MoveRestriction
from tengen.engine.style import Style
from tengen.evaluators import Evaluator, UniformEvaluator
from tengen.evaluators.evaluation import Floats
from tengen.game import Game
from tengen.gtp.server import serve
from tengen.gtp.session import GtpOptions, GtpSession
from tengen.gtp.streams import InputQueue


@dataclass
class FakeEngine:
    """Answers with the moves of a script, then passes; `reports` results come before each answer.

    It remembers what it was asked, and counts by the stones that `dead` names. `seconds` pass in a search, and
    `compiling` seconds in `warm_up`.
    """

    script: list[str] = field(default_factory=list)
    evaluator: Evaluator = field(default_factory=UniformEvaluator)
    dead: tuple[str, ...] = ()
    reports: int = 1
    seconds: float = 0.0
    compiling: float = 0.0
    time: float = 0.0
    position: Game | None = None
    restrictions: list[MoveRestriction] = field(default_factory=list)
    overrides: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[Limits | None, float, bool]] = field(default_factory=list)
    pondered: int = 0
    ponder_limits: Limits | None = None
    pv_length: int = PV_LENGTH
    stopped: int = 0
    forgotten: int = 0
    params: SearchParams = field(default_factory=SearchParams)
    style: Style = field(default_factory=Style)
    warm: list[int] = field(default_factory=list)

    @property
    def asked_params(self) -> SearchParams:
        return self.params

    def params_on(self, size: int, asked: SearchParams | None = None) -> SearchParams:
        return asked or self.params

    def advice_on(self, size: int) -> Mapping[str, Any]:
        return {}

    def name_on(self, size: int) -> str:
        return "fake"

    def warm_up(self, size: int) -> None:
        self.warm.append(size)
        self.time += self.compiling

    def now(self) -> float:
        return self.time

    def forget(self) -> None:
        self.forgotten += 1

    def set_position(
        self, game: Game, *, restrictions: Sequence[MoveRestriction] = (), overrides: Mapping[str, Any] | None = None
    ) -> None:
        self.position, self.restrictions, self.overrides = game.copy(), list(restrictions), dict(overrides or {})

    def ownership_below(self, point: int | None = None) -> tuple[Floats, Floats] | None:
        """Where it is kept: a mean of a hundredth of the point's number everywhere, and a deviation of twice that."""
        assert self.position is not None
        if "node_ownership" not in self.overrides:
            return None
        ones = np.ones((self.position.size, self.position.size), np.float32)
        return ones * (0 if point is None else point) / 100, ones * (5 if point is None else 2 * point) / 100

    def think(
        self,
        limits: Limits | None = None,
        on_progress: Callable[[SearchResult], None] | None = None,
        *,
        until: Callable[[], bool] | None = None,
        every: float = 0.25,
        cleanup: bool = False,
        decide: bool = True,
        pv_length: int = PV_LENGTH,
    ) -> SearchResult:
        self.pv_length = pv_length
        self.asked.append((limits, every, cleanup))
        self.time += self.seconds
        result = self._result(self.script.pop(0) if self.script else "pass")
        for _ in range(self.reports if on_progress else 0):
            assert on_progress is not None
            on_progress(result)
        if until is not None:
            until()
        return result

    def ponder(self, *, limits: Limits) -> None:
        self.pondered += 1
        self.ponder_limits = limits

    def stop(self) -> None:
        self.stopped += 1

    def count(self, game: Game, by: str = "both") -> Count:
        dead = [game.point(vertex) for vertex in self.dead]
        return Count(game.score(dead), tuple(dead), np.zeros((game.size, game.size), np.float32), game.owners(dead))

    def close(self) -> None:
        self.stopped += 1

    def _result(self, word: str) -> SearchResult:
        assert self.position is not None
        game, resign, length = self.position, word == "resign", self.pv_length
        point = game.size**2 if resign else coords.from_gtp(word, game.size)
        best = Candidate(
            point, 12, 0.5625, 1.25, 0.3, 0.5, (point, game.size**2)[:length], (12, 4)[:length],
            utility=0.125, utility_lcb=-0.25, weight=11.5, lead=0.75, score_stdev=20.0, no_result=0.01,
            node_visits=14, node_weight=13.5, pv_node_visits=(14, 5)[:length],
        )  # fmt: skip
        other = Candidate(0, 3, 0.5, -0.5, 0.1, 0.375, (0,), weight=3, node_visits=3, node_weight=3)
        unseen = Candidate(1, 0, 0.5, 0.0, 0.05, 0.0)
        ownership = np.zeros((game.size, game.size), np.float32)
        ownership[0, 0] = 0.5
        raw = RootEvaluation(np.zeros(game.size**2 + 1, np.float32), 0.1, None, value_error=0.25)
        return SearchResult(
            point, resign, game.to_play, (best, other, unseen), 0.5625, 1.25, ownership, 16, 15, 0.5,
            utility=0.125, weight=14.5, lead=0.75, score_stdev=20.0, no_result=0.01, raw=raw,
        )  # fmt: skip


def session_of(engine: FakeEngine | None = None, size: int = 9, **options: object) -> GtpSession:
    """A session on an empty board whose time is the engine's."""
    engine = engine or FakeEngine()
    return GtpSession(engine, Game(size), InputQueue(engine.now), GtpOptions(**options), now=engine.now)  # type: ignore[arg-type]


def played(*moves: str, **options: object) -> GtpSession:
    """A session after these moves, Black's first."""
    session = session_of(**options)  # type: ignore[arg-type]
    for move in moves:
        session.game.play(move)
    return session


def talk(session: GtpSession, *lines: str) -> str:
    """Everything that is answered to these lines."""
    for line in lines:
        session.lines.put(line)
    session.lines.close()
    answers: list[str] = []
    serve(session, answers.append)
    return "".join(answers)


def ask(session: GtpSession, line: str) -> str:
    """The answer to one line, without its frame: `=` answers as they are, errors with `? ` before them."""
    session.lines = InputQueue(session.now)
    answer = talk(session, line)
    assert answer.endswith("\n\n") and answer.count("\n\n") == 1, f"badly framed: {answer!r}"
    return answer[2:-2] if answer.startswith("= ") else answer[:-2]


def raw_fields(text: str) -> dict[str, list[str]]:
    """The words after each key of one block of kata-raw-nn."""
    found: dict[str, list[str]] = {}
    for word in text.split():
        if word[0].isalpha() and word != "NAN":
            key = word
            found[key] = []
        else:
            found[key].append(word)
    return found
