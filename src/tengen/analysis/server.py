"""The analysis engine: reads queries and actions, searches many positions at once and writes reports."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import tengen
from tengen.analysis.config import ANALYSIS_SETTINGS, AnalysisSettings
from tengen.analysis.fields import Fields, QueryError, read_integers
from tengen.analysis.query import Query, read_query
from tengen.analysis.query_game import QueryPosition
from tengen.analysis.report import no_results, report
from tengen.coords import MAX_SIZE
from tengen.disk import json_text
from tengen.engine.katago_config import read_config, read_overrides, warn_of_unused
from tengen.engine.katago_params import RELEASE, advantage_overrides, ownership_overrides
from tengen.engine.limits import Limits
from tengen.engine.options import EngineOptions
from tengen.engine.params import SearchParams, read_params
from tengen.engine.positions import without_history
from tengen.engine.queue import SearchQueue
from tengen.engine.result import SearchResult
from tengen.engine.task import SearchTask
from tengen.errors import NetworkError, TengenError
from tengen.evaluators.board_warnings import boards_warning
from tengen.evaluators.cached import CachedEvaluator
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator
from tengen.evaluators.human import NO_HUMAN_NETWORK, HumanNetwork
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.raw import RawOutput
from tengen.gtp.network import models
from tengen.gtp.streams import open_channel

_logger = logging.getLogger(__name__)

ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")
READY = "Started, ready to begin handling requests"

Write = Callable[[str], None]


@dataclass(frozen=True)
class AnalysisOptions:
    """The options of `tengen analysis`; its help explains each."""

    engine: EngineOptions = field(default_factory=EngineOptions)
    configs: tuple[Path, ...] = ()
    overrides: tuple[str, ...] = ()
    at_once: int | None = None
    quit_without_waiting: bool = False
    cache: int = 50_000


def run(options: AnalysisOptions) -> None:
    """Serve standard input and output until the input ends. Raises TengenError for impossible options."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    given, settings = options.engine, _settings(options)
    lines, write = open_channel()
    batch = given.batch or BatchEvaluator.search_batch
    evaluator = load_evaluator(
        given.net, given.device, batch=batch * settings.at_once, threads=given.threads, seed=given.seed
    )
    network = evaluator if isinstance(evaluator, BatchEvaluator) else evaluator.on(MAX_SIZE)
    settings.params.advised(network.advice)  # raises what every query would be answered with

    def send(text: str) -> None:
        try:
            write(text)
        except OSError:
            lines.close()
            raise

    server = AnalysisServer(
        evaluator,
        settings,
        send,
        cache=options.cache,
        batch=batch,
        seed=given.seed,
        net=given.net,
        on_size=boards_warning(given.net),
        human=given.human_network(),
    )
    try:
        print(READY, file=sys.stderr, flush=True)
        while (line := lines.get()) is not None:
            server.handle(line)
        if not options.quit_without_waiting:
            server.finish()
    finally:
        server.close()
    if server.failure is not None and not isinstance(server.failure, BrokenPipeError):
        raise server.failure


def _settings(options: AnalysisOptions) -> AnalysisSettings:
    """The settings of the preset, then of the configuration files, then of the overrides, then of --set."""
    given: dict[str, str] = {}
    for path in options.configs:
        given |= read_config(path)
    settings = AnalysisSettings.default()
    if (preset := options.engine.preset) is not None:
        settings = replace(settings, params=SearchParams.preset(preset))
    given |= read_overrides(list(options.overrides))
    settings, changes = settings.changed(given)
    if settings.human_profile and options.engine.human_net is None:  # KataGo warns too
        _logger.warning("without effect: %s", NO_HUMAN_NETWORK)
    warn_of_unused(changes, ANALYSIS_SETTINGS)
    at_once = settings.at_once if options.at_once is None else options.at_once
    params = read_params(settings.params, options.engine.settings, options.engine.net)
    return replace(settings, at_once=at_once, params=params)


@dataclass(eq=False)
class _Request:
    """One position of a query that is not answered yet."""

    query: Query
    turn: QueryPosition
    task: SearchTask | None = field(default=None)
    human: RawOutput | None = None


