"""`tengen train`: a network from a store, by a recipe."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tengen.cli.interruption import report_interruption
from tengen.errors import RecipeError
from tengen.recipes import load_recipe, recipe_kind, recipe_names
from tengen.recipes.loader import network_fields

if TYPE_CHECKING:
    from tengen.training.module import TrainingModule

KINDS = ("network", "linear-playout")


def command(
    recipe: Annotated[str, typer.Argument(help=f"a recipe's path or name: {', '.join(recipe_names(*KINDS))}")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="change a setting: training.steps=500")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="folder of the run; runs/NAME unless given")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress bar")] = False,
) -> None:
    """Train a network, or a playout policy. The same command goes on with a run that was stopped or killed."""
    kind = recipe_kind(recipe, *KINDS)
    if kind in ("zero", "policy-gradient"):
        raise RecipeError(f"{recipe} is a recipe of self-play: tengen zero {recipe}")
    if kind == "linear-playout":
        _train_linear(recipe, settings or [], out, quiet)
        return
    run = load_recipe(recipe, settings or [])
    folder = out if out is not None else Path("runs") / run.name
    config = network_fields(run.network)

    from tengen.training.run import train

    console = Console(stderr=True)

    def tell(module: TrainingModule) -> None:
        console.print(f"run {folder}: {config}")
        console.print("derived: " + ", ".join(f"{name} {value}" for name, value in config.derived().items()))
        console.print(_cost(module, config.plane_set))

    with report_interruption(folder):
        path = train(run, folder, progress=not quiet, begun=tell)
    console.print(f"network: {path}\nreport: {folder / 'report.html'}")


def _cost(module: TrainingModule, planes: str) -> str:
    """What the network of a run costs, measured on a copy: a pass in training mode would move statistics of batches."""
    from tengen.data.planes import plane_set
    from tengen.networks.cost import mac_count, parameter_count

    network, inputs = copy.deepcopy(module.average).eval(), plane_set(planes)
    edge = getattr(network, "edge", 19)  # some networks take one size alone
    millions = mac_count(network, len(inputs.planes), len(inputs.scalars), edge) / 1e6
    cost = f"{millions:,.0f} M" if millions >= 10 else f"{millions:.2g} M"
    return f"{parameter_count(network):,} parameters, {cost} multiplications a position at {edge}x{edge}"


def _train_linear(recipe: str, settings: list[str], out: Path | None, quiet: bool) -> None:
    from tengen.training.linear import train_linear
    from tengen.training.linear_config import LinearRun

    run = load_recipe(recipe, settings, model=LinearRun)
    folder = out if out is not None else Path("runs") / run.name
    with report_interruption(folder):
        path = train_linear(run, folder, progress=not quiet)
    Console(stderr=True).print(f"weights: {path}\nuse them as the playout policy linear:{path}")
