"""`tengen nets`: the installed networks and playout policies, and their cards."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tengen.errors import NetworkError, suggestion
from tengen.evaluators.network_file import (
    SUFFIX,
    Card,
    default_by_size,
    embedded_files,
    find_network,
    installed,
    read_card,
)
from tengen.evaluators.playout_file import SUFFIX as PLAYOUT_SUFFIX
from tengen.evaluators.playout_file import find_playout, installed_playouts, is_playout, read_playout_card


def command(
    name: Annotated[
        str | None, typer.Argument(help="Print the card of this network or playout policy: a name or a file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the installed networks and playout policies, or print the card of one."""
    if name is not None:
        path = find_file(name)
        card = read_playout_card(path) if is_playout(name) else read_card(path)
        print(card.model_dump_json(indent=2)) if as_json else _print_card(card)
        return
    cards = installed()
    if as_json:
        print("[" + ", ".join(card.model_dump_json() for card in [*cards, *installed_playouts()]) + "]")
        return
    if not cards:
        raise NetworkError("no network is installed; tengen train creates one")
    _print_list([*cards, *installed_playouts()], read_card(find_network("default")).name)


def find_file(name_or_path: str, *others: str) -> Path:
    """The file of a network or playout policy, by the name of an installed one or by its path.

    Raises NetworkError for an unknown name. `others` are further names to suggest.
    """
    if name_or_path == "default":
        return find_network(name_or_path)
    try:
        return find_playout(name_or_path) if is_playout(name_or_path) else find_network(name_or_path)
    except NetworkError as error:
        networks, playouts = ([file.stem for file in embedded_files(suffix)] for suffix in (SUFFIX, PLAYOUT_SUFFIX))
        names = ["default", *networks, "linear", *playouts, *others]
        hint = suggestion(name_or_path, names)
        raise NetworkError(f"no network or playout policy {name_or_path!r}, installed or as a file; {hint}") from error


def _print_list(cards: list[Card], default: str) -> None:
    table = Table(title="Installed networks and playout policies", title_justify="left")
    for heading in ("name", "family", "size", "boards", "top-1", "games", "hours"):
        table.add_column(heading, justify="right" if heading in ("top-1", "games", "hours") else "left")
    for card in cards:
        top1 = card.metrics.get("top1")
        table.add_row(
            card.name + (" (default)" if card.name == default else ""),
            card.family,
            str(card.config.get("size", "")),
            _boards(card.board_sizes),
            f"{top1:.1%}" if top1 is not None else "",
            f"{card.games:,}",
            f"{card.hours:g}",
        )
    console = Console()
    console.print(table)
    if by_size := default_by_size():
        sizes = ", ".join(f"{path.stem} on {size}x{size}" for size, path in by_size.items())
        console.print(f"default: {sizes}, {default} on all other board sizes", highlight=False, soft_wrap=True)


def _print_card(card: Card) -> None:
    table = Table(title=card.name, title_justify="left", show_header=False)
    table.add_column(style="bold")
    table.add_column()
    for field, text in card.texts().items():
        table.add_row(field.replace("_", " "), text)
    for metric, value in card.metrics.items():
        table.add_row(metric.replace("_", " "), " to ".join(map(str, value)) if isinstance(value, list) else str(value))
    Console().print(table)


def _boards(sizes: list[int]) -> str:
    return f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else "".join(map(str, sizes))
