"""How often each way to decide dead stones comes to the recorded score of counted games.

    python benchmarks/count.py [STORE [GAMES [NETWORK]]]

Takes every n-th counted game of the store so that GAMES (1400) are asked. One line of JSON a way: the share within a
point and within ten points of the record, games with another winner, and milliseconds of processor time a game.
Without STORE the 300 games that the tests ship are imported first.
"""

import json
import tempfile
import time

import _native

from tengen.data import Store
from tengen.data.importer import ImportOptions, import_games
from tengen.engine.count import WAYS, PositionCounter
from tengen.evaluators import load_evaluator


def main(store: Store, games: int, network: str) -> None:
    counter = PositionCounter(load_evaluator(network))
    counted = [i for i, score in enumerate(store.column("score")) if score is not None and score == score]
    rows = [store.row(i) for i in counted[:: max(1, len(counted) // games)][:games]]
    counter.count(rows[0].game())  # compiles
    for way in WAYS:
        started = time.process_time()
        scores = [(counter.count(row.game(), by=way).score, float(row.score or 0)) for row in rows]
        milliseconds = (time.process_time() - started) / len(rows) * 1000
        off = [abs(ours - theirs) for ours, theirs in scores]
        answer = {
            "benchmark": "count",
            "by": way,
            "games": len(rows),
            "within_1": round(sum(d <= 1 for d in off) / len(off), 4),
            "within_10": round(sum(d <= 10 for d in off) / len(off), 4),
            "other_winner": sum((ours > 0) != (theirs > 0) for ours, theirs in scores),
            "milliseconds": round(milliseconds, 2),
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    parser = _native.parser(__doc__)
    parser.add_argument("games", nargs="?", type=int, default=1400, metavar="GAMES", help="games asked, 1400")
    parser.add_argument("network", nargs="?", default="default", metavar="NETWORK", help="a network's name or file")
    settings = parser.parse_args()
    if settings.store is not None:
        main(Store.open(settings.store), settings.games, settings.network)
    else:
        with tempfile.TemporaryDirectory() as folder:
            import_games([_native.SAMPLE], f"{folder}/store", ImportOptions(workers=1))
            main(Store.open(f"{folder}/store"), settings.games, settings.network)
