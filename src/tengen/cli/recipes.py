"""`tengen recipes`: all recipes with their papers, sizes and hours."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from tengen.cli.options import JsonOption
from tengen.cli.tables import new_table, print_table
from tengen.disk import json_text
from tengen.errors import RecipeError

_WIDE = 180  # columns, of the table with papers in a window


def command(
    name: Annotated[str | None, typer.Argument(help="print this recipe, to change a copy of it")] = None,
    published: Annotated[bool, typer.Option("--published", help="only the recipes of published systems")] = False,
    as_json: JsonOption = False,
) -> None:
    """List all recipes, or print one.

    The list has the kind, the size of the network, hours on two cores, and the paper where a terminal has the room.
    Multiply-accumulates (MMAC: millions) are those of the convolutions and linear layers for one position, on the
    largest board that the recipe names, 19x19 where it names none.
    """
    from tengen.recipes.loader import recipe_fields, recipe_names, recipe_text

    if name is not None:
        if published:
            raise RecipeError(f"--published is for the list of recipes: leave it out, or {name}")
        print(json_text(recipe_fields(name), indent=1) if as_json else recipe_text(name).rstrip("\n"))
        return
    rows = [row for name in recipe_names() if (row := about(name))["paper"] or not published]
    if as_json:
        print(json_text(rows, indent=1))
        return
    console = Console()
    wide = not console.is_terminal or console.width >= _WIDE
    headings = ("name", "kind", "network", "params", "MMAC", "hours", *(["paper"] if wide else []))
    table = new_table(*headings, left={"name", "kind", "network", "paper"}, plain=True)
    for row in rows:
        table.add_row(
            row["name"],
            row["kind"],
            row["network"] or "",
            "" if row["parameters"] is None else f"{row['parameters'] / 1e6:,.2f} M",
            "" if row["macs"] is None else f"{row['macs'] / 1e6:,.0f}",
            "" if row["hours"] is None else f"{row['hours']:g}",
            *([row["paper"] or ""] if wide else []),
        )
    print_table(table, console)


def about(name: str) -> dict[str, Any]:
    """What a shipped recipe says about itself, with the cost of its network.

    The network is that of its start where it names none. None where a recipe of its kind has no such thing.
    """
    from tengen.recipes.costs import kept_costs
    from tengen.recipes.loader import FOLDER, read_recipe

    data = {"name": name, **read_recipe(FOLDER / f"{name}.yaml")}
    network, cost = data.get("network"), kept_costs().get(name)
    search = data.get("card", {}).get("search", {}) or data.get("search", {})
    return {
        "name": name,
        "kind": data.get("kind", "supervised"),
        "paper": data.get("paper"),
        "hours": data.get("hours"),
        "planes": cost and cost["planes"],
        "network": (network.get("preset") or " ".join(map(str, (network["family"], network.get("size", "")))))
        if network
        else data.get("start"),
        "parameters": cost and cost["parameters"],
        "macs": cost and cost["macs"],
        "training": _training(data),
        "search": search.get("preset") or search.get("params", {}).get("selection"),
    }


def _training(data: dict[str, Any]) -> str | None:
    """Optimizer, batch size and length of a supervised run."""
    from tengen.recipes.loader import settled
    from tengen.training.config import RunConfig

    if data.get("kind", "supervised") != "supervised":
        return None
    training = settled(data, None, RunConfig).training
    optimizer = training.optimizer
    epochs = None if training.epochs is None else f"{training.epochs:g} epochs"
    samples = (
        None if training.total_steps is None else f"{training.total_steps * training.batch_size / 1e6:,.6g} M samples"
    )
    length = samples or epochs or f"{training.max_hours:g} hours"
    return f"{optimizer.name} {optimizer.lr:g}, batch {training.batch_size}, {length}"
