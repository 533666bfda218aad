"""`tengen gtp`: the engine on standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.options import DeviceOption, HumanNetOption, PresetOption, SearchSettings
from tengen.coords import SIZES, check_size


def command(
    net: Annotated[
        str, typer.Option("--net", "--model", help="network: a name, a file, or none for random playouts")
    ] = "default",
    playouts: Annotated[
        str | None, typer.Option(help="playout policy with --net none: uniform, local, ...; local unless given")
    ] = None,
    preset: PresetOption = None,
    set_: SearchSettings = None,
    visits: Annotated[
        int | None,
        typer.Option(min=1, help="visits a move; without other limits 400, with --net none 10,000"),
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="seconds a move")] = None,
    lag: Annotated[
        float,
        typer.Option(min=0.25, max=3600, help="seconds that a clock counts for a move beyond its search"),
    ] = 0.25,
    size: Annotated[int, typer.Option(help=f"board size at the start, {SIZES}")] = 19,
    komi: Annotated[
        float | None, typer.Option(help="komi at the start; unless given the usual one of the rules, such as 7.5")
    ] = None,
    force_komi: Annotated[
        bool, typer.Option("--force-komi", help="keep this komi, whatever the command komi or a record says")
    ] = False,
    rules: Annotated[str, typer.Option(help="rules at the start: a name such as japanese, or parts")] = "chinese",
    ponder: Annotated[bool, typer.Option(help="search in the opponent's time")] = False,
    resign: Annotated[bool, typer.Option(help="resign lost games")] = True,
    temperature: Annotated[
        float, typer.Option(min=0, help="temperature of moves in the opening; 0: the best move")
    ] = 0.0,
    weaken: Annotated[
        float | None,
        typer.Option(min=0.01, help="play weaker: moves drawn from the policy at this temperature"),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(min=1, help="play like this opponent of the ladder of levels, 1 being a beginner; sets visits"),
    ] = None,
    device: DeviceOption = "auto",
    threads: Annotated[
        int, typer.Option(min=0, max=1024, help="threads of the network or the playouts; 0 for all cores")
    ] = 0,
    batch: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="positions in one network batch; 8 unless given, on a graphics card 32"),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=2**63 - 1,
            help="random seed; games repeat exactly without time limits; with --net none they need --threads 1 too",
        ),
    ] = 0,
    human_net: HumanNetOption = None,
    name: Annotated[
        str, typer.Option(help="answer to the command name; some front ends use KataGo's commands for KataGo alone")
    ] = "Tengen",
    answer_version: Annotated[
        str | None,
        typer.Option(help="answer to the command version; Tengen's unless given, under the name KataGo with KataGo's"),
    ] = None,
    log: Annotated[Path | None, typer.Option(help="file for the log; standard error unless given")] = None,
) -> None:
    """Run the engine with the Go Text Protocol (GTP). Add this command line to Sabaki, GoGui or Lizzie."""
    from tengen.engine import Limits, Style
    from tengen.engine.options import EngineOptions
    from tengen.gtp.server import GtpSettings, run
    from tengen.gtp.session import GtpOptions

    check_size(size)
    engine = EngineOptions(
        net=net,
        human_net=human_net,
        playouts=playouts,
        preset=preset,
        settings=tuple(set_ or ()),
        device=device,
        threads=threads,
        batch=batch,
        seed=seed,
    )
    session = GtpOptions(
        name=name,
        answer_version=answer_version,
        limits=Limits(visits=visits, seconds=seconds, lag_buffer=lag),
        ponder=ponder,
        level=level,
        force_komi=force_komi,
    )
    style = Style(temperature=temperature, policy_temperature=weaken, resign=resign)
    run(GtpSettings(engine, session, style, size=size, komi=komi, rules=rules, log=log))
