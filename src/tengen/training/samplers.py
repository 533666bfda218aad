"""The positions that a supervised run trains on, and those that validate it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from tengen.data.label_sampler import LabelSampler, evaluation_labels
from tengen.data.sampler import Sampler
from tengen.data.split import Split
from tengen.data.store import Store
from tengen.networks import parse_config
from tengen.runs.places import AS_NAMED, LocalFiles
from tengen.training.batches import targets_named
from tengen.training.card import board_sizes
from tengen.training.config import CHOICE, DataConfig, RunConfig
from tengen.training.losses import learns_results, needed_targets
from tengen.training.metrics import OF_GAMES
from tengen.training.ranks import ALONE, Rank
from tengen.training.teacher import target_mix, teacher_of


@dataclass(frozen=True)
class Samplers:
    """Positions for training and for validation. They share no game, unless a validation store has games of the other
    one, of which a run warns. `labels` are positions for validation with labels, where those are learned and there
    are any."""

    train: Sampler | LabelSampler
    validation: Sampler
    labels: LabelSampler | None = None


def open_samplers(run: RunConfig, rank: Rank = ALONE, local: LocalFiles = AS_NAMED) -> Samplers:
    """Open the stores of a run, to train on the rows of a rank.

    Raises StoreError for a store that is missing or too small, RecipeError for boards that the network cannot take.
    """
    data, training = run.data, run.training
    network = parse_config(run.network)
    move_targets, targets = needed_targets(training.losses)
    store, validation_store = data.open_stores(local)
    split, validation_split = splits(data)
    # To train on: the positions of the records, or those that a teacher has labelled.
    drawn: dict[str, Any] = {
        "plane_set": network.plane_set,
        "batch_size": run.drawn_positions,
        "part": (rank.rank, rank.ranks),
        "seed": training.seed,
        "symmetries": data.symmetries,
        "threads": data.threads,
        "split": split,
        "validation_fraction": data.validation_fraction,
        "extra": targets_named(targets),
    }
    train: Sampler | LabelSampler
    teacher = teacher_of(run, local)
    if data.teacher is not None and teacher is None:
        # The surprise of games of self-play weighs nothing here, where no key says so.
        train = LabelSampler(store, **drawn, mix=target_mix(data.teacher), surprise=0)
    else:
        if teacher is not None:
            seed = training.seed if data.vary_rules else None
            drawn["extra"] = {**drawn["extra"], **teacher.inputs(data.threads, seed)}
        chosen = {name: getattr(data, name) for name in CHOICE}
        opponents = learns_results(network, training.losses)
        varied: dict[str, Any] = {"any_rules" if teacher is not None else "vary_rules": data.vary_rules}
        train = Sampler(store, **drawn, **varied, targets=move_targets, opponents=opponents, **chosen)
    validation = _validation_sampler(run, validation_store, validation_split, network.plane_set)
    # Boards that the teacher or the network does not know.
    if teacher is not None:
        teacher.check(board_sizes(store, train.game_rows), data.vary_rules)
    for games in (train, validation):
        network.check_sizes(board_sizes(games.store, games.game_rows), f"games of {games.store.path} are on")
    labels = None
    if isinstance(train, LabelSampler):
        options: dict[str, Any] = {"threads": data.threads, "extra": OF_GAMES}
        labels = evaluation_labels(
            validation_store, validation_split, data.validation_fraction, network.plane_set, **options
        )
    return Samplers(train, validation, labels)


def splits(data: DataConfig) -> tuple[Split, Split]:
    """The games of the stores of a run to train on, and those that validate it."""
    return ("train", "validation") if data.validation_store is None else ("all", "all")


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
