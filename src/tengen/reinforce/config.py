"""What recipes of the kinds `policy-gradient` and `action-value` say, checked and frozen."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import model_validator

from tengen.coords import MAX_SIZE, MIN_SIZE, SIZES
from tengen.match.settings import MAX_GAMES
from tengen.training.config import OptimizerConfig, ScheduleConfig, TrainerConfig
from tengen.training.recipe import (
    MAX_BATCH,
    MAX_COUNT,
    AreaRules,
    Fraction,
    Positive,
    Recipe,
    Strict,
    check_network_given,
    key,
)


class GameConfig(Strict):
    """What is played, as in `tengen.match.conditions.Conditions`."""

    size: int = key(9, f"board size, {SIZES}", ge=MIN_SIZE, le=MAX_SIZE)
    rules: AreaRules = key("tromp-taylor", "rule set, with area scoring")
    komi: float = key(7.5, "komi in points", ge=-400, le=400, multiple_of=0.5)
    max_moves: int | None = key(None, "moves after which a game ends; null: 2 x size x size", ge=1)
    settle: bool = key(True, "a game ends when every point is pass-alive")
    pass_policy: Literal["free", "no-useful-move"] = key(
        "no-useful-move",
        "no-useful-move: a side passes only when it has no useful move left, so that nothing is won because the other "
        "side stopped early",
    )


class PoolConfig(Strict):
    """The opponent pool: the parent, which always stays, and copies of the network.

    One opponent is drawn for all games of an update.
    """

    every: int = key(500, "updates between two copies", ge=1)
    max_members: int | None = key(None, "newest copies that stay; null: all", ge=1)


class UpdateConfig(TrainerConfig):
    """An update from the positions in which the current network moved.

    Value, score and ownership keep learning from the results, so that they stay correct while the shared layers change.
    """

    fixed: ClassVar[tuple[str, ...]] = (*TrainerConfig.fixed, "accumulate")

    optimizer: OptimizerConfig = key(OptimizerConfig(name="adamw", lr=3e-4), "")
    schedule: ScheduleConfig = key(ScheduleConfig(warmup_steps=5, decay=0.3), "steps of the schedule are updates")
    clip: float | None = key(1.0, "maximum norm of the gradient; null: no clipping", gt=0)
    batch_size: int = key(2048, "positions of an optimizer step, about", ge=1, le=MAX_BATCH)
    passes: int = key(1, "times that each position is used in an update", ge=1)


class PolicyUpdateConfig(UpdateConfig):
    """The advantage of a move is the result of its game (1, 0, -1) less the baseline."""

    baseline: Literal["value", "mean", "none"] = key(
        "value", "value: the network's value of the position; mean: mean result with that color"
    )
    ratio: float | None = key(
        0.2, "PPO: a move has no gradient once its probability has changed by this share; null: plain REINFORCE", gt=0
    )
    kl: Positive = key(
        0.05,
        "nats per position by which the policy may move, on the last batch of an update; beyond, the update is halved, "
        "eight times at most",
    )
    entropy: float = key(0.0, "weight of the policy's entropy, which is subtracted from the loss", ge=0)


class EvaluationConfig(Strict):
    """Games with the parent, without search: twice `games`.

    Once with moves drawn from the policy as it is, whatever the run's temperature, as published; of action values once
    with the run's share of random moves. Once with the best move, after paired openings drawn from the two policies: a
    policy that has merely become sharper wins the first and not the second.
    """

    every: int = key(50, "updates between two evaluations; there is one at the end too", ge=1)
    games: int = key(400, "games of each of the two matches", ge=2, le=MAX_GAMES, multiple_of=2)
    opening_moves: int | None = key(
        None, "moves of an opening; null: 6, or on tiny boards a third of their points", ge=0
    )
    opening_temperature: Positive = key(1.0, "temperature of the moves of an opening")


class ReinforceConfig(Recipe):
    """A recipe of either kind: a network that learns from the results of games that it plays without search.

    Each iteration plays `games` games with an opponent from the pool, half of them with each color, and makes one
    update of them.
    """

    method: ClassVar[str]
    """What the run is called in texts."""
    drawn: ClassVar[str]
    """How the moves of games are drawn, in texts."""

    kind: Literal["policy-gradient", "action-value"]
    seed: int = key(0, "determines the run", ge=0, lt=2**63)
    start: str | None = key(None, "network file, or name of an installed network: the parent")
    network: dict[str, Any] = key(
        {}, "without `start`: `family` and the settings of that network family, or a `preset`, of a new parent"
    )
    iterations: int = key(..., "length of the run in updates", ge=1, le=MAX_COUNT)
    games: int = key(128, "games of an update", ge=2, le=MAX_GAMES, multiple_of=2)
    game: GameConfig = key(GameConfig(), "")
    pool: PoolConfig = key(PoolConfig(), "")
    learn: UpdateConfig = key(UpdateConfig(), "")
    evaluation: EvaluationConfig = key(EvaluationConfig(), "")

    @model_validator(mode="after")
    def _one_parent(self) -> ReinforceConfig:
        check_network_given(self.network, self.start)
        if self.network and self.start is not None:
            raise ValueError(
                f"network and start are both given: the parent is {self.start} or a new network; leave one out, as by "
                "--set network={} or --set start=null"
            )
        return self


class PolicyGradientConfig(ReinforceConfig):
    """AlphaGo's second stage (Silver et al. 2016): REINFORCE against a pool of earlier checkpoints.

    With the value as baseline, which learns beside the policy, it is an actor-critic method.
    """

    method: ClassVar[str] = "policy gradient"
    drawn: ClassVar[str] = "moves sampled"

    kind: Literal["policy-gradient"] = key("policy-gradient", "kind of the recipe")
    temperature: Positive = key(1.0, "moves are drawn by probability to the power 1 / temperature")
    learn: PolicyUpdateConfig = key(PolicyUpdateConfig(), "")


class EpsilonConfig(Strict):
    """The share of moves that are drawn evenly from all that are allowed; the others are the best (epsilon-greedy)."""

    start: Fraction = key(0.2, "share in the first update")
    decay: float = key(0.98, "factor on it for every update", gt=0, le=1)
    minimum: Fraction = key(0.01, "share below which it does not fall; without any all games would be the same", gt=0)

    def after(self, updates: int) -> float:
        """The share once so many updates are made."""
        return max(self.minimum, self.start * self.decay**updates)


class ActionValueConfig(ReinforceConfig):
    """Q-learning by the results of whole games, after BetaGo's book: the logits of the policy head are those of winning
    by each move, and the move with the highest is played.
    """

    method: ClassVar[str] = "action values"
    drawn: ClassVar[str] = "some moves random"

    kind: Literal["action-value"] = key("action-value", "kind of the recipe")
    epsilon: EpsilonConfig = key(EpsilonConfig(), "")
