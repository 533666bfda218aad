"""`tengen nets`: the installed networks and playout policies, their cards and raw outputs.

`nets add` installs a network, `nets remove` removes it, `nets join` makes one of two, `nets export` writes one for
another program.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tengen.checksums import check_seal
from tengen.cli.options import JsonOption
from tengen.cli.tables import new_table, print_table
from tengen.coords import check_size
from tengen.disk import cache_folder, cache_path, json_text
from tengen.errors import IllegalMove, NetworkError, SgfError, suggestion
from tengen.game import Game
from tengen.rules import Rules

if TYPE_CHECKING:
    from tengen.evaluators.network_file import Card


def command(
    name: Annotated[
        str | None, typer.Argument(help="print the card of this network or playout policy: a name or a file")
    ] = None,
    raw: Annotated[
        str | None,
        typer.Option(
            metavar="POSITION",
            help="print the network's outputs for a position, without search: an SGF file, FILE.sgf:MOVES for the "
            "position after N moves, or moves such as 'D4 Q16 pass' ('' is the empty board)",
        ),
    ] = None,
    symmetry: Annotated[str, typer.Option(help="with --raw: how the network sees the board, 0 to 7 or all")] = "0",
    optimism: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="with --raw: share of the optimistic policy of KataGo's networks; 0.2 unless given",
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(help="with --raw and moves: the board size; 19 unless given"),
    ] = None,
    rules: Annotated[str, typer.Option(help="with --raw: the rule set; that of the record unless given")] = "",
    komi: Annotated[
        float | None,
        typer.Option(
            min=-400,
            max=400,
            help="with --raw: the komi; that of the record, or the usual one of the rules, unless given",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the installed networks and playout policies, print the card of one, or what a network says of a position.

    `tengen nets add FILE` installs a network, `tengen nets remove NAME` removes it. `tengen nets join POLICY VALUE
    --out FILE` makes one of two. `tengen nets export NET --format FORMAT` writes one for another program. `tengen nets
    quantize NET` writes an int8 file, for faster play on processors with VNNI or AMX.
    """
    from tengen.evaluators.evaluator import RAW_OPTIMISM
    from tengen.evaluators.installed_networks import find_network, installed, is_playout
    from tengen.evaluators.network_file import read_card
    from tengen.evaluators.playout_file import installed_playouts, read_playout_card

    if raw is not None:
        if name is None:
            raise NetworkError("--raw needs a network: tengen nets NAME --raw POSITION")
        share = RAW_OPTIMISM if optimism is None else optimism
        _print_raw(name, _position(raw, size, rules, komi), symmetry, share, as_json)
        return
    asked = {
        "size": size,
        "rules": rules,
        "komi": komi,
        "symmetry": symmetry if symmetry != "0" else None,
        "optimism": optimism,
    }
    for option, given in asked.items():
        if given not in (None, ""):
            raise NetworkError(f"--{option} {given} is for --raw POSITION alone")
    if name is not None:
        path = find_file(name)
        card = read_playout_card(path) if is_playout(name) else _read_card(path)
        print(card.model_dump_json(indent=2)) if as_json else _print_card(card)
        return
    cards = [_with_int8(path, card) for path, card in installed()]
    if as_json:
        print("[" + ", ".join(card.model_dump_json() for card in [*cards, *installed_playouts()]) + "]")
        return
    if not cards:
        raise NetworkError("no network is installed; tengen train creates one")
    _print_list([*cards, *installed_playouts()], read_card(find_network("default")).name)


def add(
    file: Annotated[Path, typer.Argument(help="a network file of Tengen, KataGo or Leela Zero")],
    name: Annotated[str, typer.Option(help="the name to give it; its own unless given")] = "",
    profile: Annotated[
        str,
        typer.Option(
            help="for human-style networks of KataGo: whom it imitates, such as rank_5k, preaz_1d, proyear_1985"
        ),
    ] = "",
) -> None:
    """Install a network for this user, so that every command knows it by its name."""
    from tengen.evaluators.installed_networks import add_network
    from tengen.evaluators.network_file import read_card

    path = add_network(file, name, profile)
    card = read_card(path)
    size = f", {card.config['size']}" if "size" in card.config else ""
    print(f"{card.name}: {card.family}{size}; installed as {path}")


def remove(name: Annotated[str, typer.Argument(help="a network that `tengen nets add` installed")]) -> None:
    """Remove a network that was added, and its int8 file."""
    from tengen.evaluators.installed_networks import remove_network

    for path in remove_network(name):
        print(f"{path} removed")


