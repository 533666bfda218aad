"""The figures of the documentation: intervals follow from the points and games beside them."""

import re
from pathlib import Path

import pytest

from tengen.statistics import wilson

ROOT = Path(__file__).parents[2]
FIGURE = re.compile(r"([\d.,]+) of ([\d,]+)(?: games)?, ([\d.]+)% \(([\d.]+) to ([\d.]+)\)")
PAGES = [*(path for path in (ROOT / "docs").rglob("*.md") if path.name != "log.md"), ROOT / "README.md"]


def ends_with(draws: int, points: float, games: int) -> tuple[float, float]:
    low, high = wilson(points, games, draws)
    return 100 * low, 100 * high


def test_intervals_follow_from_points_and_games() -> None:
    """For some number of draws, which the pages do not give: twice the points tell whether it is odd."""
    found = [(page, match) for page in PAGES for match in FIGURE.finditer(page.read_text(encoding="utf-8"))]
    assert len(found) > 60
    for page, match in found:
        points, games = float(match[1].replace(",", "")), int(match[2].replace(",", ""))
        stated = [float(match[k]) for k in (4, 5)]
        draws = range(int(2 * points) % 2, int(2 * min(points, games - points)) + 1, 2)
        about = f"{page.name}: {match[0]}"
        assert float(match[3]) == pytest.approx(100 * points / games, abs=0.0501), about
        assert any(ends_with(each, points, games) == pytest.approx(stated, abs=0.0501) for each in draws), about
