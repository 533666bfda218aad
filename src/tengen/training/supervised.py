"""Supervised training from game records: from a recipe to the network file and its report, resumed where it stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel
from torch import nn

from tengen.data.label_sampler import LabelSampler, TargetMix, labels_to_judge_by
from tengen.data.planes import PlaneSet
from tengen.data.sampler import Sampler
from tengen.data.split import Split, choose, derive
from tengen.data.store import Store
from tengen.errors import RecipeError
from tengen.evaluators.network_file import Card
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.machine import core_count
from tengen.networks import NetConfig, build, parse_config
from tengen.networks.export import export, relabel
from tengen.runs.checkpoints import checkpoints
from tengen.runs.events import EventLog
from tengen.runs.folder import RunFolder, check_same
from tengen.runs.interruption import ShutdownFlag
from tengen.runs.progress import new_bar
from tengen.training.batches import MOVE_TARGETS, TARGETS, BatchStream, TensorBatch, targets_named
from tengen.training.callbacks import (
    Checkpoints,
    LaterMoves,
    LossLog,
    ProgressBar,
    StopOnSignal,
    Stopwatch,
    Validation,
    evaluator_of,
    make_callbacks,
    newest_checkpoint,
)
from tengen.training.card import (
    board_sizes,
    facts_of,
    games_key,
    games_learnt,
    make_card,
    metric_entries,
    provenance,
    warn_of_games_of_start,
    warn_of_learnt_games,
)
from tengen.training.config import LossWeights, OptimizerConfig, RunConfig, TeacherConfig, TrainConfig
from tengen.training.export import check_agreement, for_play
from tengen.training.fabric import check_devices, make_fabric
from tengen.training.losses import WeightedLosses, check_losses, learns_results, needed_targets
from tengen.training.metrics import OF_GAMES, Estimate, agreement, measure
from tengen.training.optimizers import make_optimizer
from tengen.training.ranks import ALONE, Followers, Rank
from tengen.training.report import write_report
from tengen.training.schedules import check_metric, position
from tengen.training.start import Origin, Start, note_learnt, origin_of, scale_down, start_from, with_network
from tengen.training.teacher import LabelBuffer, Teacher
from tengen.training.trainer import Callback, Trainer

_APART: tuple[Split, Split] = ("train", "validation")
_WHOLE: tuple[Split, Split] = ("all", "all")
# A run that diverged goes on with lower rates, and a store may move: check_games knows its games.
_MAY_CHANGE = ("training.optimizer.lr", "training.optimizer.lr_rest", "data.store")
_CHOICE = ("games", "positions_per_game", "max_positions", "skip_passes")  # keys of data
_OBJECTIVE = ("losses", "value_loss")  # keys of training that stay
_DRAWN = ("symmetries", "vary_rules", "validation_positions")  # further ones that stay


@dataclass(frozen=True)
class Samplers:
    """Positions for training and for validation. They share no game, unless a validation store has games of the other
    one, of which `train` warns. `labels` are positions for validation with labels, where those are learned and there
    are any."""

    train: Sampler | LabelSampler
    validation: Sampler
    labels: LabelSampler | None = None


def open_samplers(run: RunConfig, rank: Rank = ALONE, local: Mapping[str, Path] = {}) -> Samplers:
    """Open the stores of a run, to train on the rows of a rank. `local` as of `train`.

    Raises StoreError for a store that is missing or too small, RecipeError for boards that the network cannot take.
    """
    data, training = run.data, run.training
    network = parse_config(run.network)
    move_targets, targets = needed_targets(training.losses)
    store = Store.open(local.get(data.store, Path(data.store)))
    if (apart := data.validation_store) is None:
        judged, splits = store, _APART
    else:
        judged, splits = Store.open(local.get(apart, Path(apart))), _WHOLE
    # The positions of the records, or those that a teacher has labelled.
    drawn: dict[str, Any] = {
        "plane_set": network.plane_set,
        "batch_size": run.drawn_positions,
        "part": (rank.rank, rank.ranks),
        "seed": training.seed,
        "symmetries": data.symmetries,
        "threads": data.threads,
        "split": splits[0],
        "validation_fraction": data.validation_fraction,
        "extra": targets_named(targets),
    }
    train: Sampler | LabelSampler
    teacher = teacher_of(run, local)
    if data.teacher is not None and teacher is None:
        train = LabelSampler(store, **drawn, mix=_mix(data.teacher))
    else:
        if teacher is not None:
            seed = training.seed if data.vary_rules else None
            drawn["extra"] = {**drawn["extra"], **teacher.inputs(data.threads, seed)}
        chosen = {name: getattr(data, name) for name in _CHOICE}
        opponents = learns_results(network, training.losses)
        varied: dict[str, Any] = {"any_rules" if teacher is not None else "vary_rules": data.vary_rules}
        train = Sampler(store, **drawn, **varied, targets=move_targets, opponents=opponents, **chosen)
    validation = _validation_sampler(run, judged, splits[1], network.plane_set)
    if teacher is not None:
        teacher.check(board_sizes(store, train.game_rows))
    for games in (train, validation):
        network.check_sizes(board_sizes(games.store, games.game_rows), f"games of {games.store.path} are on")
    labels = None
    if isinstance(train, LabelSampler):
        options = {"threads": data.threads, "extra": OF_GAMES}
        labels = labels_to_judge_by(judged, splits[1], data.validation_fraction, network.plane_set, **options)
    return Samplers(train, validation, labels)


def _validation_sampler(run: RunConfig, store: Store, split: Split, planes: str) -> Sampler:
    """One position of every game, or with `validation_positions: all` as many of all positions as games may be."""
    data, limit = run.data, run.training.validation_games
    every = data.validation_positions == "all"
    new = partial(
        Sampler,
        store,
        split,
        planes,
        symmetries=False,
        threads=data.threads,
        validation_fraction=data.validation_fraction,
        one_per_game=not every,
        skip_passes=every,
    )
    sampler = new()
    return new(max_positions=limit) if every and sampler.positions > limit else sampler


def teacher_of(run: RunConfig, local: Mapping[str, Path] = {}) -> Teacher | None:
    """The network that labels the batches of a run while it trains; `local` as of `train`. Raises NetworkError where
    it is missing."""
    teacher = run.data.teacher
    if teacher is None or teacher.network is None:
        return None
    return Teacher.named(str(local.get(teacher.network, teacher.network)))


def _mix(teacher: TeacherConfig) -> TargetMix:
    return TargetMix(**{each.name: getattr(teacher, each.name) for each in fields(TargetMix)})


def make_network(network: Mapping[str, Any], inputs: PlaneSet, seed: int) -> nn.Module:
    """A fresh network of a recipe's fields; its weights follow from `seed`."""
    torch.manual_seed(seed)
    return build(parse_config(network), len(inputs.planes), len(inputs.scalars))


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
        prepare = teacher.targets(_mix(mix), fabric.device, compiled=training.compile)
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
    on_start: Callable[[Trainer[TensorBatch], Start | None], None] = lambda *_: None,
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
    _set_threads(run.training)
    # Check everything before the folder is touched.
    folder = RunFolder(out, run.kind)
    folder.check_kind()
    origin = origin_of(run, folder, local)
    run = with_network(run, folder)
    network = parse_config(run.network)
    check_losses(network, run.training.losses)
    check_devices(run.training)
    further = make_callbacks(run.training.callbacks)
    samplers = open_samplers(run, Rank(0, run.training.devices), local)
    check_metric(run.training.schedule, _figures(network, samplers.validation))
    learnt, judged = samplers.train, samplers.validation
    if run.data.validation_store is not None:
        warn_of_learnt_games(learnt.store, learnt.game_rows, judged.store, judged.game_rows)
    if origin is not None:
        warn_of_games_of_start(origin.games, judged.store, judged.game_rows)
    sizes = board_sizes(samplers.train.store, samplers.train.game_rows)
    learned = sorted({*sizes, *(origin.sizes_of(network) if origin else [])})
    run = with_facts(run, samplers.train, learned, local)
    inputs = samplers.train.plane_set
    module = make_network(run.network, inputs, run.training.seed)
    make_optimizer(module, run.training.optimizer)
    begun = None
    if run.start is not None and not checkpoints(folder.checkpoints):
        begun = start_from(module, str(local.get(run.start, run.start)))
        scale_down(module, begun.fresh, TensorBatch.of(samplers.train.batch(0)))
    with folder.lead():
        checkpoint, saved = newest_checkpoint(folder.checkpoints) or (None, None)
        step = saved["step"] if saved else 0
        if saved is not None:
            _check_resumes(out, saved, run, samplers)
        folder.check_games(games_key(samplers.train.store, samplers.train.game_rows), resumes=saved is not None)
        folder.write_recipe(run.model_dump(mode="json"))
        games = _games_learnt(run, samplers.train, origin)
        note_learnt(run, folder, games, origin)
        with ExitStack() as stack:
            # Make the trainer, or restore it from the newest checkpoint.
            followers = stack.enter_context(Followers(run.training.devices, _follow, run, checkpoint, local))
            trainer = make_trainer(run, inputs, further, module, followers.leader, local)
            if begun is not None:
                trainer.scalars.know(begun.scalars)
            if saved is not None:
                trainer.restore(saved)
            on_start(trainer, begun)
            events = stack.enter_context(folder.log(step if saved else -1, again=("final",)))
            if begun is not None and saved is None:
                events.write("start", 0, begun.event())
            if trainer.done < 1:
                _fit(trainer, run, samplers, folder, events, show_progress, stop or ShutdownFlag())
            return _finish(trainer, run, network, samplers, folder, events, learned, games)