class AnalysisServer:
    """Answers lines of JSON with lines of JSON. `write` gets each answer with its line end, from any thread.

    `cache` is the number of evaluations that are kept for each network; 0 keeps none. `batch` positions of each search
    are evaluated at once. `net` is the name of the network that the user gave. `on_size` is called with the board size
    of each search. `human` is asked about the positions of queries with the setting humanSLProfile.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        settings: AnalysisSettings,
        write: Write,
        *,
        cache: int = 0,
        batch: int = 8,
        seed: int = 0,
        net: str = "",
        on_size: Callable[[int], object] = lambda size: None,
        human: HumanNetwork | None = None,
    ) -> None:
        self.settings = settings
        self._on_size = on_size
        self._models = models(evaluator, human, net=net, batch=batch * settings.at_once)
        self._human = human
        self._write = write
        self._caches: list[CachedEvaluator] = []
        self._evaluator = evaluator.wrapped(lambda inner: self._cached(inner, cache)) if cache else evaluator
        self._queue = SearchQueue(self._evaluator, settings.params, batch=batch, at_once=settings.at_once, seed=seed)
        self._open: dict[_Request, None] = {}  # in the order in which they came
        self._idle_settings: set[str] = set()  # those that the log has named
        self._lock = threading.RLock()  # of the open requests and the output
        self._idle = threading.Condition(self._lock)
        self.failure: OSError | None = None
        """Why answers cannot be written any more: the reader has gone, or the disk is full."""

    def _cached(self, inner: BatchEvaluator, size: int) -> CachedEvaluator:
        self._caches.append(CachedEvaluator(inner, size))
        return self._caches[-1]

    def handle(self, line: str) -> None:
        """Answer a line of the input, or begin to."""
        line = line.strip()
        if not line:
            return
        if self.settings.log_requests:
            _logger.warning("request: %s", line)
        try:
            fields = json.loads(line, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            self._send({"error": f"not JSON: {error} - could not parse the input line: {line}"})
            return
        if not isinstance(fields, dict):
            self._send({"error": f"a JSON object expected, not {line}"})
        elif not isinstance(fields.get("id"), str):
            self._send({"error": 'Request must have a string "id" field'})
        else:
            try:
                (self._act if isinstance(fields.get("action"), str) else self._search)(fields)
            except RecursionError:  # what could just be read may be nested too deeply to be written
                self._send({"id": fields["id"], "error": "the fields are nested too deeply"})

    def finish(self) -> None:
        """Wait until all queries are answered, or until answers cannot be written."""
        with self._idle:
            while self._open and self.failure is None:
                self._idle.wait(0.5)

    def close(self) -> None:
        """Give up what is not answered, without an answer."""
        with self._lock:
            self._open.clear()
        self._queue.close()

    # --- Actions

    def _act(self, fields: Fields) -> None:
        action = fields["action"]
        try:
            match action:
                case "query_version":
                    fields |= {"version": RELEASE, "git_hash": f"tengen-{tengen.__version__}"}
                case "query_models":
                    fields["models"] = self._models
                case "clear_cache":
                    for cache in self._caches:
                        cache.clear()
                case "terminate":
                    if not isinstance(fields.get("terminateId"), str):
                        raise QueryError("terminateId", "the string id of a query expected")
                    self._terminate(fields, fields["terminateId"])
                case "terminate_all":
                    self._terminate(fields, None)
                case _:
                    self._send({"error": f"'action' field must be {' or '.join(map(repr, ACTIONS))}"})
                    return
        except QueryError as error:
            self._send_error(fields["id"], error)
            return
        self._send(fields)

    def _terminate(self, fields: Fields, query_id: str | None) -> None:
        turns = read_integers(fields, "turnNumbers") if "turnNumbers" in fields else None
        with self._lock:
            for request in list(self._open):
                if query_id in (None, request.query.id) and (turns is None or request.turn.number in turns):
                    assert request.task is not None
                    if not request.task.begun:
                        self._answer(request, no_results(request.query, request.turn))
                    request.task.stop()

    # --- Queries

    def _search(self, fields: Fields) -> None:
        try:
            query, warnings = read_query(fields, self.settings, self._evaluator)
            self._load_profile(query, fields)
        except QueryError as error:
            self._send_error(fields["id"], error)
            return
        except Exception as error:
            _logger.exception("a query could not be read: %s", fields)
            self._send_error(fields["id"], QueryError("id", f"internal error: {error!r}"))
            return
        self._log_idle(query.idle)
        for name, text in warnings:
            self._send({"id": query.id, "field": name, "warning": text})
        # Neighbours of a game share many evaluations, but not while they are searched side by side.
        stride = -(-len(query.turns) // self.settings.at_once)
        for turn in (turn for start in range(stride) for turn in query.turns[start::stride]):
            with self._lock:
                request = _Request(query, turn)
                self._open[request] = None
                try:
                    request.task = self._start(request)
                except Exception as error:
                    if not isinstance(error, TengenError | ValueError):
                        _logger.exception("the search of query %s, turn %d, cannot begin", query.id, turn.number)
                    self._answer(request, _failure(request, error))

    def _log_idle(self, names: Collection[str]) -> None:
        """Name once, in the log, settings that change nothing and cost no warning."""
        if new := sorted({*names} - self._idle_settings):
            self._idle_settings.update(new)
            _logger.warning("without effect in Tengen: %s", ", ".join(new))

    def _load_profile(self, query: Query, fields: Fields) -> None:
        """Load the network of the query's profile. Raises QueryError where there is none, and for its name."""
        profile = query.settings.human_profile
        if self._human is not None and profile:
            try:
                self._human.evaluator(profile)
            except NetworkError as error:
                raise QueryError("overrideSettings", f"humanSLProfile: {error}") from error
        elif profile and "humanSLProfile" in fields.get("overrideSettings", ()):
            raise QueryError("overrideSettings", NO_HUMAN_NETWORK)

    def _report(self, request: _Request, result: SearchResult, *, during: bool) -> Fields:
        query, turn = request.query, request.turn
        assert request.task is not None
        if request.human is None and self._human is not None and (profile := query.settings.human_profile):
            hides = query.settings.params.hide_history
            (request.human,) = self._human.outputs(without_history(turn.game) if hides else turn.game, profile)
        return report(query, turn, result, request.task.search, during=during, human=request.human)

    def _start(self, request: _Request) -> SearchTask:
        """Begin a search. The caller holds the lock, for which its callbacks wait: by then the request has the task."""
        query, turn = request.query, request.turn
        self._on_size(turn.game.size)
        params = self._params(query, turn)

        def on_progress(result: SearchResult) -> None:
            with self._lock:
                if request in self._open and request.task is not None and result.visits:
                    self._send(self._report(request, result, during=True))

        def on_end(task: SearchTask) -> None:
            with self._lock:
                if request in self._open:
                    self._answer(request, self._last_report(request, task))

        start = partial(
            self._queue.start,
            turn.game,
            priority=turn.priority,
            params=params,
            on_progress=on_progress if query.first is not None else None,
            every=query.every or 0.0,
            first=query.first,
            on_end=on_end,
            pv_length=query.settings.pv_moves,
        )
        try:
            return start(limits=query.settings.limits, restrictions=query.restrictions)
        except TengenError:
            raise
        except ValueError:  # no move is left: the position itself is evaluated
            return start(limits=Limits(visits=1))

    def _params(self, query: Query, turn: QueryPosition) -> SearchParams:
        """The settings of the query for a position: with the advantage of its side, and what the reports need."""
        params, includes = query.settings.params, query.includes
        advised = params.advised(self._evaluator.on(turn.game.size).advice)
        below = includes.ownership_stdev or includes.of_moves
        changes = advantage_overrides(advised, query.settings.advantage_owner, turn.game.to_play)
        changes |= ownership_overrides(advised, mean=includes.ownership, below=below)
        return params.model_copy(update=changes)

    def _last_report(self, request: _Request, task: SearchTask) -> Fields:
        try:
            result = task.poll()
            if result is None:
                return no_results(request.query, request.turn)
            return self._report(request, result, during=False)
        except Exception as error:
            if not isinstance(error, TengenError):
                _logger.exception("the search of query %s, turn %d, failed", request.query.id, request.turn.number)
            return _failure(request, error)

    def _answer(self, request: _Request, fields: Fields) -> None:
        """Send the last answer for a position."""
        del self._open[request]
        self._send(fields)
        self._idle.notify_all()

    # --- Output

    def _send_error(self, query_id: str, error: QueryError) -> None:
        self._send({"id": query_id, "field": error.field, "error": str(error)})

    def _send(self, fields: Fields) -> None:
        text = json_text(fields, sort_keys=True, separators=(",", ":"))
        if self.settings.log_responses:
            _logger.warning("response: %s", text)
        elif ("error" in fields or "warning" in fields) and self.settings.log_problems:
            _logger.warning("%s", text)
        with self._lock:
            if self.failure is not None:  # the rest of a line may be missing
                return
            try:
                self._write(text + "\n")
            except OSError as error:
                self.failure = error


def _failure(request: _Request, error: Exception) -> Fields:
    """The answer for a position that cannot be searched."""
    kind = "" if isinstance(error, TengenError | ValueError) else "internal error: "
    return {
        "id": request.query.id,
        "turnNumber": request.turn.number,
        "isDuringSearch": False,
        "field": "analyzeTurns",
        "error": f"{kind}{error or type(error).__name__}",
    }


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")
