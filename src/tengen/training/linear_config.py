"""The configuration of a run that learns the linear playout policy."""

from typing import Literal

from pydantic import Field

from tengen.training.config import CardFacts, Positive, Strict


class LinearData(Strict):
    """Where games come from; as DataConfig, but all positions of a game are learnt from together."""

    store: str
    validation_store: str | None = None
    validation_fraction: float = Field(0.02, gt=0, lt=1)


class LinearTraining(Strict):
    """The run: so many games, in an order that the seed decides, again from the first when all were seen.

    The rate of AdaGrad falls linearly over the run to a fiftieth of `rate`. Everything every so many games.
    """

    games: int = Field(ge=1)
    rate: Positive = 0.05
    seed: int = 0
    log_every: int = Field(500, ge=1)
    validate_every: int = Field(20_000, ge=1)
    validation_games: int = Field(3000, ge=1)
    checkpoint_every: int = Field(5000, ge=1)


class LinearRun(Strict):
    """A whole recipe for the linear playout policy. `recipe` is how the command named it, with its settings."""

    name: str
    recipe: str = ""
    kind: Literal["linear-playout"]
    description: str = ""
    data: LinearData
    training: LinearTraining
    card: CardFacts = CardFacts()
