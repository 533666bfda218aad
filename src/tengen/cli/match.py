"""`tengen match`: games between players, and their difference in strength with its confidence."""

from __future__ import annotations

import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.interruption import report_interruption
from tengen.cli.options import QuietOption, cluster_option, settings_option
from tengen.coords import SIZES
from tengen.machine import Device

if TYPE_CHECKING:
    from tengen.match.runner import Execution
    from tengen.match.settings import MatchSettings

_PLAYER = (
    "[NAME=]PLAYER[@LIMIT] each: a network's name or file, policy:NETWORK or raw:NETWORK (no search), playouts, "
    'random, or "gtp:COMMAND LINE"; LIMIT is visits (400; playouts 1000), seconds a move (2s) or a clock (10m+5x30s). '
    "Or one YAML file"
)
_BATCH = 64  # games at once of players that do not search


def command(
    players: Annotated[list[str], typer.Argument(help=_PLAYER, show_default=False)],
    games: Annotated[
        int | None,
        typer.Option(help="games of each pairing, half with each color [60, what --within needs, 20000 with --sprt]"),
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(help="head-to-head, round-robin, gauntlet or ladder [by the number of players]"),
    ] = None,
    anchors: Annotated[
        int | None, typer.Option(help="gauntlet: number of opponents, the last players of the list [1]")
    ] = None,
    back: Annotated[
        int | None, typer.Option(help="ladder: each player meets this number of players before it [1]")
    ] = None,
    size: Annotated[int | None, typer.Option(help=f"board size, {SIZES} [19]")] = None,
    komi: Annotated[float | None, typer.Option(help="points for White [the usual komi of the rules]")] = None,
    rules: Annotated[str | None, typer.Option(help="rule set by name [chinese]")] = None,
    handicap: Annotated[int | None, typer.Option(help="handicap stones of Black [none]")] = None,
    openings: Annotated[
        str | None,
        typer.Option(help="policy, players, policy:NETWORK, random, or a path of SGF files or lines of moves [policy]"),
    ] = None,
    opening: Annotated[int | None, typer.Option(help="moves of an opening [4, or all moves of a list]")] = None,
    seed: Annotated[int | None, typer.Option(help="random seed of openings and players [1]")] = None,
    sprt: Annotated[
        str | None, typer.Option(metavar="ELO0,ELO1", help="sequential test: end when ELO0 or ELO1 is accepted")
    ] = None,
    alpha: Annotated[float | None, typer.Option(help="probability of accepting ELO1 wrongly [0.05]")] = None,
    beta: Annotated[float | None, typer.Option(help="probability of accepting ELO0 wrongly [0.05]")] = None,
    within: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS", help="end a pairing when its 95% confidence interval is +-POINTS percentage points"
        ),
    ] = None,
    visits: Annotated[
        int | None, typer.Option(min=1, help="visits a move of players without a limit [400; playouts 1000]")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="seconds a move of players without a limit")] = None,
    time: Annotated[str | None, typer.Option(help="clock of players without a limit, such as 10m+5x30s")] = None,
    move_seconds: Annotated[float | None, typer.Option(help="maximum seconds a move of a GTP program [180]")] = None,
    device: Annotated[
        Device | None, typer.Option(help="device that runs the networks; auto: the fastest [auto]")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="threads of each player's search [1]")] = None,
    settings: Annotated[list[str] | None, settings_option("any other setting: conditions.lag=0.3")] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="processes that play a game each [by the number of cores; without searches one with 64 games]"
        ),
    ] = None,
    cluster: Annotated[str, cluster_option("play on a Ray cluster")] = "",
    out: Annotated[
        Path | None, typer.Option(help="folder of the match; the same command continues it [matches/NAME]")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Play games between two players or more under equal conditions, and report who is stronger and how sure that is.

    Every opening is played with both colors. Our own rules decide what is legal and count, with the dead stones on
    which the players agree. The folder keeps every game; the same command goes on after an interruption.
    """
    given = {
        "games": games,
        "schedule": {"kind": schedule, "anchors": anchors, "back": back},
        "conditions": {
            "size": size,
            "komi": komi,
            "rules": rules,
            "handicap": handicap,
            "openings": openings,
            "opening": opening,
            "seed": seed,
        },
        "within": within,
        "sprt": {**_bounds(sprt), "alpha": alpha, "beta": beta},
        "defaults": {
            "visits": visits,
            "seconds": seconds,
            "time": time,
            "move_seconds": move_seconds,
            "device": device,
            "threads": threads,
        },
    }
    match, name = _read(players, _given(given), settings or [])
    _play(match, out or Path("matches") / name, workers, cluster, quiet)


def _play(match: MatchSettings, folder: Path, workers: int | None, cluster: str, quiet: bool) -> None:
    from tengen.evaluators.board_warnings import warn_of_boards
    from tengen.match.display import Display, QuietDisplay
    from tengen.match.failures import FailedPlayers
    from tengen.match.runner import games_at_once, play_match
    from tengen.ratings.report import write_report
    from tengen.runs.interruption import sigterm_interrupts

    for network in match.networks():
        warn_of_boards(network, {match.conditions.size})
    at_once = games_at_once(match, workers)
    if workers is not None and at_once < workers and not cluster:
        print(f"{at_once} games at once, not {workers}: players under a time limit need a core each", file=sys.stderr)
    failed = None
    try:
        with report_interruption(folder, "match"), ExitStack() as stack:
            execution = _execution(match, workers, cluster, stack)
            stack.enter_context(sigterm_interrupts())
            display = QuietDisplay() if quiet else stack.enter_context(Display(match))
            figures = play_match(match, folder, execution, display, write_report)
    except FailedPlayers as error:
        if not error.figures:
            raise
        figures, failed = error.figures, error
    _print_result(match, folder, figures)
    if failed is not None:
        raise failed


def _execution(match: MatchSettings, workers: int | None, cluster: str, stack: ExitStack) -> Execution:
    """Where the games are played; the stack leaves the cluster."""
    from tengen.match.runner import InBatch, InCluster, InWorkers

    if cluster:
        from tengen.cluster import Cluster, Place

        place = Place(cpus=match.threads, workers=workers or 0)
        return InCluster(stack.enter_context(Cluster(cluster, place)))
    return InBatch(_BATCH) if workers is None and match.without_search else InWorkers(workers)


def _print_result(match: MatchSettings, folder: Path, figures: dict[str, Any]) -> None:
    from tengen.match.folder import read_folder
    from tengen.match.summary import report
    from tengen.ratings.duplicate_games import duplicate_games
    from tengen.ratings.pool import Pool, match_games

    print(report(figures))
    indices = [outcome.index for outcome in read_folder(folder)[1]]
    beyond = sum(index not in match.indices() for index in indices)
    late = len(indices) - beyond - figures["games"]
    for more, why in (
        (beyond, f", which are of {match.games} a pairing at most"),
        (late, ", played after the pairing was decided"),
    ):
        if more:
            others = "1 game in the folder is" if more == 1 else f"{more} games in the folder are"
            print(f"{others} not in these figures{why}")
    pool = Pool.of([match_games(folder)])
    for note in (*pool.notes, *duplicate_games(pool)):
        print(f"note: {note}")
    print(f"the games and report.html are in {folder}")


def _read(players: list[str], given: dict[str, Any], settings: list[str]) -> tuple[MatchSettings, str]:
    """The settings of the match, and a name for its folder."""
    from tengen.errors import RecipeError
    from tengen.match.settings import MatchSettings
    from tengen.recipes.loader import read_recipe, settled

    if len(players) > 1:
        if whole := next((word for word in players if Path(word).suffix in (".yaml", ".yml")), None):
            raise RecipeError(f"{whole} describes a whole match, with its players: give no other players")
        return settled({"players": players, **given}, settings, MatchSettings), "-".join(map(_slug, players))[:120]
    path = Path(players[0])
    if path.suffix not in (".yaml", ".yml"):
        raise RecipeError(f"a match needs two players or more, or one YAML file; {players[0]!r} is alone")
    if not path.is_file():
        raise RecipeError(f"{path}: there is no such file")
    data = _merged({"name": path.stem, **read_recipe(path)}, given)
    match = settled(data, settings, MatchSettings, f"{path}: ")
    return match, match.name


def _bounds(text: str | None) -> dict[str, float]:
    from tengen.errors import RecipeError

    if text is None:
        return {}
    try:
        elo0, elo1 = map(float, text.split(","))
    except ValueError:
        raise RecipeError(f"--sprt {text}: write two differences in Elo, such as --sprt 0,20") from None
    return {"elo0": elo0, "elo1": elo1}


def _given(given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    found = {key: _given(value) if isinstance(value, dict) else value for key, value in given.items()}
    return {key: value for key, value in found.items() if value is not None and value != {}}


def _merged(file: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The settings of a file, overridden by the options of the command line."""
    merged = dict(file)
    for key, value in given.items():
        before = {"kind": merged[key]} if key == "schedule" and isinstance(merged.get(key), str) else merged.get(key)
        if key == "schedule" and isinstance(before, dict) and value.get("kind") not in (None, before.get("kind")):
            before = None  # its anchors or its back are no use to another kind
        merged[key] = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
    return merged


def _slug(player: str) -> str:
    """A word of the command line as part of a folder's name."""
    name, equals, _ = player.partition("=")
    word = name if equals and "/" not in name and ":" not in name else player
    word = Path(word).name if "/" in word and not word.startswith("gtp:") else word
    return re.sub(r"[^A-Za-z0-9.]+", "-", word).strip("-")[:40]
