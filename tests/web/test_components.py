"""What the drawings of the page get: the colors of the candidates."""

from __future__ import annotations

from dataclasses import replace

import pytest
from web_engine import FakeEngine

from tengen.game import Game
from tengen.web.components import candidate_rows


@pytest.mark.parametrize(("unit", "scores"), [(0.12, False), (0.12, True), (0.0, True)])
def test_candidates_turn_from_green_to_red_as_they_lose_up_to_12_percent_or_6_points(unit: float, scores: bool) -> None:
    found = FakeEngine().result(Game(9), 100)
    first, losses = found.candidates[0], (0.0, -0.1, 0.25, 0.5, 1.0, 4.0)
    moves = tuple(
        replace(
            first,
            point=found.move + n,
            winrate=0.5 - unit * loss,
            score=-20 - 6 * loss if scores else None,
            lead=None,
            visits=50 - n,
        )
        for n, loss in enumerate(losses)
    )
    colors = [row["color"] for row in candidate_rows(replace(found, candidates=moves), limit=9)]
    assert colors == ["hsl(176 72% 42%)", *(f"hsl({hue} 70% 56%)" for hue in (144, 109, 74, 4, 4))]
