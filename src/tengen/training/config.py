"""The configurations of training: what a recipe says, checked and frozen. Needs no PyTorch."""

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from tengen.errors import StoreError
from tengen.runs.places import AS_NAMED, LocalFiles
from tengen.training.recipe import (
    MAX_BATCH,
    MAX_COUNT,
    MAX_THREADS,
    CardFacts,
    Fraction,
    NonNegative,
    PlaceConfig,
    Positive,
    Recipe,
    Strict,
    check_network_given,
    key,
)

if TYPE_CHECKING:
    from tengen.data.store import Store

DEFAULT_FRACTION = 0.02
"""Share of the games that validate unless a recipe says otherwise."""
_VALIDATE_EVERY = 1000  # steps, unless epochs are given

TrainerPrecision = Literal["auto", "bf16", "f32"]
TrainerDevice = Literal["auto", "cpu", "cuda"]
ValueLoss = Literal["auto", "mse", "bce"]


class OptimizerConfig(Strict):
    """The optimizer. `name` is one of tengen.training.optimizers.OPTIMIZERS."""

    name: str = key("muon", "muon, sgd, adagrad, adadelta, adam, adamw or a registered optimizer")
    lr: Positive = key(0.02, "learning rate; with muon that of the convolution filters")
    lr_rest: Positive = key(0.003, "with muon: learning rate of AdamW for all other parameters")
    momentum: Fraction = key(0.95, "momentum of muon and sgd; 0: none")
    nesterov: bool = key(True, "with sgd: Nesterov's form of the momentum")
    weight_decay: float = key(
        0.0,
        "decay w of the weights: w times a weight is added to its gradient, an L2 penalty w / 2 * |weights|^2; "
        "with muon and adamw it is decoupled from the gradient",
        ge=0,
    )
    decayed: Literal["filters", "kernels", "all"] = key(
        "filters",
        "what decays: convolution filters, all kernels (of dense layers too), or all parameters",
    )
    options: dict[str, Any] = key(
        {}, "further settings of the class in torch.optim (betas, eps, rho, ...) or of a registered optimizer"
    )


class ScheduleConfig(Strict):
    """The learning rate over a run: a linear warm-up, then the full rate times a factor, which `shape` decides.

    `constant`: 1. `linear`, `cosine`: 1, and over the last share `decay` of the run down to `min_factor`. `steps`:
    times `factor` at each point of `at`. `halving`: times a half every `every`. `exponential`: times `factor` in every
    `every`, continuously. `inverse`: 1 / (1 + n) after n times `every` (the `decay` of Keras's SGD is 1 / `every` in
    steps). `plateau`: times `factor` after `patience` epochs without a new best `metric` in validation.
    An epoch is `training.epoch` samples; in self-play it is a cycle, in learning from results an update.
    """

    warmup_steps: int = key(100, "steps of the linear warm-up", ge=0)
    shape: Literal["constant", "linear", "cosine", "steps", "halving", "exponential", "inverse", "plateau"] = key(
        "linear", "how the rate changes after the warm-up"
    )
    decay: Fraction = key(0.7, "linear, cosine: share of the run, at its end, over which the rate decays; 0: no decay")
    min_factor: Fraction = key(0.0, "lowest rate as a share of the full rate")
    unit: Literal["epochs", "samples", "steps"] = key(
        "epochs", "steps, halving, exponential, inverse: unit of `at` and `every`"
    )
    at: tuple[NonNegative, ...] = key((), "steps: the points at which the rate changes")
    every: float | None = key(
        None,
        "halving, exponential: the length in which the rate changes once; inverse: the length after which it is a half",
        gt=0,
    )
    factor: float = key(0.1, "steps, exponential, plateau: the factor of one change", gt=0, lt=1)
    patience: int = key(20, "plateau: epochs without a new best before a change", ge=1)
    after: int = key(0, "plateau: the epoch from which patience counts", ge=0)
    metric: Literal["top1", "top5", "cross_entropy", "value_mse", "value_accuracy"] = key(
        "top1", "plateau: the figure of the validation; errors and cross-entropy are best when they are low"
    )

    @model_validator(mode="after")
    def _check_lengths(self) -> "ScheduleConfig":
        if self.shape == "steps" and not self.at:
            raise ValueError("shape steps needs the points at which the rate changes, such as at: [100, 150]")
        if self.shape in ("halving", "exponential", "inverse") and self.every is None:
            raise ValueError(f"shape {self.shape} needs a length, such as every: 10")
        return self