def _check_resumes(out: Path, saved: dict[str, Any], run: RunConfig, samplers: Samplers) -> None:
    """Raise RecipeError where a run cannot go on from a checkpoint: it is of another run, or of more steps."""
    before, now = saved["identity"], _identity(run, samplers)
    before["training"].setdefault("ema", run.training.ema if saved["average"] else 0.0)
    _add_new_settings(before, now)
    check_same(out, before, now, _MAY_CHANGE)
    _check_steps(out, saved["step"], run)


def _figures(network: NetConfig, validation: Sampler) -> list[str]:
    """The figures of the validations that a schedule may follow."""
    winners = validation.store.column("winner")[validation.game_rows]
    of_value = {"value_mse": (winners >= 0).any(), "value_accuracy": np.isin(winners, (0, 1)).any()}
    known = [name for name, found in of_value.items() if found and network.heads.has("value")]
    return ["top1", "top5", "cross_entropy", *known]


def _follow(rank: Rank, run: RunConfig, checkpoint: Path | None, local: Mapping[str, Path]) -> None:
    """Train as another rank than 0, from a checkpoint; the first weights are those of rank 0."""
    _set_threads(run.training)
    samplers = open_samplers(run, rank, local)
    trainer = make_trainer(run, samplers.train.plane_set, rank=rank, local=local)
    if checkpoint is not None:
        trainer.load(checkpoint)
    if trainer.done < 1:
        trainer.fit(BatchStream(samplers.train, trainer.step, run.data.ahead, trainer.device))


