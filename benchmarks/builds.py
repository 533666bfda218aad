"""The native module of another build beside this one's, in turns: a line of JSON a case, with the ratio.

    python benchmarks/builds.py OTHER [--seconds 1] [--rounds 4]

OTHER is a wheel of Tengen, or a file _native*.so of one: `make wheel` builds the portable one. Each case is measured by
processes of one thread, which take turns; its figure is the least processor time of a call, in ms, which other work on
the machine disturbs the least. `ratio` is OTHER's time over ours: above 1 the other build is slower. Convolutions in
bf16 are left out where the processor multiplies none.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tengen import _native

MODULE = "tengen._native"


def native_file(path: Path, folder: Path) -> Path:
    """The module in a wheel, extracted into a folder, or the file itself."""
    if path.suffix != ".whl":
        return path
    with zipfile.ZipFile(path) as wheel:
        (name,) = (name for name in wheel.namelist() if Path(name).name.startswith("_native.") and ".pyi" not in name)
        return Path(wheel.extract(name, folder))


def use(path: Path) -> None:
    """Load this file in the place of our own module."""
    spec = importlib.util.spec_from_file_location(MODULE, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[MODULE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def cases() -> Iterator[tuple[str, Callable[[], object]]]:
    """Name and work of each case; a call takes 1 to 100 ms."""
    import numpy as np

    from tengen import _native
    from tengen.benchmark.playing import opening
    from tengen.engine.search import TreeSearch
    from tengen.evaluators import UniformEvaluator

    random = np.random.default_rng(0)

    def convolution(channels: int, edge: int, precision: str) -> Callable[[], object]:
        weights = random.standard_normal((channels, channels, edge, edge)).astype(np.float32)
        kernel = _native.Winograd(weights, np.zeros(channels, np.float32), precision)
        images = random.standard_normal((4, channels, 19, 19)).astype(np.float32)
        out = np.empty_like(images)
        return lambda: kernel.run(images, out, None, False)

    for precision in ("f32", "bf16"):
        if _native.Winograd.available(precision):
            for channels, edge in ((64, 3), (128, 3), (64, 5)):
                yield (
                    f"convolution {edge}x{edge}, {channels} channels, {precision}",
                    convolution(channels, edge, precision),
                )
    game = opening(19)
    native: _native.Game = game.native()
    for policy, count in (("uniform", 100), ("local", 50), ("bakago", 20), ("linear", 20)):
        yield f"{count} playouts, {policy}", lambda p=policy, n=count: _native.run_playouts(native, n, 1, p, 1)  # type: ignore[misc]

    def search() -> None:
        tree = TreeSearch(UniformEvaluator())
        tree.set_root(game)
        tree.run(500)

    yield "search, 500 visits of a uniform evaluator", search
    for name in ("tengen", "alphago48", "katago-v7"):
        evaluator = UniformEvaluator(name)
        yield f"16 encodings, {name}", lambda e=evaluator: e.encoded([game] * 16)  # type: ignore[misc]


def measure(seconds: float) -> dict[str, float]:
    """The least processor time of a call of each case, in ms."""
    found = {}
    for name, work in cases():
        work()
        least, began = float("inf"), time.perf_counter()
        while time.perf_counter() - began < seconds:
            start = time.process_time()
            work()
            least = min(least, time.process_time() - start)
        found[name] = least * 1e3
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("other", type=Path, nargs="?")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a case and round")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)  # in a process of its own
    options = parser.parse_args()
    if options.measure is not None:
        use(options.measure)
        print(json.dumps(measure(options.seconds)))
        return
    if options.other is not None and not options.other.is_file():
        parser.error(f"{options.other} is no file; make wheel builds a wheel in dist/")
    ours = importlib.util.find_spec(MODULE)
    assert ours is not None and ours.origin is not None
    if options.other is None:
        print(json.dumps({"benchmark": "builds", "left_out": "no other build was named"}))
        return
    with tempfile.TemporaryDirectory() as folder:
        files = {"ours": Path(ours.origin), "other": native_file(options.other, Path(folder))}
        least: dict[str, dict[str, float]] = {name: {} for name in files}
        for turn in range(options.rounds):
            for name in list(files)[:: -1 if turn % 2 else 1]:
                words = [sys.executable, __file__, "--measure", str(files[name]), "--seconds", str(options.seconds)]
                found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
                least[name] = {case: min(ms, least[name].get(case, ms)) for case, ms in found.items()}
    for case, ms in least["ours"].items():
        other = least["other"][case]
        line = {"case": case, "ours_ms": round(ms, 3), "other_ms": round(other, 3), "ratio": round(other / ms, 3)}
        print(json.dumps({"benchmark": "builds", **line}), flush=True)


if __name__ == "__main__":
    main()
