"""The configuration of a self-play run: what a recipe says, checked and frozen."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from tengen.engine.params import PassPolicy, SearchParams, set_params
from tengen.training.config import CardFacts, Fraction, Positive, Recipe, ScheduleConfig, Strict, TrainerConfig

Share = Annotated[float, Field(ge=0, le=1)]

MIN_TREE = 1 << 22
"""Minimum memory of a search tree in bytes."""


class KomiConfig(Strict):
    """How komi is drawn around the fair komi of the board, which the run estimates from its own results.

    `start` is the first fair komi. A share `tail` of the games has a komi with standard deviation `tail_deviation`, all
    others with `deviation` (points). Komi is drawn in half points, or in whole points with `whole`. From one cycle to
    the next the fair komi moves by at most `step` points: weak networks win and lose by the whole board, and a komi
    that follows at once oscillates. With `learn` off it stays at `start`.
    """

    start: float = Field(7.0, ge=-400, le=400)
    deviation: float = Field(1.0, ge=0, le=100)
    tail: Share = 0.1
    tail_deviation: float = Field(8.0, ge=0, le=100)
    step: float = Field(1.0, gt=0, le=400)
    whole: bool = False
    learn: bool = True


class GameConfig(Strict):
    """What is played. `sizes` gives the share of each board size (5 to 19); komi `start` holds for all of them.

    A game ends after `max_moves` moves, by default 2 x size x size. With `settle` it ends when every point is
    pass-alive, and a side passes only then. With `pass_policy` no-legal-move a side passes only when nothing else is
    legal (published 7x7 system), with no-useful-move only when no useful move is left, and plays useful moves alone.
    """

    sizes: dict[int, float] = Field({7: 1.0})
    rules: str = "tromp-taylor"
    komi: KomiConfig = KomiConfig()
    max_moves: int | None = Field(None, ge=1)
    settle: bool = True
    pass_policy: PassPolicy = "free"

    @model_validator(mode="after")
    def _sizes(self) -> "GameConfig":
        for size, share in self.sizes.items():
            if not 5 <= size <= 19:
                raise ValueError(f"board size {size} is impossible: 5 to 19")
            if not share > 0:
                raise ValueError(f"the share of size {size} must be above 0, not {share:g}")
        if not self.sizes:
            raise ValueError("give at least one board size, such as {7: 1}")
        return self

    @property
    def edge(self) -> int:
        """Of the tensors: the largest board."""
        return max(self.sizes)


class OpeningConfig(Strict):
    """How games are made to differ: first moves drawn from the raw policy, and starts from high-surprise positions.

    Each game draws its number of policy moves from an exponential distribution of mean `moves_mean` (0: none), with
    priors to the power 1 / `temperature`. A share `high_surprise` of the games starts from the position of an earlier
    game with the highest policy surprise.
    """

    moves_mean: float = Field(2.0, ge=0, le=100)
    temperature: Positive = 1.0
    high_surprise: Share = 0.0


class ResignConfig(Strict):
    """When a side resigns: its winrate was below the threshold for `turns` of its turns.

    There is no resignation before cycle `after`. The threshold is calibrated at every cycle: the highest at which the
    winners of at most a share `false_positives` of the games played out would have resigned, limited to `max_threshold`
    (a winrate). A share `played_out` of the games has no resignation.
    """

    after: int = Field(10, ge=0)
    false_positives: Share = 0.03
    max_threshold: Share = 0.1
    turns: int = Field(3, ge=1)
    played_out: Share = 0.2


class DecidedConfig(Strict):
    """When a game is decided: one side had a winrate of `winrate` or more at the last `turns` searched turns, of both.

    From then on a share `cheap_share` of the moves is searched cheaply, until the condition no longer holds.
    """

    winrate: float = Field(0.95, gt=0.5, lt=1)
    turns: int = Field(6, ge=1)
    cheap_share: float = Field(0.75, gt=0, lt=1)


class SearchConfig(Strict):
    """Self-play's search. `visits` of a full search, `cheap_visits` of a cheap one, which teaches no policy.

    A share `cheap_share` of the moves is searched cheaply (playout-cap randomisation; 0 is none), and with `decided`
    another share where the game is decided, so that less is spent on what teaches little. `params` are changes
    to SearchParams for both, `full` for full searches alone (noise, forced playouts). The move is drawn by visits to
    the power 1 / t, with t going from `temperature` at the first move to `temperature_late`, half way after
    `temperature_halflife` x size moves. With Gumbel search it is drawn by the improved policy, and is the one that the
    search chose once t is below 0.1. With `reuse` the part of the tree below the move that was played is kept.
    """

    visits: int = Field(32, ge=1)
    cheap_visits: int = Field(8, ge=1)
    cheap_share: float = Field(0.0, ge=0, lt=1)
    decided: DecidedConfig | None = None
    params: dict[str, Any] = Field({})
    full: dict[str, Any] = Field({})
    temperature: float = Field(0.8, ge=0, le=10)
    temperature_late: float = Field(0.2, ge=0, le=10)
    temperature_halflife: Positive = 1.0
    reuse: bool = True

    def search_params(self, full: bool, memory: int = MIN_TREE) -> SearchParams:
        """The settings of a full or a cheap search, of `memory` unless they say; RecipeError for a wrong one."""
        chosen = {**self.params, **(self.full if full else {})}
        return set_params(SearchParams(memory=memory), {name: str(value) for name, value in chosen.items()})


class WindowConfig(Strict):
    """The replay window: how many of the newest recorded positions are trained on (KataGo, appendix C).

    With m = `min_positions`, `size` = m + expand * (total^exponent - m^exponent) / (exponent * m^(exponent - 1)) once
    there are m positions, limited to `max_positions`.
    """

    min_positions: int = Field(20_000, ge=1)
    max_positions: int = Field(2_000_000, ge=1)
    exponent: float = Field(0.75, gt=0, le=1)
    expand: float = Field(0.4, ge=0, le=1)


class RecordsConfig(Strict):
    """Game records mixed into the batches: a share that falls linearly to 0 at cycle `until`.

    They replace self-play positions, which are then drawn less often than `reuse` says.
    """

    store: str
    share: Share = 0.5
    until: int = Field(10, ge=1)

    def share_in(self, cycle: int) -> float:
        """The share of the batches of a cycle."""
        return self.share * max(0.0, 1 - cycle / self.until)


class TargetConfig(Strict):
    """Weights and targets of positions. `surprise` is the share of the weight proportional to the policy surprise.

    `value_mix` is the share of the search's root value in the value target; the rest is the result of the game.
    """

    surprise: Share = 0.5
    value_mix: Share = 0.0


class LearnConfig(TrainerConfig):
    """How networks are trained. `reuse` is how often each recorded position is drawn on average, without the share of
    `records`.

    The schedule's progress is that of the run, so that the learning rate drops towards its last cycle. The last network
    of the run is the mean of the weights of its last `swa` networks (stochastic weight averaging).
    """

    batch_size: int = Field(128, ge=1)
    reuse: Positive = 4.0
    window: WindowConfig = WindowConfig()
    schedule: ScheduleConfig = ScheduleConfig(decay=0.3)
    targets: TargetConfig = TargetConfig()
    ema: Fraction = 0.999
    swa: int = Field(1, ge=1)
    records: RecordsConfig | None = None


class GateConfig(Strict):
    """The gate: a new network plays self-play games only after it beat the current one in `games` games.

    The players are the raw policies (`visits` 1) or searches of `visits` a move. A network passes with a score of
    `score` or more; with `confidence` by a one-sided binomial test of the decided games, when the probability of as
    many wins between equal players is below 1 - `confidence`.
    """

    games: int = Field(128, ge=2)
    visits: int = Field(1, ge=1)
    score: Share = 0.5
    confidence: float | None = Field(None, gt=0.5, lt=1)


class RatingConfig(Strict):
    """Games against anchors outside the run, every `every` cycles and at the end: `games` against each.

    `visits` 1 is the raw policy. `anchors` are players as `tengen match` names them: `random`, `playouts` (also
    `playouts@VISITS`), `gtp:gnugo ...`; `early` stands for the run's first networks, `past` for the network rated
    before. Anchors that are not installed are left out, and the log says so. The first `opening` moves of each pair of
    games are drawn from the network's policy. Programs think for themselves and take their time: against each of them
    there are `program_games`, where given, but for the rating at the end. Searches are those with which the recipe
    begins, whatever its stages say: all networks of a run are rated alike.
    """

    every: int = Field(5, ge=1)
    games: int = Field(100, ge=2)
    visits: int = Field(1, ge=1)
    anchors: tuple[str, ...] = ("random", "early", "past")
    opening: int = Field(4, ge=0, le=100)
    program_games: int | None = Field(None, ge=2)

    @field_validator("anchors")
    @classmethod
    def _known(cls, anchors: tuple[str, ...]) -> tuple[str, ...]:
        from tengen.selfplay.anchors import check_anchors

        check_anchors(anchors)
        return anchors


class StageConfig(Strict):
    """Settings of how games are played that change from a cycle on; all other settings stay."""

    game: dict[str, Any] = Field({})
    opening: dict[str, Any] = Field({})
    search: dict[str, Any] = Field({})

    @field_validator("game")
    @classmethod
    def _same_boards(cls, game: dict[str, Any]) -> dict[str, Any]:
        if "sizes" in game:
            raise ValueError("a stage cannot change game.sizes: networks are made for the boards of the run")
        return game


def changed(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with the changes applied, nested mappings recursively."""
    inner = {
        name: changed(settings[name], value)
        for name, value in changes.items()
        if isinstance(value, Mapping) and isinstance(settings.get(name), Mapping)
    }
    return {**settings, **changes, **inner}