def export(
    name: Annotated[str, typer.Argument(help="a network: the name of an installed one or a file")],
    form: Annotated[str, typer.Option("--format", help="leela-zero or katago")],
    out: Annotated[
        Path | None, typer.Option(help="the file to write or replace; NAME with the format's suffix unless given")
    ] = None,
) -> None:
    """Write a network as a file of another program: Leela Zero's text weights, or KataGo's format 15."""
    from tengen.evaluators.export import export_network, refuse_inputs
    from tengen.evaluators.installed_networks import find_network

    if out is not None and Path(name).is_file():  # one that is converted, whose copy is read
        refuse_inputs(out, Path(name))
    path = export_network(find_network(name), form, out)
    print(f"{name} written as {path}")


def join(
    policy: Annotated[str, typer.Argument(help="the network whose policy is taken: a name or a file")],
    value: Annotated[str, typer.Argument(help="the network whose value, score and ownership are taken")],
    out: Annotated[Path, typer.Option(help="the network file to write or replace")],
) -> None:
    """Join the policy of one network and the value of another into one network file, as AlphaGo plays with."""
    from tengen.evaluators.installed_networks import find_network
    from tengen.evaluators.join import join as write_joined

    card = write_joined(find_network(policy), find_network(value), out)
    of, boards = card.config, _boards(card.board_sizes)
    print(f"{out}: policy of {of['policy']}, value of {of['value']}, plane set {card.plane_set}, boards {boards}")


def quantize(
    name: Annotated[str, typer.Argument(help="a network: a name or a file")],
    positions: Annotated[
        int, typer.Option(min=16, help="positions of its own games: half calibrate, half judge")
    ] = 256,
) -> None:
    """Write an int8 file beside a network, for processors with VNNI or AMX, and print what it costs."""
    from tengen.evaluators.foreign_networks import is_foreign
    from tengen.evaluators.installed_networks import SHIPPED, find_network
    from tengen.evaluators.quantize import MAX_TOP1_LOSS, MAX_WINRATE_ERROR
    from tengen.evaluators.quantize import quantize as write_int8

    if any(map(is_foreign, (name, name.rpartition("@")[0]))) and cache_folder("networks") is None:
        raise NetworkError(
            f"{cache_path('networks')} cannot be written, where the int8 file of {name} would be kept: install the "
            "network with tengen nets add, and quantize it by its name"
        )
    network = find_network(name)
    if network.parent == SHIPPED and not Path(name).is_file():
        raise NetworkError(f"{name} comes with Tengen, whose files stay as they are: copy {network} and give the copy")
    path, cost = write_int8(network, count=positions)
    print(
        f"{path}: {cost.speed:.2f} times the speed of f32; it costs {cost.top1_loss:.2%} of top-1 accuracy and "
        f"{cost.winrate_error:.4f} of winrate on {cost.positions} positions, {cost.same_move:.1%} the same best move"
    )
    if not cost.fine:
        print(
            f"That is above the limits ({MAX_TOP1_LOSS:.2%} and {MAX_WINRATE_ERROR}): "
            "it is used with precision int8 alone"
        )


SUBCOMMANDS = {"add": add, "remove": remove, "export": export, "join": join, "quantize": quantize}


def _position(text: str, size: int | None, rules: str, komi: float | None) -> Game:
    """The position that `--raw` names."""
    from tengen.sgf import read_game

    file, _, moves = text.rpartition(":")
    if not file or not re.fullmatch("[0-9]{1,9}", moves):
        file, moves = text, ""
    if file.lower().endswith(".sgf"):
        try:
            game, _ = read_game(Path(file), rules=rules, komi=komi, moves=int(moves) if moves else None)
        except SgfError as error:
            raise SgfError(f"{file}: {error}") from error
        if size not in (None, game.size):
            raise SgfError(f"{file} is a game on {game.size}x{game.size}: leave --size {size} out")
        if moves and int(moves) > len(game.moves):
            raise SgfError(f"{file} has {len(game.moves)} moves, not {moves}")
        if rules:
            from tengen.engine.positions import replayed

            game = replayed(game, Rules.parse(rules))
        if komi is not None:
            game.komi = komi
        return game
    chosen = Rules.parse(rules or "chinese")
    size = 19 if size is None else size
    check_size(size)
    game = Game(size, chosen, chosen.usual_komi if komi is None else komi)
    words = text.replace(",", " ").split()
    for word in words:
        if word.upper() not in ("B", "W"):
            game.play(word)
        elif word.upper() != "BW"[game.to_play]:
            raise IllegalMove(f"{text!r}: it is the turn of {'BW'[game.to_play]} after {len(game.moves)} moves")
    return game