class LossWeights(BaseModel):
    """The weight of each loss in the sum. Further keys name losses of tengen.training.losses.LOSSES.

    `move2` to `move9` are the cross-entropies of the second to ninth next move; each needs the map of its name. The
    published sum of NLL_k / k over three moves is {policy: 1, move2: 0.5, move3: 0.3333}.

    The default weight of a loss whose head the network lacks has no effect. A weight that is given needs the head
    (see `losses.check_losses`).
    """

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)
    __pydantic_extra__: dict[str, NonNegative] = Field(init=False)  # no argument of __init__ for type checkers

    policy: NonNegative = key(1.0, "cross-entropy with the move played, or with the visits of the search")
    value: NonNegative = key(0.3, "cross-entropy with win, draw, loss; squared error of a scalar value")
    score: NonNegative = key(0.05, "Huber loss of the score in units of 20 points")
    ownership: NonNegative = key(0.15, "squared error of the ownership, mean over the points")
    reply: NonNegative = key(0.0, "cross-entropy with the opponent's next move; needs the head `reply`")
    soft: NonNegative = key(0.0, "cross-entropy with the flattened policy target; needs the head `soft`")

    def weights(self) -> dict[str, float]:
        """The weight of each loss by name, those of 0 too."""
        return {**{name: getattr(self, name) for name in type(self).model_fields}, **(self.__pydantic_extra__ or {})}


class TrainerConfig(Strict):
    """The settings of a `Trainer`, which all kinds of runs share."""

    optimizer: OptimizerConfig = key(OptimizerConfig(), "")
    schedule: ScheduleConfig = key(ScheduleConfig(), "")
    losses: LossWeights = key(LossWeights(), "")
    value_loss: ValueLoss = key(
        "auto",
        "mse: squared error of the value in -1..1; bce: cross-entropy of win and loss, a draw being half of each; "
        "auto: cross-entropy of win, draw, loss, or bce for the head `win-loss` and mse for `scalar`",
    )
    clip: float | None = key(None, "maximum norm of the gradient; null: no clipping", gt=0)
    precision: TrainerPrecision = key("auto", "auto: bf16 where the processor has instructions for it, else f32")
    device: TrainerDevice = key("auto", "auto: the GPU that CUDA or ROCm finds, else the CPU")
    devices: int = key(1, "GPUs, or processes on a CPU, that each compute an equal part of every batch", ge=1)
    accumulate: int = key(
        1, "equal parts in which a device computes its positions, one after the other, to use less memory", ge=1
    )
    threads: int = key(0, "CPU threads of PyTorch, of each device; 0: PyTorch decides", ge=0, le=MAX_THREADS)
    compile: bool = key(False, "compile the network with torch.compile")
    callbacks: dict[str, dict[str, Any]] = key({}, "registered callbacks by name, each with its settings")
    section: ClassVar[str] = "learn"
    """Where recipes of this kind have these settings."""
    _has_validations: ClassVar[bool] = False
    fixed: ClassVar[tuple[str, ...]] = ("devices",)
    """Settings that this kind of run takes as they are by default alone."""

    @property
    def parts(self) -> int:
        """Parts of a batch, on all devices, one after the other."""
        return self.devices * self.accumulate

    @model_validator(mode="after")
    def _divides_batches(self) -> "TrainerConfig":
        if self.devices > 1 and "devices" in self.fixed:
            raise ValueError(f"devices is {self.devices}, but only supervised training can use more than 1")
        if self.accumulate > 1 and "accumulate" in self.fixed:
            raise ValueError(f"accumulate is {self.accumulate}, but this kind of run takes each batch as a whole")
        batch = getattr(self, "batch_size", self.parts)
        if batch % self.parts:
            raise ValueError(
                f"batch_size {batch} is no multiple of devices x accumulate = {self.devices} x {self.accumulate}"
            )
        return self

    @model_validator(mode="after")
    def _plateau_sees_validations(self) -> "TrainerConfig":
        if self.schedule.shape == "plateau" and not self._has_validations:
            raise ValueError("schedule.shape plateau follows validations, which a supervised run alone has")
        return self


