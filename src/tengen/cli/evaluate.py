"""`tengen evaluate`: how well a network predicts the games of a store."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape

from tengen.cli.nets import find_file
from tengen.cli.options import BatchOption, DeviceOption, JsonOption
from tengen.cli.tables import new_table, print_table
from tengen.disk import json_text
from tengen.errors import NetworkError
from tengen.machine import Precision

if TYPE_CHECKING:
    from tengen.data.store import Store
    from tengen.evaluators.evaluator import Evaluator
    from tengen.evaluators.network_file import Card
    from tengen.training.held_out import Draw, EvaluationGames
    from tengen.training.metrics import Estimate, PredictionResults

_NAMES = {
    "top1": "top-1",
    "top5": "top-5",
    "cross_entropy": "cross-entropy",
    "value_mse": "value error (squared, -1 to 1)",
    "value_mse_01": "value error (squared, 0 to 1)",
    "value_accuracy": "winner predicted",
    "same_move": "the teacher's best move",
    "divergence": "divergence from the teacher's policy, nats",
    "teacher_value_mse": "difference from its value (squared, -1 to 1)",
    "teacher_score_error": "difference from its score, points",
}


def command(
    network: Annotated[
        str,
        typer.Argument(
            help="an installed network, an .onnx file, uniform, or a playout policy: linear or a .playout file"
        ),
    ],
    store: Annotated[Path, typer.Argument(help="a game store")],
    positions: Annotated[int | None, typer.Option(min=1, help="number of positions; all games unless given")] = None,
    size: Annotated[int | None, typer.Option(help="only games on boards of this size; all unless given")] = None,
    split: Annotated[
        Literal["auto", "train", "validation", "all"],
        typer.Option(help="games: those held out of training, or all; auto: held out where it learned from this store"),
    ] = "auto",
    every: Annotated[bool, typer.Option("--all-positions", help="draw from all positions, not one a game")] = False,
    seed: Annotated[int, typer.Option(help="which positions are drawn")] = 0,
    average: Annotated[
        bool,
        typer.Option(
            "--average-symmetries", help="take the mean of the board's eight symmetries, eight times the work"
        ),
    ] = False,
    batch: BatchOption = 64,
    device: DeviceOption = "auto",
    precision: Annotated[Precision, typer.Option(help="what the CPU computes in; auto: the fastest")] = "auto",
    as_json: JsonOption = False,
) -> None:
    """Evaluate a network on the games of a store: one random position a game, never a pass.

    Two networks are evaluated on the same positions if --size, --split, --seed, --all-positions and the share of
    held-out games are the same. --json shows all five, and --average-symmetries.

    Where the store has labels of a teacher, as many labelled positions show how far the network agrees with it.
    """
    from tengen.data.store import Store
    from tengen.evaluators import load_evaluator
    from tengen.evaluators.installed_networks import is_playout
    from tengen.evaluators.playout_file import find_playout, read_playout_card
    from tengen.training.held_out import Draw, board_sizes

    if network != "uniform":
        find_file(network, "uniform")
    games = Store.open(store)
    sizes = board_sizes(games, size)
    draw = Draw(split, size, every, seed, batch, positions)
    if is_playout(network):
        for option, value in (("--device", device), ("--precision", precision)):
            if value != "auto":
                raise NetworkError(f"{option} {value} is for networks; {network} is a playout policy")
        if average:
            raise NetworkError(f"--average-symmetries is for networks; {network} is a playout policy")
        path = find_playout(network)
        name, chosen = path.stem, _choose_games(games, read_playout_card(path), draw)
        results = _evaluate_playout(path, chosen)
        labels: dict[str, Estimate] = {}
    else:
        evaluator = load_evaluator(network, device, batch=batch, precision=precision)
        name, chosen, results, labels = _evaluate_network(network, evaluator, games, sizes, average, draw)
    if as_json:
        settings = {**chosen.entries(), "seed": seed, "all_positions": every, "average_symmetries": average}
        print(json_text(_as_json(name, settings, results, labels)))
    else:
        _print(name, chosen, results, labels)


def _evaluate_network(
    network: str, evaluator: Evaluator, store: Store, sizes: list[int], average: bool, draw: Draw
) -> tuple[str, EvaluationGames, PredictionResults, dict[str, Estimate]]:
    """The network's name, the games, what it predicts of them, and its agreement with labels, if the store has any."""
    from tengen.evaluators.evaluator import RAW_OPTIMISM
    from tengen.evaluators.file_evaluator import NetworkFileEvaluator
    from tengen.evaluators.network_file import read_card
    from tengen.evaluators.symmetric import SymmetricEvaluator
    from tengen.training.metrics import agreement, measure

    try:
        on = {edge: evaluator.on(edge) for edge in sizes}
    except NetworkError as error:
        if len(sizes) == 1:
            raise
        raise NetworkError(f"{error}: choose games on one of the store's boards with --size") from error
    chosen = on[sizes[-1]]  # of the largest board, as `measure` does
    card = read_card(chosen.path) if isinstance(chosen, NetworkFileEvaluator) else None
    if others := {f"{edge}x{edge}" for edge in sizes if on[edge].name != chosen.name}:
        boards = ", ".join(sorted(others))
        note = f"{network} plays {boards} with other networks: {chosen.name} is evaluated on all boards"
        print(note, file=sys.stderr)
    if card is not None:
        _note_new_boards(card, store, sizes)
    games = _choose_games(store, card, draw)
    if chosen.has_optimism:  # as without search
        chosen.policy_optimism = RAW_OPTIMISM
    if average:
        evaluator = evaluator.wrapped(partial(SymmetricEvaluator, mode="average"))
    planes = chosen.plane_set
    sampler = games.sampler(planes)
    with Console(stderr=True).status(f"evaluating {escape(chosen.name)} on {sampler.games:,} games"):
        results = measure(evaluator, sampler, draw.positions)
        labelled = games.labels(planes)
        has_policy = card is None or card.has_policy
        labels = {} if labelled is None else agreement(evaluator, labelled, len(results), has_policy)
    if not has_policy:
        results = results.without_policy()
    return chosen.name, games, results, labels


