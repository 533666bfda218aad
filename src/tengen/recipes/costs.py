"""The networks of the shipped recipes: plane set, parameters and multiply-accumulates, kept in costs.json.

To count them takes PyTorch and seconds. `make costs` writes the file.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from tengen.disk import json_text, write_text
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import read_card
from tengen.recipes.loader import network_cost, network_fields, recipe_fields, recipe_names

_FILE = Path(__file__).parent / "costs.json"


class NetworkCost(TypedDict):
    """`macs` are the multiply-accumulates of one position on the largest board that the recipe names, else 19x19."""

    planes: str
    parameters: int
    macs: int


@cache
def kept_costs() -> dict[str, NetworkCost]:
    """The costs in the file, by recipe."""
    found: dict[str, NetworkCost] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def count_cost(name: str) -> NetworkCost | None:
    """The cost of a recipe's network, of that of its start where it names none; None without one.

    Needs the extra [train].
    """
    recipe = recipe_fields(name)
    network, start = recipe.get("network"), recipe.get("start")
    fields = network or (read_card(find_network(start)).config if start else None)
    if not fields:
        return None
    config = network_fields(fields)
    parameters, macs = network_cost(config, _largest_board(recipe))
    return {"planes": config.plane_set, "parameters": parameters, "macs": macs}


def _largest_board(recipe: Mapping[str, Any]) -> int:
    game, card = recipe.get("game", {}), recipe.get("card", {})
    return max([*game.get("sizes", ()), *card.get("board_sizes", ()), game.get("size", 0)]) or 19


def write_costs() -> None:
    """Count the costs of all shipped recipes anew."""
    costs = {name: cost for name in recipe_names() if (cost := count_cost(name))}
    write_text(_FILE, json_text(costs, indent=1) + "\n")


if __name__ == "__main__":
    write_costs()
