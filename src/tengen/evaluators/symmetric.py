"""Evaluation under the board's symmetries: one chosen for each position, or the mean over all eight.

Bit 0 of a symmetry flips rows, bit 1 flips columns, bit 2 transposes, in that order, as everywhere in Tengen.
"""

import zlib
from dataclasses import fields, replace
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, WrappingEvaluator

SYMMETRIES = 8


class SymmetricEvaluator(WrappingEvaluator):
    """Shows positions to `inner` under symmetries and transforms the results back.

    `random` picks a symmetry for each row from the row's own content and `seed`, so that a row's result never depends
    on the rows beside it, on the edge of the tensor or on earlier calls. `average` evaluates all eight (eight times the
    work) and returns the mean; score_stdev is that of the mixture of the eight distributions of the score. A board
    smaller than the tensor is transformed within its own square at the top-left.
    """

    def __init__(self, inner: BatchEvaluator, mode: Literal["random", "average"] = "random", seed: int = 0) -> None:
        if mode not in ("random", "average"):
            raise ValueError(f"symmetry mode {mode!r} is unknown: choose 'random' or 'average'")
        super().__init__(inner)
        self._mode = mode
        self._seed = seed

    def infer(self, batch: InputBatch) -> Evaluation:
        if self._mode == "random":
            return infer_under(self.inner, batch, self._choose(batch))
        parts = [infer_under(self.inner, batch, np.full(len(batch), s)) for s in range(SYMMETRIES)]

        def mean(name: str) -> Any:
            columns = [getattr(part, name) for part in parts]
            return None if columns[0] is None else np.mean(columns, axis=0, dtype=np.float32)

        whole = Evaluation(*(mean(field.name) for field in fields(Evaluation)))
        if whole.score is None or whole.score_stdev is None:
            return whole
        scores = np.array([part.score for part in parts], float)
        stdevs = np.array([part.score_stdev for part in parts], float)
        return replace(whole, score_stdev=np.sqrt(np.mean(stdevs**2, axis=0) + scores.var(axis=0)).astype(np.float32))

    def _choose(self, batch: InputBatch) -> NDArray[np.intp]:
        """One symmetry a row, from a checksum of its content and the seed."""
        sums = [
            zlib.crc32(np.ascontiguousarray(planes[:, :n, :n]).data, zlib.crc32(scalars.tobytes()))
            for planes, scalars, n in zip(batch.planes, batch.scalars, batch.sizes.tolist(), strict=True)
        ]
        # A checksum that begins with the seed is linear in it: of eight seeds two would draw the same for every row.
        digests = [blake2b(f"{total} {self._seed}".encode(), digest_size=1).digest() for total in sums]
        return np.array([digest[0] % SYMMETRIES for digest in digests], np.intp)


def infer_under(inner: BatchEvaluator, batch: InputBatch, symmetries: NDArray[np.intp]) -> Evaluation:
    """What `inner` says of each row shown under its symmetry [N], transformed back."""
    turns = list(enumerate(zip(batch.sizes.tolist(), symmetries.tolist(), strict=True)))
    planes = batch.planes.copy()
    for row, (n, s) in turns:
        planes[row, :, :n, :n] = transform(batch.planes[row, :, :n, :n], s)
    result = inner.infer(replace(batch, planes=planes))
    policy, ownership = result.policy.copy(), None if result.ownership is None else result.ownership.copy()
    boards = policy[:, :-1].reshape(len(batch), batch.edge, batch.edge).copy()
    for row, (n, s) in turns:
        boards[row, :n, :n] = inverse_transform(boards[row, :n, :n].copy(), s)
        if ownership is not None and result.ownership is not None:
            ownership[row, :n, :n] = inverse_transform(result.ownership[row, :n, :n], s)
    policy[:, :-1] = boards.reshape(len(batch), batch.edge**2)
    return replace(result, policy=policy, ownership=ownership)


def transform(array: NDArray[Any], symmetry: int) -> NDArray[Any]:
    """A view of `array` [..., n, n] under the symmetry."""
    if symmetry & 1:
        array = array[..., ::-1, :]
    if symmetry & 2:
        array = array[..., ::-1]
    return np.swapaxes(array, -1, -2) if symmetry & 4 else array


def inverse_transform(array: NDArray[Any], symmetry: int) -> NDArray[Any]:
    """The view that takes `transform(array, symmetry)` back to `array`."""
    if symmetry & 4:
        array = np.swapaxes(array, -1, -2)
    return transform(array, symmetry & 3)
