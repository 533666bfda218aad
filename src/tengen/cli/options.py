"""Arguments and options that several commands have, each declared once; the help of an option is lower-case words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.machine import Device

RecipeArgument = Annotated[str, typer.Argument(help="a recipe's path or name; tengen recipes lists them")]

RecordsArgument = Annotated[
    list[str], typer.Argument(metavar="PATH", help=".sgf files, folders, archives, - for stdin")
]

BatchOption = Annotated[int, typer.Option(min=1, help="positions evaluated at once")]

DeviceOption = Annotated[Device, typer.Option(help="device that runs the network; auto: the fastest")]

HumanNetOption = Annotated[
    str | None,
    typer.Option(
        "--human-net",
        "--human-model",
        "-human-model",
        help="a human-style network of KataGo beside the first one, asked where humanSLProfile is set",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="print JSON")]

PresetOption = Annotated[
    str | None, typer.Option(help="search settings of a published system: alphazero, leela-zero, gumbel, ...")
]

QuietOption = Annotated[bool, typer.Option("--quiet", help="no progress display")]

RunFolderOption = Annotated[Path | None, typer.Option(help="folder of the run; runs/NAME unless given")]

SearchSettings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="a search setting; may be repeated")
]

ThreadsOption = Annotated[int, typer.Option(min=0, max=1024, help="threads of the network; 0 for all cores")]


def run_folder(out: Path | None, name: str) -> Path:
    """The folder of a run as `RunFolderOption` says."""
    return out if out is not None else Path("runs") / name


def settings_option(what: str) -> Any:
    """The option --set of a command, which changes settings of a recipe, a study or a match; `what` is its help."""
    return typer.Option("--set", metavar="KEY=VALUE", help=what)


def cluster_option(what: str) -> Any:
    """The option --cluster of a command that does this on a Ray cluster."""
    return typer.Option(metavar="ADDRESS", help=f"{what}: HOST:PORT, auto (the one of this machine), local (a new one)")
