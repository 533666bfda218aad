"""Evaluation under the board's symmetries: one chosen for each position, or the mean over all eight."""

import zlib
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tengen.evaluators import symmetry
from tengen.evaluators.protocol import Evaluation, Evaluator, Floats, advised_search, fixed_size, name_on

SYMMETRIES = 8


class SymmetricEvaluator:
    """Shows positions to `inner` under symmetries and turns the answers back.

    `random` picks a symmetry for each row from the row's own content and `seed`, so that a row's answer never depends
    on its neighbours or on earlier calls. `average` evaluates all eight (eight times the work) and returns the mean.
    A board smaller than the tensor is turned within its own square at the top-left.
    """

    def __init__(self, inner: Evaluator, mode: Literal["random", "average"] = "random", seed: int = 0) -> None:
        if mode not in ("random", "average"):
            raise ValueError(f"symmetry mode {mode!r} is unknown: choose 'random' or 'average'")
        self.name = inner.name
        self.plane_set = inner.plane_set
        self.fixed_size = fixed_size(inner)
        self._inner = inner
        self._mode = mode
        self._seed = seed

    def name_on(self, size: int) -> str:
        """The name of the evaluator inside."""
        return name_on(self._inner, size)

    def advised_search(self, size: int) -> Mapping[str, Any]:
        """What the evaluator inside advises."""
        return advised_search(self._inner, size)

    def evaluate(self, planes: Floats, scalars: Floats, mask: Floats) -> Evaluation:
        if self._mode == "random":
            return evaluate_under(self._inner, planes, scalars, mask, self._choose(planes, scalars))
        rows = len(mask)
        parts = [evaluate_under(self._inner, planes, scalars, mask, np.full(rows, s)) for s in range(SYMMETRIES)]
        return Evaluation(
            policy=np.mean([part.policy for part in parts], axis=0, dtype=np.float32),
            value=np.mean([part.value for part in parts], axis=0, dtype=np.float32),
            score=np.mean([part.score for part in parts], axis=0, dtype=np.float32),
            ownership=np.mean([part.ownership for part in parts], axis=0, dtype=np.float32),
        )

    def _choose(self, planes: Floats, scalars: Floats) -> NDArray[np.intp]:
        """One symmetry a row, from a checksum of its content: spread evenly, and the same again for the same row."""
        salt = zlib.crc32(str(self._seed).encode())
        sums = [
            zlib.crc32(np.ascontiguousarray(row).data, zlib.crc32(extra.tobytes(), salt))
            for row, extra in zip(planes, scalars, strict=True)
        ]
        return np.array([total % SYMMETRIES for total in sums], np.intp)


def evaluate_under(
    inner: Evaluator, planes: Floats, scalars: Floats, mask: Floats, symmetries: NDArray[np.intp]
) -> Evaluation:
    """What `inner` says of each row shown under its symmetry [B], turned back to the board as it was."""
    sizes = np.rint(np.sqrt((mask > 0).sum(axis=(1, 2)))).astype(int)
    turned = planes.copy()
    for row, (n, s) in enumerate(zip(sizes, symmetries, strict=True)):
        turned[row, :, :n, :n] = symmetry.apply(planes[row, :, :n, :n], int(s))
    result = inner.evaluate(turned, scalars, mask)
    policy, ownership = result.policy.copy(), result.ownership.copy()
    edge = mask.shape[-1]
    boards = policy[:, :-1].reshape(-1, edge, edge).copy()
    for row, (n, s) in enumerate(zip(sizes, symmetries, strict=True)):
        boards[row, :n, :n] = symmetry.undo(boards[row, :n, :n].copy(), int(s))
        ownership[row, :n, :n] = symmetry.undo(result.ownership[row, :n, :n], int(s))
    policy[:, :-1] = boards.reshape(len(mask), -1)
    return Evaluation(policy, result.value, result.score, ownership)
