"""`tengen analysis`: KataGo's JSON analysis protocol on standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.options import DeviceOption, HumanNetOption, PresetOption, SearchSettings, ThreadsOption


def command(
    net: Annotated[str, typer.Option("--net", "--model", "-model", help="network: a name or a file")] = "default",
    config: Annotated[
        list[Path] | None, typer.Option("--config", "-config", help="configuration file of KataGo; may be repeated")
    ] = None,
    override: Annotated[
        list[str] | None,
        typer.Option("--override-config", "-override-config", help="settings by KataGo's names: NAME=VALUE,NAME=VALUE"),
    ] = None,
    visits: Annotated[
        int | None, typer.Option(min=1, help="visits of a position where its query names none; KataGo's maxVisits")
    ] = None,
    threads_at_once: Annotated[
        int | None,
        typer.Option(
            "--analysis-threads", "-analysis-threads", min=1, max=16384, help="positions searched side by side"
        ),
    ] = None,
    quit_without_waiting: Annotated[
        bool,
        typer.Option(
            "--quit-without-waiting",
            "-quit-without-waiting",
            help="at the end of the input leave the queries that wait unanswered",
        ),
    ] = False,
    human_net: HumanNetOption = None,
    set_: SearchSettings = None,
    preset: PresetOption = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = 0,
    batch: Annotated[int, typer.Option(min=1, max=1024, help="positions of one search in a network batch")] = 8,
    cache: Annotated[int, typer.Option(min=0, help="evaluations to keep for repeated queries; 0 for none")] = 50_000,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="random seed")] = 0,
) -> None:
    """Analyze many positions at once with KataGo's JSON protocol. KaTrain and other programs that run `katago
    analysis` can run this command, or `tengen-katago analysis` with the arguments that they give to KataGo."""
    from tengen.analysis.server import AnalysisOptions, run
    from tengen.engine.options import EngineOptions

    engine = EngineOptions(
        net=net,
        human_net=human_net,
        preset=preset,
        settings=tuple(set_ or ()),
        device=device,
        threads=threads,
        batch=batch,
        seed=seed,
    )
    run(
        AnalysisOptions(
            engine,
            configs=tuple(config or ()),
            overrides=(*(override or ()), *([] if visits is None else [f"maxVisits={visits}"])),
            at_once=threads_at_once,
            quit_without_waiting=quit_without_waiting,
            cache=cache,
        )
    )
