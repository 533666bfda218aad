"""The learner: from the games of the window to the next network."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

from tengen.data.planes import plane_set
from tengen.data.sampler import MixedSampler, Sampler, SelfPlaySampler, recorded_positions
from tengen.data.split import derive
from tengen.data.store import Store
from tengen.disk import write_whole
from tengen.errors import RecipeError
from tengen.evaluators.network_file import Card, find_network, read_card
from tengen.machine import core_count
from tengen.networks import parse_config
from tengen.networks.average import average
from tengen.networks.export import export
from tengen.networks.load import load_module
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.config import WindowConfig, ZeroConfig
from tengen.selfplay.folder import SelfPlayFolder
from tengen.training.batches import BatchStream, TensorBatch
from tengen.training.config import DataConfig, RunConfig, TrainConfig
from tengen.training.finish import card_of
from tengen.training.module import TrainingModule
from tengen.training.run import make_trainer

_LEARNING = 3  # purpose of a seed


def window_size(total: int, config: WindowConfig) -> int:
    """How many of the newest recorded positions are learnt from when there are `total` (KataGo, appendix C)."""
    least, exponent = config.least, config.exponent
    if total <= least:
        return total
    grown = least + config.expand * (total**exponent - least**exponent) / (exponent * least ** (exponent - 1))
    return int(min(grown, config.most, total))


@dataclass(frozen=True)
class Window:
    """The games that a cycle learns from: from row `first_game` of the store on."""

    first_game: int
    games: int
    positions: int
    fresh: int
    """Positions of the newest cycle."""
    total: int
    """Positions recorded in the whole run."""

    @classmethod
    def of(cls, store: Store, fresh_games: int, config: WindowConfig) -> Window:
        """The newest whole games that hold the positions of `window_size`, and all of the newest cycle."""
        recorded = recorded_positions(store)
        total, fresh = int(recorded.sum()), int(recorded[len(recorded) - fresh_games :].sum())
        newest = np.cumsum(recorded[::-1])
        games = int(np.searchsorted(newest, window_size(total, config))) + 1
        games = min(max(games, fresh_games), len(store))
        return cls(len(store) - games, games, int(newest[games - 1]), fresh, total)


class ZeroModule(TrainingModule):
    """A network in training whose progress is that of the run: `share` before the cycle, `each` for a step of it."""

    share = 0.0
    each = 0.0
    first_step = 0

    @property
    def done(self) -> float:
        return min(1.0, self.share + self.each * (self.global_step - self.first_step))


@dataclass(frozen=True)
class Learnt:
    """What a cycle of learning was."""

    window: Window
    steps: int
    seconds: float
    losses: dict[str, float]
    learning_rate: float

    def event(self) -> dict[str, Any]:
        """For the log."""
        return {
            "positions": self.window.total,
            "window_games": self.window.games,
            "window_positions": self.window.positions,
            "fresh_positions": self.window.fresh,
            "steps": self.steps,
            "losses": self.losses,
            "lr": self.learning_rate,
        }


class Learner:
    """Carries one network through the cycles of a run."""

    def __init__(self, config: ZeroConfig, folder: SelfPlayFolder, stop: ShutdownFlag) -> None:
        self.config = config
        self._stop = stop
        self.folder = folder
        self.inputs = plane_set(parse_config(config.network).plane_set)
        self._widths = len(self.inputs.planes), len(self.inputs.scalars)
        if config.learn.threads:
            torch.set_num_threads(config.learn.threads)
        if config.learn.records is not None:
            check_records(config.learn.records.store, config.game.edge)
        self.module = ZeroModule(_as_run(config, 1), self.inputs)
        if config.start is not None:
            start_from(self.module.network, config.start)
            self.module.scalars.know(self.module.network)
            self.module.average.load_state_dict(self.module.network.state_dict())

    def begin(self) -> None:
        """Write the network of cycle 0, unless it is there."""
        if not self.folder.network(0).exists():
            self.export(0, self.folder.network(0))

    def learn(self, cycle: int, store: Store, fresh_games: int) -> Learnt:
        """Learn from the window after the games of `cycle`; write the candidate and the state of the next cycle.

        It starts from the state before `cycle`, whatever this process did before, and ends the same each time.
        """
        began = time.monotonic()
        config = self.config.learn
        window = Window.of(store, fresh_games, config.window)
        steps = max(1, round(window.fresh * config.reuse / config.batch_size))
        sampler = SelfPlaySampler(
            store,
            window.first_game,
            self.inputs.name,
            config.batch_size,
            derive(self.config.seed, _LEARNING, cycle),
            edge=self.config.game.edge,
            surprise=config.targets.surprise,
            value_mix=config.targets.value_mix,
        )
        stream = BatchStream(self._mixed(sampler, cycle), 0)
        losses = _Losses(self._stop)
        self._fit(cycle, stream, steps, losses)
        self.export(cycle + 1, self.folder.candidate(cycle + 1))
        return Learnt(window, steps, time.monotonic() - began, losses.means(), self.module.learning_rate)

    def _mixed(self, sampler: SelfPlaySampler, cycle: int) -> SelfPlaySampler | MixedSampler:
        records = self.config.learn.records
        if records is None or cycle >= records.until:
            return sampler
        store = Store.open(Path(records.store))
        seed = derive(self.config.seed, _LEARNING, cycle, 1)
        edge = self.config.game.edge
        batch = self.config.learn.batch_size
        return MixedSampler(
            sampler,
            Sampler(store, "all", self.inputs.name, batch, seed, edge=edge, vary_rules=True),
            records.share_in(cycle),
        )

    def _fit(self, cycle: int, stream: BatchStream, steps: int, losses: _Losses) -> None:
        """Take `steps` steps from the state before `cycle`, and save the state before the next."""
        before = self.folder.checkpoint(cycle) if cycle else None
        first = torch.load(before, map_location="cpu", weights_only=True)["global_step"] if before else 0
        module = self.module
        module.run = _as_run(self.config, first + steps)
        module.share, module.first_step = cycle / self.config.cycles, first
        module.each = 1 / (self.config.cycles * steps)
        saving = _Saving(self.folder.checkpoint(cycle + 1), first + steps)
        trainer = make_trainer(module.run.training, self.folder.path, [losses, saving])
        loader: DataLoader[TensorBatch] = DataLoader(stream, batch_size=None)
        trainer.fit(module, loader, ckpt_path=before, weights_only=False)
        self._stop.check()

    def export(self, cycle: int, path: Path, metrics: dict[str, Any] | None = None) -> None:
        """Write the averaged network as a network file."""
        export(self.module.playing(), *self._widths, path, self.card(cycle, metrics or {}).metadata())

    def average(self, cycle: int) -> None:
        """Give the candidate of `cycle` the mean of the weights of the `swa` networks up to it, its own among them."""
        candidate, first = self.folder.candidate(cycle), cycle - self.config.learn.swa + 1
        if first < cycle:
            before = [self.folder.network(number) for number in range(first, cycle)]
            average([*before, candidate], *self._widths, candidate, read_card(candidate).metadata())

    def card(self, cycle: int, metrics: dict[str, Any]) -> Card:
        """Of the network that plays in `cycle`."""
        games = cycle * self.config.games_per_cycle
        card = card_of(self.module, games, self.module.global_step, metrics)
        name = self.config.name if cycle == self.config.cycles else f"{self.config.name}-{cycle:05d}"
        return self.described(card.model_copy(update={"name": name}))

    def described(self, card: Card) -> Card:
        """A card with what the recipe says by now of the run's games and machine."""
        cores, learner = core_count(), card.hardware.partition("; ")[0]
        return card.model_copy(
            update={
                "data": self.config.card.data or _origin(self.config, card.games),
                "hardware": f"{learner}; {cores} CPU {'core plays' if cores == 1 else 'cores play'}",
                "reproduce": f"tengen zero {self.config.recipe or self.config.name}",
            }
        )


