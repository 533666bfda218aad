"""`tengen gtp`: the engine on standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.coords import SIZES, check_size
from tengen.machine import Device


def command(
    net: Annotated[
        str, typer.Option("--net", "--model", help="Network: a name, a file, or none for random playouts.")
    ] = "default",
    playouts: Annotated[
        str | None, typer.Option(help="Playout policy with --net none: uniform, local, ... Default: local.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="Search settings of a published system: alphazero, leela-zero, gumbel, ...")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A search setting; may be repeated.")
    ] = None,
    visits: Annotated[
        int | None,
        typer.Option(min=1, help="Visits a move. Default without other limits: 400, with --net none 10,000."),
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="Seconds a move.")] = None,
    size: Annotated[int, typer.Option(help=f"Board size at the start, {SIZES}.")] = 19,
    komi: Annotated[
        float | None, typer.Option(help="Komi at the start; unless given the usual one of the rules, such as 7.5.")
    ] = None,
    force_komi: Annotated[
        bool, typer.Option("--force-komi", help="Keep this komi, whatever the command komi or a record says.")
    ] = False,
    rules: Annotated[str, typer.Option(help="Rules at the start: a name such as japanese, or parts.")] = "chinese",
    ponder: Annotated[bool, typer.Option(help="Search in the opponent's time.")] = False,
    resign: Annotated[bool, typer.Option(help="Resign lost games.")] = True,
    temperature: Annotated[
        float, typer.Option(min=0, help="Temperature of moves in the opening; 0: the best move.")
    ] = 0.0,
    weaken: Annotated[
        float | None,
        typer.Option(min=0.01, help="Play weaker: moves drawn from the policy at this temperature."),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(min=1, help="Play like this opponent of the ladder of levels, 1 being a beginner; sets visits."),
    ] = None,
    device: Annotated[Device, typer.Option(help="Device that runs the network; auto: the fastest.")] = "auto",
    threads: Annotated[
        int, typer.Option(min=0, max=1024, help="Threads of the network or the playouts; 0 for all cores.")
    ] = 0,
    batch: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Positions in one network batch. Default: 8, on a graphics card 32."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=2**63 - 1,
            help="Random seed. Games repeat exactly without time limits; with --net none also use --threads 1.",
        ),
    ] = 0,
    human_net: Annotated[
        str | None,
        typer.Option(help="A human-style network for kata-raw-human-nn, beside the one that plays."),
    ] = None,
    name: Annotated[
        str, typer.Option(help="Answer to the command name. Some front ends use KataGo's commands for KataGo alone.")
    ] = "Tengen",
    answer_version: Annotated[
        str | None,
        typer.Option(help="Answer to the command version. Default: Tengen's, under the name KataGo with KataGo's."),
    ] = None,
    log: Annotated[Path | None, typer.Option(help="File for the log. Default: standard error.")] = None,
) -> None:
    """Run the engine with the Go Text Protocol (GTP). Add this command line to Sabaki, GoGui or Lizzie."""
    from tengen import __version__
    from tengen.cli.board_sizes import boards_warning
    from tengen.gtp.server import Settings, run

    check_size(size)
    run(
        Settings(
            version=__version__,
            name=name,
            answer_version=answer_version,
            net=net,
            human_net=human_net,
            playouts=playouts,
            preset=preset,
            params=tuple(set_ or ()),
            visits=visits,
            seconds=seconds,
            size=size,
            komi=komi,
            force_komi=force_komi,
            rules=rules,
            ponder=ponder,
            resign=resign,
            temperature=temperature,
            weaken=weaken,
            level=level,
            device=device,
            threads=threads,
            batch=batch,
            seed=seed,
            log=log,
            on_size=boards_warning(net),
        )
    )
