"""One evaluator for all board sizes, made of networks that each know theirs best."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tengen.errors import NetworkError
from tengen.evaluators.protocol import Evaluation, Evaluator, Floats, advised_search, empty_evaluation, fill, name_on


class BySizeEvaluator:
    """Asks the network of a board's size, and `fallback` on all other sizes.

    `specialists` makes the evaluator of a size when a position of that size comes for the first time. All must read the
    plane set of `fallback`: NetworkError names one that does not. Positions of several sizes may share a batch.
    """

    def __init__(self, fallback: Evaluator, specialists: Mapping[int, Callable[[], Evaluator]]) -> None:
        self.name = fallback.name
        self.plane_set = fallback.plane_set
        self._fallback = fallback
        self._makers = dict(specialists)
        self._made: dict[int, Evaluator] = {}
        self._making = threading.Lock()

    def of_size(self, size: int) -> Evaluator:
        """The evaluator for boards of `size`."""
        if size not in self._makers:
            return self._fallback
        with self._making:
            if size not in self._made:
                made = self._makers[size]()
                if made.plane_set != self.plane_set:
                    raise NetworkError(
                        f"network {made.name} for {size}x{size} reads plane set {made.plane_set!r}, but "
                        f"{self.name} reads {self.plane_set!r}"
                    )
                self._made[size] = made
            return self._made[size]

    def name_on(self, size: int) -> str:
        """The name of the network of boards of `size`."""
        return name_on(self.of_size(size), size)

    def advised_search(self, size: int) -> Mapping[str, Any]:
        """What the network of boards of `size` advises."""
        return advised_search(self.of_size(size), size)

    def evaluate(self, planes: Floats, scalars: Floats, mask: Floats) -> Evaluation:
        sizes = np.rint(np.sqrt((mask > 0).sum(axis=(1, 2)))).astype(int)
        if len(sizes) and (sizes == sizes[0]).all():
            return self.of_size(int(sizes[0])).evaluate(planes, scalars, mask)
        result = empty_evaluation(len(mask), mask.shape[-1])
        for size in np.unique(sizes):
            rows = np.flatnonzero(sizes == size)
            fill(result, rows, self.of_size(int(size)).evaluate(planes[rows], scalars[rows], mask[rows]))
        return result
