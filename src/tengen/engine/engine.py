"""The engine: takes a position, gives progress and a move. GTP, the browser and matches use it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from tengen.engine.clock import MARGIN
from tengen.engine.count import PositionCounter, Way
from tengen.engine.limits import Budget, Limits
from tengen.engine.params import SearchParams, playout_params, set_params
from tengen.engine.passing import choose_move
from tengen.engine.positions import goes_on, resumed
from tengen.engine.result import Count, SearchResult
from tengen.engine.search import PV_LENGTH, MoveRestriction, TreeSearch
from tengen.engine.style import ResignJudge, Style
from tengen.engine.task import Progress, SearchTask
from tengen.engine.weaker_move import weaker_move
from tengen.errors import NetworkError, RecipeError
from tengen.evaluators.evaluation import Evaluation, Floats
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator
from tengen.evaluators.load import Symmetry, load_evaluator
from tengen.game import BLACK, Game
from tengen.machine import Device, core_count, start_background

_logger = logging.getLogger(__name__)

DEFAULT_VISITS = 400
DEFAULT_PLAYOUTS = 10_000
# The search of a pass before it is played, at most. The seconds hold unless visits alone limit the engine, and fall in
# the margin that clocks leave.
_PASS_VISITS = 64
_PASS_SECONDS = 0.1
_PASS_BYTES = 1 << 22


class Engine:
    """Searches positions with one evaluator and one tree.

    `params` are the settings of the search; the network's card may advise others for fields that are not set. `batch`
    positions are evaluated at once, by default the `search_batch` of the evaluator. `seed` determines all randomness.
    `style` may be replaced at any time. `limits` are the default of `think`. `threads` search where the params use no
    network. One thread drives the engine; `stop` may be called from any thread.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams | None = None,
        batch: int | None = None,
        seed: int = 0,
        *,
        style: Style | None = None,
        limits: Limits | None = None,
        threads: int = 1,
    ) -> None:
        self.evaluator = evaluator
        self.style = style or Style()
        self.limits = limits or Limits(visits=DEFAULT_VISITS)
        self._asked = params or SearchParams()
        self._batch = batch
        self._search = _new_search(evaluator, self._asked, batch, seed, threads)
        self._counter = PositionCounter(evaluator, seed=seed)
        self._judge = ResignJudge()
        self._seed = seed
        self._random = np.random.default_rng(seed)
        self._busy = threading.RLock()
        self._task_now: SearchTask | None = None
        self._last_stop = object()  # another one after each stop
        self._pondering: threading.Thread | None = None
        self._game: Game | None = None
        self._restrictions: tuple[MoveRestriction, ...] = ()
        self._overrides: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<Engine {self.evaluator!r}, {self._asked.selection}, {self.limits}>"

    def name_on(self, size: int) -> str:
        """The name of the network that plays on boards of this size, or of whatever evaluates."""
        if self._asked.uses_network:
            network = self._network_on(size)
            return self.evaluator.name if network is None else network.name
        return f"{self._asked.selection} with {self._asked.playout} playouts"

    def params_on(self, size: int, asked: SearchParams | None = None) -> SearchParams:
        """The settings by which boards of this size are searched: those asked for, then what the card advises.

        `asked` replaces those that were asked for. Raises RecipeError for settings that contradict the advice.
        """
        return (asked or self._asked).advised(self.advice_on(size))

    def advice_on(self, size: int) -> Mapping[str, Any]:
        """The search that the card of the network for boards of this size advises, as of `SearchParams.advised`."""
        network = self._network_on(size)
        return {} if network is None else network.advice

    def _network_on(self, size: int) -> BatchEvaluator | None:
        """The evaluator of boards of this size, None where it has none: then it cannot play there."""
        try:
            return self.evaluator.on(size)
        except NetworkError:
            return None

    @property
    def params(self) -> SearchParams:
        """The settings of the search, with those that the network's card advises for fields that are not set.

        Setting them drops tree and position: call `set_position` next.
        """
        return self._search.params

    @params.setter
    def params(self, params: SearchParams) -> None:
        self._end_pondering()
        with self._busy:
            self._asked = params
            self._renew(params)

    @property
    def asked_params(self) -> SearchParams:
        """The settings that were set, without the advice of a card."""
        return self._asked

    def _renew(self, params: SearchParams) -> None:
        old = self._search
        self._search = _new_search(self.evaluator, params, self._batch, self._seed, old.threads)
        self._game = None

    def set_position(
        self,
        game: Game,
        *,
        restrictions: Sequence[MoveRestriction] = (),
        overrides: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Search this position from now on; the tree is kept as far as the game continues the last one.

        The game is copied. `overrides` are settings of the search for this position alone, RecipeError for invalid
        ones; a tree that was searched by other settings is dropped. `restrictions` are those of the moves of a
        player to some depth; ValueError when no move is left. A game that is over is searched as if it went on: its end
        is taken back, or after a long cycle its history.
        """
        self._end_pondering()
        with self._busy:
            position = resumed(game) if game.is_over else game.copy()
            before = self._game
            self._take_settings(game.size, overrides)
            if before is None or not goes_on(before, position):
                self._judge.forget()
            self._search.set_root(position, restrictions=restrictions)
            self._game, self._restrictions = position, tuple(restrictions)

    def forget(self) -> None:
        """Drop the tree and the restrictions of the position. The winrates that resignation rests on stay."""
        self._end_pondering()
        with self._busy:
            game = self._game
            self._renew(self._search.params)
            if game is not None:
                self._search.set_root(game)
                self._game, self._restrictions = game, ()

    def warm_up(self, size: int) -> None:
        """Compile the models for boards of this size, so that this takes no time from a clock.

        Position and tree of the engine do not change.
        """
        if not self._asked.uses_network:
            return
        # By the default settings: KataGo's selection fills no batch of a small tree.
        search = _new_search(self.evaluator, SearchParams(), self._batch, self._seed, 1)
        search.set_root(Game(size))
        rows = 1
        while rows <= search.batch:  # a model is compiled for each power of two
            search.run(search.visits + rows)
            rows *= 2

    def think(
        self,
        limits: Limits | None = None,
        on_progress: Progress | None = None,
        *,
        until: Callable[[], bool] | None = None,
        every: float = 0.25,
        cleanup: bool = False,
        decide: bool = True,
        pv_length: int = PV_LENGTH,
    ) -> SearchResult:
        """Search the position within the limits (the engine's own if None) and decide on a move.

        At least one batch is searched. `on_progress` gets the state of the search each `every` seconds, in this
        thread. The search ends early on `stop`, or when `until()`, called after each batch, is true. With `cleanup`
        dead stones are captured before passing. Without `decide`, as for an analysis, the result is that of the search
        alone, and resignation does not count it as a move. Principal variations have `pv_length` moves at most. Raises
        RuntimeError before the first `set_position`.
        """
        last_stop = self._last_stop
        self._end_pondering()
        with self._busy:
            game = self._position()
            limits = limits or self.limits
            budget = limits.budget(game.size, game.move_number)
            task = self._task(budget, on_progress, until, every, last_stop, pv_length)
            result = task.run()
            if not decide:
                return result
            seconds = None if budget.is_by_visits else _PASS_SECONDS
            # Half of the margin is for what follows.
            in_time = MARGIN / 2 + (budget.seconds or 0.0) - result.seconds
            is_late = limits.clock is not None and task.position_seconds > in_time

            def is_stopped() -> bool:
                return self._last_stop is not last_stop or (until is not None and until())

            def pass_winrate() -> float:
                return 1.0 if is_late else self._pass_winrate(seconds, is_stopped)  # 1: nothing speaks against it

            return self._decide(result, cleanup, pass_winrate)

    def ponder(self, on_progress: Progress | None = None, every: float = 0.25, *, limits: Limits | None = None) -> None:
        """Search the position in a background thread until another method is called, or to the visits, playouts or
        seconds of `limits`; returns at once."""
        limits = limits or Limits()
        last_stop = self._last_stop
        self._end_pondering()
        self._position()
        budget = Budget(limits.visits, limits.playouts, limits.seconds, early_stop=False)
        task = self._task(budget, on_progress, None, every, last_stop)
        self._pondering = start_background(lambda: self._ponder(task), task.stop, "ponder")

    def stop(self) -> None:
        """End the running search after its batch; from any thread, as soon as `think` or `ponder` has been called.

        A search that is asked for later is not affected.
        """
        self._last_stop = object()
        self._stop_task()

    def _stop_task(self) -> None:
        if self._task_now is not None:
            self._task_now.stop()

    def ownership_below(self, point: int | None = None) -> tuple[Floats, Floats] | None:
        """Mean and standard deviation of the ownership below a root move, or of the root (TreeSearch.ownership_below).

        None unless the setting node_ownership is on.
        """
        return self._search.ownership_below(point)

    def raw(self, game: Game) -> Evaluation:
        """The output of the network for a position without any search, for its side to move: one row.

        The policy has legal moves alone, and its sum is 1. Raises NetworkError for a board that it does not know.
        """
        return self.evaluator.evaluate([game])

    def count(self, game: Game, by: Way = "both") -> Count:
        """Count a game that is played out: the score without the stones that network, playouts or both hold dead."""
        return self._counter.count(game, by=by)

    def close(self) -> None:
        """End what runs. The engine can be used again."""
        self._end_pondering()
        self.stop()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take_settings(self, size: int, overrides: Mapping[str, Any]) -> None:
        """Search boards of this size by the settings asked for, the network's advice and these overrides."""
        if self._game is not None and self._game.size == size and overrides == self._overrides:
            return
        params = set_params(self.params_on(size), overrides)
        if _with_ownership(params).model_dump() != self._search.params.model_dump():
            self._renew(params)
        self._overrides = dict(overrides)  # last: the search may refuse them, and then does so again

    def _position(self) -> Game:
        if self._game is None:
            raise RuntimeError("the engine has no position yet: call set_position first")
        return self._game

    def _end_pondering(self) -> None:
        thread = self._pondering
        if thread is not None and thread is not threading.current_thread():
            self._stop_task()
            thread.join()
            self._pondering = None

    def _ponder(self, task: SearchTask) -> None:
        try:
            with self._busy:
                task.run()
        except Exception:
            _logger.exception("pondering ended")

    def _task(
        self,
        budget: Budget,
        on_progress: Progress | None,
        until: Callable[[], bool] | None,
        every: float,
        last_stop: object,
        pv_length: int = PV_LENGTH,
    ) -> SearchTask:
        """The search of the position, for `stop` to end; it is stopped if `last_stop` is not the last one any more."""
        task = SearchTask(
            lambda: self._search,
            self._position(),
            budget,
            on_progress=on_progress,
            until=until,
            every=every,
            pv_length=pv_length,
            earlier_batch=None if self._task_now is None else self._task_now.last_batch,
        )
        self._task_now = task
        if self._last_stop is not last_stop:  # asked after the task is there for `stop`, so that none is lost
            task.stop()
        return task

    def _decide(self, result: SearchResult, cleanup: bool, pass_winrate: Callable[[], float]) -> SearchResult:
        """The result with the move to play: style, passing and resignation are applied."""
        game = self._position()
        drawn = self._draw(result)
        ranked = sorted(result.candidates, key=lambda c: c.point != drawn)
        chosen = choose_move(game, ranked, lambda: self._count_root(result), pass_winrate, cleanup=cleanup)
        # Style and passing do not know the restrictions of the position, the search does.
        move = next((move for move in (chosen, drawn) if self._permits(move)), result.move)
        hopeless = self._judge.judge(
            self.style, game.to_play, game.move_number, result.winrate, game.size, game.handicap
        )
        return replace(result, move=move, resign=hopeless and move != game.pass_point)

    def _permits(self, point: int) -> bool:
        """Whether the restrictions of the position leave this move to the side to move."""
        color = self._position().to_play
        return all((point in r.points) == r.allow for r in self._restrictions if r.color == color and r.until_depth > 0)

    def _draw(self, result: SearchResult) -> int:
        """The best move of the search, or one drawn at random where the style says so."""
        game, style = self._position(), self.style
        if style.weakens and result.candidates:
            policy = np.zeros(game.size**2 + 1)
            for c in result.candidates:  # the network's own probabilities, which the search may have flattened
                policy[c.point] = c.prior**self.params.policy_temperature
            return weaker_move(game, policy, style, self.evaluator, self._random)
        drawn = None
        if temperature := style.temperature_at(game.move_number, game.size):
            drawn = self._search.choose(temperature)
        elif self.params.diversity and not self.params.temperature:  # that of the search is for self-play
            drawn = self._search.choose()
        return result.move if drawn is None else drawn

    def _pass_winrate(self, seconds: float | None, is_stopped: Callable[[], bool]) -> float:
        """The winrate of a pass for the side to move, by a short search of what follows.

        It has a tree of its own, so that it does not change the results for the position. It ends after `seconds`,
        where they are given, and when `is_stopped()`.
        """
        search = _new_search(
            self.evaluator,
            self.params.model_copy(
                update={"memory": _PASS_BYTES, "playout_doubling_advantage": -self.params.playout_doubling_advantage}
            ),
            self._batch,
            self._seed,
            self._search.threads,
        )
        game = self._position().copy().play("pass")
        search.set_root(game)
        # The first visit is made however long it takes: without it nothing is known.
        budget = Budget(_PASS_VISITS, None, seconds, early_stop=False)
        SearchTask(lambda: search, game, budget, until=lambda: search.visits > 0 and is_stopped(), pv_length=1).run()
        return (1 - search.value) / 2

    def _count_root(self, result: SearchResult) -> Count:
        game = self._position()
        ownership = result.ownership
        if ownership is None:
            return self._counter.count(game, by="playouts")
        return self._counter.count(game, ownership if game.to_play == BLACK else -ownership)


def load_engine(
    network: str | Path = "default",
    *,
    visits: int | None = None,
    seconds: float | None = None,
    threads: int = 0,
    device: Device = "auto",
    symmetry: Symmetry = "none",
    batch: int | None = None,
    seed: int = 0,
    params: SearchParams | None = None,
    style: Style | None = None,
    on_sizes: Mapping[int, str | Path] = MappingProxyType({}),
) -> Engine:
    """An engine with a network by name or file; "none" plays without one, by playouts and the rules alone.

    `batch` positions are evaluated at once, by default 8 and on a graphics card 32.
    `visits` (if neither it nor seconds is given 400, by playouts 10,000) and `seconds` bound a move where `think` is
    given no limits; `threads` (0: all cores) compute the network, under its `symmetry`, or search by playouts.
    `on_sizes` names other networks for boards of these sizes.
    Raises NetworkError for a network that cannot be loaded, RecipeError for a setting that cannot work.
    """
    if not 0 <= seed < 2**63:
        raise RecipeError(f"seed must lie between 0 and 2**63 - 1, not {seed}")
    if params is None:
        params = playout_params() if network == "none" else SearchParams()
    name = "uniform" if network == "none" else network
    evaluator = load_evaluator(
        name, device, batch=batch, threads=threads, symmetry=symmetry, seed=seed, on_sizes=on_sizes
    )
    if visits is None and seconds is None:
        visits = DEFAULT_VISITS if params.uses_network else DEFAULT_PLAYOUTS
    limits = Limits(visits=visits, seconds=seconds)
    return Engine(evaluator, params, batch, seed, style=style, limits=limits, threads=threads or core_count())


def _new_search(evaluator: Evaluator, params: SearchParams, batch: int | None, seed: int, threads: int) -> TreeSearch:
    """A search that keeps the ownership, which passing and counting use."""
    return TreeSearch(evaluator, _with_ownership(params), batch, seed, threads)


def _with_ownership(params: SearchParams) -> SearchParams:
    return params.model_copy(update={"ownership": True})
