"""Supervised training from game records: from a recipe to the network file and its report, resumed where it stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from tengen.data.label_sampler import LabelSampler
from tengen.data.planes import PlaneSet
from tengen.data.sampler import Sampler
from tengen.data.split import derive
from tengen.errors import RecipeError
from tengen.evaluators.network_file import Card
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.networks import NetConfig, build, parse_config
from tengen.networks.constant_inputs import used_scalars
from tengen.networks.export import export, relabel
from tengen.runs.checkpoints import checkpoints
from tengen.runs.events import EventLog
from tengen.runs.folder import RunFolder
from tengen.runs.interruption import ShutdownFlag
from tengen.runs.progress import new_bar
from tengen.training.batches import MOVE_TARGETS, TARGETS, BatchStream, TensorBatch
from tengen.training.callbacks import (
    Checkpoints,
    LaterMoves,
    LossLog,
    ProgressBar,
    StopOnSignal,
    Validation,
    evaluator_of,
    make_callbacks,
    newest_checkpoint,
)
from tengen.training.card import (
    board_sizes,
    facts_of,
    games_key,
    games_learned,
    make_card,
    metric_entries,
    provenance,
    warn_of_games_of_start,
    warn_of_learned_games,
)
from tengen.training.config import RunConfig
from tengen.training.export import check_agreement, for_play
from tengen.training.fabric import check_devices, make_fabric, set_threads
from tengen.training.identity import check_resumes, identity
from tengen.training.losses import WeightedLosses, check_losses, needed_targets
from tengen.training.metrics import Estimate, agreement, measure
from tengen.training.optimizers import make_optimizer
from tengen.training.ranks import ALONE, Followers, Rank
from tengen.training.report import write_report
from tengen.training.samplers import Samplers, open_samplers
from tengen.training.schedules import check_metric, position
from tengen.training.start import (
    Origin,
    TransferredLayers,
    note_learned,
    origin_of,
    scale_down,
    start_from,
    with_network,
)
from tengen.training.teacher import LabelBuffer, target_mix, teacher_of
from tengen.training.trainer import Callback, Trainer

_logger = logging.getLogger(__name__)


def make_network(network: Mapping[str, Any], inputs: PlaneSet, seed: int) -> nn.Module:
    """A fresh network of a recipe's fields; its weights follow from `seed`."""
    torch.manual_seed(seed)
    return build(parse_config(network), len(inputs.planes), len(inputs.scalars))


def check_settings(run: RunConfig) -> None:
    """Raise RecipeError for losses that the network of a recipe has no heads for, and for an optimizer that is none."""
    check_losses(parse_config(run.network), run.training.losses)
    make_optimizer(nn.Conv2d(1, 1, 1), run.training.optimizer)  # any network shows whether the options are known


def _check_turned(run: RunConfig) -> None:
    """Raise RecipeError for targets whose symmetry a buffer of labels does not know."""
    unknown = [name for name in needed_targets(run.training.losses)[1] if name not in MOVE_TARGETS]
    if unknown:
        raise RecipeError(
            f"data.teacher.uses is {run.uses}, but nothing is known of the symmetry of the target {unknown[0]}: give 1"
        )


def make_trainer(
    run: RunConfig,
    inputs: PlaneSet,
    callbacks: list[Callback] | None = None,
    network: nn.Module | None = None,
    rank: Rank = ALONE,
    local: Mapping[str, Path] = {},
) -> Trainer[TensorBatch]:
    """The trainer of a run, at its first step; of a fresh network unless one is given. All ranks make one at once.

    `local` as of `train`.
    """
    training, fabric = run.training, make_fabric(run.training, rank)
    teacher, mix = teacher_of(run, local), run.data.teacher
    prepare: Callable[[TensorBatch], TensorBatch] | None = None
    if teacher is not None and mix is not None:
        prepare = teacher.targets(target_mix(mix), fabric.device, compiled=training.compile)
        if mix.uses > 1:
            _check_turned(run)
            seed = derive(training.seed, fabric.global_rank)
            prepare = LabelBuffer(prepare, mix.uses, mix.buffer, symmetries=run.data.symmetries, seed=seed)
    return Trainer(
        make_network(run.network, inputs, training.seed) if network is None else network,
        training,
        WeightedLosses(training.losses, training.value_loss, figures=True),
        scalars=len(inputs.scalars),
        position=lambda step, seconds: position(training, step, seconds / 3600),
        ema=training.ema,
        seed=training.seed,
        callbacks=callbacks or [],
        fabric=fabric,
        prepare=prepare,
    )


