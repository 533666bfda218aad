"""Runs under KaTrain's own Python: analyzes an SGF file by KaTrain's engine and prints what it found as JSON.

Usage: katrain_client.py COMMAND SGF VISITS
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from types import SimpleNamespace

os.environ.setdefault("KIVY_NO_ARGS", "1")
command, sgf, visits = sys.argv[1:]
sys.argv = sys.argv[:1]

from katrain.core.base_katrain import KaTrainBase  # noqa: E402
from katrain.core.constants import OUTPUT_ERROR  # noqa: E402
from katrain.core.engine import KataGoEngine  # noqa: E402
from katrain.core.game import Game, KaTrainSGF  # noqa: E402

errors: list[str] = []


class Client(KaTrainBase):  # type: ignore[misc]
    def log(self, message: object, level: int = 0) -> None:
        if level == OUTPUT_ERROR:
            errors.append(str(message))

    def __call__(self, *event: object, **details: object) -> None:
        """A message to the window, such as a recovery popup."""
        errors.append(f"{event} {details}")


client = Client(force_package_config=True, debug_level=0)
client.controls = SimpleNamespace(set_status=lambda *_, **__: None)  # the line below the board
settings = {**client.config("engine"), "backend": "custom", "altcommand": command, "max_visits": int(visits)}
engine = KataGoEngine(client, {**settings, "fast_visits": 5})
tree = KaTrainSGF.parse_file(sgf)
game = Game(client, engine, move_tree=tree)


def wait() -> None:
    """Until every query is answered; the thread that sends the first ones needs a moment."""
    time.sleep(0.5)
    deadline = time.monotonic() + 60
    while not engine.is_idle() and time.monotonic() < deadline and engine.check_alive():
        time.sleep(0.05)


wait()
game.set_current_node(list(tree.nodes_in_tree)[-1])
found = {"moves": [], "nodes": []}
for node in tree.nodes_in_tree:
    analysis = node.analysis
    root = analysis["root"] or {}
    found["nodes"].append(
        {
            "complete": node.analysis_complete,
            "visits": root.get("visits"),
            "winrate": root.get("winrate"),
            "score": node.score,
            "points_lost": node.points_lost,
            "moves": [move["move"] for move in node.candidate_moves],
            "policy": len(node.policy or ()),
            "ownership": len(node.ownership or ()),
        }
    )
# What the buttons of the window ask for: equal visits for all moves, alternatives, a sweep of moves, a pondering query.
node = game.current_node
for mode in ("extra", "equalize", "alternative", "sweep"):
    game.analyze_extra(mode)
    wait()
node.analyze(engine, ponder=True)
time.sleep(1)
engine.stop_pondering()
wait()
found["extra"] = [move["visits"] for move in node.candidate_moves]
found["alive"] = engine.check_alive()
# What *Update Settings* does. It waits for the engine's output to end, for ever where a shell alone was ended.
restarting = threading.Thread(target=engine.restart, daemon=True)
restarting.start()
restarting.join(30)
found["restarted"] = not restarting.is_alive() and engine.check_alive()
print(json.dumps({**found, "errors": errors}), flush=True)
os._exit(0)  # the engine ends with its input
