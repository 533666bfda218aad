"""A run that learns the linear playout policy: the native trainer, fed game by game. Needs no PyTorch."""

from __future__ import annotations

import json
import platform
import time
import zipfile
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.checksums import check_seal
from tengen.data.sampler import OnePerGame, Sampler
from tengen.data.seeds import derive
from tengen.data.shuffle import Permutation
from tengen.data.split import choose
from tengen.data.store import Store
from tengen.disk import write_whole
from tengen.errors import StoreError
from tengen.evaluators.installed_networks import PLAYOUT_SUFFIX
from tengen.evaluators.network_file import Card
from tengen.evaluators.playout_file import read_playout, write_playout
from tengen.runs.checkpoints import DamagedCheckpoint, checkpoints, newest_readable, save_checkpoint
from tengen.runs.events import EventLog
from tengen.runs.folder import RunFolder, check_same
from tengen.runs.interruption import ShutdownFlag
from tengen.runs.progress import new_bar
from tengen.training.card import (
    facts_of,
    games_key,
    games_learned,
    make_card,
    metric_entries,
    provenance,
    warn_of_learned_games,
)
from tengen.training.config import LinearRun
from tengen.training.metrics import PredictionResults
from tengen.training.recipe import CardFacts

_LAST_RATE = 0.02  # the share of the rate that is left at the end
_KEPT = 2  # checkpoints
Words = npt.NDArray[np.uint16]
_Arrays = dict[str, npt.NDArray[Any]]


def train_linear(run: LinearRun, out: Path, *, show_progress: bool = True) -> Path:
    """Carry out a run in the folder `out`, or resume the one that it holds; return the file of weights.

    A resumed run ends with the same weights, bit for bit, as an unbroken one. Ctrl-C saves and raises
    KeyboardInterrupt. Raises RecipeError when `out` holds another run or another process trains in it,
    StoreError for a store that cannot be used.
    """
    folder = RunFolder(out, run.kind)
    folder.check_kind()
    games = _Games(run)
    state = _State()
    with folder.lead():
        saved = newest_readable((path for _, path in checkpoints(folder.checkpoints)), _read)
        if saved is not None:
            state.restore(out, saved[1], _identity(run, games))
        folder.check_games(games.name, resumes=state.done > 0)
        folder.write_recipe(run.model_dump(mode="json"))
        folder.checkpoints.mkdir(exist_ok=True)
        with folder.log(state.done, tensorboard=False, again=("final",)) as events:
            _learn(run, games, state, events, folder.checkpoints, show_progress)
            return _finish(run, games, state, events, out)


def evaluate_playout(path: Path, sampler: Sampler, positions: int | None = None) -> PredictionResults:
    """Evaluate a file of weights on the first positions of a sampler, as `metrics.measure` evaluates a network.

    The policy says nothing about who wins.
    """
    trainer = _native.LinearTrainer()
    steps = read_playout(path).astype(np.float32)
    trainer.restore(steps / np.float32(_native.LINEAR_SCALE), np.ones_like(steps))
    return _evaluate(trainer, sampler, positions)


