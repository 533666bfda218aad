"""Evaluations and visits a second in search beside KataGo's own benchmark: one line of JSON a contender and a ratio.

    python benchmarks/katago.py [NET.bin.gz] [--katago katago] [--threads 2] [--visits 400] [--positions 5] [--rounds 2]

The positions are those of one game, which the default network plays; KataGo gets it as an SGF file (`katago benchmark
-sgf`). KataGo runs with each of `--katago-threads` once and then with the best number of them. The contenders take
turns, A B B A, so that a load that changes hits both alike. Rates are of wall time and of processor time
(`per_cpu_second`, which other work on the machine disturbs less). Without `--katago` only ours is measured,
and without a network the default one.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from tengen.engine.params import SearchParams
from tengen.engine.search import TreeSearch
from tengen.evaluators import Evaluator, load_evaluator
from tengen.evaluators.installed_networks import find_network
from tengen.game import Game
from tengen.machine import core_count
from tengen.sgf import write_game

SIZE, PLIES = 19, 200
CONFIG = "logDir = {folder}\nlogToStderr = false\nrules = tromp-taylor\nmaxVisits = 500\nnumSearchThreads = 2\n"


@dataclass
class Work:
    """What was done, in seconds of wall and processor time."""

    visits: float = 0
    evaluations: float = 0
    seconds: float = 0
    cpu: float = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(*(getattr(self, name) + getattr(other, name) for name in self.__annotations__))

    def rates(self) -> dict[str, float]:
        return {
            "visits_per_second": round(self.visits / self.seconds, 1),
            "evaluations_per_second": round(self.evaluations / self.seconds, 1),
            "evaluations_per_cpu_second": round(self.evaluations / self.cpu, 1),
            "cores": round(self.cpu / self.seconds, 2),
        }


def played_game() -> list[int]:
    """Moves of a game that the default network plays against itself: drawn from its policy, always the same."""
    evaluator, game, random = load_evaluator("default", precision="f32"), Game(SIZE), np.random.default_rng(0)
    while len(game.moves) < PLIES:
        policy = evaluator.evaluate([game]).policy[0, :-1].astype(float) ** 1.5
        game.play(int(random.choice(SIZE * SIZE, p=policy / policy.sum())))
    return [point for _, point in game.moves]


def positions(moves: list[int], count: int) -> list[Game]:
    """`count` positions of the game, evenly spaced from the fifth move on."""
    found = []
    for ply in np.linspace(5, len(moves), count).astype(int):
        game = Game(SIZE, rules="tromp-taylor", komi=7.5)
        for point in moves[:ply]:
            game.play(point)
        found.append(game)
    return found


def sgf(moves: list[int]) -> str:
    game = Game(SIZE, rules="tromp-taylor", komi=7.5)
    for point in moves:
        game.play(point)
    return write_game(game).decode()


def ours(evaluator: Evaluator, games: list[Game], visits: int, batch: int) -> Work:
    """A search of each position from an empty tree."""
    search = TreeSearch(evaluator, SearchParams(), batch)
    start, cpu = time.perf_counter(), time.process_time()
    done = 0
    for game in games:
        search.set_root(game)
        done += search.run(visits)
    return Work(done, search.evaluations, time.perf_counter() - start, time.process_time() - cpu)


def raw(evaluator: Evaluator, games: list[Game], batch: int, seconds: float) -> Work:
    """The evaluator alone, on whole batches of these positions."""
    network = evaluator.on(SIZE)
    inputs = network.encoded([games[i % len(games)] for i in range(batch)])
    network.infer(inputs)
    work, start, cpu = Work(), time.perf_counter(), time.process_time()
    while time.perf_counter() - start < seconds:
        network.infer(inputs)
        work.evaluations += batch
    work.seconds, work.cpu = time.perf_counter() - start, time.process_time() - cpu
    return work


def katago(binary: str, model: Path, game: Path, config: Path, visits: int, count: int, threads: int) -> Work:
    """One `katago benchmark`. Its processor time includes that of loading."""
    words = [binary, "benchmark", "-model", str(model), "-config", str(config), "-sgf", str(game)]
    words += ["-v", str(visits), "-t", str(threads), "-n", str(count)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = re.findall(r"visits/s = ([\d.]+) nnEvals/s = ([\d.]+).*?\(([\d.]+) secs\)", text)
    if not found:
        raise SystemExit(f"katago benchmark printed no result: {text[-500:]}")
    visits_rate, evaluations_rate, seconds = map(float, found[-1])
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Work(visits_rate * seconds, evaluations_rate * seconds, seconds, cpu)


def report(kind: str, work: Work, **more: object) -> dict[str, float]:
    rates = work.rates()
    print(json.dumps({"benchmark": "katago", "kind": kind, **more, **rates}), flush=True)
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("network", type=Path, nargs="?")
    parser.add_argument("--katago", default="", help="the program of KataGo")
    parser.add_argument("--katago-threads", type=int, nargs="+", default=[])
    parser.add_argument("--threads", type=int, default=core_count())
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--visits", type=int, default=400)
    parser.add_argument("--positions", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3.0, help="of the evaluator alone")
    options = parser.parse_args()
    if options.katago and options.network is None:
        parser.error("--katago needs a network file of KataGo, such as NET.bin.gz")
    options.network = options.network or find_network("default")
    evaluator = load_evaluator(options.network, precision=options.precision, threads=options.threads)
    moves = played_game()
    games = positions(moves, options.positions)
    about = {"network": options.network.name.split(".")[0], "threads": options.threads}
    ours(evaluator, games[:1], 32, options.batch)  # compiles
    report("evaluator", raw(evaluator, games, options.batch, options.seconds), **about, batch=options.batch)
    mine = partial(ours, evaluator, games, options.visits, options.batch)
    if not options.katago:
        report("tengen", sum((mine() for _ in range(options.rounds)), Work()), **about)
        return
    with tempfile.TemporaryDirectory() as folder:
        game, config = Path(folder) / "game.sgf", Path(folder) / "benchmark.cfg"
        game.write_text(sgf(moves), encoding="utf-8")
        config.write_text(CONFIG.format(folder=folder), encoding="utf-8")
        run = partial(katago, options.katago, options.network.resolve(), game, config)
        loading = run(10, 1, 1)
        counts = options.katago_threads or [options.threads, 2 * options.threads]
        tried = {count: run(options.visits // 4, 3, count) for count in counts}
        best = max(tried, key=lambda count: tried[count].evaluations / tried[count].seconds)
        theirs = partial(run, options.visits, options.positions, best)
        contenders: dict[str, Callable[[], Work]] = {"tengen": mine, "katago": theirs}
        total = {name: Work() for name in contenders}
        for turn in range(2 * options.rounds):
            for name in list(contenders)[:: -1 if turn % 2 else 1]:
                done = contenders[name]()
                if name == "katago":  # without the time that loading takes
                    done.cpu -= loading.cpu
                    done.cpu *= done.evaluations / (done.evaluations - loading.evaluations)
                total[name] += done
        rates = {name: report(name, work, **about) for name, work in total.items()}
    ratios = {key: round(rates["tengen"][key] / rates["katago"][key], 2) for key in rates["tengen"] if key != "cores"}
    load = round(os.getloadavg()[0], 1)
    print(json.dumps({"benchmark": "katago", "kind": "ratio", "katago_threads": best, "load": load, **about, **ratios}))


if __name__ == "__main__":
    main()
