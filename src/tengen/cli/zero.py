"""`tengen zero`: train a network by self-play, from random weights or from a trained network."""

from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from tengen.cli.interruption import report_interruption
from tengen.cli.options import QuietOption, RecipeArgument, RunFolderOption, cluster_option, run_folder, settings_option
from tengen.errors import RecipeError

Role = Literal["lead", "generate", "rate"]


def command(
    recipe: RecipeArgument,
    settings: Annotated[list[str] | None, settings_option("change a setting: search.visits=64")] = None,
    out: RunFolderOption = None,
    role: Annotated[
        Role, typer.Option(help="lead the run, or join it from another process: generate games, or rate networks")
    ] = "lead",
    cluster: Annotated[str, cluster_option("play the games on a Ray cluster")] = "",
    quiet: QuietOption = False,
) -> None:
    """Train a network by self-play. The same command resumes a run that was stopped or killed."""
    from tengen.recipes.loader import run_kind

    kind = run_kind("zero", recipe)
    if kind != "selfplay" and cluster:
        raise RecipeError(f"{kind} runs play in one process: {recipe} runs without --cluster")
    if kind != "selfplay" and role != "lead":
        raise RecipeError(f"{kind} runs take no helpers: {recipe} runs in one process, without --role {role}")
    if kind == "selfplay":
        if cluster and role != "lead":
            raise RecipeError(f"--cluster is for the process that leads a run: leave out --role {role}")
        path = _zero(recipe, settings or [], out, role, cluster, quiet)
    else:
        path = _reinforce(recipe, settings or [], out, quiet)
    if path is not None:
        Console(stderr=True).print(
            f"network: {path}\nreport: {path.parent.parent / 'report.html'}", markup=False, soft_wrap=True
        )


def _zero(recipe: str, settings: list[str], out: Path | None, role: Role, cluster: str, quiet: bool) -> Path | None:
    from tengen.recipes import load_recipe
    from tengen.runs.interruption import ShutdownFlag
    from tengen.selfplay.config import SelfPlayConfig
    from tengen.selfplay.folder import SelfPlayFolder
    from tengen.selfplay.progress import Observer, TerminalObserver

    config = load_recipe(recipe, settings, model=SelfPlayConfig)
    folder = run_folder(out, config.name)
    config = SelfPlayFolder(folder).with_network(config)
    if role == "lead":
        from tengen.recipes.loader import network_fields
        from tengen.selfplay.loop import SelfPlayRun

        network_fields(config.network)
    else:  # a helper, which needs no PyTorch
        from tengen.selfplay.helper import help_generate, help_rate
    shown = nullcontext(Observer()) if quiet else TerminalObserver.of(config, folder)
    with ExitStack() as stack:
        joined = None
        if cluster:
            from tengen.cluster import Cluster

            # Before the flag: Ray has signal handlers.
            joined = stack.enter_context(Cluster(cluster, config.cluster.place()))
        stack.enter_context(report_interruption(folder))
        stop, observer = stack.enter_context(ShutdownFlag()), stack.enter_context(shown)
        if role == "lead":
            return SelfPlayRun(config, folder, observer, stop, joined).go()
        (help_generate if role == "generate" else help_rate)(config, folder, observer, stop)
    return None


def _reinforce(recipe: str, settings: list[str], out: Path | None, quiet: bool) -> Path:
    from tengen.recipes.loader import load_run, network_fields
    from tengen.reinforce.config import ReinforceConfig
    from tengen.reinforce.loop import run_reinforce

    config = load_run("zero", recipe, settings)
    assert isinstance(config, ReinforceConfig)
    if config.network:
        network_fields(config.network)
    folder = run_folder(out, config.name)
    with report_interruption(folder):
        return run_reinforce(config, folder, progress=not quiet)