class SelfPlayConfig(Recipe):
    """A whole self-play recipe. `network` holds the fields of a network family's configuration.

    A run has `cycles` cycles of `games_per_cycle` games and training on them, with `games_at_once` games in flight.
    `start` is a network file to begin with; `seed` determines the run. `recipe` is the recipe as the command named it,
    with its settings, for the card. `stages` change how games are played from a cycle on, until a later stage:
    {20: {search: {visits: 64}}} means 64 visits from cycle 20 on.
    """

    kind: Literal["selfplay"] = "selfplay"
    seed: int = 0
    cycles: int = Field(ge=1)
    games_per_cycle: int = Field(ge=1)
    games_at_once: int = Field(256, ge=1)
    overlap: bool = False
    """Train on a cycle while the next is played with the network before: all cores work, one network behind."""
    workers: int = Field(0, ge=0)
    """Threads that play, each with its share of the games in flight; 0 is one a core."""
    start: str | None = None
    network: dict[str, Any]
    game: GameConfig = GameConfig()
    opening: OpeningConfig = OpeningConfig()
    search: SearchConfig = SearchConfig()
    stages: dict[int, StageConfig] = Field({})
    resign: ResignConfig | None = None
    learn: LearnConfig = LearnConfig()
    gate: GateConfig | None = None
    rating: RatingConfig = RatingConfig()
    keep_networks: int = Field(20, ge=2)
    """Earlier networks that stay in the run folder, beside those that were rated."""
    card: CardFacts = CardFacts()

    def playing_network(self, cycle: int) -> int:
        """The number of the network that plays in a cycle."""
        return max(0, cycle - 1) if self.overlap else cycle

    @model_validator(mode="after")
    def _stages(self) -> "SelfPlayConfig":
        for cycle in self.stages:
            if cycle < 1:
                raise ValueError(f"a stage begins with cycle 1 or later, not {cycle}: say it in the recipe itself")
            try:
                self.at(cycle)
            except ValidationError as error:
                wrong = error.errors()[0]
                place = ".".join(map(str, wrong["loc"]))
                raise ValueError(f"the stage of cycle {cycle}: {place}: {wrong['msg']}") from error
        return self

    def at(self, cycle: int) -> "SelfPlayConfig":
        """The recipe as it holds in a cycle, with the stages that have begun."""
        begun = [stage for begin, stage in sorted(self.stages.items()) if begin <= cycle]
        if not begun:
            return self
        settings = self.model_dump(exclude={"stages"})
        for stage in begun:
            settings = changed(settings, stage.model_dump(exclude_defaults=True))
        return SelfPlayConfig.model_validate(settings)

    def rated_cycles(self) -> list[int]:
        """The networks that are rated, by the cycle in which they would play: every few, and the last."""
        return sorted({*range(self.rating.every, self.cycles + 1, self.rating.every), self.cycles})
