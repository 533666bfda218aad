"""Reports without the rendering of their plots, which takes a third of a small run. Their figures are still made."""

from __future__ import annotations

from typing import Any, TextIO

import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG


def _print_nothing(_: object, file: TextIO, **__: Any) -> None:
    file.write("<svg></svg>")


def skip_rendering(patch: pytest.MonkeyPatch) -> None:
    """Have the plots of this process be empty."""
    patch.setattr(FigureCanvasSVG, "print_svg", _print_nothing)
