"""`tengen train`: a network or a linear playout policy from game records, by a recipe."""

from __future__ import annotations

import copy
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tengen.cli.interruption import report_interruption
from tengen.cli.options import QuietOption, RecipeArgument, RunFolderOption, cluster_option, run_folder, settings_option
from tengen.errors import RecipeError

if TYPE_CHECKING:
    from tengen.networks import NetConfig
    from tengen.training.batches import TensorBatch
    from tengen.training.config import LinearRun, RunConfig
    from tengen.training.start import TransferredLayers
    from tengen.training.trainer import Trainer

_GAMES = "games"  # in the folder of a run: the store of its own games
_SHOWN = 6  # words of an earlier command in a message


def command(
    recipe: RecipeArgument,
    games: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GAMES",
            help="SGF files, folders or archives to train on, and to validate on a part of, instead of the recipe's "
            "stores; imported into the folder of the run",
        ),
    ] = None,
    player: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="of GAMES those of this player, whose moves alone are learned; repeat for more names"
        ),
    ] = None,
    settings: Annotated[list[str] | None, settings_option("change a setting: training.steps=500")] = None,
    out: RunFolderOption = None,
    cluster: Annotated[str, cluster_option("train on a machine of a Ray cluster")] = "",
    quiet: QuietOption = False,
) -> None:
    """Train a network or a playout policy. The same command resumes a run that was stopped or killed."""
    from tengen.recipes.loader import load_run, network_fields, run_kind
    from tengen.runs.folder import RunFolder
    from tengen.training.config import LinearRun, RunConfig

    settings, games, players = settings or [], games or [], player or []
    if players and not games:
        raise RecipeError("--player chooses among GAMES: give SGF files, folders or archives after the recipe")
    kind = run_kind("train", recipe)
    if kind == "linear-playout" and cluster:
        raise RecipeError(f"linear playout policies are learned in this process: {recipe} runs without --cluster")
    run = load_run("train", recipe, _own_store(settings) if games else settings)
    assert isinstance(run, LinearRun | RunConfig)
    folder = run_folder(out, run.name)
    RunFolder(folder, kind).check_kind()
    if not games:
        _check_own_games(run, folder)
    else:
        words = [recipe, *_words(games, players)]
        words += [word for setting in settings for word in ("--set", setting)]
        data = run.data.model_copy(update={"store": str(folder / _GAMES)})
        run = run.model_copy(update={"data": data, "recipe": shlex.join(words)})
    if isinstance(run, LinearRun):
        if games and run.data.validation_store is not None:
            _open(run.data.validation_store)
        _import(games, players, folder / _GAMES, quiet)
        _train_linear(run, folder, quiet)
        return
    if not run.network:
        from tengen.training.start import with_network

        run = with_network(run, RunFolder(folder, kind))
    config = network_fields(run.network)
    if games:
        _check_without_games(run, bool(cluster))
    _import(games, players, folder / _GAMES, quiet)
    _train_network(run, config, folder, cluster, quiet)


def _open(store: str) -> None:
    """Raise StoreError for a store that is not there."""
    from tengen.data.store import Store

    Store.open(Path(store))


def _check_without_games(run: RunConfig, elsewhere: bool) -> None:
    """Check what needs no games, before an import that may take minutes; the devices unless they are `elsewhere`."""
    from tengen.evaluators.installed_networks import find_network_of
    from tengen.training.fabric import check_devices
    from tengen.training.start import origin_of
    from tengen.training.supervised import check_settings

    check_settings(run)
    if not elsewhere:
        check_devices(run.training)
    origin_of(run)
    if run.data.validation_store is not None:
        _open(run.data.validation_store)
    if (teacher := run.data.teacher) is not None and teacher.network is not None:
        find_network_of("data.teacher.network", teacher.network)


def _train_network(run: RunConfig, config: NetConfig, folder: Path, cluster: str, quiet: bool) -> None:
    from tengen.data.store import Store

    console = Console(stderr=True, soft_wrap=True)  # a path in two lines cannot be copied

    def describe(trainer: Trainer[TensorBatch], begun: TransferredLayers | None) -> None:
        settings = ", ".join(f"{name} {value}" for name, value in config.model_dump().items())
        console.print(f"run {folder}: {settings}", markup=False)
        console.print(f"{len(Store.open(Path(run.data.store))):,} games of {run.data.store}", markup=False)
        if derived := config.derived():
            console.print("derived: " + ", ".join(f"{name} {value}" for name, value in derived.items()))
        console.print(_cost(trainer, config.plane_set))
        if begun is not None:
            console.print(str(begun), markup=False)
        if trainer.step:
            rest = f"{trainer.done:.0%} of the run" if trainer.done < 1 else "nothing is left to train"
            console.print(f"resumed after step {trainer.step:,}: {rest}", markup=False)

    if cluster:
        from tengen.cluster import Cluster
        from tengen.training.cluster import train_on

        with Cluster(cluster, run.cluster.place()) as joined, report_interruption(folder):
            path = train_on(joined, run, folder, show_progress=not quiet)
    else:
        from tengen.training.supervised import train

        with report_interruption(folder):
            path = train(run, folder, show_progress=not quiet, on_start=describe)
    console.print(f"network: {path}\nreport: {folder / 'report.html'}", markup=False)


