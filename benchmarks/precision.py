"""What each precision of a network costs against f32 on positions of real games, and what it gains.

    python benchmarks/precision.py [STORE [NETWORK [POSITIONS]]]

One line of JSON a precision that the network has here, on one position of each game of the store, at most POSITIONS
(5000): the difference of top-1 accuracy and of the squared value error (-1 to 1) with its paired 95% interval, the
share of positions with the same best move, the mean difference of winrates (0 to 1), and the ratio of evaluations a
second of processor time. Without STORE the 300 games that the tests ship are imported first, with all their positions.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass

import _native
import numpy as np
from numpy.typing import NDArray

from tengen.data import Store
from tengen.data.importer import ImportOptions, import_games
from tengen.data.sampler import OnePerGame, Sampler
from tengen.disk import json_text
from tengen.errors import NetworkError
from tengen.evaluators import load_evaluator
from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, WrappingEvaluator
from tengen.game import Game
from tengen.machine import Precision
from tengen.training.metrics import Estimate, PredictionResults, measure

PRECISIONS: tuple[Precision, ...] = ("bf16", "int8")
BATCH = 32


@dataclass
class Judged:
    """What one precision says of N positions: results, best moves int64 [N], seconds of processor time."""

    results: PredictionResults
    best: NDArray[np.int64]
    seconds: float


class Observed(WrappingEvaluator):
    """Notes the best moves of a network and the processor time that it takes."""

    def __init__(self, inner: BatchEvaluator) -> None:
        super().__init__(inner)
        self.best: list[NDArray[np.int64]] = []
        self.seconds = 0.0

    def infer(self, batch: InputBatch) -> Evaluation:
        begun = time.process_time()
        found = self.inner.infer(batch)
        self.seconds += time.process_time() - begun
        self.best.append(found.policy.argmax(1))
        return found


def judge(network: str, precision: Precision, store: Store, positions: int, every: bool) -> Judged:
    inner = load_evaluator(network, "cpu", precision=precision).on(int(store.column("size").max()))
    inner.infer(inner.encoded([Game(inner.only_size or 19)] * BATCH))  # compiles
    observed = Observed(inner)
    kind = Sampler if every else OnePerGame
    sampler = kind(store, "all", inner.plane_set, symmetries=False, batch_size=BATCH)
    results = measure(observed, sampler, positions)
    return Judged(results, np.concatenate(observed.best)[: len(results)], observed.seconds)


def main(store: Store, network: str, positions: int, every: bool) -> None:
    exact = judge(network, "f32", store, positions, every)
    a = exact.results
    known = a.value_known
    for precision in PRECISIONS:
        try:
            found = judge(network, precision, store, positions, every)
        except NetworkError as error:  # without an int8 file
            print(f"{precision}: {error}", file=sys.stderr)
            continue
        b = found.results
        top1 = Estimate.average(b.top1 - a.top1, a.game)
        value = Estimate.average(((b.value - b.outcome) ** 2 - (a.value - a.outcome) ** 2)[known], a.game[known])
        print(
            json_text(
                {
                    "benchmark": "precision",
                    "network": network,
                    "precision": precision,
                    "positions": len(b),
                    "top1": round(top1.mean, 4),
                    "top1_interval": top1.interval(4),
                    "value_error": round(value.mean, 4),
                    "value_error_interval": value.interval(4),
                    "same_move": round(float((found.best == exact.best).mean()), 4),
                    "winrate": round(float(np.nanmean(np.abs(b.value - a.value)) / 2), 5),
                    "speed": round(exact.seconds / found.seconds, 2),
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    parser = _native.parser(__doc__)
    parser.add_argument("network", nargs="?", default="default", metavar="NETWORK", help="a network's name or file")
    parser.add_argument("positions", nargs="?", type=int, default=5000, metavar="POSITIONS", help="at most, 5000")
    settings = parser.parse_args()
    if settings.store is not None:
        main(Store.open(settings.store), settings.network, settings.positions, every=False)
    else:
        with tempfile.TemporaryDirectory() as folder:
            import_games([_native.SAMPLE], f"{folder}/store", ImportOptions(workers=1))
            main(Store.open(f"{folder}/store"), settings.network, settings.positions, every=True)
