"""The programs and data that some tests need beside Tengen: where they are, and which of them must be there.

TENGEN_REQUIRE names those without which the tests must not begin, or whole files would be skipped silently.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest
from web_browser import missing as missing_browser

_GAMES = "/usr/games:/usr/bin:/usr/local/bin:/usr/lib/leelaz/bin"  # Debian's games need not be in the PATH
GNUGO = shutil.which("gnugo") or shutil.which("gnugo", path=_GAMES)
LEELA_ZERO = shutil.which("leelaz") or shutil.which("leelaz", path=_GAMES)
KATAGO = os.environ.get("KATAGO") or shutil.which("katago")
_ROOT = Path(__file__).parent.parent
KATRAIN = Path(os.environ.get("TENGEN_KATRAIN_PYTHON", _ROOT / "build" / "katrain" / "bin" / "python"))
"""The Python that has KaTrain."""
SHARED = _ROOT.parent / "shared"
"""The folder of large real data beside the checkout: game records, networks of KataGo and their outputs there."""


def missing(name: str) -> str:
    """Why a test cannot have this here; empty where it can. Raises pytest.UsageError for an unknown name."""
    known = {
        "browser": missing_browser(),
        "gnugo": "" if GNUGO else "GNU Go is not installed: apt-get install gnugo",
        "leela-zero": "" if LEELA_ZERO else "Leela Zero is not installed: apt-get install leela-zero",
        "katago": "" if KATAGO else "no KataGo: set KATAGO to its binary, or put katago in the PATH",
        "katrain": ""
        if KATRAIN.exists()
        else f"no {KATRAIN}: make katrain installs KaTrain, or name its Python in TENGEN_KATRAIN_PYTHON",
        "xvfb": "" if shutil.which("xvfb-run") else "no xvfb-run: apt-get install xvfb",
        "sabaki": "" if shutil.which("node") and shutil.which("npm") else "Sabaki's client needs Node.js and npm",
        "shared": "" if SHARED.is_dir() else f"no {SHARED}, the folder of real games and networks beside this checkout",
    }
    if name not in known:
        raise pytest.UsageError(f"TENGEN_REQUIRE: {name!r} is none of {', '.join(known)}")
    return known[name]


def check_required() -> None:
    """Raises pytest.UsageError for what TENGEN_REQUIRE names and is missing."""
    if reasons := [why for name in _required() if (why := missing(name))]:
        raise pytest.UsageError(f"TENGEN_REQUIRE: {'; '.join(reasons)}")


def needs(name: str) -> pytest.MarkDecorator:
    """Marks a test that needs this program or data."""
    return pytest.mark.skipif(bool(missing(name)), reason=missing(name))


def give_up(name: str, reason: str) -> NoReturn:
    """Skip a test that finds out itself what is missing; what TENGEN_REQUIRE names fails it."""
    if name in _required():
        pytest.fail(f"TENGEN_REQUIRE has {name}: {reason}")
    pytest.skip(reason)


def _required() -> list[str]:
    return os.environ.get("TENGEN_REQUIRE", "").split()
