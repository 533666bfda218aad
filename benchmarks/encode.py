"""How fast positions of a store become batches, and how long a training step waits for them.

    python benchmarks/encode.py [STORE] [--plane-sets NAME ...]

One line of JSON a measurement, in seconds of processor time of one thread, so that other work on the machine counts
little. Without STORE the 300 games that the tests ship are imported first. With --plane-sets only the named plane sets
are measured (`all` for all of them), one line each. The last line of the full run needs the extra [train].
"""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np
from _native import SAMPLE
from _native import parser as arguments

from tengen import _native
from tengen.data import PositionChoice, Prefetcher, Rows, Sampler, Store, encode_game
from tengen.data.importer import ImportOptions, import_games
from tengen.data.planes import NativePlaneSet, plane_set, plane_set_names
from tengen.game import Game

ROUNDS = 7
WARM_UP, STEPS = 2, 8  # of training


def best_seconds(work: Callable[[], object]) -> float:
    """The fastest of a few rounds."""

    def once() -> float:
        started = time.thread_time()
        work()
        return time.thread_time() - started

    return min(once() for _ in range(ROUNDS))


def replays(sampler: Sampler, rows: Rows) -> list[Game]:
    return [sampler.store.row(g).game(ply) for g, ply in zip(rows.game.tolist(), rows.ply.tolist(), strict=True)]


def encode_all(games: Sequence[Game]) -> None:
    """Encode positions that are replayed already, into one buffer."""
    buffers = encode_game("tengen", games[0])
    for game in games:
        _native.encode_game("tengen", game.native(), 0, game.size, *buffers)


def speed(sampler: Sampler, name: str) -> dict[str, object]:
    """What one thread encodes a second with all planes, and what it would without the ladders."""
    rows = sampler.rows(0)
    games = replays(sampler, rows)
    count = len(games)
    whole = best_seconds(lambda: sampler.encode(rows)) / count
    encode = best_seconds(lambda: encode_all(games)) / count
    ladders = best_seconds(lambda: [g.native().ladders() for g in games]) / count
    pass_alive = best_seconds(lambda: [g.native().pass_alive() for g in games]) / count
    return {
        "benchmark": "encode",
        "positions": name,
        "mean_ply": round(float(np.mean(rows.ply)), 1),
        "positions_per_second": round(1 / whole),
        "positions_per_second_without_ladders": round(1 / (whole - ladders)),
        "microseconds": {
            "all": round(whole * 1e6, 1),
            "ladders": round(ladders * 1e6, 1),
            "pass_alive": round(pass_alive * 1e6, 1),
        },
        "replay_share": round(max(0.0, 1 - encode / whole), 3),
    }


def drawing(sampler: Sampler) -> dict[str, object]:
    """The price of choosing positions, before any is encoded."""
    step = iter(range(10**6))
    seconds = best_seconds(lambda: sampler.rows(next(step))) / sampler.batch_size
    return {"benchmark": "draw", "positions_in_store": sampler.positions, "microseconds": round(seconds * 1e6, 2)}


def waiting(sampler: Sampler, size: str = "b2c32") -> dict[str, object]:
    """The share of a training step that waits for data, with one thread drawing ahead."""
    import torch

    from tengen.networks import build, parse_config

    sets = sampler.plane_set
    network = build(parse_config({"family": "residual", "size": size}), len(sets.planes), len(sets.scalars))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    with Prefetcher(sampler, depth=3) as batches:
        for step in range(WARM_UP + STEPS):
            if step == WARM_UP:
                started, waited = time.perf_counter(), batches.waited
            batch = next(batches)
            optimizer.zero_grad()
            out = network(*map(torch.from_numpy, (batch.planes, batch.scalars, batch.mask)))
            torch.nn.functional.cross_entropy(out.policy, torch.from_numpy(batch.policy)).backward()
            optimizer.step()
        seconds = time.perf_counter() - started
        share = (batches.waited - waited) / seconds
    return {
        "benchmark": "waiting",
        "network": size,
        "batch_size": sampler.batch_size,
        "step_seconds": round(seconds / STEPS, 3),
        "waiting_share": round(share, 4),
    }


def by_plane_set(store: Store, names: Sequence[str]) -> None:
    """Mid-game positions a second of plane sets, from the store to the batch, against `tengen`.

    Replay is what a set of one trivial plane takes: drawing up the batch and replaying the games, without features.
    """

    sets = [plane_set("tengen"), NativePlaneSet.named("_points"), *map(plane_set, names)]
    choice = PositionChoice(plies=(80, 180))
    samplers = {planes.name: Sampler(store, "all", planes, batch_size=512, choice=choice) for planes in sets}
    rows = samplers["tengen"].rows(0)
    best = dict.fromkeys(samplers, float("inf"))
    for _ in range(3 * ROUNDS):  # round by round, so that other work on the machine slows down all sets alike
        for name, sampler in samplers.items():
            started = time.thread_time()
            sampler.encode(rows)
            best[name] = min(best[name], (time.thread_time() - started) / len(rows.game))
    for name in names:
        took = best[name]
        line = {"benchmark": "plane_set", "plane_set": name, "planes": len(plane_set(name).planes)}
        figures = {
            "positions_per_second": round(1 / took),
            "microseconds": {"all": round(took * 1e6, 1), "replay": round(best["_points"] * 1e6, 1)},
            "against_tengen": round(best["tengen"] / took, 2),
        }
        print(json.dumps({**line, **figures}))


def main(store: Store, names: Sequence[str]) -> None:
    if names:
        return by_plane_set(store, names)
    for name, plies in (("all", (0, None)), ("mid-game", (80, 180))):
        choice = PositionChoice(plies=plies)
        print(json.dumps(speed(Sampler(store, "all", batch_size=512, choice=choice), name)))
    by_plane_set(store, plane_set_names())
    print(json.dumps(drawing(Sampler(store, "all"))))
    if find_spec("torch"):
        print(json.dumps(waiting(Sampler(store, "all", batch_size=128))))


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--plane-sets", nargs="+", default=[], metavar="NAME")
    args = parser.parse_args()
    chosen = plane_set_names() if "all" in args.plane_sets else args.plane_sets
    if args.store:
        main(Store.open(args.store), chosen)
    else:
        with tempfile.TemporaryDirectory() as folder:
            import_games([SAMPLE], f"{folder}/store", ImportOptions(workers=1))
            main(Store.open(f"{folder}/store"), chosen)