def train(
    run: RunConfig,
    out: Path,
    *,
    show_progress: bool = True,
    on_start: Callable[[Trainer[TensorBatch], TransferredLayers | None], None] = lambda *_: None,
    local: Mapping[str, Path] = {},
    stop: ShutdownFlag | None = None,
) -> Path:
    """Carry out a run in the folder `out`, or resume the one that it holds; return the network file.

    `on_start` is called with the trainer as it begins or goes on, and what a new run took from its `start`, once recipe
    and folder have passed all checks. `local` says where stores, start and teacher of the recipe lie on this machine,
    unless it is where the recipe says. Ctrl-C, or `stop`, saves and raises KeyboardInterrupt; the same call resumes.
    Raises RecipeError when `out` holds another run or another process trains in it, where the games of the store
    changed since, for fewer steps than it has taken, for boards that the network cannot take, for a card with wrong
    board sizes, for losses of heads that the network lacks and for a start without a matching layer.
    """
    set_threads(run.training)
    # Check everything before the folder is touched: the recipe and the devices ...
    folder = RunFolder(out, run.kind)
    folder.check_kind()
    origin = origin_of(run, folder, local)
    run = with_network(run, folder)
    network = parse_config(run.network)
    check_settings(run)
    check_devices(run.training)
    further = make_callbacks(run.training.callbacks)
    # ... the games to train on and those that validate ...
    samplers = open_samplers(run, Rank(0, run.training.devices), local)
    check_metric(run.training.schedule, _figures(network, samplers.validation))
    _warn_of_known_games(run, samplers, origin)
    sizes = board_sizes(samplers.train.store, samplers.train.game_rows)
    learned = sorted({*sizes, *(origin.sizes_of(network) if origin else [])})
    run = with_facts(run, samplers.train, learned, local)
    # ... and the network, with the weights of the start in a new run.
    inputs = samplers.train.plane_set
    module = make_network(run.network, inputs, run.training.seed)
    _warn_of_unseen_rules(run, network.family, module, samplers.train)
    begun = None
    if run.start is not None and not checkpoints(folder.checkpoints):
        begun = start_from(module, str(local.get(run.start, run.start)))
        scale_down(module, begun.fresh, TensorBatch.of(samplers.train.batch(0)))
    with folder.lead():
        # Is it the run that the folder holds? Then it goes on from the newest checkpoint.
        checkpoint, saved = newest_checkpoint(folder.checkpoints) or (None, None)
        step = saved["step"] if saved else 0
        if saved is not None:
            check_resumes(out, saved, run, samplers)
        folder.check_games(games_key(samplers.train.store, samplers.train.game_rows), resumes=saved is not None)
        folder.write_recipe(run.model_dump(mode="json"))
        games = _games_learned(run, samplers.train, origin)
        note_learned(run, folder, games, origin)
        with ExitStack() as stack:
            # Make the trainer, here and in the processes of the other devices.
            followers = stack.enter_context(Followers(run.training.devices, _follow, run, checkpoint, local))
            trainer = make_trainer(run, inputs, further, module, followers.leader, local)
            if begun is not None:
                trainer.scalars.know(begun.scalars)
            if saved is not None:
                trainer.restore(saved)
            on_start(trainer, begun)
            # Train, and write the result.
            events = stack.enter_context(folder.log(step if saved else -1, again=("final",)))
            if begun is not None and saved is None:
                events.write("start", 0, begun.event())
            if trainer.done < 1:
                _fit(trainer, run, samplers, folder, events, show_progress, stop or ShutdownFlag())
            return _finish(trainer, run, samplers, folder, events, learned, games)


def _warn_of_known_games(run: RunConfig, samplers: Samplers, origin: Origin | None) -> None:
    """Warn of games that validate and are trained on, in this run or by its start."""
    learned, validation = samplers.train, samplers.validation
    if run.data.validation_store is not None:
        warn_of_learned_games(learned.store, learned.game_rows, validation.store, validation.game_rows)
    if origin is not None:
        warn_of_games_of_start(origin.games, validation.store, validation.game_rows)


def _warn_of_unseen_rules(run: RunConfig, family: str, network: nn.Module, games: Sampler | LabelSampler) -> None:
    """Warn of results under other rules and komi than the record's, which the inputs of the network do not tell."""
    sees = bool(used_scalars(network)) or any(plane.startswith("komi") for plane in games.plane_set.planes)
    if run.data.vary_rules and isinstance(games, Sampler) and not sees:
        _logger.warning(
            "warning: networks of the family %s do not see rules and komi, and data.vary_rules trains half of the "
            "positions under others; --set data.vary_rules=false leaves the games as they were played",
            family,
        )


def _figures(network: NetConfig, validation: Sampler) -> list[str]:
    """The figures of the validations that a schedule may follow."""
    winners = validation.store.column("winner")[validation.game_rows]
    of_value = {"value_mse": (winners >= 0).any(), "value_accuracy": np.isin(winners, (0, 1)).any()}
    known = [name for name, found in of_value.items() if found and network.heads.has("value")]
    return ["top1", "top5", "cross_entropy", *known]


def _follow(rank: Rank, run: RunConfig, checkpoint: Path | None, local: Mapping[str, Path]) -> None:
    """Train as another rank than 0, from a checkpoint; the first weights are those of rank 0."""
    set_threads(run.training)
    samplers = open_samplers(run, rank, local)
    trainer = make_trainer(run, samplers.train.plane_set, rank=rank, local=local)
    if checkpoint is not None:
        trainer.load(checkpoint)
    if trainer.done < 1:
        trainer.fit(BatchStream(samplers.train, trainer.step, run.data.ahead, trainer.device))