def _cost(trainer: Trainer[TensorBatch], planes: str) -> str:
    """Size and cost of the network, measured on a copy: a pass in training mode would change the statistics of a batch
    norm."""
    from tengen.data.planes import plane_set
    from tengen.networks.registry import mac_count, parameter_count

    network, inputs = copy.deepcopy(trainer.average).cpu().eval(), plane_set(planes)
    edge = getattr(network, "edge", None) or 19  # some networks take one size alone
    millions = mac_count(network, len(inputs.planes), len(inputs.scalars), edge) / 1e6
    cost = f"{millions:,.0f} M" if millions >= 10 else f"{millions:.2g} M"
    return f"{parameter_count(network):,} parameters, {cost} multiplications a position at {edge}x{edge}"


def _own_store(settings: Sequence[str]) -> list[str]:
    """The settings of a run with a store of its own, some of whose games validate unless they say more."""
    if given := next((setting for setting in settings if setting.startswith("data.store=")), None):
        raise RecipeError(f"--set {given} and GAMES both say what to train on: give one of them")
    return ["data.validation_store=null", *settings, f"data.store={_GAMES}"]


def _check_own_games(run: LinearRun | RunConfig, folder: Path) -> None:
    """RecipeError where a run with games of its own would go on with others than its recipe has."""
    from tengen.runs.folder import RunFolder

    before = (RunFolder(folder, run.kind).saved_recipe() or {}).get("data", {}).get("store")
    imported = before is not None and Path(before).name == _GAMES and (folder / _GAMES).exists()
    if imported and Path(run.data.store).resolve() not in {Path(before).resolve(), (folder / _GAMES).resolve()}:
        words = _earlier_words(folder / _GAMES)
        shown = shlex.join(words[:_SHOWN]) + (" ..." if len(words) > _SHOWN else "")
        raise RecipeError(
            f"{folder} holds a run on games of its own: give them again after the recipe, {shown}, or another folder "
            "by --out"
        )


def _words(games: Sequence[str], players: Sequence[str]) -> list[str]:
    """GAMES and --player, as they are typed."""
    return [*games, *(word for name in players for word in ("--player", name))]


def _earlier_words(store: Path) -> list[str]:
    """Those of the command that imported a store."""
    from tengen.data.format import read_manifest

    manifest = read_manifest(store)
    return _words(manifest.get("sources", []), manifest.get("filters", {}).get("players", []))


def _import(games: Sequence[str], players: Sequence[str], store: Path, quiet: bool) -> None:
    """Import games, if any are given, for a run, unless it has begun with them.

    The games of a run that has not begun are replaced: the files may be others by now. Raises RecipeError in the folder
    of a run on other games.
    """
    from tengen.cli.import_ import import_with_bar
    from tengen.data.importer import ImportOptions
    from tengen.data.rows import Filters, RowOptions

    if not games:
        return
    begun = (store.parent / "recipe.yaml").exists()
    if begun and not store.exists():
        raise RecipeError(f"{store.parent} holds a run on a store of games: leave out GAMES, or give --out")
    if begun:
        before = _earlier_words(store)
        if before == _words(games, players):
            return
        raise RecipeError(
            f"{store} has the games of an earlier command, {shlex.join(before)}: give the same, or another folder "
            "by --out"
        )
    options = ImportOptions(RowOptions(Filters(players=tuple(players))), overwrite=store.exists())
    is_new = not store.parent.exists()
    try:
        import_with_bar(games, store, options, quiet)
    except BaseException:
        if is_new:
            with suppress(OSError):  # it holds something
                store.parent.rmdir()
        raise


def _train_linear(run: LinearRun, folder: Path, quiet: bool) -> None:
    from tengen.training.linear import train_linear

    with report_interruption(folder):
        path = train_linear(run, folder, show_progress=not quiet)
    used = f"weights: {path}\nuse them as the playout policy linear:{path}"
    Console(stderr=True).print(used, markup=False, soft_wrap=True)
