"""GNU Go accepts every move of whole games and counts finished games as we do."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from other_programs import GNUGO, needs

from tengen.engine.count import PositionCounter
from tengen.evaluators import UniformEvaluator
from tengen.game import Game
from tengen.gtp.client import GtpClient

pytestmark = needs("gnugo")

SOURCE = Path(__file__).parent.parent.parent / "src"


def gnugo(seed: int) -> GtpClient:
    return GtpClient(f"{GNUGO} --mode gtp --level 1 --chinese-rules --seed {seed}")


def ready(*programs: GtpClient) -> None:
    for program in programs:
        for line in ("boardsize 9", "clear_board", "komi 7.5"):
            program.ask(line)


def test_a_game_over_gtp_ends_with_one_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    game = Game(9)
    # One thread and a seed make it the same game each time: two so weak programs may both pass where a group could
    # still be killed, and then each counts it in its own way (one game of 30).
    tengen_line = f"{sys.executable} -m tengen gtp --net none --visits 60 --no-resign --rules chinese"
    tengen_line += " --seed 1 --threads 1"
    with gnugo(1) as other, GtpClient(tengen_line) as ours:
        ready(other, ours)
        while not game.is_over:
            assert len(game.moves) < 250, "the game does not end"
            mover, watcher = (ours, other) if game.to_play == 0 else (other, ours)
            color = "bw"[game.to_play]
            move = mover.ask(f"genmove {color}").strip()
            watcher.ask(f"play {color} {move}")
            game.play(move)
        assert ours.ask("final_score").strip() == other.ask("final_score").strip()
        dead = [set(p.ask("final_status_list dead").split()) for p in (ours, other)]
        assert dead[0] == dead[1]


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_finished_games_are_counted_alike(seed: int) -> None:
    game = Game(9)
    with gnugo(seed) as program:
        ready(program)
        while not game.is_over:
            game.play(program.ask(f"genmove {'bw'[game.to_play]}").strip())
        winner, _, margin = program.ask("final_score").strip().partition("+")
        dead = {game.point(vertex) for vertex in program.ask("final_status_list dead").split()}
    count = PositionCounter(UniformEvaluator()).count(game)
    assert count.score == (float(margin) if winner == "B" else -float(margin))
    assert set(count.dead) == dead
