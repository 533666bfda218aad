"""Runs under KaTrain's own Python and an X server: KaTrain's window opens a game, and prints what it shows as JSON.

Usage: katrain_window.py CONFIG.json GAME.sgf PICTURE.png, where all but the picture are arguments of `katrain`. Kivy
numbers the picture: PICTURE0001.png.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator

os.environ.setdefault("KIVY_NO_ARGS", "1")
picture = sys.argv.pop()

from katrain import __main__ as katrain  # noqa: E402
from katrain.core.constants import OUTPUT_ERROR  # noqa: E402
from kivy.clock import Clock  # noqa: E402
from kivy.core.window import Window  # noqa: E402

G4 = (6, 3)
SECONDS = 120.0

errors: list[str] = []
found: dict[str, object] = {}


class Gui(katrain.KaTrainGui):  # type: ignore[misc]
    def log(self, message: object, level: int = 0) -> None:
        if level == OUTPUT_ERROR:
            errors.append(str(message))
        super().log(message, level)


katrain.KaTrainGui = Gui
app = katrain.KaTrainApp()


def steps() -> Iterator[float]:
    """What a person does; after each step so many seconds pass, and the engine has answered everything."""
    gui = app.gui
    yield 1.0  # the game of the arguments is analyzed
    gui("redo", 999)
    yield 0.5
    gui.toggle_continuous_analysis()  # the space bar, twice
    Clock.schedule_once(lambda _: gui.toggle_continuous_analysis(), 2.0)
    yield 2.5
    pondered = gui.game.current_node.analysis["root"]["visits"]
    gui("play", G4)
    yield 1.0
    yield 1.0  # the labels follow the last answer
    nodes = gui.game.current_node.nodes_from_root
    found["visits"] = [node.analysis["root"]["visits"] if node.analysis_complete else 0 for node in nodes]
    found["pondered"] = pondered
    labels = gui.controls.stats
    found["labels"] = [labels.winrate, labels.score, labels.points_lost]
    found["info"] = gui.controls.info.text
    found["picture"] = Window.screenshot(picture)


def walk(_seconds: float) -> bool:
    """Takes the next step once the last is over; False, which ends the calls, after all of them."""
    global rest
    gui = app.gui
    if time.monotonic() > deadline:
        errors.append(f"the engine has not answered in {SECONDS:g} seconds")
        app.stop()
        return False
    ready = gui is not None and getattr(gui, "game", None) is not None and gui.engine is not None
    if not ready or time.monotonic() < rest or not gui.message_queue.empty() or not gui.engine.is_idle():
        return True
    wait = next(script, None)
    if wait is None:
        app.stop()
        return False
    rest = time.monotonic() + wait
    return True


script, rest, deadline = steps(), 0.0, time.monotonic() + SECONDS
Clock.schedule_interval(walk, 0.1)
app.run()
print(json.dumps({**found, "errors": errors}), flush=True)
os._exit(0)  # the engine ends with its input
