"""The configuration of a self-play run: what a recipe says, checked and frozen."""

from typing import Any, Literal

from pydantic import ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import ErrorDetails

from tengen.cluster import Place
from tengen.coords import MAX_SIZE, MIN_SIZE, SIZES
from tengen.engine.params import PassPolicy, SearchParams, set_params
from tengen.errors import RecipeError, refused_value, unknown_name
from tengen.match.settings import MAX_GAMES
from tengen.training.config import ScheduleConfig, TrainerConfig
from tengen.training.recipe import (
    MAX_BATCH,
    MAX_COUNT,
    MAX_THREADS,
    AreaRules,
    CardFacts,
    Fraction,
    PlaceConfig,
    Positive,
    Recipe,
    Strict,
    changed,
    check_network_given,
    key,
)

MIN_TREE = 1 << 22
"""Minimum memory of a search tree in bytes."""

_MAX_VISITS = 65_535  # a policy target keeps them in 16 bits


class KomiConfig(Strict):
    """How komi is drawn around the fair komi of the board, which the run estimates from its own results.

    Komi is drawn in half points. From one cycle to the next the fair komi moves by at most `step` points: weak networks
    win and lose by the whole board, and a komi that follows at once oscillates.
    """

    start: float = key(7.0, "first fair komi in points, of all board sizes", ge=-400, le=400, multiple_of=0.5)
    deviation: float = key(1.0, "standard deviation of the komi of a game, in points", ge=0, le=100)
    tail: Fraction = key(0.1, "share of the games with `tail_deviation` instead")
    tail_deviation: float = key(8.0, "standard deviation of the komi of these games, in points", ge=0, le=100)
    step: float = key(1.0, "maximum change of the fair komi from one cycle to the next, in points", gt=0, le=400)
    whole: bool = key(False, "draw komi in whole points, so that games can be drawn")
    learn: bool = key(True, "estimate the fair komi; false: it stays at `start`")


class GameConfig(Strict):
    """What is played."""

    sizes: dict[int, float] = key({7: 1.0}, f"share of each board size, {SIZES}")
    rules: AreaRules = key("tromp-taylor", "rule set, with area scoring")
    komi: KomiConfig = key(KomiConfig(), "")
    max_moves: int | None = key(None, "moves after which a game ends; null: 2 x size x size", ge=1, le=MAX_COUNT)
    settle: bool = key(True, "a game ends when every point is pass-alive, and a side passes only then")
    pass_policy: PassPolicy = key(
        "free",
        "when a side may pass. free: whenever the search chooses it; no-useful-move: only when no useful move is left, "
        "and only useful moves are played; no-legal-move: only when nothing else is legal (published 7x7 system)",
    )

    @model_validator(mode="after")
    def _check_sizes(self) -> "GameConfig":
        for size, share in self.sizes.items():
            if not MIN_SIZE <= size <= MAX_SIZE:
                raise ValueError(f"board size {size} is impossible: {SIZES}")
            if not share > 0:
                raise ValueError(f"the share of size {size} must be above 0, not {share:g}")
        if not self.sizes:
            raise ValueError("give at least one board size, such as {7: 1}")
        return self

    @property
    def edge(self) -> int:
        """The edge of the tensors: that of the largest board."""
        return max(self.sizes)

    @property
    def main_size(self) -> int:
        """The board of gates and ratings: the most frequent one, of equally frequent ones the largest."""
        return max(self.sizes, key=lambda size: (self.sizes[size], size))


class OpeningConfig(Strict):
    """How games are made to differ: first moves drawn from the raw policy, and starts from high-surprise positions."""

    moves_mean: float = key(
        2.0, "mean of the exponential distribution of the number of policy moves of a game; 0: none", ge=0, le=100
    )
    temperature: Positive = key(1.0, "these moves are drawn by priors to the power 1 / temperature")
    high_surprise: Fraction = key(
        0.0, "share of the games that start from the position of an earlier game with the highest policy surprise"
    )