def _fit(
    trainer: Trainer[TensorBatch],
    run: RunConfig,
    samplers: Samplers,
    folder: RunFolder,
    events: EventLog,
    show_progress: bool,
    stop: ShutdownFlag,
) -> None:
    """Train until the end of the run; KeyboardInterrupt when it was stopped before."""
    config = run.training
    stream = BatchStream(samplers.train, trainer.step, run.data.ahead, trainer.device)
    log = LossLog(events, stream, config.batch_size, config.log_every)
    validation = Validation(
        events, samplers.validation, samplers.labels, config.validation_games, config.validates, run.start is not None
    )
    extra = {"identity": identity(run, samplers)}
    saving = Checkpoints(folder.checkpoints, config.checkpoint_minutes, config.keep_checkpoints, extra)
    with ExitStack() as stack:
        stack.enter_context(stop)
        bar = stack.enter_context(new_bar(show_progress))
        trainer.callbacks = [
            log,
            validation,
            StopOnSignal(stop),
            ProgressBar(bar, log, validation, getattr(parse_config(run.network), "policy", True) is not None),
            *trainer.callbacks,
            saving,
        ]
        trainer.fit(stream)
        stop.check()


def _finish(
    trainer: Trainer[TensorBatch],
    run: RunConfig,
    samplers: Samplers,
    folder: RunFolder,
    events: EventLog,
    learned: list[int],
    games: list[dict[str, Any]],
) -> Path:
    """Export the averaged network, evaluate the file itself, write its card and the report; return the file.

    `learned` are the board sizes that the network has learned, in this run and before, and `games` the games.
    """
    path, network = folder.network(run.name), parse_config(run.network)
    validation = samplers.validation
    planes, scalars = len(validation.plane_set.planes), len(validation.plane_set.scalars)
    module = for_play(trainer, learned)

    def card(metrics: dict[str, Any]) -> Card:
        return make_card(
            run.card,
            name=run.name,
            family=network.family,
            config=network.model_dump(mode="json"),
            plane_set=network.plane_set,
            games=samplers.train.games,
            positions=trainer.step * run.training.batch_size,
            hours=trainer.seconds / 3600,
            hardware=trainer.hardware,
            metrics=metrics,
            reproduce=f"tengen train {run.recipe or run.name}",
            provenance=provenance(run.model_dump(mode="json"), run.training.seed, games),
        )

    # The file itself is evaluated, so that its figures come into its card afterwards.
    export(module, planes, scalars, path, card({}).metadata())
    check_agreement(module, path, planes, scalars)
    evaluator = OpenVinoEvaluator(path, remember=False)
    result, further = measure(evaluator, validation), _evaluate_maps(trainer, network, validation)
    if samplers.labels is not None:
        further |= agreement(evaluator, samplers.labels, run.training.validation_games)
    final = card(metric_entries(result, further))
    relabel(path, path, final.metadata())
    events.write("final", trainer.step, final.metrics)
    result.save(folder.path / "predictions.npz")
    write_report(folder.path, final, result)
    return path


def _evaluate_maps(trainer: Trainer[TensorBatch], network: NetConfig, validation: Sampler) -> dict[str, Estimate]:
    """Figures of the maps of later moves, which the network file does not have."""
    if not any(name in TARGETS for name in network.heads.maps):
        return {}
    with LaterMoves(trainer.average, validation) as moves:
        measure(evaluator_of(trainer, validation), validation, seen=moves.see)
    return moves.estimates()


def _games_learned(run: RunConfig, games: Sampler | LabelSampler, origin: Origin | None) -> list[dict[str, Any]]:
    """Entries for the card: of the games of this run, then of those that its start has learned."""
    fraction = None if run.data.validation_store else run.data.validation_fraction
    own = games_learned(games.store, games.game_rows, fraction)
    return [own, *(each for each in (origin.games if origin else []) if each != own)]


def with_facts(
    run: RunConfig, games: Sampler | LabelSampler, learned: list[int], local: Mapping[str, Path] = {}
) -> RunConfig:
    """The run with a card that describes its games and with the length of an epoch, where the recipe has neither.

    The board sizes of the card are those `learned`. Raises RecipeError for a card that names other board sizes than
    those of the games alone.
    """
    found = board_sizes(games.store, games.game_rows)
    if run.card.board_sizes and not set(run.card.board_sizes) & set(found):
        sizes = ", ".join(f"{size}x{size}" for size in found)
        raise RecipeError(
            f"card.board_sizes is {run.card.board_sizes}, but the games of {run.data.store} are {sizes}; leave it out"
        )
    training = run.training.with_epoch(games.positions * run.uses)
    teacher = teacher_of(run, local)
    described = None
    if teacher is not None and run.data.teacher is not None:
        described = {"name": teacher.card.name, "licence": run.data.teacher.licence or teacher.card.licence}
    facts = facts_of(run.card, games.store, games.game_rows, described)
    facts = facts.model_copy(update={"board_sizes": run.card.board_sizes or learned})
    if run.start is not None and not run.card.data:
        facts = facts.model_copy(update={"data": f"{facts.data}, begun with {Path(run.start).stem}"})
    return run.model_copy(update={"card": facts, "training": training})