def _evaluate(trainer: _native.LinearTrainer, sampler: Sampler, positions: int | None) -> PredictionResults:
    wanted = sampler.positions if positions is None else min(positions, sampler.positions)
    found: list[tuple[float, float, float, int, int]] = []
    for step in range(-(-wanted // sampler.batch_size)):
        rows = sampler.rows(step)
        for game, ply in zip(rows.game.tolist(), rows.ply.tolist(), strict=True):
            arrays = recorded(sampler.store, game)
            figures = trainer.judge(*arrays, ply) if ply < len(arrays[3]) else (0, 0.0, 0.0, 0.0)
            found.append((*(figures[1:] if figures[0] else (np.nan, np.nan, np.nan)), ply, game))
    top1, top5, loss, ply, game = np.array(found[:wanted], np.float64).T
    unknown = np.full(len(ply), np.nan)
    return PredictionResults(top1, top5, loss, unknown, unknown, ply, game.astype(np.int64))


def recorded(store: Store, row: int) -> tuple[int, Words, Words, Words]:
    """Size, black and white setup stones and moves of a game, as the native trainer takes them."""
    place, index = store.locate(row)
    shard = store.shards[place]
    black = shard.black_stones[shard.black_offsets[index] : shard.black_offsets[index + 1]]
    white = shard.white_stones[shard.white_offsets[index] : shard.white_offsets[index + 1]]
    return int(shard.size[index]), black, white, shard.moves[shard.offsets[index] : shard.offsets[index + 1]]


class _Games:
    """The games to learn from, in their order, and the positions to validate on."""

    def __init__(self, run: LinearRun) -> None:
        data = run.data
        self.store, validation_store = data.open_stores()
        apart = data.validation_store is None
        kept = choose(self.store.hashes, "train" if apart else "all", data.validation_fraction)
        self._rows = np.flatnonzero(kept & (self.store.lengths > 0))
        if not len(self._rows):
            raise StoreError(f"{self.store.path}: no game to learn from")
        self.validation = OnePerGame(
            validation_store,
            "validation" if apart else "all",
            symmetries=False,
            validation_fraction=data.validation_fraction,
        )
        if not apart:
            warn_of_learned_games(self.store, self._rows, validation_store, self.validation.game_rows)
        self._players = self.store.column("player")
        self._seed = run.training.seed

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def name(self) -> str:
        return games_key(self.store, self._rows)

    def facts(self, card: CardFacts) -> CardFacts:
        return facts_of(card, self.store, self._rows)

    def learned(self, run: LinearRun) -> dict[str, Any]:
        fraction = None if run.data.validation_store else run.data.validation_fraction
        seen = _order(len(self._rows), self._seed, 0)[: run.training.games]  # all in a run of an epoch or more
        return games_learned(self.store, np.sort(self._rows[seen]), fraction)

    def __getitem__(self, place: int) -> tuple[int, Words, Words, Words, int]:
        """A game as `recorded`, and whose moves are learned (`Shard.player`)."""
        epoch, index = divmod(place, len(self._rows))
        row = int(self._rows[_order(len(self._rows), self._seed, epoch)[index]])
        return *recorded(self.store, row), int(self._players[row])


@lru_cache(maxsize=2)
def _order(games: int, seed: int, epoch: int) -> npt.NDArray[np.int64]:
    return Permutation(games, derive(seed, epoch))(np.arange(games, dtype=np.int64))


@dataclass
class _State:
    """All that a resumed run needs: the trainer, games done, positions, seconds, and the sums since the last log."""

    trainer: _native.LinearTrainer = field(default_factory=_native.LinearTrainer)
    done: int = 0
    positions: int = 0
    seconds: float = 0.0
    sums: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(4))

    def save(self, path: Path, identity: dict[str, Any]) -> None:
        with write_whole(path, checksum=True) as temporary, temporary.open("wb") as file:
            np.savez(
                file,
                weights=self.trainer.weights(),
                squares=self.trainer.squares(),
                counts=np.array([self.done, self.positions], np.int64),
                seconds=np.array(self.seconds),
                sums=self.sums,
                run=np.array(json.dumps(identity)),
            )

    def restore(self, out: Path, saved: _Arrays, identity: dict[str, Any]) -> None:
        """Go on from what `_read` returned. Raises RecipeError where it is of another run than `identity`."""
        check_same(out, json.loads(str(saved["run"])), identity)
        self.trainer.restore(saved["weights"], saved["squares"])
        self.done, self.positions = (int(n) for n in saved["counts"])
        self.seconds, self.sums = float(saved["seconds"]), saved["sums"]


def _read(path: Path) -> _Arrays:
    """What `_State.save` wrote. Raises DamagedCheckpoint."""
    check_seal(path, DamagedCheckpoint)
    try:
        with np.load(path) as saved:
            return {name: saved[name] for name in ("weights", "squares", "counts", "seconds", "sums", "run")}
    except (EOFError, LookupError, ValueError, zipfile.BadZipFile) as error:
        raise DamagedCheckpoint(f"{path} is damaged ({error})") from error


def _identity(run: LinearRun, games: _Games) -> dict[str, Any]:
    """The settings that cannot change when a run is resumed."""
    apart, validation = run.data.validation_store is not None, games.validation
    return {
        "data": {
            "validation_fraction": None if apart else run.data.validation_fraction,
            "validation_games": games_key(validation.store, validation.game_rows) if apart else None,
        },
        "training": run.training.model_dump(include={"games", "rate", "seed"}),
        "features": [list(group) for group in _native.linear_groups()],
    }


def _learn(run: LinearRun, games: _Games, state: _State, events: EventLog, folder: Path, show_progress: bool) -> None:
    training, identity = run.training, _identity(run, games)
    last: dict[str, float] = {}
    with ShutdownFlag() as stop, new_bar(show_progress) as bar:
        task = bar.add_task("training", total=training.games, completed=state.done)
        since, before = time.perf_counter(), state.seconds
        while state.done < training.games:
            rate = training.rate * max(_LAST_RATE, 1 - state.done / training.games)
            size, black, white, moves, player = games[state.done]
            figures = state.trainer.learn(size, black, white, moves, rate, player)
            state.sums += figures
            state.positions += int(figures[0])
            state.done += 1
            state.seconds = before + time.perf_counter() - since
            if state.done % training.log_every == 0:
                last |= _log(state, events, rate)
            if state.done % training.validate_every == 0:
                last |= _validate(run, games, state, events)
            if state.done % training.checkpoint_every == 0 or state.done == training.games or stop:
                save_checkpoint(folder, state.done, _KEPT, partial(state.save, identity=identity))
            bar.update(task, completed=state.done, description=_describe(state, last))
            stop.check()


def _log(state: _State, events: EventLog, rate: float) -> dict[str, float]:
    """Write what was learned since the last entry; nothing where no move was, as of games of passes."""
    positions, top1, top5, loss = state.sums
    if not positions:
        return {}
    speed = state.positions / max(state.seconds, 1e-9)
    values = {"top1": top1 / positions, "top5": top5 / positions, "cross_entropy": loss / positions}
    values = {name: round(float(value), 5) for name, value in values.items()}
    events.write("train", state.done, {**values, "lr": rate, "rate": round(speed, 1)})
    state.sums = np.zeros(4)
    return {"rate": speed}


def _validate(run: LinearRun, games: _Games, state: _State, events: EventLog) -> dict[str, float]:
    metrics = metric_entries(_evaluate(state.trainer, games.validation, run.training.validation_games))
    events.write("validation", state.done, metrics)
    return {"top1": metrics["top1"]}


def _finish(run: LinearRun, games: _Games, state: _State, events: EventLog, out: Path) -> Path:
    """Write the weights, evaluate the file itself, and write it again with what was found on its card."""
    path = out / "nets" / f"{run.name}{PLAYOUT_SUFFIX}"
    steps = state.trainer.steps()
    write_playout(path, _card(run, games, state, {}), steps)
    card = _card(run, games, state, metric_entries(evaluate_playout(path, games.validation)))
    write_playout(path, card, steps)
    events.write("final", state.done, card.metrics)
    return path


def _card(run: LinearRun, games: _Games, state: _State, metrics: dict[str, Any]) -> Card:
    return make_card(
        games.facts(run.card),
        name=run.name,
        family="linear playouts",
        config={"size": f"{_native.LINEAR_FEATURES:,}", **{name: count for name, _, count in _native.linear_groups()}},
        plane_set="",
        games=min(run.training.games, len(games)),
        positions=state.positions,
        hours=state.seconds / 3600,
        hardware=f"1 CPU thread, {platform.machine()}",
        metrics=metrics,
        reproduce=f"tengen train {run.recipe or run.name}",
        provenance=provenance(run.model_dump(mode="json"), run.training.seed, [games.learned(run)]),
    )


def _describe(state: _State, last: dict[str, float]) -> str:
    parts = [f"game {state.done:,}"]
    if "top1" in last:
        parts.append(f"top-1 {last['top1']:.1%}")
    if "rate" in last:
        parts.append(f"{last['rate']:,.0f} positions/s")
    return ", ".join(parts)