def _set_threads(config: TrainConfig) -> None:
    """Of PyTorch; by default the processes on a CPU share its cores."""
    threads = config.threads
    if config.devices > 1 and not (config.device != "cpu" and torch.cuda.is_available()):
        threads = threads or max(1, min(torch.get_num_threads(), core_count() // config.devices))
    if threads:
        torch.set_num_threads(threads)


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
    identity = {"identity": _identity(run, samplers)}
    saving = Checkpoints(folder.checkpoints, config.checkpoint_minutes, config.keep_checkpoints, identity)
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
    network: NetConfig,
    samplers: Samplers,
    folder: RunFolder,
    events: EventLog,
    learned: list[int],
    games: list[dict[str, Any]],
) -> Path:
    """Export the averaged network, evaluate the file itself, write its card and the report; return the file.

    `learned` are the board sizes that the network has learned, in this run and before, and `games` the games.
    """
    path = folder.network(run.name)
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

    export(module, planes, scalars, path, card({}).metadata())
    check_agreement(module, path, planes, scalars)
    evaluator = OpenVinoEvaluator(path, remember=False)
    result, further = measure(evaluator, validation), _judge_maps(trainer, network, validation)
    if samplers.labels is not None:
        further |= agreement(evaluator, samplers.labels, run.training.validation_games)
    final = card(metric_entries(result, further))
    relabel(path, path, final.metadata())
    events.write("final", trainer.step, final.metrics)
    result.save(folder.path / "predictions.npz")
    write_report(folder.path, final, result)
    return path


def _judge_maps(trainer: Trainer[TensorBatch], network: NetConfig, validation: Sampler) -> dict[str, Estimate]:
    """Figures of the maps of later moves, which the network file does not have."""
    if not any(name in TARGETS for name in network.heads.maps):
        return {}
    with LaterMoves(trainer.average, validation) as moves:
        measure(evaluator_of(trainer, validation), validation, seen=moves.see)
    return moves.estimates()


def _games_learnt(run: RunConfig, games: Sampler | LabelSampler, origin: Origin | None) -> list[dict[str, Any]]:
    """Entries for the card: of the games of this run, then of those that its start has learned."""
    fraction = None if run.data.validation_store else run.data.validation_fraction
    own = games_learnt(games.store, games.game_rows, fraction)
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


def _identity(run: RunConfig, samplers: Samplers) -> dict[str, Any]:
    """The settings that cannot change when a run is resumed, as plain values."""
    training, data, inputs = run.training, run.data, samplers.train.plane_set
    judged, split = samplers.validation.store, _WHOLE[1] if data.validation_store else _APART[1]
    validates = np.flatnonzero(choose(judged.hashes, split, data.validation_fraction))
    fixed = {"batch_size", "seed", "optimizer", "ema", *_OBJECTIVE}
    return {
        "training": training.model_dump(mode="json", include=fixed),
        "network": dict(run.network),
        "start": run.start,
        "data": {
            "store": data.store,
            # With another share, or none, games of the training would be used for validation.
            "validation_fraction": None if data.validation_store else data.validation_fraction,
            "validation_games": games_key(judged, validates),
            **{name: getattr(data, name) or None for name in _CHOICE},
            **{name: getattr(data, name) for name in _DRAWN},
            **({} if data.teacher is None else {"teacher": _fixed_of(data.teacher)}),
        },
        "planes": [*inputs.planes, *inputs.scalars],
    }


def _fixed_of(teacher: TeacherConfig) -> dict[str, Any]:
    """What of a teacher cannot change when a run is resumed."""
    return teacher.model_dump(exclude_none=True, exclude={"licence", "buffer"})


def _add_new_settings(before: dict[str, Any], now: Mapping[str, Any]) -> None:
    """Add to the identity in a checkpoint of an earlier version what it does not have, in place."""
    for section, names in (("training", _OBJECTIVE), ("data", ("validation_games", *_DRAWN))):
        for name in names:
            before[section].setdefault(name, now[section][name])
    if (teacher := before["data"].get("teacher")) is not None:
        before["data"]["teacher"] = _fixed_of(TeacherConfig.model_validate(teacher))
    models: dict[str, type[BaseModel]] = {"optimizer": OptimizerConfig, "losses": LossWeights}
    for name, model in models.items():
        before["training"][name] = model.model_validate(before["training"][name]).model_dump(mode="json")


def _check_steps(out: Path, step: int, run: RunConfig) -> None:
    """RecipeError for a run that has taken more steps than it should: its learning rate is not that of the end."""
    steps = run.training.total_steps
    if steps is not None and step > steps:
        of = "training.steps" if steps == run.training.steps else "the steps of training.epochs"
        raise RecipeError(
            f"{out} holds a run of {step} steps, more than {of} = {steps}; give {step} or more, or another --out"
        )


@dataclass(frozen=True)
class Pace:
    """Over `steps` steps: seconds per step with its data, the share of them spent waiting for data; and seconds per
    position of a validation."""

    steps: int
    step_seconds: float
    waiting: float
    validation_seconds: float


def measure_pace(run: RunConfig, samplers: Samplers, seconds: float) -> Pace:
    """Train by a run's settings for about `seconds`, at least three steps, and validate one batch; nothing is kept."""
    threads = torch.get_num_threads()
    if run.training.threads:
        torch.set_num_threads(run.training.threads)
    try:
        trainer = make_trainer(run, samplers.train.plane_set)
        stream = BatchStream(samplers.train, 0, run.data.ahead, trainer.device)
        stopwatch = Stopwatch(stream, seconds)
        trainer.callbacks = [stopwatch]
        trainer.position = lambda step, _: (step, 0.0)  # the stopwatch ends it
        trainer.fit(stream)
        return Pace(
            steps=stopwatch.steps,
            step_seconds=stopwatch.seconds / stopwatch.steps,
            waiting=stopwatch.waited / stopwatch.seconds,
            validation_seconds=_validation_seconds(trainer, samplers.validation),
        )
    finally:
        torch.set_num_threads(threads)


def _validation_seconds(trainer: Trainer[TensorBatch], validation: Sampler) -> float:
    """Seconds per position, over one batch."""
    evaluator = evaluator_of(trainer, validation)
    positions = min(validation.batch_size, validation.positions)
    start = time.perf_counter()
    measure(evaluator, validation, positions)
    return (time.perf_counter() - start) / positions