RATE_SETTINGS = ("learn.optimizer.lr", "learn.optimizer.lr_rest", "learn.schedule", "learn.clip")
"""What a resumed run may change after it diverged: it decides further steps alone."""


class TrainConfig(TrainerConfig):
    """A supervised run. It ends after `steps`, `epochs` or `max_hours`, whichever comes first.

    With `max_hours` the schedule follows the clock, so that the learning rate has decayed when the time is up. Such a
    run resumes too, but only a run of fixed steps repeats bit for bit.
    """

    section: ClassVar[str] = "training"
    _has_validations: ClassVar[bool] = True
    fixed: ClassVar[tuple[str, ...]] = ()

    batch_size: int = key(256, "positions in a step, on all devices together", ge=1, le=MAX_BATCH)
    steps: int | None = key(None, "length of the run in steps", ge=1, le=MAX_COUNT)
    epoch: int | None = key(None, "samples of an epoch; null: all positions that are trained on", ge=1)
    epochs: float | None = key(None, "length of the run in epochs", gt=0)
    max_hours: float | None = key(None, "length of the run in hours of training", gt=0)
    seed: int = key(0, "decides the first weights and the order of the positions", ge=-(2**63), lt=2**63)
    ema: Fraction = key(0.999, "decay of the moving average of the weights, which is exported; 0: no average")
    validate_every: int | None = key(
        None, "steps between two validations; null: an epoch where `epoch` or `epochs` is given, else 1000", ge=1
    )
    validation_games: int = key(2000, "positions of a validation, one a game", ge=1)
    log_every: int = key(20, "steps between two entries of the log", ge=1)
    checkpoint_minutes: Positive = key(5.0, "minutes between two checkpoints")
    keep_checkpoints: int = key(2, "newest checkpoints that are kept", ge=1)

    @model_validator(mode="after")
    def _check_end(self) -> "TrainConfig":
        if self.steps is None and self.epochs is None and self.max_hours is None:
            raise ValueError("a run needs an end: give steps, epochs, max_hours or several of them")
        return self

    def with_epoch(self, positions: int) -> "TrainConfig":
        """With the length of an epoch, `positions` unless the recipe gives it, where something depends on it."""
        schedule = self.schedule
        in_epochs = schedule.shape == "plateau" or (schedule.unit == "epochs" and (schedule.at or schedule.every))
        if self.epoch is not None or (self.epochs is None and not in_epochs):
            return self
        given: dict[str, Any] = {"epoch": positions}
        if self.epochs is None:  # the schedule alone needs the epoch: validations are not at its ends
            given["validate_every"] = self.validate_every or _VALIDATE_EVERY
        return self.model_copy(update=given)

    @property
    def total_steps(self) -> int | None:
        """Length of the run in steps; None where hours alone limit it, or the length of an epoch is not known yet."""
        ends = [] if self.steps is None else [self.steps]
        if self.epochs is not None and self.epoch is not None:
            ends.append(math.ceil(self.epochs * self.epoch / self.batch_size))
        return min(ends, default=None)

    @property
    def steps_between_validations(self) -> float:
        """No whole number where an epoch is none."""
        if self.validate_every is not None:
            return self.validate_every
        return self.epoch / self.batch_size if self.epoch is not None else _VALIDATE_EVERY

    def validates(self, step: int) -> bool:
        """Whether the network is validated after `step` steps: at the first one past each interval."""
        interval = self.steps_between_validations
        return math.floor(step / interval) > math.floor((step - 1) / interval)


