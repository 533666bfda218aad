"""Plots of reports: whatever the names in them are."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from matplotlib.axes import Axes

from tengen.runs.plots import plot, save_picture


@pytest.mark.parametrize("name", ["$_$", "$x_1$", r"Big$ \\$mall$", "$$$$", r"\$"])
def test_a_name_is_no_formula(name: str, tmp_path: Path) -> None:
    def draw(axes: Axes) -> None:
        axes.bar([1], [1], label=f"legend {name}")
        axes.set_yticks([0], [f"tick {name}"])
        axes.text(0, 0, f"text {name}")

    svg = unescape(str(plot(f"title {name}", f"below {name}", draw)))
    assert all(f">{part} {name}<" in svg for part in ("title", "below", "legend", "tick", "text"))
    assert save_picture(tmp_path / "a.png", name, [(name, name, draw)], 2.0).read_bytes().startswith(b"\x89PNG")
