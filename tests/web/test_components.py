"""What the drawings of the page get: the colors of the candidates."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from web_engine import FakeEngine

from tengen.game import Game
from tengen.web.components import candidate_rows, heat


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
    turned = ("0.880 0.16 150", "0.815 0.16 119", "0.750 0.16 88", "0.620 0.16 27", "0.620 0.16 27")
    assert colors == ["hsl(176 72% 42%)", *(f"oklch({color})" for color in turned)]


def test_candidates_darken_as_they_lose_and_their_text_stays_readable() -> None:
    """So that who sees no difference between green and red can tell them apart."""
    found = FakeEngine().result(Game(9), 100)
    first, losses = found.candidates[0], (0.0, 0.03, 0.06, 0.09, 0.12)
    shades = [
        luminance(heat(replace(first, winrate=0.5 - loss, score=None, lead=None), replace(first, winrate=0.5)))
        for loss in losses
    ]
    assert all(lighter > 1.2 * darker for lighter, darker in pairwise(shades))
    text = 0.0059  # of #0c1211
    assert (shades[-1] + 0.05) / (text + 0.05) > 4.5


def luminance(color: str) -> float:
    """The relative luminance of an `oklch` color."""
    light, chroma, hue = map(float, color.removeprefix("oklch(").removesuffix(")").split())
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (light - 0.0894841775 * a - 1.291485548 * b) ** 3
    return -0.0406 * long + 1.1123 * middle - 0.0717 * short
