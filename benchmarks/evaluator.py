"""Evaluations a second of a network file: one line of JSON a precision and batch.

    python benchmarks/evaluator.py [NETWORK] [--edge 19] [--seconds 1] [--backend onnxruntime]

`against_f32` is the ratio to OpenVINO in f32 at the same batch in the same run; backend onnxruntime adds ONNX Runtime.
"""

import argparse
import json
import time

import numpy as np

from tengen.evaluators import Evaluator, load_evaluator

BATCHES = (1, 4, 8, 16, 32)


def measure(evaluator: Evaluator, edge: int, batch: int, seconds: float) -> float:
    """Positions a second on random planes, after one call to compile."""
    network, rng = evaluator.on(edge), np.random.default_rng(0)
    inputs = network.new_batch(batch, edge)
    inputs.planes[:] = rng.random(inputs.planes.shape) < 0.2
    inputs.scalars[:] = rng.random(inputs.scalars.shape)
    inputs.mask[:] = 1
    network.infer(inputs)
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        network.infer(inputs)
        done += batch
    return done / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("network", nargs="?", default="default")
    parser.add_argument("--edge", type=int, default=19)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--backend", choices=["openvino", "onnxruntime"], default="openvino")
    options = parser.parse_args()
    contenders = {
        "f32": load_evaluator(options.network, "openvino", precision="f32"),
        "auto": load_evaluator(options.network, "openvino"),
    }
    if options.backend == "onnxruntime":
        contenders["onnxruntime"] = load_evaluator(options.network, "onnxruntime")
    for batch in BATCHES:
        rates = {
            name: measure(evaluator, options.edge, batch, options.seconds) for name, evaluator in contenders.items()
        }
        for name, rate in rates.items():
            line = {"benchmark": "evaluator", "kind": name, "edge": options.edge, "batch": batch}
            figures = {"evaluations_per_second": round(rate), "against_f32": round(rate / rates["f32"], 2)}
            print(json.dumps({**line, **figures}), flush=True)


if __name__ == "__main__":
    main()
