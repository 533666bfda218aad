"""Positions a second into training, and how long a recipe will take."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tengen.benchmark.playing import rate
from tengen.data.record import GameRecord, pack_moves
from tengen.data.sampler import OnePerGame, Sampler
from tengen.data.store import Store
from tengen.data.writer import StoreWriter
from tengen.errors import StoreError
from tengen.game import Game
from tengen.training.config import RunConfig, TrainConfig

if TYPE_CHECKING:
    from tengen.training.pace import Pace

_GAMES = 12
_ENCODE_BATCH = 256


@dataclass(frozen=True)
class Encoding:
    """Positions a second from a store into batches, with one thread."""

    source: str
    size: int
    rate: float


@dataclass(frozen=True)
class TrainingTime:
    """How long a recipe will take, from the steps that were measured.

    `positions` a second are those of training steps alone; `judging`, a key of `tengen bench --json`, is the share of
    the time that validation takes. `seconds` count from the first step to the end of the last, with the validations
    between.
    """

    recipe: str
    network: str
    source: str
    measured_steps: int
    step_seconds: float
    rate: float
    waiting: float
    steps: int
    positions: int
    judging: float
    seconds: float
    ends_by: str


@contextmanager
def random_games(size: int) -> Iterator[Store]:
    """A store of games of random moves, for a machine that has no store yet."""
    with tempfile.TemporaryDirectory(prefix="tengen-bench-") as folder:
        path = Path(folder) / "random"
        with StoreWriter(path) as writer:
            for seed in range(_GAMES):
                writer.add(_random_game(size, seed))
        yield Store.open(path)


def encoding(runs: Sequence[RunConfig], seconds: float) -> Encoding:
    """From the first of the recipes' stores that exists, else from random games of 19x19."""
    for run in runs:
        if (store := _store_of(run)) is not None:
            return _encoding(store, run.data.store, seconds)
    with random_games(19) as store:
        return _encoding(store, "random games", seconds)


def estimate(run: RunConfig, seconds: float) -> TrainingTime:
    """Train a little by a recipe, in memory, and work out the rest. Needs the extra [train].

    Positions come from the recipe's stores, or from random games where these do not exist.
    """
    from tengen.networks import parse_config
    from tengen.training.pace import measure_pace
    from tengen.training.samplers import Samplers, open_samplers, rules_of
    from tengen.training.start import with_network
    from tengen.training.teacher import teacher_of

    run = with_network(run)
    config = parse_config(run.network)
    name = str(run.network.get("preset") or run.network.get("size", config.family))
    if _store_of(run) is not None:
        samplers = open_samplers(run)
        run = run.model_copy(update={"training": run.training.with_epoch(samplers.train.positions * run.uses)})
        return _estimate(run, name, run.data.store, measure_pace(run, samplers, seconds), samplers.validation.positions)
    if run.training.with_epoch(1) != run.training:
        try:
            run.data.open_stores()
        except StoreError as error:
            raise StoreError(f"the length of {run.name} depends on its games: {error}") from error
    with random_games(max(run.card.board_sizes or config.board_sizes or (19,))) as store:
        teacher, threads = teacher_of(run), run.data.threads
        rules = rules_of(run.data, teacher)
        seed = run.training.seed if rules == "any" else None
        extra = {} if teacher is None else teacher.inputs(threads, seed)
        planes, batch = config.plane_set, run.drawn_positions
        train = Sampler(store, "all", planes, batch, threads=threads, rules=rules, extra=extra)
        validation = OnePerGame(store, "all", planes, symmetries=False)
        pace = measure_pace(run, Samplers(train, validation), seconds)
    return _estimate(run, name, "random games", pace, run.training.validation_games)


def plan(config: TrainConfig, pace: Pace, validation_positions: int) -> tuple[int, float, float, str]:
    """(steps, seconds, share of validation, what ends the run) of a run at the measured pace.

    Each validation takes `validation_positions` positions, at the interval of the recipe and at the end.
    """
    a_validation = validation_positions * pace.validation_seconds
    interval = config.steps_between_validations
    a_step = pace.step_seconds + a_validation / interval
    ends = {}
    if config.total_steps is not None:
        ends["steps" if config.total_steps == config.steps else "epochs"] = config.total_steps
    if config.max_hours is not None:
        ends["max_hours"] = max(1, int(config.max_hours * 3600 / a_step))
    ends_by = min(ends, key=lambda name: ends[name])
    steps = ends[ends_by]
    validations = math.ceil(steps / interval)
    seconds = steps * pace.step_seconds + validations * a_validation
    return steps, seconds, validations * a_validation / seconds, ends_by


def _estimate(run: RunConfig, network: str, source: str, pace: Pace, validation_positions: int) -> TrainingTime:
    limit = run.training.validation_games
    steps, seconds, validating, ends_by = plan(run.training, pace, min(validation_positions, limit))
    return TrainingTime(
        recipe=run.name,
        network=network,
        source=source,
        measured_steps=pace.steps,
        step_seconds=pace.step_seconds,
        rate=run.training.batch_size / pace.step_seconds,
        waiting=pace.waiting,
        steps=steps,
        positions=steps * run.training.batch_size,
        judging=validating,
        seconds=seconds,
        ends_by=ends_by,
    )


def _store_of(run: RunConfig) -> Store | None:
    """The recipe's store if all its stores exist."""
    try:
        return run.data.open_stores()[0]
    except StoreError:
        return None


def _encoding(store: Store, source: str, seconds: float) -> Encoding:
    sampler = Sampler(store, "all", batch_size=_ENCODE_BATCH)
    step = iter(range(10**9))
    return Encoding(source, sampler.edge, rate(lambda: len(sampler.batch(next(step)).policy), seconds))


def _random_game(size: int, seed: int) -> GameRecord:
    random = np.random.default_rng(seed)
    game = Game(size)
    for _ in range(size * size // 2):
        legal = game.legal_points()
        if not legal:
            break
        game.play(int(random.choice(legal)))
    colors, points = zip(*game.moves, strict=True)
    return GameRecord(size, pack_moves(colors, points), komi=game.komi, winner=seed % 2, hash=seed * 7919 + 1)
