"""Whose values KataGo's front ends report, and the copies of moves."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.engine.katago_params import Perspective
from tengen.engine.katago_view import Viewpoint, with_copies
from tengen.engine.result import Candidate
from tengen.game import BLACK, WHITE


@pytest.mark.parametrize(
    ("perspective", "to_play", "sign"),
    [
        ("SIDETOMOVE", BLACK, 1),
        ("SIDETOMOVE", WHITE, 1),
        ("BLACK", BLACK, 1),
        ("BLACK", WHITE, -1),
        ("WHITE", BLACK, -1),
        ("WHITE", WHITE, 1),
    ],
)
def test_values_are_those_of_the_player_that_is_asked_for(perspective: Perspective, to_play: int, sign: int) -> None:
    viewpoint = Viewpoint.of(perspective, to_play)
    assert (viewpoint.rate(0.75), viewpoint.points(2.5)) == ((0.75, 2.5) if sign > 0 else (0.25, -2.5))
    ownership = viewpoint.points(np.array([[0.5, -1.0]], np.float32))
    assert ownership.dtype == np.float32 and ownership.tolist() == [[0.5 * sign, -1.0 * sign]]


def test_copies_follow_their_move() -> None:
    corner, center = (Candidate(point, 1, 0.5, 0.0, 0.1, 0.4) for point in (0, 12))
    found = list(with_copies([corner, center], 5, range(1, 8)))
    assert found == [(corner, 0), (corner, 1), (corner, 2), (corner, 3), (center, 0)]
    assert list(with_copies([corner, center], 5, ())) == [(corner, 0), (center, 0)]
