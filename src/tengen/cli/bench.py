"""`tengen bench`: the rates of this machine, and how long a recipe takes on it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tengen.cli.options import JsonOption, settings_option
from tengen.cli.tables import new_table, print_table
from tengen.disk import json_text
from tengen.errors import RecipeError

if TYPE_CHECKING:
    from tengen.benchmark.playing import Evaluations, Playouts, Visits
    from tengen.benchmark.suite import Figures, Machine
    from tengen.benchmark.training import Encoding, TrainingTime

_KIND = "supervised"
_ONLY_NETWORKS = "only recipes of tengen train that train a network are estimated"


def command(
    recipe: Annotated[
        str | None,
        typer.Argument(help="only how long this recipe will take; a path, or a name that tengen recipes lists"),
    ] = None,
    settings: Annotated[list[str] | None, settings_option("with a recipe: change a setting of it")] = None,
    net: Annotated[
        str | None, typer.Option(help="only this network and its search: an installed one or an .onnx file")
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0.01, help="how long to measure; loading and compiling come on top")
    ] = 25.0,
    tune: Annotated[
        bool,
        typer.Option("--tune", help="with --net: find the fastest way to compute its batches, keep it"),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure this machine: networks, search, playouts, training. Other work on it lowers the figures."""
    from tengen.benchmark.suite import measure_all, measure_networks, measure_recipe
    from tengen.evaluators import load_evaluator
    from tengen.recipes import load_recipe, recipe_kind, recipe_names
    from tengen.recipes.loader import network_fields

    console = Console()
    with Console(stderr=True).status("loading") as status:

        def say(what: str) -> None:
            status.update(f"measuring {what}")

        if recipe is not None:
            if net is not None:
                raise typer.BadParameter(f"--net {net} is of no use with a recipe: {recipe} has a network of its own")
            if tune:
                raise typer.BadParameter("--tune concerns a network that plays: name it with --net, without a recipe")
            if recipe_kind(recipe, _KIND) != _KIND:
                raise RecipeError(f"{recipe} is a recipe of kind {recipe_kind(recipe)}; {_ONLY_NETWORKS}")
            run = load_recipe(recipe, settings or [])
            if not run.network:
                from tengen.training.start import with_network

                run = with_network(run)
            network_fields(run.network)
            figures = measure_recipe(run, seconds, say)
        elif tune and net is None:
            raise typer.BadParameter("--tune concerns one network: name it with --net")
        elif settings:
            raise typer.BadParameter("--set changes a recipe: name one")
        elif net is not None:
            figures = measure_networks([load_evaluator(net)], seconds, say, tune)
        else:
            networks = [load_evaluator(path) for path in _installed()]
            recipes = [name for name in recipe_names() if recipe_kind(name) == _KIND]
            own = [run for run in map(load_recipe, recipes) if run.paper is None]  # published ones take too long
            figures = measure_all(networks, own, seconds, say)
            if others := [name for name in recipe_names() if name not in recipes]:
                figures.missing.append(f"{', '.join(others)}: {_ONLY_NETWORKS}")
    if as_json:
        print(json_text(figures.as_dict()))
    else:
        _print(figures, console)


def _installed() -> list[Path]:
    """The files of all networks, the default first."""
    from tengen.evaluators.installed_networks import find_network, installed

    found = installed()
    if not found:
        return []
    default = find_network("default")
    return [path for path, card in sorted(found, key=lambda one: (one[0] != default, one[1].name))]


def _print(figures: Figures, console: Console) -> None:
    from tengen.benchmark.playing import PLAY_BATCH

    _print_machine(figures.machine, console)
    if figures.evaluations:
        _show(console, "positions through a network, a second", _evaluations(figures.evaluations))
    if figures.devices:
        network = figures.evaluations[0].network
        _show(console, f"devices: positions through {network}, {PLAY_BATCH} at a time, a second", _devices(figures))
    if figures.layouts:
        _show(console, "ways to compute a batch on the CPU: parts side by side, a second", _layouts(figures))
    if figures.visits:
        _show(console, "visits of a search, a second", _visits(figures.visits))
        if any(row.shares for row in figures.visits):
            network = next(row.player for row in figures.visits if row.shares)
            _show(console, f"what limits a search by {network}: shares of its time", _limits(figures.visits))
    if figures.playouts:
        _show(console, "playouts from the empty board, a second on one core", _playouts(figures.playouts))
    if figures.encoding or figures.recipes:
        _print_training(figures.encoding, figures.recipes, console)
    for line in figures.missing:
        console.print(Text.assemble(("not measured: ", "yellow"), line), soft_wrap=True)


def _print_machine(machine: Machine, console: Console) -> None:
    cores = "1 core" if machine.cores == 1 else f"{machine.cores} cores"
    console.print(
        f"[bold]Tengen {machine.tengen}[/bold] on {machine.processor}, {cores}, {machine.memory / 2**30:.0f} GB",
        highlight=False,
    )
    if machine.busy:
        console.print(
            f"[yellow]This machine is busy (load {machine.load:g}): idle, it does more than this.[/yellow]",
            highlight=False,
        )
    console.print()


