"""The engine: a position in, progress and a move out. GTP, the browser and matches all speak to this alone."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tengen.engine.count import Counter, Way
from tengen.engine.limits import Budget, Limits
from tengen.engine.params import SearchParams
from tengen.engine.passing import choose_move
from tengen.engine.positions import resumed
from tengen.engine.resign import ResignJudge
from tengen.engine.result import Candidate, Count, SearchResult
from tengen.engine.search import TreeSearch
from tengen.engine.style import Style
from tengen.errors import NetworkError
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator
from tengen.game import BLACK, Game

logger = logging.getLogger(__name__)

Progress = Callable[[SearchResult], None]

DEFAULT_VISITS = 400
_MOST_STEPS = 1 << 30
_LINE = 20  # moves of a principal variation
# The search of a pass before it is played, at most; it falls in the margin that clocks leave.
_PASS_VISITS = 64
_PASS_SECONDS = 0.1
_PASS_BYTES = 1 << 22


@dataclass
class _Spent:
    """What one search has used so far."""

    started: float
    visits_before: int
    evaluations_before: int
    step: float = 0.0

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started


class Engine:
    """Searches positions with one evaluator and one tree.

    `params` are the search's; what they leave alone is as the network's card advises, where it does. `batch` positions
    are evaluated at once, `seed` fixes all chance, `style` says how to play and may be replaced at any time, `limits`
    hold where `think` is given none. `threads` search where the params ask no network. One thread drives the engine;
    `stop` may come from any.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams | None = None,
        batch: int = 8,
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
        self._search = _new_search(evaluator, self._asked, batch, seed, threads)
        self._counter = Counter(evaluator, seed=seed)
        self._judge = ResignJudge()
        self._seed = seed
        self._random = np.random.default_rng(seed)
        self._busy = threading.RLock()
        self._stop = threading.Event()
        self._pondering: threading.Thread | None = None
        self._game: Game | None = None
        self._restricted = False

    def name_on(self, size: int) -> str:
        """The name of the network that plays on boards of this size, or of whatever evaluates."""
        if self._asked.asks_network:
            network = self._network_on(size)
            return self.evaluator.name if network is None else network.name
        return f"{self._asked.selection} with {self._asked.playout} playouts"

    def params_on(self, size: int) -> SearchParams:
        """The settings by which boards of this size are searched: those asked for, then what the card advises."""
        network = self._network_on(size)
        return self._asked if network is None else self._asked.advised(network.advice)

    def _network_on(self, size: int) -> BatchEvaluator | None:
        """The evaluator of boards of this size, None where it has none: then it cannot play there."""
        try:
            return self.evaluator.on(size)
        except NetworkError:
            return None

    @property
    def params(self) -> SearchParams:
        """The settings of the search, with those that the network's card advises for the board where nobody set them.

        To set them forgets tree and position: `set_position` comes next.
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
        """The settings that were asked for; where they leave something alone, a card's advice may follow."""
        return self._asked

    def _renew(self, params: SearchParams) -> None:
        old = self._search
        self._search = _new_search(self.evaluator, params, old.batch, self._seed, old.threads)
        self._game = None

    def set_position(self, game: Game, allow: Sequence[int] = (), avoid: Sequence[int] = ()) -> None:
        """Search this position from now on; the tree is kept as far as the game goes on from the last one.

        The game is copied. `allow` (if not empty) and `avoid` restrict the first move; ValueError when none is left.
        A game that is over is searched as if it went on: its end is taken back, or after a long cycle its history.
        """
        self._end_pondering()
        with self._busy:
            position = resumed(game) if game.is_over else game.copy()
            if self._game is None or self._game.size != game.size:
                self._take_advice(game.size)
            if self._game is None or not _goes_on(self._game, position):
                self._judge.forget()
            self._search.set_root(position, allow, avoid)
            self._game, self._restricted = position, bool(allow or avoid)

    def forget(self) -> None:
        """Drop the tree: what comes is searched anew, without restriction. The losses seen in the game stay in mind."""
        self._end_pondering()
        with self._busy:
            game = self._game
            self._renew(self._search.params)
            if game is not None:
                self._search.set_root(game)
                self._game, self._restricted = game, False

    def warm_up(self, size: int) -> None:
        """Make the evaluator ready for boards of this size, so that no clock pays for the models it compiles.

        Position and tree of this engine stay as they are.
        """
        search = _new_search(self.evaluator, self._asked, self._search.batch, self._seed, self._search.threads)
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
    ) -> SearchResult:
        """Search the position within the limits (the engine's own if None) and decide on a move.

        At least one batch is searched. `on_progress` gets the state of the search each `every` seconds, in this
        thread. The search ends early on `stop`, or when `until`, asked after each batch, says so. With `cleanup`
        dead stones are captured before passing. Raises RuntimeError before the first `set_position`.
        """
        self._end_pondering()
        with self._busy:
            self._stop.clear()
            game = self._position()
            spent = self._run((limits or self.limits).budget(game.size, len(game.moves)), on_progress, until, every)
            return self._decide(self._report(spent), cleanup)

    def ponder(self, on_progress: Progress | None = None, every: float = 0.25) -> None:
        """Search the position in a thread of its own until anything else is asked of the engine; returns at once."""
        self._end_pondering()
        self._position()
        self._stop.clear()
        self._pondering = threading.Thread(target=self._ponder, args=(on_progress, every), name="ponder", daemon=True)
        self._pondering.start()

    def stop(self) -> None:
        """End the search that runs now, in whichever thread, after its batch; does nothing when none runs."""
        self._stop.set()

    def count(self, game: Game, by: Way = "both") -> Count:
        """Count a game that is played out: the score without the stones that network, playouts or both hold dead."""
        return self._counter.count(game, by=by)

    def close(self) -> None:
        """End whatever runs. The engine may be used again."""
        self._end_pondering()
        self.stop()

    def _take_advice(self, size: int) -> None:
        """Search boards of this size as the network's card advises, where it differs from what is searched by."""
        advised = self.params_on(size)
        if _with_ownership(advised).model_dump() != self._search.params.model_dump():
            self._renew(advised)

    def _position(self) -> Game:
        if self._game is None:
            raise RuntimeError("the engine has no position yet: call set_position first")
        return self._game

    def _end_pondering(self) -> None:
        thread = self._pondering
        if thread is not None and thread is not threading.current_thread():
            self._stop.set()
            thread.join()
            self._pondering = None

    def _ponder(self, on_progress: Progress | None, every: float) -> None:
        try:
            with self._busy:
                self._run(Budget(None, None, None, early_stop=False), on_progress, None, every)
        except Exception:
            logger.exception("pondering ended")

    def _run(
        self, budget: Budget, on_progress: Progress | None, until: Callable[[], bool] | None, every: float
    ) -> _Spent:
        search = self._search
        spent = _Spent(time.monotonic(), search.visits, search.evaluations)
        reported = 0.0
        planned = budget.left(search.visits, 0, 0, 0)
        search.plan(int(planned) if math.isfinite(planned) else 0)
        while (left := self._left(budget, spent)) > 0:
            began = spent.elapsed
            search.step(int(min(left, _MOST_STEPS)))
            spent.step = spent.elapsed - began
            if self._stop.is_set() or (until is not None and until()):
                break
            if on_progress is not None and spent.elapsed - reported >= every:
                reported = spent.elapsed
                on_progress(self._report(spent))
        return spent

    def _left(self, budget: Budget, spent: _Spent) -> float:
        """Playouts that this search may still make: at least one before the first, 0 once the best move is clear."""
        visits = self._search.visits
        playouts = visits - spent.visits_before
        left = budget.left(visits, playouts, spent.elapsed, spent.step)
        if spent.step == 0:
            return max(left, 1)
        if budget.early_stop and left > 0:
            moves = self._search.stats()
            top = moves.visits[:2].tolist()
            clear = len(top) == 2 and self._search.choose(0) == moves.point[0]
            if clear and budget.decided(top[0] - top[1], left, playouts, spent.elapsed):
                return 0
        return left

    def _report(self, spent: _Spent) -> SearchResult:
        """The state of the search, with the move that stands best."""
        search, game = self._search, self._position()
        candidates = self._candidates()
        ownership = search.ownership
        return SearchResult(
            move=candidates[0].point if candidates else game.size**2,
            resign=False,
            to_play=game.to_play,
            candidates=candidates,
            winrate=(search.value + 1) / 2,
            score=search.score,
            ownership=np.zeros((game.size, game.size), np.float32) if ownership is None else ownership,
            visits=search.visits,
            evaluations=search.evaluations - spent.evaluations_before,
            seconds=spent.elapsed,
        )

    def _candidates(self) -> tuple[Candidate, ...]:
        """The legal moves: the search's choice, then by visits, then by the network's opinion."""
        moves = self._search.stats()
        chosen = self._search.choose(0)
        columns = (moves.point, moves.visits, moves.value, moves.score, moves.prior, moves.lcb)
        found = [
            Candidate(p, visits, (value + 1) / 2, score, prior, (lcb + 1) / 2, self._search.pv(p, _LINE))
            for p, visits, value, score, prior, lcb in zip(*(c.tolist() for c in columns), strict=True)
        ]
        return tuple(sorted(found, key=lambda c: (c.point != chosen, -c.visits, -c.prior)))

    def _decide(self, result: SearchResult, cleanup: bool) -> SearchResult:
        """The result with the move to play: variety, passing and resigning have their say."""
        if self._restricted:
            return result
        game = self._position()
        drawn = self._draw(result)
        ranked = sorted(result.candidates, key=lambda c: c.point != drawn)
        move = choose_move(game, ranked, lambda: self._count_root(result), self._pass_winrate, cleanup=cleanup)
        hopeless = self._judge.judge(
            self.style, game.to_play, len(game.moves), result.winrate, game.size, game.handicap
        )
        return replace(result, move=move, resign=hopeless and move != game.size**2)

    def _draw(self, result: SearchResult) -> int:
        """The first move of the search's preference, or one by chance where the style asks for it."""
        game, style = self._position(), self.style
        if style.policy_temperature is not None and result.candidates:
            priors = np.array([c.prior for c in result.candidates]) + 1e-12
            # The network's own probabilities, which the search may have flattened.
            logits = np.log(priors) * self.params.policy_temperature / style.policy_temperature
            weights = np.exp(logits - logits.max())
            return result.candidates[self._random.choice(len(weights), p=weights / weights.sum())].point
        if style.temperature > 0 and len(game.moves) < style.opening * game.size**2:
            drawn = self._search.choose(style.temperature)
            return result.move if drawn is None else drawn
        return result.move

    def _pass_winrate(self) -> float:
        """The winrate of a pass for the side to move, by a short search of what follows.

        It has a tree of its own: what it finds out must not weigh in the answer for the position, if that is asked for
        again.
        """
        search = _new_search(
            self.evaluator,
            self.params.model_copy(update={"memory": _PASS_BYTES}),
            self._search.batch,
            self._seed,
            self._search.threads,
        )
        search.set_root(self._position().copy().play("pass"))
        deadline = time.monotonic() + _PASS_SECONDS
        # The first visit whatever time it takes: without it nothing is known.
        search.run(_PASS_VISITS, lambda: time.monotonic() < deadline or not search.visits)
        return (1 - search.value) / 2

    def _count_root(self, result: SearchResult) -> Count:
        game = self._position()
        return self._counter.count(game, result.ownership if game.to_play == BLACK else -result.ownership)


def _new_search(evaluator: Evaluator, params: SearchParams, batch: int, seed: int, threads: int) -> TreeSearch:
    """A search that keeps the ownership, which passing and counting rest on."""
    return TreeSearch(evaluator, _with_ownership(params), batch, seed, threads)


def _with_ownership(params: SearchParams) -> SearchParams:
    return params.model_copy(update={"ownership": True})


def _goes_on(before: Game, now: Game) -> bool:
    """Whether a game has the earlier one's moves at its start."""
    played = before.moves
    same = (before.size, before.komi, before.setup_stones) == (now.size, now.komi, now.setup_stones)
    return same and now.moves[: len(played)] == played
