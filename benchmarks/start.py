"""Seconds from the start of `tengen gtp` to its first answers, warm and cold.

    python benchmarks/start.py [--runs 5] [--net default]

Prints a line of JSON a case, medians of `--runs`: seconds to the answer of `name` and to that of the first `genmove`,
each from the start of the program, and the processor time that it has used by then. `warm` is a start like the one
before; `cold` has an empty user cache (no compiled network, no measured device), and the files of this Python are no
longer in memory where the system lets go of them (Linux, unless another program uses them).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

import tengen


def forget_files() -> None:
    """Let the system drop the files of Python, its packages and Tengen from memory."""
    if not hasattr(os, "posix_fadvise"):
        return
    paths = sysconfig.get_paths()
    for folder in {paths["stdlib"], paths["purelib"], paths["platlib"], str(Path(tengen.__file__).parent)}:
        for path in Path(folder).rglob("*"):
            with suppress(OSError):
                if path.is_file():
                    handle = os.open(path, os.O_RDONLY)
                    try:
                        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
                    finally:
                        os.close(handle)


def start(words: list[str], cache: str | None) -> list[float]:
    """Seconds to the first answer, and of processor time; both for the first move."""
    environment = {**os.environ, **({"XDG_CACHE_HOME": cache} if cache else {})}
    began = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment, text=True) as gtp:
        assert gtp.stdin and gtp.stdout
        found: list[float] = []
        for command in ("name", "genmove b"):
            gtp.stdin.write(f"{command}\n")
            gtp.stdin.flush()
            answer = gtp.stdout.readline()
            seconds, used = time.perf_counter() - began, psutil.Process(gtp.pid).cpu_times()
            found += [seconds, used.user + used.system]
            assert answer.startswith("= "), f"{command} got {answer!r}"
            gtp.stdout.readline()
        gtp.stdin.write("quit\n")
        gtp.stdin.flush()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--net", default="default")
    args = parser.parse_args()
    if args.runs < 1:
        parser.error(f"--runs {args.runs}: give 1 or more")
    words = [sys.executable, "-m", "tengen", "gtp", "--net", args.net]
    start(words, None)  # fills the cache
    for case in ("warm", "cold"):
        found = []
        for _ in range(args.runs):
            with tempfile.TemporaryDirectory() as empty:
                if case == "cold":
                    forget_files()
                found.append(start(words, empty if case == "cold" else None))
        medians = [round(statistics.median(column), 2) for column in zip(*found, strict=True)]
        names = ("answer_s", "answer_cpu_s", "move_s", "move_cpu_s")
        line = {"case": case, **dict(zip(names, medians, strict=True)), "runs": args.runs}
        print(json.dumps({**line, "net": args.net, "cores": os.cpu_count()}), flush=True)


if __name__ == "__main__":
    main()