class ResignConfig(Strict):
    """When a side resigns: its winrate was below the threshold for `turns` of its turns.

    The threshold is calibrated at every cycle.
    """

    after: int = key(10, "first cycle with resignation", ge=0)
    false_positives: Fraction = key(
        0.03, "the threshold is the highest at which this share of the winners of games played out would have resigned"
    )
    max_threshold: Fraction = key(0.1, "maximum threshold, a winrate")
    turns: int = key(3, "turns of a side below the threshold before it resigns", ge=1, le=MAX_COUNT)
    played_out: Fraction = key(0.2, "share of the games without resignation")


class DecidedConfig(Strict):
    """When a game is decided, and how it is searched from then on until the condition no longer holds."""

    winrate: float = key(0.95, "winrate of one side, at least, at the last `turns` searched turns", gt=0.5, lt=1)
    turns: int = key(6, "searched turns, of both sides", ge=1, le=MAX_COUNT)
    cheap_share: float = key(0.75, "share of the moves of a decided game that is searched cheaply", gt=0, lt=1)


class SearchConfig(Strict):
    """Self-play's search. A cheap search (playout-cap randomization) teaches no policy.

    The move is drawn by visits to the power 1 / t, with t going from `temperature` at the first move to
    `temperature_late`, half way after `temperature_halflife` x size moves. With Gumbel search it is drawn by the
    improved policy, and is the one that the search chose once t is below 0.1.
    """

    visits: int = key(32, "visits of a full search", ge=1, le=_MAX_VISITS)
    cheap_visits: int = key(8, "visits of a cheap search", ge=1, le=_MAX_VISITS)
    cheap_share: float = key(0.0, "share of the moves that is searched cheaply", ge=0, lt=1)
    decided: DecidedConfig | None = key(None, "")
    params: dict[str, Any] = key({}, "search parameters of full and cheap searches")
    full: dict[str, Any] = key({}, "search parameters of full searches alone, such as noise and forced playouts")
    temperature: float = key(0.8, "temperature of the first move", ge=0, le=10)
    temperature_late: float = key(0.2, "temperature of late moves", ge=0, le=10)
    temperature_halflife: Positive = key(1.0, "moves to half way between both temperatures, in multiples of the size")
    reuse: bool = key(True, "keep the part of the tree below the move that was played")

    def search_params(self, full: bool, memory: int = MIN_TREE) -> SearchParams:
        """The settings of a full or a cheap search, of `memory` unless they say; RecipeError for a wrong one."""
        chosen = {**self.params, **(self.full if full else {})}
        return set_params(SearchParams(memory=memory), chosen)


class WindowConfig(Strict):
    """The replay window: how many of the newest recorded positions are trained on (KataGo, appendix C).

    With m = `min_positions`, `size` = m + expand * (total^exponent - m^exponent) / (exponent * m^(exponent - 1)) once
    there are m positions, limited to `max_positions`.
    """

    min_positions: int = key(20_000, "positions before the window grows more slowly than the run", ge=1)
    max_positions: int = key(2_000_000, "maximum size of the window in positions", ge=1)
    exponent: float = key(0.75, "exponent of the growth with all positions of the run", gt=0, le=1)
    expand: float = key(0.4, "growth per new position at `min_positions`", ge=0, le=1)


class RecordMixConfig(Strict):
    """Game records mixed into the batches.

    They replace self-play positions, which are then drawn less often than `reuse` says. A network that sees rules and
    komi learns them under others too, as with `data.vary_rules` of supervised training.
    """

    store: str = key(..., "folder of the game store")
    share: Fraction = key(0.5, "share of the first batches; it falls linearly to 0")
    until: int = key(10, "cycle at which the share is 0", ge=1)

    def share_in(self, cycle: int) -> float:
        """The share of the batches of a cycle."""
        return self.share * max(0.0, 1 - cycle / self.until)


class TargetConfig(Strict):
    """Weights and targets of positions."""

    surprise: Fraction = key(0.5, "share of a position's weight that is proportional to its policy surprise")
    value_mix: Fraction = key(0.0, "share of the search's root value in the value target; the rest is the result")


