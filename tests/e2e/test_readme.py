"""What the README promises: its session runs, its commands exist, its links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tengen.cli.app import VERBS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_session_works_when_pasted(tmp_path: Path) -> None:
    (session,) = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert len([line for line in session.splitlines() if line]) <= 10
    done = subprocess.run(
        [sys.executable, "-c", session],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    moves, board = done.stdout.splitlines()[:3], done.stdout.splitlines()[3:]
    assert all(re.fullmatch(r"[A-J][1-9] wins \d+%, leads by [+-]\d+\.\d, \d+ visits", line) for line in moves)
    assert any("X" in line for line in board)


def test_the_commands_exist() -> None:
    used = set(re.findall(r"^ {4}tengen (\w+)|`tengen (\w+)", README, re.MULTILINE))
    verbs = {first or second for first, second in used} - {"COMMAND"}
    assert verbs and verbs <= set(VERBS)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"\bmake ([a-z]+)\b(?= {4}|`| PORT| PYTHON)", page.read_text(encoding="utf-8")))
        assert named <= targets, f"{page.name} names make targets that do not exist"


def test_continuous_integration_runs_the_test_command_of_the_readme() -> None:
    assert "    make test " in README
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing
