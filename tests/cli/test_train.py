"""`tengen train`: what it says of a network before it trains."""

from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.cli import train  # noqa: E402
from tengen.data.planes import plane_set  # noqa: E402
from tengen.networks import build, parse_config  # noqa: E402


@pytest.mark.parametrize(("settings", "edge"), [({}, 19), ({"board_size": 9}, 9)])
def test_the_cost_is_that_of_the_only_board_else_of_19x19(settings: dict[str, Any], edge: int) -> None:
    config = parse_config({"family": "preact", "filters": 8, "units": 1, **settings})
    planes = plane_set(config.plane_set)
    trainer: Any = SimpleNamespace(average=build(config, len(planes.planes), len(planes.scalars)))
    assert f"multiplications a position at {edge}x{edge}" in train._cost(trainer, config.plane_set)
