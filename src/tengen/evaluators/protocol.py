"""What an evaluator is: a batch of encoded positions goes in, probabilities and values come out.

Search sees nothing else. Backends, caches and symmetry averages all keep this contract, and one suite
(`tests/evaluators/test_contract.py`) holds them to it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tengen.errors import NetworkError

Floats: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True)
class Evaluation:
    """Results for B positions, each seen by its side to move; all arrays are float32 and belong to the caller.

    policy [B, A] with A = H * W + 1: probabilities of the board's points (`row * W + col`) and of pass (`H * W`); a row
    sums to 1 and is 0 off the board. Occupied and forbidden points may have mass: the search drops them.
    value [B] in [-1, 1]; score [B] in points; ownership [B, H, W] in [-1, 1], 0 off the board.
    """

    policy: Floats
    value: Floats
    score: Floats
    ownership: Floats

    def __len__(self) -> int:
        return len(self.value)

    def rows(self, chosen: slice | NDArray[np.intp]) -> "Evaluation":
        """The evaluation of the chosen rows, in their order."""
        return Evaluation(self.policy[chosen], self.value[chosen], self.score[chosen], self.ownership[chosen])


@runtime_checkable
class Evaluator(Protocol):
    """A pure function of each row: a position's result does not depend on the rows beside it, nor on earlier calls.

    `plane_set` names the encoding of the inputs. `evaluate` may be called from several threads.
    """

    @property
    def name(self) -> str: ...

    @property
    def plane_set(self) -> str: ...

    def evaluate(self, planes: Floats, scalars: Floats, mask: Floats) -> Evaluation:
        """Evaluate planes [B, C, H, W], scalars [B, S] and mask [B, H, W] (1 on the board); the inputs are not kept."""
        ...


def fixed_size(evaluator: Evaluator) -> int | None:
    """The only board size that an evaluator can take, where it says so; None where it takes any."""
    size: int | None = getattr(evaluator, "fixed_size", None)
    return size


def advised_search(evaluator: Evaluator, size: int) -> Mapping[str, Any]:
    """Settings of a search that suit an evaluator on boards of this size, by name; none where it has no advice."""
    advice: Callable[[int], Mapping[str, Any]] | None = getattr(evaluator, "advised_search", None)
    return {} if advice is None else advice(size)


def name_on(evaluator: Evaluator, size: int) -> str:
    """The name of what evaluates boards of this size, where that depends on the size."""
    name: Callable[[int], str] | None = getattr(evaluator, "name_on", None)
    return evaluator.name if name is None else name(size)


def require_size(evaluator: Evaluator, size: int) -> None:
    """Raise NetworkError unless boards of this size can be evaluated."""
    only = fixed_size(evaluator)
    if only is not None and size != only:
        raise NetworkError(f"network {evaluator.name} takes {only}x{only} boards alone, not {size}x{size}")


def empty_evaluation(batch: int, edge: int) -> Evaluation:
    """An evaluation of `batch` rows on tensors of the given edge, all zeros, to be filled."""
    return Evaluation(
        policy=np.zeros((batch, edge * edge + 1), np.float32),
        value=np.zeros(batch, np.float32),
        score=np.zeros(batch, np.float32),
        ownership=np.zeros((batch, edge, edge), np.float32),
    )


def fill(target: Evaluation, rows: slice | NDArray[np.intp], source: Evaluation) -> None:
    """Write `source` into the given rows of `target`."""
    target.policy[rows] = source.policy
    target.value[rows] = source.value
    target.score[rows] = source.score
    target.ownership[rows] = source.ownership
