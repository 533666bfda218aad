"""What an evaluator is: positions go in, probabilities of moves and values come out.

Search, matches and self-play see nothing else. Backends and wrappers keep the contract, and one suite
(`tests/evaluators/test_contract.py`) holds them to it.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.coords import policy_index
from tengen.data.planes import plane_set
from tengen.errors import NetworkError
from tengen.evaluators.evaluation import Evaluation, Floats, InputBatch, evaluation_fault
from tengen.game import AnyGame, Game, native_game

RAW_OPTIMISM = 0.2
"""The share of the optimistic policy in evaluations without search, KataGo's default for the root."""


class Evaluator(ABC):
    """Evaluates positions of all board sizes that it knows; boards of different sizes may have different networks."""

    name: str
    katago_format: int = 0
    """The version of KataGo's file format; 0 for all other networks."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @abstractmethod
    def on(self, size: int) -> BatchEvaluator:
        """The evaluator of boards of this size, always the same object. Raises NetworkError when there is none."""

    @abstractmethod
    def wrapped(self, wrap: Callable[[BatchEvaluator], BatchEvaluator]) -> Evaluator:
        """This evaluator with `wrap` around whatever evaluates: `evaluator.wrapped(SymmetricEvaluator)`."""

    def infer(self, batch: InputBatch) -> Evaluation:
        """Evaluate encoded positions, each by the evaluator of its board size; illegal moves may have mass.

        Raises NetworkError when one of these evaluators has another encoding.
        """
        sizes, parts = batch.sizes, []
        for size in np.unique(sizes):
            chosen, rows = self.on(int(size)), np.flatnonzero(sizes == size)
            if chosen.plane_set != batch.plane_set:
                raise NetworkError(
                    f"network {chosen.name} for {size}x{size} reads plane set {chosen.plane_set!r}, "
                    f"not {batch.plane_set!r}"
                )
            parts.append((rows, chosen.infer(batch[rows])))
        return _of_rows(parts, len(batch), batch.edge)

    def evaluate(self, positions: Sequence[AnyGame]) -> Evaluation:
        """Evaluate positions, on tensors with the edge of the largest board. The policy has legal moves alone.

        Networks with an optimistic policy have a share of `RAW_OPTIMISM` of it.
        Sums of the policy are 1; where the network gives no legal move any mass, all of them and pass have the same.
        Raises ValueError without positions, and NetworkError for a board of a size that the evaluator does not know and
        as `infer_checked`.
        """
        games = [native_game(game) for game in positions]
        if not games:
            raise ValueError("there is no position to evaluate: give one or more")
        edge = max(game.size for game in games)
        chosen = [self.on(game.size) for game in games]
        parts: list[tuple[NDArray[np.intp], Evaluation]] = []
        for evaluator in dict.fromkeys(chosen):
            rows = [row for row, one in enumerate(chosen) if one is evaluator]
            width = evaluator.only_size or edge
            batch = evaluator.encoded([games[row] for row in rows], width)
            result = evaluator.infer_checked(replace(batch, optimism=np.full(len(rows), RAW_OPTIMISM, np.float32)))
            result = replace(result, policy=legal_policy(result.policy, [games[row] for row in rows], width))
            if len(rows) == len(games):
                return result
            parts.append((np.array(rows), result if width == edge else _widened(result, width, edge)))
        return _of_rows(parts, len(games), edge)


class BatchEvaluator(Evaluator):
    """An evaluator with one encoding, which reads whole batches: a backend, or a wrapper around one.

    A pure function of each row: a result does not depend on the other rows, nor on earlier calls. `infer` may be
    called from several threads. A subclass sets `name` and the attributes that differ from the defaults below, and
    implements `infer`.
    """

    name: str = ""
    plane_set: str = "tengen"
    only_size: int | None = None
    """The only board size, and edge of the tensors, that it takes; None takes any."""
    board_sizes: tuple[int, ...] = ()
    """The board sizes that the network has learned; empty where that is not known."""
    advice: Mapping[str, Any] = {}
    """Settings of the search that suit it, by name."""
    has_pass: bool = True
    has_value: bool = True
    """Without a value all positions have value 0."""
    has_score: bool = True
    has_ownership: bool = True
    has_optimism: bool = False
    """The network has an optimistic policy besides the normal one, as KataGo's do."""
    policy_optimism: float = 1.0
    """The share of the optimistic policy, 0 to 1, in rows of a batch that do not say their own."""
    search_batch: int = 8
    """Positions that a search of one position evaluates at once by default. More are faster, but each is chosen before
    the others of its batch are evaluated."""

    @abstractmethod
    def infer(self, batch: InputBatch) -> Evaluation:
        """Evaluate a batch in this evaluator's encoding; the inputs are not kept. Illegal moves may have mass."""

    def infer_checked(self, batch: InputBatch) -> Evaluation:
        """`infer` as searches ask it. Raises NetworkError for results of another shape than an Evaluation has, negative
        probabilities, as where logits are given, and values beyond -1 and 1."""
        result = self.infer(batch)
        if fault := evaluation_fault(result, batch):
            raise NetworkError(f"evaluator {self.name}: {fault}")
        return result

    def on(self, size: int) -> BatchEvaluator:
        if self.only_size is not None and size != self.only_size:
            raise NetworkError(f"network {self.name} takes {self.only_size}x{self.only_size} boards alone, "
                               f"not {size}x{size}")  # fmt: skip
        return self

    def wrapped(self, wrap: Callable[[BatchEvaluator], BatchEvaluator]) -> BatchEvaluator:
        return wrap(self)

    def new_batch(self, rows: int, edge: int) -> InputBatch:
        """A batch in this evaluator's encoding, to be written. Raises NetworkError for a plane set that is unknown."""
        return InputBatch.zeros(self.plane_set, rows, edge)

    def encoded(self, positions: Sequence[AnyGame], edge: int | None = None) -> InputBatch:
        """The positions in this evaluator's encoding, on tensors of `edge`, that of the largest board unless given."""
        return InputBatch(self.plane_set, *plane_set(self.plane_set).encode_games(positions, edge))

    def scatter(self, native: _native.Search | _native.SearchPool | _native.SelfPlay, result: Evaluation) -> None:
        """Hand results to the positions that a native search waits for; NetworkError when they cannot be right."""
        policy = np.ascontiguousarray(result.policy if self.has_pass else result.policy[:, :-1], np.float32)
        value = np.ascontiguousarray(result.value, np.float32)
        score = None if result.score is None else np.ascontiguousarray(result.score, np.float32)
        ownership = None if result.ownership is None else np.ascontiguousarray(result.ownership, np.float32)
        further = {name: np.ascontiguousarray(getattr(result, name), np.float32) for name in result.further}
        try:
            native.scatter(policy, value, score, ownership, len(result), further)
        except ValueError as error:
            raise NetworkError(f"evaluator {self.name}: {error}") from error


