"""The sizes of the recipes' networks: those in the file are up to date, and are listed without PyTorch."""

import subprocess
import sys

import pytest

from tengen.recipes import recipe_names
from tengen.recipes.costs import count_cost, kept_costs


@pytest.mark.slow
def test_the_kept_costs_are_those_of_the_recipes() -> None:
    pytest.importorskip("torch", reason="networks need the extra [train]")
    counted = {name: cost for name in recipe_names() if (cost := count_cost(name))}
    assert kept_costs() == counted, "a recipe or a network has changed: make costs"


def test_a_network_is_counted_on_the_board_of_its_recipe() -> None:
    """The 32 million multiply-accumulates of zero-7x7 were those on 19x19."""
    macs = {name: cost["macs"] for name, cost in kept_costs().items()}
    assert round(macs["zero-7x7"] / 1e6, 1) == 4.3
    for name, board in (("alphago-rl-9x9", 9), ("distilled-13x13", 13)):
        assert macs[name] == pytest.approx(macs["distilled-b8c64"] * board**2 / 361, rel=0.02)


def test_recipes_are_listed_without_pytorch() -> None:
    code = "import sys; from tengen.cli.app import main; main(['recipes']); assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (line,) = (line.split() for line in done.stdout.splitlines() if line.startswith("zero-9x9 "))
    assert line[line.index("M") - 1] == "0.09" and "7" in line