def _show(console: Console, title: str, table: Table) -> None:
    """The title on a line of its own: a table would break it at its width."""
    console.print(Text(title, "bold"))
    print_table(table, console)
    console.print()


def _table(*headings: str, left: Collection[str]) -> Table:
    return new_table(*headings, left=left, plain=True, numbers="cyan", header_style="dim")


def _evaluations(rows: list[Evaluations]) -> Table:
    from tengen.benchmark.playing import BATCHES, SIZES

    headings = [f"{batch} at a time" for batch in BATCHES]
    table = _table("network", "board", *headings, left={"network", "board"})
    rates = {(row.network, row.size, row.batch): row.rate for row in rows}
    for network in _unique(row.network for row in rows):
        sizes = [size for size in SIZES if (network, size, BATCHES[0]) in rates]
        for size in sizes:
            figures = [_number(rates[network, size, batch]) for batch in BATCHES]
            table.add_row(Text(network if size == sizes[0] else ""), _board(size), *figures)
    return table


def _devices(figures: Figures) -> Table:
    """All devices; `--device auto` takes the first one."""
    table = _table("device", "", left={"device"})
    for name, rate in sorted(figures.devices.items(), key=lambda item: -item[1]):
        table.add_row(name, _number(rate) if rate else "does not run here")
    return table


def _layouts(figures: Figures) -> Table:
    table = _table("way", "", left={"way"})
    for name, rate in sorted(figures.layouts.items(), key=lambda item: -item[1]):
        table.add_row("the fixed rule" if name == "rule" else name, _number(rate))
    return table


def _visits(rows: list[Visits]) -> Table:
    table = _table("player", "board", "", "visits/s", "a move", left={"player", "board", ""})
    for row in rows:
        if row.games > 1:
            table.add_row(Text(row.player), _board(row.size), f"{row.games} games at once", _number(row.rate), "")
        else:
            a_move = f"{row.a_move:,} in {_duration(row.a_move / row.rate)}"
            table.add_row(Text(row.player), _board(row.size), "one game", _number(row.rate), a_move)
    return table


def _limits(rows: list[Visits]) -> Table:
    """What limits searches with a network; the ceiling is the visits a second on a device that takes no time."""
    parts = ("evaluator", "encoder", "tree")
    table = _table("board", "", "limited by", *parts, "ceiling", left={"board", "", "limited by"})
    for row in rows:
        if row.shares:
            games = "one game" if row.games == 1 else f"{row.games} games at once"
            shares = [f"{row.shares[part]:.0%}" for part in parts]
            table.add_row(_board(row.size), games, row.limit, *shares, _number(row.ceiling or 0))
    return table


def _playouts(rows: list[Playouts]) -> Table:
    from tengen.benchmark.playing import SIZES

    table = _table("policy", *map(_board, SIZES), left={"policy"})
    rates = {(row.policy, row.size): row.rate for row in rows}
    for policy in _unique(row.policy for row in rows):
        table.add_row(policy, *(_number(rates[policy, size]) for size in SIZES))
    return table


def _print_training(encoding: Encoding | None, recipes: list[TrainingTime], console: Console) -> None:
    if encoding:
        console.print("[bold]positions from games into batches, a second on one thread[/bold]")
        source = f"  of {encoding.source}, {_board(encoding.size)}"
        console.print(Text.assemble((_number(encoding.rate), "cyan"), source), soft_wrap=True)
        console.print()
    if not recipes:
        return
    headings = ("recipe", "network", "positions/s", "a step", "positions in all", "will take")
    table = _table(*headings, left={"recipe", "network"})
    for row in recipes:
        total, took = f"{row.positions / 1e6:,.2f} M", _duration(row.seconds)
        table.add_row(Text(row.recipe), Text(row.network), _number(row.rate), _duration(row.step_seconds), total, took)
    _show(console, "training by recipe", table)
    for row in recipes:
        console.print(Text(_how_measured(row), "dim"), soft_wrap=True)
    console.print()


def _how_measured(row: TrainingTime) -> str:
    end = "its max_hours end it" if row.ends_by == "max_hours" else f"{row.steps:,} steps end it"
    parts = [
        f"{row.recipe}: from {row.measured_steps} steps on positions of {row.source}; {end}",
        f"validation takes {row.judging:.0%}",
    ]
    if row.waiting >= 0.01:
        parts.append(f"waiting for data {row.waiting:.0%}")
    return ", ".join(parts)


def _number(value: float) -> str:
    """Three significant digits, for more would not come out again."""
    if value >= 1000:
        step = 10 ** (len(str(int(value))) - 3)
        return f"{round(value / step) * step:,}"
    return f"{value:.3g}"


def _duration(seconds: float) -> str:
    for limit, unit, name in ((0.1, 1e-3, "ms"), (90, 1, "s"), (4500, 60, "minutes"), (172800, 3600, "hours")):
        if seconds < limit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 86400:.3g} days"


def _board(size: int) -> str:
    return f"{size}x{size}"


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
