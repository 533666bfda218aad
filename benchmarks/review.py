"""How fast a game is reviewed, all its positions side by side or one after the other: a line of JSON for each way.

    python benchmarks/review.py [--net NET] [--size 19] [--turns 40] [--games 1] [--visits 50]
                                [--ways 1x1,1x8,16x1,16x8] [--katago katago] [--katago-ways 1x4,4x1]

A way 16x8 searches 16 positions at once with 8 positions of each in a batch. All ways analyze the same positions of a
game that the network played, with the same visits, through the analysis server, by default without a cache of
evaluations. With --games the game is asked for so many times at once, as when a program sends thousands of queries:
`--net zero-7x7 --size 7 --games 400 --visits 8 --cache 50000 --ways 16x8`.

`peak_mb` is the memory of the process at its largest, `cpu_seconds` the processor time, which other programs disturb
less; the ratios are to the first way.

With `--katago` the program answers the same queries with the same network, which must be a file of KataGo. Its way 4x1
searches 4 positions at once with one thread each. It keeps evaluations, as it does by default.
"""

import argparse
import json
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tengen.analysis.config import AnalysisSettings
from tengen.analysis.server import AnalysisServer
from tengen.coords import to_gtp
from tengen.evaluators import Evaluator
from tengen.evaluators.load import load_evaluator
from tengen.game import Game

CONFIG = "logDir = {folder}\nnumAnalysisThreads = {at_once}\nnumSearchThreadsPerAnalysisThread = {threads}\n"


def played(evaluator: Evaluator, size: int, turns: int) -> list[list[str]]:
    """A game of the network's own best moves, as the protocol writes it."""
    game, moves = Game(size), []
    while len(moves) < turns:
        point = int(evaluator.evaluate([game]).policy[0, :-1].argmax())  # passes would end the game
        moves.append(["BW"[game.to_play], to_gtp(point, size)])
        game.play(point)
    return moves


def queries(size: int, moves: list[list[str]], games: int, turns: int, visits: int) -> list[dict[str, Any]]:
    """The first positions of the game, asked for `games` times."""
    rules = {"rules": "chinese", "komi": 7.5, "boardXSize": size, "boardYSize": size}
    asked = {"moves": moves, "analyzeTurns": list(range(min(turns, len(moves)))), "maxVisits": visits, **rules}
    return [{"id": str(number), **asked} for number in range(games)]


def review(
    evaluator: Evaluator,
    size: int,
    moves: list[list[str]],
    games: int,
    visits: int,
    at_once: int,
    batch: int,
    cache: int,
) -> tuple[float, float]:
    """Seconds and processor seconds of the reviews, after a short one for which the batches are compiled."""
    settings = replace(AnalysisSettings.default(), at_once=at_once)
    for count, turns, budget in ((1, 2 * at_once, 3 * batch), (games, len(moves), visits)):
        server = AnalysisServer(evaluator, settings, lambda answer: None, batch=batch, cache=cache)
        began, worked = time.perf_counter(), time.process_time()
        for query in queries(size, moves, count, turns, budget):
            server.handle(json.dumps(query))
        server.finish()
        times = time.perf_counter() - began, time.process_time() - worked
        server.close()
    return times


@contextmanager
def katago(program: str, network: Path, at_once: int, threads: int) -> Iterator[subprocess.Popen[str]]:
    """KataGo's analysis engine."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "analysis.cfg"
        config.write_text(CONFIG.format(folder=folder, at_once=at_once, threads=threads), encoding="utf-8")
        words = [program, "analysis", "-model", str(network), "-config", str(config)]
        pipe, log = subprocess.PIPE, Path(folder) / "errors"
        with log.open("w") as errors, subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=errors, text=True) as run:
            try:
                yield run
            finally:
                run.kill()


def katago_review(
    program: str, network: Path, size: int, moves: list[list[str]], games: int, visits: int, at_once: int, threads: int
) -> float:
    """Seconds of the reviews, after a short one for which it is loaded. Raises SystemExit without an answer."""
    with katago(program, network, at_once, threads) as engine:
        assert engine.stdin and engine.stdout
        for count, turns, budget in ((1, 2 * at_once, 3), (games, len(moves), visits)):
            began = time.perf_counter()
            for query in queries(size, moves, count, turns, budget):
                print(json.dumps(query), file=engine.stdin, flush=True)
            for _ in range(count * min(turns, len(moves))):
                if '"rootInfo"' not in (line := engine.stdout.readline()):
                    said = line.strip() or Path(engine.args[-1]).with_name("errors").read_text(encoding="utf-8")[-500:]
                    raise SystemExit(f"{program} analysis gave no result: {said}")
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--net", default="default")
    parser.add_argument("--size", type=int, default=19)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--games", type=int, default=1, help="how often the game is asked for, all at once")
    parser.add_argument("--visits", type=int, default=50)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--cache", type=int, default=0, help="evaluations to keep, as tengen analysis --cache")
    parser.add_argument("--ways", default="1x1,1x8,16x1,16x8")
    parser.add_argument("--katago", default="", help="the program of KataGo")
    parser.add_argument("--katago-ways", default="1x4,4x1")
    args = parser.parse_args()
    evaluator = load_evaluator(args.net, threads=args.threads)
    moves, first = played(evaluator, args.size, args.turns), (0.0, 0.0)
    for way in args.ways.split(","):
        at_once, batch = map(int, way.split("x"))
        seconds, worked = review(evaluator, args.size, moves, args.games, args.visits, at_once, batch, args.cache)
        first = first if first[0] else (seconds, worked)
        report(args, "tengen", way, seconds, first[0], cpu_seconds=round(worked, 2),
               cpu_against_first=round(worked / first[1], 3),
               peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)  # fmt: skip
    for way in args.katago_ways.split(",") if args.katago else ():
        at_once, threads = map(int, way.split("x"))
        network = Path(args.net)  # not the file that it is converted to
        seconds = katago_review(args.katago, network, args.size, moves, args.games, args.visits, at_once, threads)
        report(args, "katago", way, seconds, first[0])


def report(args: argparse.Namespace, engine: str, way: str, seconds: float, first: float, **more: float) -> None:
    """Print a line of JSON."""
    line = {"benchmark": "review", "engine": engine, "net": args.net, "turns": args.turns, "games": args.games,
            "visits": args.visits, "way": way, "seconds": round(seconds, 2),
            "visits_per_second": round(args.games * args.turns * args.visits / seconds),
            "against_first": round(seconds / first, 3)}  # fmt: skip
    print(json.dumps(line | more), flush=True)


if __name__ == "__main__":
    main()
