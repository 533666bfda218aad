"""The configuration of a policy-gradient run: what a recipe of that kind says, checked and frozen."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tengen.training.config import OptimizerConfig, Positive, Recipe, ScheduleConfig, Strict, TrainerConfig, key


class RlGameConfig(Strict):
    """What is played, as in `tengen.match.game.Conditions`.

    With `pass_policy` no-useful-move, in the games to learn from and in those that judge, a side passes only when it
    has no useful move left: games are then played out, and nothing is won because somebody stopped early.
    """

    size: int = Field(9, ge=5, le=19)
    rules: str = "tromp-taylor"
    komi: float = Field(7.5, ge=-400, le=400)
    max_moves: int | None = Field(None, ge=1)
    settle: bool = True
    pass_policy: Literal["free", "no-useful-move"] = "no-useful-move"


class RlPoolConfig(Strict):
    """The opponent pool: the parent and a copy after every `every` updates; the `max_members` newest copies stay.

    The parent always stays. One opponent is drawn for all games of an update.
    """

    every: int = Field(500, ge=1)
    max_members: int | None = Field(None, ge=1)


class RlLearnConfig(TrainerConfig):
    """An update from the positions in which the current policy moved.

    The advantage of a move is the result of its game (1, 0, -1) less the baseline. Value, score and ownership keep
    learning from the results, so that they stay correct while the shared layers change.
    """

    optimizer: OptimizerConfig = key(OptimizerConfig(name="adamw", lr=3e-4), "")
    schedule: ScheduleConfig = key(ScheduleConfig(warmup_steps=5, decay=0.3), "steps of the schedule are updates")
    clip: float | None = key(1.0, "maximum norm of the gradient; null: no clipping", gt=0)
    batch_size: int = key(2048, "positions of an optimizer step, about", ge=1)
    passes: int = key(1, "times that each position is used in an update", ge=1)
    baseline: Literal["value", "mean", "none"] = key(
        "value", "value: the network's value of the position; mean: mean result with that colour"
    )
    ratio: float | None = key(
        0.2, "PPO: a move has no gradient once its probability has changed by this share; null: plain REINFORCE", gt=0
    )
    kl: Positive = key(0.05, "nats per position by which the policy may move; beyond, the step is halved repeatedly")
    entropy: float = key(0.0, "weight of the policy's entropy, which is subtracted from the loss", ge=0)


class RlEvaluationConfig(Strict):
    """Raw policy against the parent's, without search: twice `games`, every `every` updates and at the end.

    Once with every move drawn from the policy as it is, as published. Once with the best move, after paired openings of
    `opening_moves` moves drawn from the two policies at `opening_temperature`: a policy that has merely become sharper
    wins the first and not the second.
    """

    every: int = Field(50, ge=1)
    games: int = Field(400, ge=2)
    opening_moves: int = Field(6, ge=0)
    opening_temperature: Positive = 1.0


class RlConfig(Recipe):
    """A whole recipe of AlphaGo's second stage (Silver et al. 2016): REINFORCE against a pool of earlier selves.

    `start` is the network file, or the name of an installed network, that is the parent. Each of `iterations` plays
    `games`, half of them with each colour, moves drawn by probability ^ (1 / `temperature`), and makes one update of
    them. `seed` decides everything. `recipe` is how the command named it, with its settings, for the card.
    """

    kind: Literal["policy-gradient"] = "policy-gradient"
    seed: int = Field(0, ge=0)
    start: str
    iterations: int = Field(ge=1)
    games: int = Field(128, ge=2)
    temperature: Positive = 1.0
    game: RlGameConfig = RlGameConfig()
    pool: RlPoolConfig = RlPoolConfig()
    learn: RlLearnConfig = RlLearnConfig()
    evaluation: RlEvaluationConfig = RlEvaluationConfig()