class LearnConfig(TrainerConfig):
    """How networks are trained.

    The schedule's progress is that of the run, so that the learning rate drops towards its last cycle.
    """

    batch_size: int = key(128, "positions in a step", ge=1, le=MAX_BATCH)
    reuse: Positive = key(4.0, "how often each recorded position is drawn on average, without the share of `records`")
    window: WindowConfig = key(WindowConfig(), "")
    schedule: ScheduleConfig = key(ScheduleConfig(decay=0.3), "")
    targets: TargetConfig = key(TargetConfig(), "")
    ema: Fraction = key(0.999, "decay of the moving average of the weights, which plays; 0: no average")
    swa: int = key(1, "number of networks whose mean is the last network of the run (SWA)", ge=1)
    records: RecordMixConfig | None = key(None, "")


class GateConfig(Strict):
    """The gate: a new network plays self-play games only after it beat the current one."""

    games: int = key(128, "games of the match", ge=2, le=MAX_GAMES)
    visits: int = key(1, "visits a move; 1: the raw policies play", ge=1, le=_MAX_VISITS)
    score: Fraction = key(0.5, "minimum score, where `confidence` is null")
    confidence: float | None = key(
        None,
        "pass by a one-sided binomial test of the decided games: the probability of as many wins between equal players "
        "is below 1 - confidence",
        gt=0.5,
        lt=1,
    )


class RatingConfig(Strict):
    """Games against anchors outside the run, every few cycles and at the end.

    Anchors that are not installed are left out, and the log says so. Searches are those with which the recipe begins,
    whatever its stages say: all networks of a run are rated alike.
    """

    every: int = key(5, "cycles between two ratings", ge=1)
    games: int = key(100, "games against each anchor", ge=2, le=MAX_GAMES)
    visits: int = key(1, "visits a move; 1: the raw policy plays", ge=1, le=_MAX_VISITS)
    anchors: tuple[str, ...] = key(
        ("random", "early", "past"),
        "players as of tengen match, such as playouts@VISITS or gtp:COMMAND; early: the run's first networks; past: "
        "the network rated before",
    )
    opening: int | None = key(
        None,
        "first moves of each pair of games that are drawn from the network's policy; null: 4, or on tiny boards a "
        "third of their points",
        ge=0,
        le=100,
    )
    program_games: int | None = key(
        None, "games against each GTP program, which are slow, except at the end of the run; null: `games`", ge=2
    )

    @field_validator("anchors")
    @classmethod
    def _check_anchors(cls, anchors: tuple[str, ...]) -> tuple[str, ...]:
        from tengen.selfplay.anchors import check_anchors

        check_anchors(anchors)
        return anchors


class StageConfig(Strict):
    """Settings of how games are played that change from a cycle on; all other settings stay."""

    game: dict[str, Any] = key({}, "changes of `game`, except `sizes`")
    opening: dict[str, Any] = key({}, "changes of `opening`")
    search: dict[str, Any] = key({}, "changes of `search`")

    @field_validator("game")
    @classmethod
    def _check_boards(cls, game: dict[str, Any]) -> dict[str, Any]:
        if "sizes" in game:
            raise ValueError("a stage cannot change game.sizes: networks are made for the boards of the run")
        return game


def _of_stage(cycle: int, name: str, group: type[Strict], error: ErrorDetails) -> str:
    """What is wrong with a stage, in one line."""
    place = ".".join(map(str, (cycle, name, *error["loc"])))
    if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
        return unknown_name("key", place, group.model_fields)
    return refused_value(error, place)


class ClusterConfig(Strict):
    """What a worker takes of a machine when games are played on a cluster (`tengen zero --cluster`).

    Without `learner` the training stays with the process that leads.
    """

    cpus: float = key(1, "cores of a worker, which has as many threads unless `workers` says more", gt=0)
    gpus: float = key(0, "share of a GPU of a worker, 0.25 for four workers a GPU", ge=0)
    workers: int = key(0, "workers at most; 0: as many as the cluster has room for", ge=0)
    learner: PlaceConfig | None = key(None, "")

    def place(self) -> Place:
        """The workers that play."""
        return Place(self.cpus, self.gpus, self.workers)


