"""The learner: from the games of the window to the next network."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tengen.data.label_sampler import LabelSampler, MixedSampler, TargetMix, recorded_positions
from tengen.data.planes import plane_set
from tengen.data.sampler import PositionChoice, Sampler
from tengen.data.seeds import derive
from tengen.data.store import Store
from tengen.errors import RecipeError
from tengen.evaluators.installed_networks import find_network_of
from tengen.evaluators.network_file import Card, read_card
from tengen.machine import core_count
from tengen.networks import parse_config
from tengen.networks.constant_inputs import used_scalars
from tengen.networks.export import export
from tengen.networks.load import average
from tengen.runs.checkpoints import DamagedCheckpoint
from tengen.runs.interruption import ShutdownFlag
from tengen.runs.places import AS_NAMED, LocalFiles
from tengen.selfplay.config import LearnConfig, SelfPlayConfig, WindowConfig
from tengen.selfplay.folder import SelfPlayFolder
from tengen.training.batches import BatchStream, TensorBatch, targets_named
from tengen.training.callbacks import LossMeans, StopOnSignal, make_callbacks
from tengen.training.card import games_learned, learned_games, make_card, provenance
from tengen.training.export import for_play
from tengen.training.losses import WeightedLosses, learns_results, needed_targets
from tengen.training.network import make_network, sees_rules
from tengen.training.schedules import Position
from tengen.training.start import start_whole
from tengen.training.trainer import Trainer

_logger = logging.getLogger(__name__)
_LEARNING = 3  # purpose of a seed


def window_size(total: int, config: WindowConfig) -> int:
    """How many of the newest recorded positions are learned from when there are `total` (KataGo, appendix C)."""
    smallest, exponent = config.min_positions, config.exponent
    if total <= smallest:
        return total
    grown = smallest + config.expand * (total**exponent - smallest**exponent) / (exponent * smallest ** (exponent - 1))
    return int(min(grown, config.max_positions, total))


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
    def of(cls, store: Store, fresh_games: int, config: WindowConfig, older: int = 0) -> Window:
        """The newest whole games that hold the positions of `window_size`, and all of the newest cycle.

        `older` positions were recorded before the store, which must hold the window.
        """
        recorded = recorded_positions(store)
        total, fresh = older + int(recorded.sum()), int(recorded[len(recorded) - fresh_games :].sum())
        newest = np.cumsum(recorded[::-1])
        games = int(np.searchsorted(newest, window_size(total, config))) + 1
        games = min(max(games, fresh_games), len(store))
        return cls(len(store) - games, games, int(newest[games - 1]), fresh, total)


@dataclass(frozen=True)
class LearningResult:
    """What a cycle of learning was."""

    window: Window
    steps: int
    seconds: float
    losses: dict[str, float]
    learning_rate: float

    def event(self) -> dict[str, Any]:
        """The event for the log."""
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
    """Trains one network through the cycles of a run."""

    def __init__(
        self, config: SelfPlayConfig, folder: SelfPlayFolder, stop: ShutdownFlag, local: LocalFiles = AS_NAMED
    ) -> None:
        self.config = config
        self._local = local
        self._stop = stop
        self.folder = folder
        self.older_positions = 0
        """Positions recorded in games before those of the stores that it gets, of which a worker has the last ones."""
        self.network_config = parse_config(config.network)
        self.inputs = plane_set(self.network_config.plane_set)
        self._widths = len(self.inputs.planes), len(self.inputs.scalars)
        learn = config.learn
        if learn.threads:
            torch.set_num_threads(learn.threads)
        self._start = None if config.start is None else folder.start(local.path(config.start))
        self._known_games: list[dict[str, Any]] = []
        if self._start is not None:
            self._known_games = learned_games(read_card(find_network_of("start", self._start)).provenance)
        if learn.records is not None:
            check_records(path := local.path(learn.records.store), config.game.edge)
            records = Store.open(path)
            self._known_games.insert(0, games_learned(records, np.arange(len(records)), None))
        self._losses = LossMeans()
        self._targets = targets_named(needed_targets(learn.losses)[1])
        self.trainer = self._new_trainer()

    @property
    def _trainer_config(self) -> LearnConfig:
        """The settings of the trainer of this process."""
        return self.config.learn

    def _new_trainer(self) -> Trainer[TensorBatch]:
        """The trainer before cycle 0."""
        config, learn = self.config, self._trainer_config
        seed = derive(config.seed, _LEARNING) % 2**31
        network = make_network(config.network, self.inputs, seed)
        if self._start is not None:
            start_whole(network, str(self._start))
        trainer: Trainer[TensorBatch] = Trainer(
            network,
            learn,
            WeightedLosses(learn.losses, learn.value_loss),
            scalars=len(self.inputs.scalars),
            position=lambda step, _: Position(step, 0.0),
            ema=learn.ema,
            seed=seed,
            callbacks=[self._losses, StopOnSignal(self._stop), *make_callbacks(learn.callbacks)],
        )
        if config.start is not None:
            trainer.scalars.know(used_scalars(network))
        return trainer

    def check_state(self, cycle: int) -> None:
        """Raise RecipeError where the state before `cycle`, which begins next, is one that this version cannot take.

        A damaged one is left to `learn`.
        """
        try:
            self._new_trainer().load(self.folder.checkpoint(cycle))
        except (DamagedCheckpoint, FileNotFoundError):
            pass
        except RecipeError as error:
            raise RecipeError(f"{error}, and begin that run with start: {self.folder.network(cycle)}") from error

    def begin(self) -> None:
        """Write network 0, unless it is there and whole."""
        if self.folder.lacks_network(0):
            self.export(0, self.folder.network(0))

    def learn(self, cycle: int, store: Store, fresh_games: int) -> LearningResult:
        """Train on the window after the games of `cycle`; write the candidate and the state of the next cycle.

        It starts from the state before `cycle`, whatever this process did before, and ends the same each time.
        """
        began = time.monotonic()
        config = self.config.learn
        window = Window.of(store, fresh_games, config.window, self.older_positions)
        store.rest(window.first_game)  # games that no cycle learns from any more
        steps = max(1, round(window.fresh * config.reuse / config.batch_size))
        sampler = LabelSampler(
            store,
            window.first_game,
            self.inputs.name,
            config.batch_size,
            derive(self.config.seed, _LEARNING, cycle),
            edge=self.config.game.edge,
            surprise=config.targets.surprise,
            mix=TargetMix(value=config.targets.value_mix),
            extra=self._targets,
        )
        if cycle:
            self._restore(cycle, store, fresh_games)
        elif self.trainer.step:
            self.trainer = self._new_trainer()
        losses = self._fit(cycle, BatchStream(self._mixed(sampler, cycle), 0, device=self.trainer.device), steps)
        self.export(cycle + 1, self.folder.candidate(cycle + 1))
        return LearningResult(window, steps, time.monotonic() - began, losses, self.trainer.learning_rate)

    def _restore(self, cycle: int, store: Store, fresh_games: int) -> None:
        """Load the state before `cycle`. Where it is damaged, learn the cycle before again, which makes the same."""
        path, before = self.folder.checkpoint(cycle), self.folder.checkpoint(cycle - 1)
        try:
            self.trainer.load(path)
        except (DamagedCheckpoint, FileNotFoundError) as error:
            if cycle > 1 and not before.exists():
                raise RecipeError(
                    f"{path} is damaged or missing, and so is the checkpoint before it: the run cannot go on; begin "
                    f"another one with start: {self.folder.network(cycle)}"
                ) from error
            _logger.warning("%s is damaged or missing; cycle %d is learned again", path, cycle)
            path.unlink(missing_ok=True)
            self.learn(cycle - 1, store.head(len(store.shards) - 1), fresh_games)
            self.folder.candidate(cycle).unlink()

    def _mixed(self, sampler: LabelSampler, cycle: int) -> LabelSampler | MixedSampler:
        records = self.config.learn.records
        if records is None or cycle >= records.until:
            return sampler
        store = Store.open(self._local.path(records.store))
        seed = derive(self.config.seed, _LEARNING, cycle, 1)
        edge = self.config.game.edge
        # Under other rules and komi the same position has other results, which this network could not tell apart.
        sees = sees_rules(self.trainer.network, self.inputs)
        played = Sampler(
            store,
            "all",
            self.inputs.name,
            self.config.learn.batch_size,
            seed,
            edge=edge,
            choice=PositionChoice(opponents=learns_results(self.network_config, self.config.learn.losses)),
            rules="vary" if sees else "recorded",
            extra=self._targets,
        )
        return MixedSampler(sampler, played, records.share_in(cycle))

    def _fit(self, cycle: int, stream: BatchStream, steps: int) -> dict[str, float]:
        """Take `steps` steps from the state before `cycle`, and save the state before the next; the mean losses."""
        trainer, cycles = self.trainer, self.config.cycles
        first = trainer.step

        def position(step: int, _: float) -> Position:
            """The schedule follows the whole run: each cycle is an equal share of it, and an epoch."""
            passed = (step - first) / steps
            done = min(1.0, cycle / cycles + (step - first) / (cycles * steps))
            return Position(step, done, step * self.config.learn.batch_size, cycle + passed)

        trainer.position = position
        trainer.fit(stream, first + steps)
        losses = self._losses.take()
        self._stop.check()
        trainer.save(self.folder.checkpoint(cycle + 1))
        return losses

    def export(self, number: int, path: Path, metrics: dict[str, Any] | None = None) -> None:
        """Write the averaged network as the file of network `number`."""
        # A start, and records of smaller boards, teach the width of the board.
        alone = self.config.start is None and self.config.learn.records is None
        network = for_play(self.trainer, list(self.config.game.sizes) if alone else [])
        export(network, *self._widths, path, self.card(number, metrics or {}).metadata())

    def average(self, number: int) -> None:
        """Give candidate `number` the mean of the weights of the `swa` networks up to it, its own among them."""
        candidate, first = self.folder.candidate(number), number - self.config.learn.swa + 1
        if first < number:
            before = [self.folder.network(earlier) for earlier in range(first, number)]
            average([*before, candidate], *self._widths, candidate, read_card(candidate).metadata())

    def card(self, number: int, metrics: dict[str, Any]) -> Card:
        """The card of network `number`."""
        config, network = self.config, self.network_config
        facts = config.card.model_copy(update={"board_sizes": sorted(config.game.sizes), "rules": config.game.rules})
        card = make_card(
            facts,
            name=config.name if number == config.cycles else f"{config.name}-{number:05d}",
            family=network.family,
            config=network.model_dump(mode="json"),
            plane_set=network.plane_set,
            games=number * config.games_per_cycle,
            positions=self.trainer.step * config.learn.batch_size,
            hours=self.trainer.seconds / 3600,
            hardware=self.trainer.hardware,
            metrics=metrics,
        )
        return self.described(card)

    def described(self, card: Card, stores: Sequence[Path] = ()) -> Card:
        """A card with what the recipe says by now of the run's games and machine, and with the digests of `stores`."""
        cores, learner = core_count(), card.hardware.partition("; ")[0]
        return card.model_copy(
            update={
                "data": self.config.card.data or _origin(self.config, card.games),
                "hardware": f"{learner}; {cores} CPU {'core plays' if cores == 1 else 'cores play'}",
                "reproduce": f"tengen zero {self.config.recipe or self.config.name}",
                "provenance": provenance(
                    self.config.model_dump(mode="json"), self.config.seed, self._known_games, stores
                ),
            }
        )


def _origin(config: SelfPlayConfig, games: int) -> str:
    """What a network of self-play learned from, in words."""
    begun = "from nothing but the rules" if config.start is None else f"begun with {Path(config.start).stem}"
    records = config.learn.records
    mixed_in = f", and the games of {Path(records.store).name}" if records else ""
    return f"{games:,} games of its own, {begun}{mixed_in}"


def check_records(path: Path, edge: int) -> None:
    """Raise StoreError for a store that is none, RecipeError for one whose boards are too large for a run's tensors."""
    store = Store.open(path)
    if len(store) and (largest := int(store.column("size").max())) > edge:
        raise RecipeError(
            f"learn.records: {path} holds {largest}x{largest} games, the largest board of the run is {edge}x{edge}: "
            "give records of its sizes, or play that size too"
        )