class RecordsConfig(Strict):
    """The game records of a run, and which of them validate it."""

    store: str = key(..., "folder of the game store")
    validation_store: str | None = key(None, "another store for validation; then all games of `store` are trained on")
    validation_fraction: float = key(
        DEFAULT_FRACTION, "share of the games of `store` that validate, chosen by hash", gt=0, lt=1
    )

    def open_stores(self, local: LocalFiles = AS_NAMED) -> "tuple[Store, Store]":
        """The store to train on and the one that validates; the same one without `validation_store`.

        Raises StoreError; where there is no such folder, it names the setting that gives another.
        """
        from tengen.data.store import Store

        def opened(name: str, other: str) -> Store:
            path = local.path(name)
            try:
                return Store.open(path)
            except StoreError as error:
                if path.exists():
                    raise
                raise StoreError(f"{error}, or give {other}") from error

        train = opened(self.store, "a store of yours with --set data.store=FOLDER")
        if self.validation_store is None:
            return train, train
        return train, opened(
            self.validation_store, f"--set data.validation_store=null to validate on a part of {self.store}"
        )


class TeacherConfig(Strict):
    """The share of a teacher's findings in each target; the rest is the record: the move played and the result.

    They are the labels of the store, or those of a `network` that labels each batch on the device of the training. Such
    a run draws all positions of the store, which needs no labels.
    """

    network: str | None = key(
        None, "network, or file of one, KataGo's too, that labels each batch on the device of the training"
    )
    licence: str = key("", "licence of `network`, where its card has none, for the card of the student")
    policy: Fraction = key(1.0, "share of the teacher's policy in the policy target")
    temperature: Positive = key(1.0, "the teacher's policy is taken to the power 1 / temperature")
    value: Fraction = key(1.0, "share of the teacher's winrate in the value target")
    score: Fraction = key(1.0, "share of the teacher's score in the score target")
    ownership: Fraction = key(1.0, "share of the teacher's ownership in the ownership target")
    uses: int = key(
        1,
        "how often on average a position that `network` has labelled is trained on, in a random symmetry each time "
        "unless `symmetries` is off",
        ge=1,
        le=MAX_BATCH,
    )
    buffer: int = key(
        100_000,
        "labelled positions, the newest ones, that each device keeps and draws from where `uses` is more than 1; 18 KB "
        "each on 19x19",
        ge=1,
    )

    @model_validator(mode="after")
    def _network_labels(self) -> "TeacherConfig":
        if self.uses > 1 and self.network is None:
            raise ValueError(
                f"uses is {self.uses}, but without `network` each label of the store is drawn once an epoch: give 1, "
                "and training.epochs for more"
            )
        return self


CHOICE = ("games", "plies", "positions_per_game", "max_positions", "skip_passes")
"""The settings of `DataConfig` that choose positions to train on."""