def _choose_games(store: Store, card: Card | None, draw: Draw) -> EvaluationGames:
    """The games to evaluate; prints what the network has learned of them."""
    from tengen.training.held_out import EvaluationGames

    games = EvaluationGames.choose(store, card, draw)
    for note in games.notes:
        print(note, file=sys.stderr)
    return games


def _note_new_boards(card: Card, store: Store, evaluated: list[int]) -> None:
    sizes = store.column("size")
    strange = np.isin(sizes, evaluated) & ~np.isin(sizes, card.board_sizes)
    if strange.any():
        boards = ", ".join(f"{size}x{size}" for size in np.unique(sizes[strange]))
        learned = ", ".join(f"{size}x{size}" for size in card.board_sizes)
        part = f"{int(strange.sum()):,} of the store's {len(store):,} games are {boards}, new to it"
        note = f"{card.name} learned {learned}: {part}"
        print(note, file=sys.stderr)


def _evaluate_playout(path: Path, games: EvaluationGames) -> PredictionResults:
    from tengen.training.linear import evaluate_playout

    sampler = games.sampler()
    with Console(stderr=True).status(f"evaluating {escape(path.stem)} on {sampler.games:,} games"):
        return evaluate_playout(path, sampler, games.draw.positions)


def _as_json(
    name: str, drawn: dict[str, object], results: PredictionResults, labels: dict[str, Estimate]
) -> dict[str, object]:
    """One JSON object. `drawn` says which positions: figures compare where it is the same."""

    def figures(estimates: dict[str, Estimate]) -> dict[str, object]:
        known = {key: (figure.mean, *figure.interval(9)) for key, figure in estimates.items() if figure.count}
        return {key: dict(zip(("mean", "low", "high"), ends, strict=True)) for key, ends in known.items()}

    return {
        "network": name,
        **drawn,
        "positions": len(results),
        **figures(_not_negative(results.estimates())),
        **figures(_not_negative(labels)),
        "phases": {
            phase: {"positions": len(part), **figures(_not_negative(part.estimates()))}
            for phase, part in results.by_phase().items()
        },
        "calibration": [
            {"predicted": chance, "won": won.mean, "low": low, "high": high, "positions": won.count}
            for chance, won in results.calibration()
            for low, high in [won.interval(9)]
        ],
    }


def _print(name: str, games: EvaluationGames, results: PredictionResults, labels: dict[str, Estimate]) -> None:
    console = Console()
    titles = [(f"{escape(name)}: {len(results):,} positions, {games}", results.estimates())]
    if known := {key: estimate for key, estimate in labels.items() if estimate.count}:
        labelled = max(estimate.count for estimate in known.values())
        titles.append((f"agreement with the labels: {labelled:,} positions", known))
    for title, estimates in titles:
        figures = new_table("figure", "mean", "95% interval", left={"figure"}, title=title)
        for key, estimate in _not_negative(estimates).items():
            figures.add_row(_NAMES[key], *_shown(key, estimate))
        print_table(figures, console)
    headings = ("moves played", "positions", "top-1", "top-5", "winner predicted")
    phases = new_table(*headings, left={"moves played"}, title="by phase of the game")
    for phase, part in results.by_phase().items():
        found = _not_negative(part.estimates())
        shares = [_shown(key, found[key])[0] for key in ("top1", "top5", "value_accuracy")]
        phases.add_row(phase, f"{len(part):,}", *shares)
    print_table(phases, console)
    if not results.calibration():  # it has no value
        return
    title = "calibration of the value"
    calibration = new_table("predicted to win", "won", "95% interval", "positions", left=(), title=title)
    for chance, won in results.calibration():
        calibration.add_row(f"{chance:.1%}", *_shown("won", won), f"{won.count:,}")
    print_table(calibration, console)


def _not_negative(estimates: dict[str, Estimate]) -> dict[str, Estimate]:
    """The estimates without intervals that begin below 0, as none of the figures can be negative."""
    found = estimates.items()
    return {key: replace(one, low=0.0) if -math.inf < one.low < 0 else one for key, one in found}


def _shown(key: str, estimate: Estimate) -> tuple[str, str]:
    if not estimate.count:
        return "unknown", ""
    form = "{:.1%}" if key in ("top1", "top5", "value_accuracy", "same_move", "won") else "{:.3f}"
    if not math.isfinite(estimate.high):  # the spread of a single position is unknown
        return form.format(estimate.mean), "unknown"
    return form.format(estimate.mean), f"{form.format(estimate.low)} to {form.format(estimate.high)}"
