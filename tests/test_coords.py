"""Coordinates: known corners, round trips on every point of every size, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen import coords
from tengen.errors import IllegalMove, SgfError


@pytest.mark.parametrize(
    ("size", "point", "rc", "gtp", "sgf"),
    [
        (19, 0, (0, 0), "A19", "aa"),
        (19, 18, (0, 18), "T19", "sa"),
        (19, 342, (18, 0), "A1", "as"),
        (19, 60, (3, 3), "D16", "dd"),
        (25, 24, (0, 24), "Z25", "ya"),
        (25, 600, (24, 0), "A1", "ay"),
        (9, 8, (0, 8), "J9", "ia"),
        (9, 81, None, "pass", ""),
    ],
)
def test_known_points(size: int, point: int, rc: tuple[int, int] | None, gtp: str, sgf: str) -> None:
    assert coords.to_rc(point, size) == rc
    assert coords.to_gtp(point, size) == gtp
    assert coords.to_sgf(point, size) == sgf


@pytest.mark.parametrize("size", range(2, 26))
def test_round_trips(size: int) -> None:
    for point in range(size * size + 1):
        assert coords.from_gtp(coords.to_gtp(point, size), size) == point
        assert coords.from_gtp(coords.to_gtp(point, size).lower(), size) == point
        assert coords.from_sgf(coords.to_sgf(point, size), size) == point
    assert coords.to_gtp(coords.pass_point(size), size) == "pass"
    assert coords.from_sgf("tt", size) == (size * size if size <= 19 else 20 * size - size + 19)


@given(st.text(max_size=4), st.integers(2, 25))
def test_any_text_is_a_point_or_an_error(text: str, size: int) -> None:
    for read, error in ((coords.from_gtp, IllegalMove), (coords.from_sgf, SgfError)):
        try:
            assert 0 <= read(text, size) <= size * size
        except error as refused:
            assert repr(text) in str(refused)


def test_pairs_of_katago() -> None:
    assert coords.from_gtp("(3,15)", 19) == coords.from_gtp("D4", 19)
    assert coords.from_gtp("( 8, 0)", 9) == coords.from_gtp("J9", 9)


@pytest.mark.parametrize(
    "text", ["(9,0)", "(0,9)", "(0)", "(0,0", "I5", "A0", "A10", "K1", "A-1", "A+1", "A", "", "5A", "A1 B2", "A²"]
)
def test_gtp_refuses(text: str) -> None:
    with pytest.raises(IllegalMove, match="A1 to J9"):
        coords.from_gtp(text, 9)


@pytest.mark.parametrize("text", ["ja", "aj", "AA", "a", "aaa", "a1"])
def test_sgf_refuses(text: str) -> None:
    with pytest.raises(SgfError, match="aa to ii"):
        coords.from_sgf(text, 9)


def test_points_off_the_board() -> None:
    for convert in (coords.to_rc, coords.to_gtp, coords.to_sgf):
        for point in (-1, 82):
            with pytest.raises(IllegalMove, match="9x9"):
                convert(point, 9)


def test_policy_indices_on_a_wider_tensor() -> None:
    """2 is the end of the first row of 3x3, 3 the start of the second; the last index is the pass."""
    assert coords.policy_index([[0, 2], [3, 9]], 3, 5).tolist() == [[0, 2], [5, 25]]
    assert coords.policy_index(np.arange(10, dtype=np.uint16), 3, 3).tolist() == list(range(10))