class DataConfig(RecordsConfig):
    """How positions are drawn from the records."""

    symmetries: bool = key(True, "draw one of the 8 symmetries for each position")
    vary_rules: bool = key(
        True,
        "train half of the positions of even games under the other scoring, and half of those with a known score under "
        "another komi; a known score and the winner are changed to match; with `teacher.network` half of the games "
        "under any rules and half under another komi",
    )
    games: int | None = key(
        None, "number of games to train on, the first in an order by hash: a random sample that grows with it", ge=1
    )
    plies: tuple[int, int | None] = key(
        (0, None),
        "first and last move whose positions are trained on, counted from 0, or back from -1, the last move of each "
        "game; null: no end",
    )
    positions_per_game: int | None = key(
        None,
        "positions per game: one from each of as many equal parts, the same in all epochs",
        ge=1,
    )
    max_positions: int | None = key(
        None, "number of positions to train on, of as few games as possible, in the same order by hash", ge=1
    )
    skip_passes: bool = key(False, "leave out positions whose next move is a pass")
    validation_positions: Literal["one-per-game", "all"] = key(
        "one-per-game",
        "positions that validate; all: those of as few games as possible, `training.validation_games` of them",
    )
    teacher: TeacherConfig | None = key(
        None,
        "learn what a teacher says: the labels of a store that `tengen label` made, under their rules and komi, or "
        "those of `teacher.network` in training",
    )
    threads: int = key(1, "threads that encode a batch", ge=1, le=MAX_THREADS)
    ahead: int = key(2, "batches that are prepared ahead of the training step", ge=1, le=1000)

    @field_validator("plies")
    @classmethod
    def _plies_are_in_order(cls, plies: tuple[int, int | None]) -> tuple[int, int | None]:
        from tengen.data.sampler import PositionChoice

        return PositionChoice(plies=plies).plies

    @model_validator(mode="after")
    def _labels_are_chosen(self) -> "DataConfig":
        if self.teacher is not None and self.teacher.network is None:
            for name in self.model_dump(include=set(CHOICE), exclude_defaults=True):
                raise ValueError(f"{name} does not go with labels of a teacher: 'tengen label' chooses the positions")
        return self


class RunConfig(Recipe):
    """A recipe of kind `supervised`: a network from game records."""

    kind: Literal["supervised"] = key("supervised", "kind of the recipe")
    start: str | None = key(
        None,
        "network to begin with: an installed one, a file, or the folder of a supervised run; every layer of the same "
        "name and shape is taken",
    )
    data: DataConfig
    network: dict[str, Any] = key(
        {}, "`family` and the settings of that network family, or a `preset`; that of `start` unless given"
    )
    training: TrainConfig
    cluster: PlaceConfig = key(PlaceConfig(), "")
    card: CardFacts = key(CardFacts(), "")

    @model_validator(mode="after")
    def _check_network(self) -> "RunConfig":
        check_network_given(self.network, self.start)
        return self

    @model_validator(mode="after")
    def _labels_parts_of_batches(self) -> "RunConfig":
        training, at_once = self.training, self.drawn_positions // self.training.parts
        if training.batch_size % (self.uses * training.parts):
            raise ValueError(
                f"training.batch_size {training.batch_size} is no multiple of data.teacher.uses x devices x accumulate "
                f"= {self.uses} x {training.devices} x {training.accumulate}"
            )
        if self.uses > 1 and self.data.teacher is not None and self.data.teacher.buffer < at_once:
            raise ValueError(
                f"data.teacher.buffer {self.data.teacher.buffer} is less than the {at_once} positions that are "
                "labelled at once"
            )
        return self

    @property
    def uses(self) -> int:
        """Steps that a drawn position takes part in, on average."""
        return self.data.teacher.uses if self.data.teacher else 1

    @property
    def drawn_positions(self) -> int:
        """Positions of the games that a step draws."""
        return self.training.batch_size // self.uses


class LinearTraining(Strict):
    """The optimization of a linear playout policy by AdaGrad, whose rate falls linearly to a fiftieth of `rate`.

    Games come in an order that `seed` decides, and again from the first when all were seen.
    """

    games: int = key(..., "length of the run in games", ge=1)
    rate: Positive = key(0.05, "learning rate of AdaGrad")
    seed: int = key(0, "decides the order of the games")
    log_every: int = key(500, "games between two entries of the log", ge=1)
    validate_every: int = key(20_000, "games between two validations", ge=1)
    validation_games: int = key(3000, "positions of a validation, one a game", ge=1)
    checkpoint_every: int = key(5000, "games between two checkpoints", ge=1)


class LinearRun(Recipe):
    """A recipe of kind `linear-playout`: a linear playout policy from game records."""

    kind: Literal["linear-playout"] = key("linear-playout", "kind of the recipe")
    data: RecordsConfig
    training: LinearTraining
    card: CardFacts = key(CardFacts(), "")
