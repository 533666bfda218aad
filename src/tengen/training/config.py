"""The configuration of a supervised training run: what a recipe says, checked and frozen."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Positive = Annotated[float, Field(gt=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Precision = Literal["auto", "bf16", "f32"]


class Strict(BaseModel):
    """A frozen model that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DataConfig(Strict):
    """Where positions come from.

    `validation_store` None sets `validation_fraction` of the games of `store` apart, by hash; given, all of `store` is
    trained on and all of that other store may be judged on. `vary_rules` trains on half of the positions under the
    other scoring rule, and on counted games under other komi too (see Sampler). `threads` encode a batch; `ahead`
    batches wait ready.
    """

    store: str
    validation_store: str | None = None
    validation_fraction: float = Field(0.02, gt=0, lt=1)
    symmetries: bool = True
    vary_rules: bool = True
    threads: int = Field(1, ge=1)
    ahead: int = Field(2, ge=1)


class OptimizerConfig(Strict):
    """Which rule updates the weights.

    `lr` and `weight_decay` hold for matrices and convolutions. With muon all other parameters (gains, biases, the last
    layers of the heads) follow AdamW at `lr_rest`; with adamw and sgd they share `lr` and have no weight decay.
    """

    name: Literal["muon", "adamw", "sgd"] = "muon"
    lr: Positive = 0.02
    lr_rest: Positive = 0.003
    momentum: Fraction = 0.95
    weight_decay: float = Field(0.0, ge=0)


class ScheduleConfig(Strict):
    """How the learning rate moves over a run: a linear warm-up, a plateau, then a decay.

    `decay` is the share of the run, at its end, over which it falls (0: it does not), and `least` the share of the full
    rate to which it falls.
    """

    warmup_steps: int = Field(100, ge=0)
    shape: Literal["linear", "cosine"] = "linear"
    decay: Fraction = 0.7
    least: Fraction = 0.0


class LossWeights(Strict):
    """What each head's loss counts in the sum. `reply` and `soft` are heads that a network has only if told so."""

    policy: float = Field(1.0, ge=0)
    value: float = Field(0.3, ge=0)
    score: float = Field(0.05, ge=0)
    ownership: float = Field(0.15, ge=0)
    reply: float = Field(0.0, ge=0)
    soft: float = Field(0.0, ge=0)


class TrainConfig(Strict):
    """The run itself. Its length is `steps`, or `max_hours` of training, or whichever ends first when both are given.

    `precision` auto is bf16 autocast where the processor multiplies bf16 itself, else f32.

    With `max_hours` the schedule follows the clock, so that the run is annealed when its time is up; such a run still
    resumes, but only a run of fixed steps repeats bit for bit.
    """

    batch_size: int = Field(256, ge=1)
    steps: int | None = Field(None, ge=1)
    max_hours: float | None = Field(None, gt=0)
    seed: int = 0
    optimizer: OptimizerConfig = OptimizerConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    losses: LossWeights = LossWeights()
    clip: float | None = Field(None, gt=0)
    ema: Fraction = 0.999
    precision: Precision = "auto"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int = Field(0, ge=0)
    compile: bool = False
    validate_every: int = Field(1000, ge=1)
    validation_games: int = Field(2000, ge=1)
    log_every: int = Field(20, ge=1)
    checkpoint_minutes: Positive = 5.0
    keep_checkpoints: int = Field(2, ge=1)

    @model_validator(mode="after")
    def _ends(self) -> "TrainConfig":
        if self.steps is None and self.max_hours is None:
            raise ValueError("a run needs an end: give steps, max_hours or both")
        return self


class CardFacts(Strict):
    """What the card says that the run cannot know.

    `data` and `board_sizes` are told from the games unless given. A network that learnt on one size alone is told to
    see no width of a board (see `one_size.forget_width`), so they must not name another one.
    """

    data: str = ""
    rules: str = ""
    licence: str = "MIT"
    board_sizes: list[int] = []
    search: dict[str, Any] = {}


class RunConfig(Strict):
    """A whole supervised recipe. `network` holds the fields of a network family's configuration.

    `recipe` is how the command named it, with its settings, for the card.
    """

    name: str
    recipe: str = ""
    description: str = ""
    data: DataConfig
    network: dict[str, Any]
    training: TrainConfig
    card: CardFacts = CardFacts()