def _print_raw(name: str, game: Game, symmetry: str, optimism: float, as_json: bool) -> None:
    from tengen.evaluators import load_evaluator
    from tengen.evaluators.board_warnings import warn_of_boards
    from tengen.evaluators.raw import raw_outputs
    from tengen.evaluators.symmetric import SYMMETRIES

    if symmetry != "all" and symmetry not in map(str, range(SYMMETRIES)):
        raise NetworkError(f"no symmetry {symmetry!r}: give 0 to 7 or all")
    chosen = range(SYMMETRIES) if symmetry == "all" else [int(symmetry)]
    warn_of_boards(name, {game.size})
    found = raw_outputs(load_evaluator(name, "cpu", precision="f32"), game, chosen, optimism)
    if as_json:
        print(json_text([one.as_json() for one in found] if symmetry == "all" else found[0].as_json()))
    else:
        print("\n\n".join(one.text() for one in found))


def find_file(name_or_path: str, *others: str) -> Path:
    """The file of a network or playout policy, by the name of an installed one or by its path.

    Raises NetworkError for an unknown name. `others` are further names to suggest.
    """
    from tengen.evaluators.installed_networks import (
        PLAYOUT_SUFFIX,
        UnknownNetwork,
        find_network,
        installed_files,
        is_playout,
        refuse_folder,
    )
    from tengen.evaluators.network_file import SUFFIX
    from tengen.evaluators.playout_file import find_playout

    if name_or_path == "default":
        return find_network(name_or_path)
    try:
        return find_playout(name_or_path) if is_playout(name_or_path) else find_network(name_or_path)
    except UnknownNetwork as error:
        refuse_folder(Path(name_or_path), "network or playout policy")
        networks, playouts = ([file.stem for file in installed_files(suffix)] for suffix in (SUFFIX, PLAYOUT_SUFFIX))
        names = ["default", *networks, "linear", *playouts, *others]
        hint = suggestion(name_or_path, names)
        message = f"no network or playout policy {name_or_path!r}, installed or as a file; {hint}"
        raise UnknownNetwork(message, name_or_path) from error


def _print_list(cards: list[Card], default: str) -> None:
    from tengen.evaluators.installed_networks import default_by_size

    of_text, of_numbers = ("name", "family", "size", "boards"), ("games", "hours", "int8")
    title = "Installed networks and playout policies"
    table = new_table(*of_text, *of_numbers, left=of_text, title=title, plain=True)
    for card in cards:
        int8 = card.metrics.get("int8")
        table.add_row(
            escape(card.name) + (" (default)" if card.name == default else ""),
            escape(card.family),
            escape(str(card.config.get("size", ""))),
            _boards(card.board_sizes),
            f"{card.games:,}" if card.games else "",
            f"{card.hours:g}" if card.hours else "",
            _number(int8.get("speed") if isinstance(int8, dict) else int8, "{:g} x"),
        )
    console = Console()
    print_table(table, console, whole=True)
    if by_size := default_by_size():
        sizes = ", ".join(f"{path.stem} on {size}x{size}" for size, path in by_size.items())
        console.print(
            f"default: {sizes}, {default} on all other board sizes", markup=False, highlight=False, soft_wrap=True
        )


def _read_card(path: Path) -> Card:
    """The card of a network; `int8` among its metrics is what its int8 file costs, if it has one."""
    from tengen.evaluators.network_file import read_card

    card = read_card(path)
    check_seal(path, NetworkError)
    return _with_int8(path, card)


def _with_int8(path: Path, card: Card) -> Card:
    from tengen.evaluators.network_file import int8_path, read_card

    found = int8_path(path)
    with suppress(NetworkError):  # a damaged one is said where it is used
        return card.model_copy(update={"metrics": read_card(found).metrics}) if found.is_file() else card
    return card


def _print_card(card: Card) -> None:
    table = Table(title=escape(card.name), title_justify="left", show_header=False)
    table.add_column(style="bold")
    table.add_column()
    for field, text in card.texts().items():
        if getattr(card, field):  # what the network of another program does not tell is empty
            table.add_row(field.replace("_", " "), escape(text))
    for metric, value in card.metrics.items():
        if isinstance(value, dict):
            text = ", ".join(f"{name.replace('_', ' ')} {number}" for name, number in value.items())
        else:
            text = _interval(value) if isinstance(value, list) else str(value)
        table.add_row(escape(metric.replace("_", " ")), escape(text))
    print_table(table)


def _interval(interval: list[Any]) -> str:
    return "unknown" if None in interval else " to ".join(map(str, interval))


def _number(value: Any, form: str) -> str:
    """A metric of a card in this form; what is no number as it stands there."""
    return form.format(value) if isinstance(value, int | float) else "" if value is None else escape(str(value))


def _boards(sizes: list[int]) -> str:
    between = len(sizes) > 2 and sizes == list(range(sizes[0], sizes[-1] + 1))
    return f"{sizes[0]} to {sizes[-1]}" if between else ", ".join(map(str, sizes))