class WrappingEvaluator(BatchEvaluator):
    """The base of evaluators that ask another one; all attributes are those of `inner`."""

    def __init__(self, inner: BatchEvaluator) -> None:
        if not isinstance(inner, BatchEvaluator):
            raise TypeError(
                f"{type(self).__name__} wraps one BatchEvaluator, not {inner!r}: of an evaluator with several networks "
                f"use evaluator.wrapped({type(self).__name__})"
            )
        self.inner = inner
        self.name, self.plane_set, self.only_size = inner.name, inner.plane_set, inner.only_size
        self.advice, self.katago_format = inner.advice, inner.katago_format
        self.board_sizes = inner.board_sizes
        self.has_optimism, self.search_batch = inner.has_optimism, inner.search_batch

    # An evaluator may learn with its first evaluation what it has.

    @property
    def has_pass(self) -> bool:  # type: ignore[override]
        """That of the evaluator within, as the others here."""
        return self.inner.has_pass

    @property
    def has_value(self) -> bool:  # type: ignore[override]
        return self.inner.has_value

    @property
    def has_score(self) -> bool:  # type: ignore[override]
        return self.inner.has_score

    @property
    def has_ownership(self) -> bool:  # type: ignore[override]
        return self.inner.has_ownership

    @property
    def policy_optimism(self) -> float:
        """That of the evaluator within."""
        return self.inner.policy_optimism

    @policy_optimism.setter
    def policy_optimism(self, share: float) -> None:
        self.inner.policy_optimism = share


