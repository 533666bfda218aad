"""Supervised training from game records: from a recipe to the network file and its report, resumed where it stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from tengen.data.label_sampler import LabelSampler
from tengen.data.planes import PlaneSet
from tengen.data.sampler import Sampler
from tengen.data.seeds import derive
from tengen.errors import RecipeError
from tengen.evaluators.network_file import Card
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.networks import NetConfig, parse_config
from tengen.networks.export import export, relabel
from tengen.runs.checkpoints import checkpoints
from tengen.runs.events import EventLog
from tengen.runs.folder import RunFolder
from tengen.runs.interruption import ShutdownFlag
from tengen.runs.places import AS_NAMED, LocalFiles
from tengen.runs.progress import new_bar
from tengen.training.batches import MOVE_TARGETS, TARGETS, BatchStream, TensorBatch
from tengen.training.callbacks import (
    Checkpoints,
    LossLog,
    LossMeans,
    ProgressBar,
    StopOnSignal,
    make_callbacks,
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
from tengen.training.network import make_network, sees_rules
from tengen.training.optimizers import check_optimizer
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
from tengen.training.tensor_file import State
from tengen.training.trainer import Callback, Trainer, newest_checkpoint
from tengen.training.validation import LaterMoves, Validation, evaluator_of

_logger = logging.getLogger(__name__)

OnStart = Callable[[Trainer[TensorBatch], TransferredLayers | None], None]
"""Called with the trainer, and with what a new run took from its start."""


def check_settings(run: RunConfig) -> None:
    """Raise RecipeError for losses that the network of a recipe has no heads for, and for an optimizer that is none."""
    check_losses(parse_config(run.network), run.training.losses)
    check_optimizer(run.training.optimizer)


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
    local: LocalFiles = AS_NAMED,
) -> Trainer[TensorBatch]:
    """The trainer of a run, at its first step; of a fresh network unless one is given. All ranks make one at once."""
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
        WeightedLosses(training.losses, training.value_loss, with_accuracy=True),
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
    on_start: OnStart = lambda *_: None,
    local: LocalFiles = AS_NAMED,
    stop: ShutdownFlag | None = None,
) -> Path:
    """Carry out a run in the folder `out`, or resume the one that it holds; return the network file.

    `on_start` is called with the trainer as it begins or goes on, and what a new run took from its `start`, once recipe
    and folder have passed all checks. Ctrl-C, or `stop`, saves and raises KeyboardInterrupt; the same call resumes.
    Raises RecipeError when `out` holds another run or another process trains in it, where the games of the store
    changed since, for fewer steps than it has taken, for boards that the network cannot take, for a card with wrong
    board sizes, for losses of heads that the network lacks and for a start without a matching layer.
    """
    flag = ShutdownFlag() if stop is None else stop  # a flag is false until it is set
    return SupervisedRun(run, out, local).go(show_progress, on_start, flag)


class SupervisedRun:
    """A run of supervised training in the folder `out`, new or resumed; `train` makes one and carries it out.

    To make one checks recipe, devices, games and network, before the folder is touched.
    """

    def __init__(self, run: RunConfig, out: Path, local: LocalFiles) -> None:
        set_threads(run.training)
        # The recipe and the devices ...
        self.folder = RunFolder(out, run.kind)
        self.folder.check_kind()
        self.local = local
        self.origin = origin_of(run, self.folder, local)
        run = with_network(run, self.folder)
        self.network = parse_config(run.network)
        check_settings(run)
        check_devices(run.training)
        self._losses = LossMeans()
        self._callbacks = [self._losses, *make_callbacks(run.training.callbacks)]
        # ... the games to train on and those that validate ...
        self.samplers = open_samplers(run, Rank(0, run.training.devices), local)
        check_metric(run.training.schedule, _figures(self.network, self.samplers.validation))
        _warn_of_known_games(run, self.samplers, self.origin)
        sizes = board_sizes(self.samplers.train.store, self.samplers.train.game_rows)
        # Board sizes that the network has learned in the end, by this run or by its start.
        self.sizes = sorted({*sizes, *(self.origin.sizes_of(self.network) if self.origin else [])})
        self.run = run = with_facts(run, self.samplers.train, self.sizes, local)
        # ... and the network, with the weights of the start in a new run.
        self._module = make_network(run.network, self.samplers.train.plane_set, run.training.seed)
        _warn_of_unseen_rules(run, self.network.family, self._module, self.samplers.train)
        self._begun: TransferredLayers | None = None
        if run.start is not None and not checkpoints(self.folder.checkpoints):
            self._begun = start_from(self._module, local.name_or_path(run.start))
            scale_down(self._module, self._begun.fresh, TensorBatch.of(self.samplers.train.batch(0)))

    @cached_property
    def games(self) -> list[dict[str, Any]]:
        """Entries for the card: of the games of this run, then of those that its start has learned."""
        data, learned = self.run.data, self.samplers.train
        own = games_learned(
            learned.store, learned.game_rows, None if data.validation_store else data.validation_fraction
        )
        return [own, *(each for each in (self.origin.games if self.origin else []) if each != own)]

    def go(self, show_progress: bool, on_start: OnStart, stop: ShutdownFlag) -> Path:
        """Train to the end of the run and return the network file; arguments and errors as of `train`."""
        with self.folder.lead():
            # Is it the run that the folder holds? Then it goes on from the newest checkpoint.
            checkpoint, saved = newest_checkpoint(self.folder.checkpoints) or (None, None)
            self._write_settings(saved)
            with ExitStack() as stack:
                # Make the trainer, here and in the processes of the other devices.
                followers = stack.enter_context(
                    Followers(self.run.training.devices, _follow, self.run, checkpoint, self.local)
                )
                trainer = self._new_trainer(followers.leader, saved)
                on_start(trainer, self._begun)
                # Train, and write the result.
                events = stack.enter_context(self.folder.log(saved["step"] if saved else -1, again=("final",)))
                if self._begun is not None and saved is None:
                    events.write("start", 0, self._begun.event())
                if trainer.done < 1 and not self._was_ended(saved):
                    self._fit(trainer, events, show_progress, stop)
                return self._finish(trainer, events)

    def _was_ended(self, saved: State | None) -> bool:
        """Whether one of the callbacks, as they are now, has ended the run."""
        return saved is not None and saved.get("ended_by") == self.run.training.callbacks

    def _write_settings(self, saved: State | None) -> None:
        """Write recipe and games into the folder. Raises RecipeError where the run that it holds is another one."""
        games = self.samplers.train
        if saved is not None:
            check_resumes(self.folder.path, saved, self.run, self.samplers)
        self.folder.check_games(games_key(games.store, games.game_rows), resumes=saved is not None)
        self.folder.write_recipe(self.run.model_dump(mode="json"))
        note_learned(self.run, self.folder, self.games, self.sizes, self.origin)

    def _new_trainer(self, leader: Rank, saved: State | None) -> Trainer[TensorBatch]:
        """The trainer of this process, at the first step or in the state that was saved."""
        inputs = self.samplers.train.plane_set
        trainer = make_trainer(self.run, inputs, self._callbacks, self._module, leader, self.local)
        if self._begun is not None:
            trainer.scalars.know(self._begun.scalars)
        if saved is not None:
            trainer.restore(saved)
        return trainer

    def _fit(self, trainer: Trainer[TensorBatch], events: EventLog, show_progress: bool, stop: ShutdownFlag) -> None:
        """Train until the end of the run; KeyboardInterrupt when it was stopped before."""
        run, samplers = self.run, self.samplers
        config = run.training
        stream = BatchStream(samplers.train, trainer.step, run.data.ahead, trainer.device)
        log = LossLog(self._losses, events, stream, config.batch_size, config.log_every)
        validation = Validation(
            events,
            samplers.validation,
            samplers.labels,
            config.validation_games,
            self.network.has_policy,
            config.validates,
            run.start is not None,
        )
        same = identity(run, samplers)
        saving = Checkpoints(
            self.folder.checkpoints,
            config.checkpoint_minutes,
            config.keep_checkpoints,
            lambda: {"identity": same, "ended_by": config.callbacks if trainer.should_stop and not stop else None},
        )
        with ExitStack() as stack:
            stack.enter_context(stop)
            bar = stack.enter_context(new_bar(show_progress))
            shown = ProgressBar(bar, log, validation, self.network.has_policy)
            # After the sums of the losses, before the callbacks of the recipe.
            trainer.callbacks[1:1] = [log, validation, StopOnSignal(stop), shown]
            trainer.callbacks.append(saving)
            trainer.fit(stream)
            stop.check()

    def _finish(self, trainer: Trainer[TensorBatch], events: EventLog) -> Path:
        """Export the averaged network, evaluate the file itself, write its card and the report; return the file."""
        run, validation = self.run, self.samplers.validation
        path = self.folder.network(run.name)
        planes, scalars = len(validation.plane_set.planes), len(validation.plane_set.scalars)
        module = for_play(trainer, self.sizes)
        # The file itself is evaluated, so that its figures come into its card afterwards.
        card = self._card(trainer, {})
        export(module, planes, scalars, path, card.metadata())
        check_agreement(module, path, planes, scalars)
        evaluator = OpenVinoEvaluator(path, remember=False)
        result, further = measure(evaluator, validation), _evaluate_maps(trainer, self.network, validation)
        if not card.has_policy:
            result = result.without_policy()
        if self.samplers.labels is not None:
            further |= agreement(evaluator, self.samplers.labels, run.training.validation_games, card.has_policy)
        final = self._card(trainer, metric_entries(result, further))
        relabel(path, path, final.metadata())
        events.write("final", trainer.step, final.metrics)
        result.save(self.folder.path / "predictions.npz")
        write_report(self.folder.path, final, result)
        return path

    def _card(self, trainer: Trainer[TensorBatch], metrics: dict[str, Any]) -> Card:
        run = self.run
        return make_card(
            run.card,
            name=run.name,
            family=self.network.family,
            config=self.network.model_dump(mode="json"),
            plane_set=self.network.plane_set,
            games=self.samplers.train.games,
            positions=trainer.step * run.training.batch_size,
            hours=trainer.seconds / 3600,
            hardware=trainer.hardware,
            metrics=metrics,
            reproduce=f"tengen train {run.recipe or run.name}",
            provenance=provenance(run.model_dump(mode="json"), run.training.seed, self.games),
        )


def _warn_of_known_games(run: RunConfig, samplers: Samplers, origin: Origin | None) -> None:
    """Warn of games that validate and are trained on, in this run or by its start."""
    learned, validation = samplers.train, samplers.validation
    if run.data.validation_store is not None:
        warn_of_learned_games(learned.store, learned.game_rows, validation.store, validation.game_rows)
    if origin is not None:
        warn_of_games_of_start(origin.games, validation.store, validation.game_rows)


def _warn_of_unseen_rules(run: RunConfig, family: str, network: nn.Module, games: Sampler | LabelSampler) -> None:
    """Warn of results under other rules and komi than the record's, which the inputs of the network do not tell."""
    if run.data.vary_rules and isinstance(games, Sampler) and not sees_rules(network, games.plane_set):
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
    return [*(["top1", "top5", "cross_entropy"] if network.has_policy else []), *known]


def _follow(rank: Rank, run: RunConfig, checkpoint: Path | None, local: LocalFiles) -> None:
    """Train as another rank than 0, from a checkpoint; the first weights are those of rank 0."""
    set_threads(run.training)
    samplers = open_samplers(run, rank, local)
    trainer = make_trainer(run, samplers.train.plane_set, rank=rank, local=local)
    if checkpoint is not None:
        trainer.load(checkpoint)
    if trainer.done < 1:
        trainer.fit(BatchStream(samplers.train, trainer.step, run.data.ahead, trainer.device))


def _evaluate_maps(trainer: Trainer[TensorBatch], network: NetConfig, validation: Sampler) -> dict[str, Estimate]:
    """Figures of the maps of later moves, which the network file does not have."""
    if not any(name in TARGETS for name in network.heads.maps):
        return {}
    with LaterMoves(trainer.average, validation) as moves:
        measure(evaluator_of(trainer, validation), validation, seen=moves.see)
    return moves.estimates()


def with_facts(
    run: RunConfig, games: Sampler | LabelSampler, learned: list[int], local: LocalFiles = AS_NAMED
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
