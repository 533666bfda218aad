"""`tengen play`: play and analyze in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.options import DeviceOption
from tengen.coords import SIZES, check_size
from tengen.errors import NoHomeFolder, TengenError
from tengen.web.language import TAGS, Language, known

if TYPE_CHECKING:
    from tengen.gtp.program import ProgramSettings

DEFAULT_PORT = 8765
PORTS_TRIED = 20
STARTUP_SECONDS = 300.0
"""Time for the first answer of a program, which may tune itself to the machine for minutes; a user can cancel it."""


def command(
    record: Annotated[Path | None, typer.Argument(help="SGF file to open", show_default=False)] = None,
    net: Annotated[str, typer.Option(help="network: a name, a file, or none for random playouts")] = "default",
    visits: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, help="visits a move in the first game; 100 unless given")
    ] = None,
    size: Annotated[int, typer.Option(help=f"board size of the first game, {SIZES}")] = 19,
    host: Annotated[str, typer.Option(help="address to listen on; 0.0.0.0 allows other computers")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=1, max=65_535, help=f"port; the first free one from {DEFAULT_PORT} unless given")
    ] = None,
    device: DeviceOption = "auto",
    language: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(TAGS.values()),
            help="language of the page; that of the browser unless given",
            show_default=False,
        ),
    ] = None,
    program: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COMMAND LINE",
            help="a GTP program as an opponent: 'gnugo=gnugo --mode gtp --level 5'; may be repeated",
        ),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="open the page in the browser")] = False,
) -> None:
    """Play against the engine and analyze games in the browser. Ctrl-C stops the server."""
    from tengen.evaluators.board_warnings import boards_warning
    from tengen.web.engine import Engines
    from tengen.web.guard import access_token
    from tengen.web.library import GameLibrary, games_folder
    from tengen.web.server import address, free_port, serve
    from tengen.web.settings import first_game

    check_size(size)
    settings = first_game(size, visits)
    spoken = None if language is None else _language(language)
    data, shown_size = (b"", size) if record is None else _record(record)
    engines = Engines(net, device, _programs(program or []))
    boards_warning(net)(shown_size)
    chosen = free_port(host, port or DEFAULT_PORT, 1 if port else PORTS_TRIED)
    if port is None and chosen != DEFAULT_PORT:
        print(f"port {DEFAULT_PORT} is not free, using {chosen}")
    token = access_token(host)
    print(f"Tengen runs at {address(host, chosen, token)} (Ctrl-C stops it)", flush=True)
    if token:
        print("Who knows this address can use the page; it is for a network that you trust.", flush=True)
    try:
        library = GameLibrary(games_folder())
    except NoHomeFolder as error:
        library = None
        print(f"Games are not kept: {error}", flush=True)
    serve(engines, settings, host, chosen, open_browser, token=token, library=library, record=data, language=spoken)


def _language(tag: str) -> Language:
    if (found := known(tag)) is None:
        raise TengenError(f"the page has no language {tag!r}; choose {', '.join(TAGS.values())}")
    return found


def _programs(words: Sequence[str]) -> dict[str, ProgramSettings]:
    """The programs of the command line by name, written as players of matches. RecipeError says what is wrong."""
    from tengen.errors import RecipeError
    from tengen.gtp.process import find_program
    from tengen.machine import split_command_line
    from tengen.match.program_player import program_settings
    from tengen.match.spec import PlayerSpec, distinct

    specs = distinct([PlayerSpec.parse(_player_word(word)) for word in words])
    for spec in specs:
        if spec.time is not None:
            raise RecipeError(f"program {spec.name!r}: the clock of a game sets its time; write @2s for seconds a move")
        if find_program(executable := split_command_line(spec.subject)[0]) is None:
            raise RecipeError(f"program {spec.name!r}: there is no program {executable!r} that can be run")
    return {spec.name: replace(program_settings(spec), startup_seconds=STARTUP_SECONDS) for spec in specs}


def _player_word(word: str) -> str:
    """`NAME=COMMAND LINE` or a command line alone, as a player of a match: with `gtp:`."""
    name, equals, rest = word.partition("=")
    named = bool(equals) and not set(name) & set(":@/") and " -" not in name
    command = rest if named else word
    prefix = "" if command.startswith("gtp:") else "gtp:"
    return f"{name}={prefix}{command}" if named else prefix + command


def _record(path: Path) -> tuple[bytes, int]:
    """The bytes of a record and its board size. Raises SgfError where the page could not open it."""
    from tengen.errors import SgfError, os_reason
    from tengen.sgf import read_tree

    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise SgfError(f"{path}: there is no such file") from error
    except OSError as error:
        raise SgfError(f"{path}: {os_reason(error)}") from error
    try:
        return data, read_tree(data).size
    except SgfError as error:
        raise SgfError(f"{path}: {error}") from error