class BySizeEvaluator(Evaluator):
    """Specialists for some board sizes, and `fallback` for all others. Their plane sets may differ.

    `specialists` makes the evaluator of a size when it is first asked for.
    """

    def __init__(self, fallback: BatchEvaluator, specialists: Mapping[int, Callable[[], BatchEvaluator]]) -> None:
        self.name, self.katago_format = fallback.name, fallback.katago_format
        self._fallback = fallback
        self._makers = dict(specialists)
        self._made: dict[int, BatchEvaluator] = {}
        self._making = threading.Lock()

    def on(self, size: int) -> BatchEvaluator:
        if size not in self._makers:
            return self._fallback.on(size)
        with self._making:
            if size not in self._made:
                self._made[size] = self._makers[size]().on(size)
            return self._made[size]

    def wrapped(self, wrap: Callable[[BatchEvaluator], BatchEvaluator]) -> BySizeEvaluator:
        def made(size: int) -> BatchEvaluator:
            return wrap(self.on(size))

        return BySizeEvaluator(wrap(self._fallback), {size: partial(made, size) for size in self._makers})


class UniformEvaluator(BatchEvaluator):
    """Gives every point of the board and pass the same probability, and 0 for value, score and ownership."""

    def __init__(self, plane_set: str = "tengen") -> None:
        self.name = "uniform"
        self.plane_set = plane_set

    def infer(self, batch: InputBatch) -> Evaluation:
        result = Evaluation.zeros(len(batch), batch.edge)
        result.policy[:, :-1] = batch.mask.reshape(len(batch), batch.edge**2) > 0
        result.policy[:, -1] = 1
        result.policy[:] /= result.policy.sum(axis=1, keepdims=True, dtype=np.float32)
        return result


def sees_komi(evaluator: Evaluator, size: int) -> bool:
    """Whether komi changes what a network says of an empty board: most networks without it see no rules either."""
    found = evaluator.evaluate([Game(size, komi=7.5), Game(size, komi=-4.0 * size)])
    outputs = found.policy, found.value, found.score, found.ownership
    return any(each is not None and not np.array_equal(each[0], each[1]) for each in outputs)


def legal_policy(policy: Floats, games: Sequence[_native.Game], edge: int) -> Floats:
    """A copy of a policy [N, edge * edge + 1] with 0 for illegal moves; the sum of each row is 1."""
    legal = np.zeros(policy.shape, bool)
    legal[:, -1] = True
    for row, game in zip(legal, games, strict=True):
        row[policy_index(game.legal_points(), game.size, edge)] = True
    found = np.asarray(policy, np.float32) * legal
    totals = found.sum(axis=1, keepdims=True)
    np.copyto(found, legal, where=totals == 0)
    found /= found.sum(axis=1, keepdims=True)
    return found


def _of_rows(parts: Sequence[tuple[NDArray[np.intp], Evaluation]], count: int, edge: int) -> Evaluation:
    """Results of `count` rows from those of some rows each; what a part alone lacks is NaN there."""
    joined = Evaluation.zeros(
        count,
        edge,
        score=any(part.score is not None for _, part in parts),
        ownership=any(part.ownership is not None for _, part in parts),
        further={name for _, part in parts for name in part.further},
    )
    for rows, part in parts:
        joined.write(rows, part)
    return joined


def _widened(result: Evaluation, edge: int, wider: int) -> Evaluation:
    """Results on tensors of `edge` as they are on those of a `wider` edge."""
    n = len(result)
    board = np.zeros((n, wider, wider), np.float32)
    board[:, :edge, :edge] = result.policy[:, :-1].reshape(n, edge, edge)
    ownership = None
    if result.ownership is not None:
        ownership = np.zeros((n, wider, wider), np.float32)
        ownership[:, :edge, :edge] = result.ownership
    policy = np.concatenate([board.reshape(n, -1), result.policy[:, -1:]], axis=1)
    return replace(result, policy=policy, ownership=ownership)