def _origin(config: ZeroConfig, games: int) -> str:
    """What a network of self-play learnt from, in words."""
    begun = "from nothing but the rules" if config.start is None else f"begun with {Path(config.start).stem}"
    records = config.learn.records
    mixed_in = f", and the games of {Path(records.store).name}" if records else ""
    return f"{games:,} games of its own, {begun}{mixed_in}"


def check_records(path: str, edge: int) -> None:
    """Raise StoreError for a store that is none, RecipeError for one whose boards are too large for a run's tensors."""
    store = Store.open(Path(path))
    if len(store) and (largest := int(store.column("size").max())) > edge:
        raise RecipeError(
            f"learn.records: {path} holds {largest}x{largest} games, the largest board of the run is {edge}x{edge}: "
            "give records of its sizes, or play that size too"
        )


def start_from(network: nn.Module, name_or_path: str) -> None:
    """Give a fresh network the weights of a network file; what only training needs and the file lacks stays fresh.

    Raises NetworkError for a file that is none of ours, RecipeError where the file holds another network.
    """
    path = find_network(name_or_path)
    start = load_module(path).state_dict()
    wanted = network.state_dict()
    for key, value in wanted.items():
        if key in start and start[key].shape != value.shape:
            raise RecipeError(
                f"start: {path} has {key} of shape {tuple(start[key].shape)}, the recipe's network "
                f"{tuple(value.shape)}: give the network of the recipe the file's family and size"
            )
    if not set(start) <= set(wanted):
        raise RecipeError(f"start: {path} has {sorted(set(start) - set(wanted))[0]}, which the recipe's network lacks")
    network.load_state_dict(start, strict=False)


class _Losses(L.Callback):
    """The mean of each loss over a cycle, which a wish to stop ends early."""

    def __init__(self, stop: ShutdownFlag) -> None:
        self._stop = stop
        self._sums: dict[str, torch.Tensor] = {}
        self._steps = 0

    def on_train_batch_end(self, trainer: L.Trainer, pl_module: L.LightningModule, *_: Any) -> None:
        assert isinstance(pl_module, TrainingModule)
        for name, loss in pl_module.parts.items():
            self._sums[name] = self._sums.get(name, torch.zeros(())) + loss.cpu()
        self._steps += 1
        if self._stop.event.is_set():
            trainer.should_stop = True

    def means(self) -> dict[str, float]:
        return {name: round(float(total) / max(self._steps, 1), 5) for name, total in self._sums.items()}


class _Saving(L.Callback):
    """Writes a checkpoint when step number `last` is done, under a temporary name first."""

    def __init__(self, path: Path, last: int) -> None:
        self._path = path
        self._last = last

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if trainer.global_step < self._last:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with write_whole(self._path) as temporary:
            trainer.save_checkpoint(temporary)


def _as_run(config: ZeroConfig, steps: int) -> RunConfig:
    """The learner's part of a recipe in the terms of the trainer."""
    learn = config.learn
    training = TrainConfig(
        batch_size=learn.batch_size,
        steps=steps,
        seed=derive(config.seed, _LEARNING) % 2**31,
        optimizer=learn.optimizer,
        schedule=learn.schedule,
        losses=learn.losses,
        clip=learn.clip,
        ema=learn.ema,
        precision=learn.precision,
        device=learn.device,
        threads=learn.threads,
    )
    card = config.card.model_copy(update={"board_sizes": sorted(config.game.sizes), "rules": config.game.rules})
    return RunConfig(
        name=config.name, data=DataConfig(store="games"), network=config.network, training=training, card=card
    )
