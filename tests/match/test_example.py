"""examples/player.py runs, and its player is found by name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tengen.errors import TengenError
from tengen.match.player import Player
from tengen.match.players import RandomPlayer, open_player
from tengen.match.spec import PLAYERS, PlayerSpec

ROOT = Path(__file__).parents[2]


def test_the_example_plays_a_match(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "player.py")],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "centre:3 - random" in done.stdout
    assert (tmp_path / "matches" / "centre" / "games" / "00019.sgf").exists()


def test_a_registered_player_is_opened_by_its_word() -> None:
    asked: list[tuple[str, int]] = []

    def factory(spec: PlayerSpec, games: int) -> Player:
        asked.append((spec.subject, games))
        return RandomPlayer()

    PLAYERS.register("registered-by-a-test", factory)
    spec = PlayerSpec.parse("registered-by-a-test:fast@2s")
    assert (spec.kind, spec.subject, spec.seconds, spec.name) == (
        "plugin", "fast", 2.0, "registered-by-a-test:fast, 2 s",
    )  # fmt: skip
    assert open_player(spec, 8).name == spec.name and asked == [("fast", 8)]
    with pytest.raises(TengenError, match="no network 'registered-by-nobody'"):
        open_player(PlayerSpec.parse("registered-by-nobody"))
