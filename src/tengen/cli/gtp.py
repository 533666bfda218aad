"""`tengen gtp`: an engine for Go programs, over standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Backend = Literal["auto", "openvino", "onnxruntime", "uniform"]


def command(
    net: Annotated[str, typer.Option(help="Network by name or file; none plays without one.")] = "default",
    playouts: Annotated[
        str | None, typer.Option(help="Playout policy of --net none: uniform, local, ...; local if not given.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="The search of a published system: alphazero, leela-zero, gumbel, ...")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the search, NAME=VALUE; may be repeated.")
    ] = None,
    visits: Annotated[
        int | None,
        typer.Option(min=1, help="Visits a move; where nothing else bounds it 400, or 10,000 by playouts alone."),
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="Seconds a move.")] = None,
    size: Annotated[int, typer.Option(min=5, max=19, help="Board size at the start.")] = 19,
    komi: Annotated[float, typer.Option(help="Komi at the start.")] = 7.5,
    rules: Annotated[str, typer.Option(help="Rules at the start, by name or parts.")] = "chinese",
    ponder: Annotated[bool, typer.Option(help="Think in the other side's time.")] = False,
    resign: Annotated[bool, typer.Option(help="Give up lost games.")] = True,
    temperature: Annotated[float, typer.Option(min=0, help="Variety in the opening; 0 is none.")] = 0.0,
    weaken: Annotated[
        float | None, typer.Option(min=0.01, help="Play moves drawn from the network's policy at this temperature.")
    ] = None,
    backend: Annotated[Backend, typer.Option(help="What computes the network.")] = "auto",
    threads: Annotated[
        int, typer.Option(min=0, max=1024, help="Threads of the network or the playouts; 0 takes all cores.")
    ] = 0,
    batch: Annotated[int, typer.Option(min=1, help="Positions evaluated at once.")] = 8,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=2**63 - 1,
            help="Same seed, same game, where no clock bounds the search and playouts alone have --threads 1.",
        ),
    ] = 0,
    log: Annotated[Path | None, typer.Option(help="File for the log; else it goes to standard error.")] = None,
) -> None:
    """Speak the Go Text Protocol: add this command line to Sabaki, GoGui or Lizzie."""
    from tengen import __version__
    from tengen.gtp.program import Settings, run

    run(
        Settings(
            version=__version__,
            net=net,
            playouts=playouts,
            preset=preset,
            params=tuple(set_ or ()),
            visits=visits,
            seconds=seconds,
            size=size,
            komi=komi,
            rules=rules,
            ponder=ponder,
            resign=resign,
            temperature=temperature,
            weaken=weaken,
            backend=backend,
            threads=threads,
            batch=batch,
            seed=seed,
            log=log,
        )
    )
