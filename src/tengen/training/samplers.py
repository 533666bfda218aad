"""The positions that a supervised run trains on, and those that validate it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from tengen.data.label_sampler import LabelSampler, evaluation_labels
from tengen.data.sampler import OnePerGame, PositionChoice, RuleChoice, Sampler
from tengen.data.split import Split
from tengen.data.store import Store
from tengen.networks import NetConfig, parse_config
from tengen.runs.places import AS_NAMED, LocalFiles
from tengen.training.batches import targets_named
from tengen.training.card import board_sizes
from tengen.training.config import DataConfig, RunConfig
from tengen.training.losses import learns_results, needed_targets
from tengen.training.metrics import OF_GAMES
from tengen.training.ranks import ALONE, Rank
from tengen.training.teacher import Teacher, target_mix, teacher_of


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
    data = run.data
    network = parse_config(run.network)
    store, validation_store = data.open_stores(local)
    split, validation_split = splits(data)
    teacher = teacher_of(run, local)
    train = _training_sampler(run, store, split, network, teacher, rank)
    validation = _validation_sampler(run, validation_store, validation_split, network.plane_set)
    # Boards that the teacher or the network does not know.
    if teacher is not None:
        teacher.check(board_sizes(store, train.game_rows), data.vary_rules)
    for games in (train, validation):
        network.check_sizes(board_sizes(games.store, games.game_rows), f"games of {games.store.path} are on")
    labels = None
    if isinstance(train, LabelSampler):
        labels = evaluation_labels(
            validation_store,
            validation_split,
            data.validation_fraction,
            network.plane_set,
            threads=data.threads,
            extra=OF_GAMES,
        )
    return Samplers(train, validation, labels)


def splits(data: DataConfig) -> tuple[Split, Split]:
    """The games of the stores of a run to train on, and those that validate it."""
    return ("train", "validation") if data.validation_store is None else ("all", "all")


def rules_of(data: DataConfig, teacher: Teacher | None) -> RuleChoice:
    """The rules of the positions to train on: any, where a teacher says the value of each."""
    if not data.vary_rules:
        return "recorded"
    return "vary" if teacher is None else "any"


def _training_sampler(
    run: RunConfig, store: Store, split: Split, network: NetConfig, teacher: Teacher | None, rank: Rank
) -> Sampler | LabelSampler:
    """The positions to train on: those of the records, or those that a teacher has labelled in the store."""
    data, training = run.data, run.training
    move_targets, names = needed_targets(training.losses)
    extra, part = targets_named(names), (rank.rank, rank.ranks)
    if data.teacher is not None and teacher is None:
        return LabelSampler(
            store,
            plane_set=network.plane_set,
            batch_size=run.drawn_positions,
            seed=training.seed,
            symmetries=data.symmetries,
            threads=data.threads,
            surprise=0,  # the surprise of games of self-play weighs nothing here, where no key says so
            mix=target_mix(data.teacher),
            extra=extra,
            split=split,
            validation_fraction=data.validation_fraction,
            part=part,
        )
    rules = rules_of(data, teacher)
    if teacher is not None:
        extra |= teacher.inputs(data.threads, training.seed if rules == "any" else None)
    choice = PositionChoice(
        plies=data.plies,
        games=data.games,
        positions_per_game=data.positions_per_game,
        max_positions=data.max_positions,
        skip_passes=data.skip_passes,
        opponents=learns_results(network, training.losses),
    )
    return Sampler(
        store,
        split,
        network.plane_set,
        run.drawn_positions,
        training.seed,
        symmetries=data.symmetries,
        threads=data.threads,
        validation_fraction=data.validation_fraction,
        choice=choice,
        rules=rules,
        targets=move_targets,
        extra=extra,
        part=part,
    )


def _validation_sampler(run: RunConfig, store: Store, split: Split, planes: str) -> Sampler:
    """One position of every game, or with `validation_positions: all` as many of all positions as games may be."""
    data, limit = run.data, run.training.validation_games
    every = data.validation_positions == "all"
    new = partial(
        Sampler if every else OnePerGame,
        store,
        split,
        planes,
        symmetries=False,
        threads=data.threads,
        validation_fraction=data.validation_fraction,
    )
    if not every:
        return new()
    choice = PositionChoice(skip_passes=True)
    sampler = new(choice=choice)
    return new(choice=replace(choice, max_positions=limit)) if sampler.positions > limit else sampler
