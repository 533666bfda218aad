"""Tengen: from game records, or nothing but the rules, to a strong Go engine.

>>> import tengen
>>> game = tengen.Game(size=9)
>>> game.play("E5").play("C3")
<Game 9x9, chinese, komi 7.5, 2 moves, Black to play>
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.errors import import_error

# The native core with room for 25x25 is a module of its own, as all boards are slower in it (docs/start/install.md).
if (_max_size := os.environ.get("TENGEN_MAX_SIZE") or "19") == "25":
    try:
        sys.modules["tengen._native"] = import_module("tengen._native25")
    except ModuleNotFoundError:
        raise import_error("TENGEN_MAX_SIZE is 25: here boards to 25x25 need make native MAX_SIZE=25") from None
elif _max_size != "19":
    raise import_error(f"TENGEN_MAX_SIZE is {_max_size!r}: 19 or 25 expected, the largest board")

from tengen import _native
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.rules import Rules

if TYPE_CHECKING:
    from tengen.engine import load_engine

__version__ = "0.1.0"
__all__ = ["BLACK", "EMPTY", "WHITE", "Game", "Rules", "load_engine"]

# Where the native code finds the playout policy `linear`; it reads the file when it is first asked for.
_native.set_linear_path(Path(__file__).parent / "nets" / "linear-tygem.playout")


def __getattr__(name: str) -> Any:
    """Import the engine only when it is asked for: the rules need numpy alone."""
    if name == "load_engine":
        from tengen.engine import load_engine

        return load_engine
    raise AttributeError(f"module 'tengen' has no attribute {name!r}")
