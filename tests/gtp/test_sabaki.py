"""`tengen gtp` under Sabaki's own client, the package @sabaki/gtp of npm, used as Sabaki uses it.

The package is installed once, into the user's cache folder. Without Node.js or the package the test is skipped.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from other_programs import give_up, missing
from platformdirs import user_cache_path

PACKAGE, VERSION = "@sabaki/gtp", "3.0.0"
ENGINE = ["-m", "tengen", "gtp", "--net", "none", "--size", "9", "--visits", "200", "--threads", "1", "--no-resign"]
HERE = Path(__file__).parent
VERTEX = "(?:[A-HJ][1-9]|pass)"


def client() -> Path:
    """The folder of the package. Skips the test where it cannot be had."""
    if why := missing("sabaki"):
        pytest.skip(why)
    folder = user_cache_path("tengen-tests") / f"sabaki-gtp-{VERSION}"
    package = folder / "node_modules" / PACKAGE
    if not package.exists():
        command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", f"{PACKAGE}@{VERSION}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            give_up("sabaki", "npm did not answer within a minute")
        if done.returncode or not package.exists():
            give_up("sabaki", f"npm cannot install {PACKAGE}: {done.stderr.strip()[-200:]}")
    return package


@pytest.fixture(scope="module")
def found() -> Any:
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent.parent / "src")}
    done = subprocess.run(
        ["node", str(HERE / "sabaki.js"), str(client()), sys.executable, *ENGINE],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_handshake_finds_the_commands_of_an_analysis(found: Any) -> None:
    name, version, protocol, commands = found["handshake"]
    assert (name, found["second"], protocol) == ("Tengen", "Tengen", "2") and version
    assert {"analyze", "genmove_analyze", "set_free_handicap", "undo"} <= set(commands.split("\n"))


def test_the_position_follows_the_clients_game(found: Any) -> None:
    """After an undo and other moves: White E5, D4, Black E4, C3, G7, and a pass."""
    rows = {int(row.split()[0]): row for row in found["board"].split("\n") if row.strip()[:1].isdigit()}
    stones = {f"{'ABCDEFGHJ'[i]}{y}": c for y, row in rows.items() for i, c in enumerate(re.findall("[XO.+]", row))}
    assert {v for v, c in stones.items() if c == "X"} == {"C3", "G7", "E4"}
    assert {v for v, c in stones.items() if c == "O"} == {"E5", "D4"}
    assert found["komi"] == "0.5"


def test_two_engines_analyse_at_once_until_another_command_comes(found: Any) -> None:
    sabaki, leela = found["analyses"]
    assert all(not one["error"] and one["abort"] == "2" for one in (sabaki, leela))
    # More lines may come before the command that ends the analysis.
    assert len(sabaki["lines"]) >= 3 and len(leela["lines"]) >= 2
    for line in sabaki["lines"]:  # rates in 1/10000, which every version of Sabaki reads
        for info in line.split("info ")[1:]:
            assert re.fullmatch(rf"move {VERTEX} visits \d+ .*winrate \d+ .* pv {VERTEX}( {VERTEX})* ?", info)
    assert all("." not in line for line in leela["lines"])
    last = sabaki["lines"][-1]
    assert sum(int(n) for n in re.findall(r" visits (\d+)", last)) > 3


def test_ownership_has_a_value_for_each_point(found: Any) -> None:
    line, *_ = found["ownership"]
    values = line.split(" ownership ")[1].split()
    assert len(values) == 81 and all(-1 <= float(value) <= 1 for value in values)


def test_moves_with_analysis_enter_the_clients_history(found: Any) -> None:
    played = [re.search(rf"({VERTEX})$", text.strip())[1] for text in found["moves"]]  # type: ignore[index]
    assert [vertex.upper() for vertex in played] == found["history"]


def test_the_session_survives_a_refusal_and_ends_in_an_analysis(found: Any) -> None:
    assert "not supported" in found["refused"] and found["position"] == ""
    assert "AB[ai]" in found["sgf"] and "AW[bi]" in found["sgf"]
    assert found["errors"] == ["GTP ready"] * 2
