"""A supervised run, from start or resumed to network file and report."""

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import lightning as L
import torch
from torch.utils.data import DataLoader

from tengen.data.sampler import Sampler
from tengen.data.split import Split
from tengen.data.store import Store
from tengen.errors import RecipeError
from tengen.networks import parse_config
from tengen.runs.events import Journal
from tengen.runs.folder import alone, check_games, check_kind, write_recipe
from tengen.training.batches import BatchStream, TensorBatch
from tengen.training.checkpoint import Checkpoints, check_same_run, newest
from tengen.training.config import RunConfig, TrainConfig
from tengen.training.facts import board_sizes, facts_of, named
from tengen.training.finish import finish
from tengen.training.losses import check_heads
from tengen.training.module import TrainingModule
from tengen.training.monitor import LossLog, ProgressBar, Stopping, Validation
from tengen.training.precision import in_bf16
from tengen.training.schedule import progress as share_done

_APART: tuple[Split, Split] = ("train", "validation")
_WHOLE: tuple[Split, Split] = ("all", "all")


@dataclass(frozen=True)
class Samplers:
    """Positions to learn from and positions to judge on, which share no game."""

    train: Sampler
    validation: Sampler


def open_samplers(run: RunConfig) -> Samplers:
    """Open the stores of a run. Raises StoreError for a store that is missing or too small."""
    data, training = run.data, run.training
    planes = parse_config(run.network).plane_set
    store = Store.open(Path(data.store))
    if data.validation_store is None:
        judged, splits = store, _APART
    else:
        judged, splits = Store.open(Path(data.validation_store)), _WHOLE
    train = Sampler(
        store,
        splits[0],
        planes,
        training.batch_size,
        training.seed,
        symmetries=data.symmetries,
        vary_rules=data.vary_rules,
        targets=training.losses.reply > 0 or training.losses.soft > 0,
        threads=data.threads,
        validation_fraction=data.validation_fraction,
    )
    validation = Sampler(
        judged,
        splits[1],
        planes,
        symmetries=False,
        threads=data.threads,
        validation_fraction=data.validation_fraction,
        one_per_game=True,
    )
    return Samplers(train, validation)


def with_facts(run: RunConfig, games: Sampler) -> RunConfig:
    """The run whose card says what its games are, where the recipe does not.

    Raises RecipeError for a card that names other board sizes than those of the games alone.
    """
    found = board_sizes(games.store, games.game_rows)
    if run.card.board_sizes and not set(run.card.board_sizes) & set(found):
        sizes = ", ".join(f"{size}x{size}" for size in found)
        raise RecipeError(
            f"card.board_sizes is {run.card.board_sizes}, but the games of {run.data.store} are {sizes}; leave it out"
        )
    return run.model_copy(update={"card": facts_of(run.card, games.store, games.game_rows)})


def train(
    run: RunConfig, out: Path, *, progress: bool = True, begun: Callable[[TrainingModule], None] = lambda _: None
) -> Path:
    """Carry out a run in the folder `out`, or go on with the one that it holds; return the network file.

    `begun` is called once nothing that the recipe or the folder holds is in the way.
    Ctrl-C saves and raises KeyboardInterrupt; the same call resumes. Raises RecipeError when `out` holds another run
    or another process trains in it, where the games of the store changed since, for fewer steps than it has behind it,
    for a card with wrong board sizes and for losses of heads that are not there.
    """
    if run.training.threads:
        torch.set_num_threads(run.training.threads)
    check_kind(out, "network")
    check_heads(parse_config(run.network), run.training.losses)
    samplers = open_samplers(run)
    run = with_facts(run, samplers.train)
    inputs = samplers.train.plane_set
    out.mkdir(parents=True, exist_ok=True)
    with alone(out):
        found = newest(out / "checkpoints")
        if found:
            check_same_run(found[1], run, inputs)
            _check_steps(out, found[0], run)
        check_games(out, named(samplers.train.store, samplers.train.game_rows), resumes=found is not None)
        write_recipe(out, run.model_dump(mode="json"))
        module = TrainingModule(run, inputs)
        begun(module)
        journal = Journal(out, found[0] if found else 0, again=("final",))
        try:
            if found and _restore_finished(module, *found):
                step = found[0]
            else:
                step = _fit(module, samplers, out, journal, found, progress)
            return finish(module, samplers.validation, samplers.train.games, step, out, journal)
        finally:
            journal.close()


def _check_steps(out: Path, step: int, run: RunConfig) -> None:
    """A run that went further than it is asked to, whose rate has not come down as it would have, is none of these."""
    steps = run.training.steps
    if steps is not None and step > steps:
        raise RecipeError(
            f"{out} holds a run of {step} steps, more than training.steps = {steps}; give {step} or more, or another "
            "--out"
        )


def _restore_finished(module: TrainingModule, step: int, path: Path) -> bool:
    """Load the checkpoint of a run that is at its end; False, with nothing loaded, while there is more to train."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    if share_done(module.run.training, step, saved["tengen"]["seconds"] / 3600) < 1:
        return False
    module.on_load_checkpoint(saved)
    module.load_state_dict(saved["state_dict"])
    return True


def _fit(
    module: TrainingModule,
    samplers: Samplers,
    out: Path,
    journal: Journal,
    found: tuple[int, Path] | None,
    progress: bool,
) -> int:
    """Train until the end of the run; return the number of steps."""
    config = module.run.training
    stream = BatchStream(samplers.train, found[0] if found else 0, module.run.data.ahead)
    log = LossLog(journal, stream, config.log_every)
    validation = Validation(journal, samplers.validation, config.validation_games, config.validate_every)
    stopping = Stopping()
    checkpoints = Checkpoints(out / "checkpoints", config.checkpoint_minutes, config.keep_checkpoints)
    callbacks: list[L.Callback] = [log, validation, stopping, checkpoints]
    if progress:
        callbacks.append(ProgressBar(log, validation))
    trainer = make_trainer(config, out, callbacks)
    loader: DataLoader[TensorBatch] = DataLoader(stream, batch_size=None)
    trainer.fit(module, loader, ckpt_path=found[1] if found else None, weights_only=False)
    if stopping.interrupted:
        raise KeyboardInterrupt
    return trainer.global_step


def make_trainer(config: TrainConfig, out: Path, callbacks: list[L.Callback], *, endless: bool = False) -> L.Trainer:
    """The loop of a run, which says nothing itself; `endless` leaves its end to the callbacks.

    Raises RecipeError for a device that is not there.
    """
    _quieten()
    if config.device == "cuda" and not torch.cuda.is_available():
        raise RecipeError("training.device is cuda, but PyTorch finds no GPU on this machine: give auto or cpu")
    return L.Trainer(
        accelerator={"auto": "auto", "cpu": "cpu", "cuda": "gpu"}[config.device],
        devices=1,
        precision="bf16-mixed" if in_bf16(config.precision, config.device) else "32-true",
        max_steps=-1 if endless else config.steps or -1,
        max_epochs=-1,
        gradient_clip_val=config.clip,
        default_root_dir=out,
        callbacks=callbacks,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        limit_val_batches=0,
    )


def _quieten() -> None:
    """Keep Lightning's advice about workers and its banner out of the terminal."""
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", module="lightning")