class SelfPlayConfig(Recipe):
    """A whole self-play recipe: cycles of games and training on them."""

    kind: Literal["selfplay"] = key("selfplay", "kind of the recipe")
    seed: int = key(0, "determines the run", ge=-(2**63), lt=2**63)
    cycles: int = key(..., "length of the run in cycles", ge=1, le=1_000_000)
    games_per_cycle: int = key(..., "games of a cycle", ge=1, le=MAX_COUNT)
    games_at_once: int = key(256, "games in flight", ge=1)
    overlap: bool = key(False, "train on a cycle while the next is played, one network behind: all cores work")
    device: Literal[
        "auto", "cpu", "intel-gpu", "cuda", "tensorrt", "rocm", "coreml", "directml", "onnxruntime", "torch"
    ] = key(
        "cpu",
        "what evaluates the networks of self-play; auto: the fastest; games repeat bit for bit on the same device",
    )
    workers: int = key(
        0, "threads that play, each with its share of the games in flight; 0: one a core", ge=0, le=MAX_THREADS
    )
    cluster: ClusterConfig = key(ClusterConfig(), "")
    start: str | None = key(None, "network file, or name of an installed network, to begin with")
    network: dict[str, Any] = key({}, "`family` and the settings of that network family; that of `start` unless given")
    game: GameConfig = key(GameConfig(), "")
    opening: OpeningConfig = key(OpeningConfig(), "")
    search: SearchConfig = key(SearchConfig(), "")
    stages: dict[int, StageConfig] = key(
        {},
        "changes from a cycle on, until a later stage: {20: {search: {visits: 64}}} means 64 visits from cycle 20 on",
    )
    resign: ResignConfig | None = key(None, "")
    learn: LearnConfig = key(LearnConfig(), "")
    gate: GateConfig | None = key(None, "")
    rating: RatingConfig = key(RatingConfig(), "")
    keep_networks: int = key(
        20, "earlier networks that stay in the run folder, with their gates, besides those that were rated", ge=2
    )
    card: CardFacts = key(CardFacts(), "")

    @model_validator(mode="after")
    def _check_network(self) -> "SelfPlayConfig":
        check_network_given(self.network, self.start)
        return self

    def playing_network(self, cycle: int) -> int:
        """The number of the network that plays in a cycle."""
        return max(0, cycle - 1) if self.overlap else cycle

    @field_validator("stages")
    @classmethod
    def _check_stages(cls, stages: dict[int, StageConfig], before: ValidationInfo) -> dict[int, StageConfig]:
        groups = {name: group for name, group in before.data.items() if name in StageConfig.model_fields}
        settings = {name: group.model_dump() for name, group in groups.items()}
        for cycle, stage in sorted(stages.items()):
            if cycle < 1:
                raise RecipeError(f"a stage begins with cycle 1 or later, not {cycle}: say it in the recipe itself")
            settings = changed(settings, stage.model_dump(include=set(groups)))
            for name, group in groups.items():
                try:
                    type(group).model_validate(settings[name])
                except ValidationError as error:
                    raise RecipeError(_of_stage(cycle, name, type(group), error.errors()[0])) from error
        return stages

    def at(self, cycle: int) -> "SelfPlayConfig":
        """The recipe as it holds in a cycle, with the stages that have begun."""
        begun = [stage for begin, stage in sorted(self.stages.items()) if begin <= cycle]
        if not begun:
            return self
        settings = self.model_dump(exclude={"stages"})
        for stage in begun:
            settings = changed(settings, stage.model_dump(exclude_defaults=True))
        return SelfPlayConfig.model_validate(settings)

    def rated_networks(self) -> list[int]:
        """The numbers of the networks that are rated: every few, and the last."""
        return sorted({*range(self.rating.every, self.cycles + 1, self.rating.every), self.cycles})
