"""The example of a player plays its match, and `tengen match` knows the player by its name."""

import runpy
from collections.abc import Callable
from pathlib import Path

from tengen.match.runner import InBatch, play_match
from tengen.match.settings import MatchSettings
from tengen.match.spec import PLAYERS

EXAMPLE = Path(__file__).parents[2] / "examples" / "player.py"


def test_a_player(tmp_path: Path, restored: Callable[..., None]) -> None:
    restored(PLAYERS)
    figures = runpy.run_path(str(EXAMPLE))["main"](str(tmp_path / "match"))
    assert figures["complete"] and figures["pairings"][0]["games"] == 8
    settings = MatchSettings(players=["greedy@5m+0", "policy:uniform"], games=2, conditions={"size": 5, "komi": 24.5})
    other = play_match(settings, tmp_path / "other", InBatch())
    assert {player["name"] for player in other["players"]} == {"greedy, 5m+0", "uniform, policy"}
    module = runpy.run_path(str(EXAMPLE))
    assert module["main"](str(tmp_path / "match")) == figures  # registered again, as by a notebook
    module["GreedyPlayer"]().end_game(3)  # a game that never started, as where the opponent failed
