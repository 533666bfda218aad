"""Evaluations a second of a network file: one line of JSON a precision and batch.

    python benchmarks/evaluator.py [NETWORK] [--edge 19] [--seconds 1] [--backend onnxruntime] [--batches 1 8 64]
    python benchmarks/evaluator.py --preset mobile.40

`against_f32` is the ratio to OpenVINO in f32 at the same batch in the same run; backend onnxruntime adds ONNX Runtime.
`--preset` measures a published network with its first weights, in one precision (needs the extra [train]).
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from tengen.evaluators import Evaluator, load_evaluator
from tengen.evaluators.openvino import OpenVinoEvaluator

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


def untrained(preset: str, folder: Path) -> Path:
    """The network file of a preset with its first weights."""
    from tengen.data.planes import plane_set
    from tengen.evaluators.network_file import Card
    from tengen.networks import build, parse_config
    from tengen.networks.export import export
    from tengen.networks.presets import with_preset

    fields = with_preset({"preset": preset})
    config = parse_config(fields)
    known = plane_set(config.plane_set)
    planes, scalars = len(known.planes), len(known.scalars)
    card = Card(name=preset, family=config.family, config={}, plane_set=config.plane_set, board_sizes=[19])
    path = folder / "untrained.onnx"
    export(build(config, planes, scalars).eval(), planes, scalars, path, card.metadata())
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("network", nargs="?", default="default")
    parser.add_argument("--edge", type=int, default=19)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--backend", choices=["openvino", "onnxruntime"], default="openvino")
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--preset", help="a published network instead of NETWORK")
    options = parser.parse_args()
    if options.preset:
        with tempfile.TemporaryDirectory() as folder:
            path = untrained(options.preset, Path(folder))
            evaluator = OpenVinoEvaluator(path, max_batch=max(options.batches), remember=False)
            for batch in options.batches:
                rate = measure(evaluator, options.edge, batch, options.seconds)
                line = {"benchmark": "evaluator", "kind": options.preset, "edge": options.edge, "batch": batch}
                print(json.dumps({**line, "evaluations_per_second": round(rate, 1)}), flush=True)
        return
    contenders = {
        "f32": load_evaluator(options.network, "cpu", precision="f32"),
        "auto": load_evaluator(options.network, "cpu"),
    }
    if options.backend == "onnxruntime":
        contenders["onnxruntime"] = load_evaluator(options.network, "onnxruntime")
    for batch in options.batches:
        rates = {
            name: measure(evaluator, options.edge, batch, options.seconds) for name, evaluator in contenders.items()
        }
        for name, rate in rates.items():
            line = {"benchmark": "evaluator", "kind": name, "edge": options.edge, "batch": batch}
            figures = {"evaluations_per_second": round(rate), "against_f32": round(rate / rates["f32"], 2)}
            print(json.dumps({**line, **figures}), flush=True)


if __name__ == "__main__":
    main()
