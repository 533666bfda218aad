"""Runs an installed Tengen as a player does: every command of a player's install, on small boards, without a compiler.

Not a part of the test suite: `python tests/installed.py`, by the Python that Tengen is installed for, outside a clone.
`make release` and the build of the wheels run it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

TENGEN = [sys.executable, "-m", "tengen"]
SGF = "(;GM[1]FF[4]SZ[9]KM[7]RU[Chinese]RE[B+R];B[ee];W[ce];B[gc];W[cc];B[gg];W[cg])"
# The programs of a compiler are elsewhere; nothing may ask for them.
ENVIRONMENT = {**os.environ, "PATH": os.path.dirname(sys.executable)}


def tengen(*words: str, text: str = "", folder: Path | None = None, **environment: str) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(
        [*TENGEN, *words],
        input=text,
        cwd=folder,
        env={**ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode:
        sys.exit(f"tengen {' '.join(words)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_page() -> None:
    """The page of `tengen play` is served."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([*TENGEN, "play", "--port", str(port)], env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                with urlopen(f"http://127.0.0.1:{port}/", timeout=30) as page:
                    assert b"Tengen" in page.read()
                return
            except OSError:
                assert server.poll() is None, "tengen play ended"
                assert time.monotonic() < deadline, "tengen play served no page within 120 s"
                time.sleep(0.5)
    finally:
        server.terminate()
        server.wait(60)


def main() -> None:
    present = [name for name in ("torch", "pyarrow", "scipy") if find_spec(name)]
    print("packages beyond a player's install:", ", ".join(present) or "none")
    from tengen import __version__, _native

    print(f"Tengen {__version__}, instructions {_native.Winograd.available()[0]}: {_native.__file__}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert "zero-9x9" in tengen("nets")
        sealed = tengen("verify", "default", "linear-tygem")
        assert "without a checksum  " not in sealed and ", 0 without a checksum" in sealed, sealed
        moves = tengen("gtp", "--net", "zero-9x9", text="boardsize 9\ngenmove b\nquit\n").split()
        assert moves[1] == "=" and len(moves[2]) == 2, moves
        large = ("random", "random", "--size", "25", "--games", "2", "--out", "large")
        tengen("match", *large, folder=folder, TENGEN_MAX_SIZE="25")
        query = {"id": "a", "moves": [["B", "E5"]], "rules": "chinese", "komi": 7, "maxVisits": 8}
        query |= {"boardXSize": 9, "boardYSize": 9}
        answer = json.loads(tengen("analysis", "--net", "zero-9x9", text=json.dumps(query) + "\n"))
        assert answer["rootInfo"]["visits"] >= 8, answer
        (folder / "game.sgf").write_text(SGF)
        tengen("review", "game.sgf", "--net", "zero-9x9", "--visits", "8", folder=folder)
        tengen("match", "zero-9x9@8", "random", "--size", "9", "--games", "2", "--out", "match", folder=folder)
        assert list((folder / "match").glob("*.html")), "the match has no report"
        check_page()
        if "pyarrow" not in present:
            words = [*TENGEN, "import", "game.sgf", "--out", "store"]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
            assert done.returncode == 2 and "tengen[data]" in done.stderr, done
    print("nets, gtp, analysis, review, match and play work")


if __name__ == "__main__":
    main()
