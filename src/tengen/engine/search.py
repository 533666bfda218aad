"""The native tree search, driven from Python: gather positions, evaluate them, scatter the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from tengen import _native
from tengen.engine.presets import PRESETS
from tengen.errors import NetworkError, RecipeError
from tengen.evaluators.protocol import Evaluation, Evaluator, Floats
from tengen.game import Game

Selection = Literal["puct", "puct-alphago", "puct-leela-zero", "puct-darkforest", "gumbel", "uct", "rave"]
FirstPlay = Literal["reduction", "network", "absolute"]


class SearchParams(BaseModel):
    """Settings of a search; frozen, and strict about names and ranges.

    Means, values and constants of exploration are on the scale of the utility, -1 (lost) to 1 (won): a constant that
    was published for win rates in 0..1 counts twice here. `preset` gives the settings of published systems.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    # --- Selection
    selection: Annotated[Selection, Field(description="how a simulation chooses its moves")] = "puct"
    c_puct: Annotated[float, Field(ge=0, description="exploration: times the prior, in every form of PUCT")] = 1.25
    c_puct_base: Annotated[float, Field(gt=0, description="puct: visits at which exploration begins to grow")] = 19652.0
    c_puct_factor: Annotated[float, Field(ge=0, description="puct: how fast it grows, times the logarithm")] = 1.0
    puct_noise: Annotated[
        float, Field(ge=0, le=10, description="puct-darkforest: width of the uniform noise on every score")
    ] = 0.0
    virtual_games: Annotated[
        int, Field(ge=0, le=1000, description="puct-darkforest: games of random result that a move starts with")
    ] = 0
    fpu: Annotated[
        FirstPlay,
        Field(
            description="what an untried move is worth: the parent's mean - fpu_reduction x sqrt(prior mass that was "
            "tried), the same from the parent's own evaluation, or fpu_value"
        ),
    ] = "reduction"
    fpu_reduction: Annotated[float, Field(ge=0, description="see fpu; 0 is the parent's value itself")] = 0.2
    fpu_value: Annotated[
        float, Field(ge=-1, le=10, description="see fpu: 0 a draw, -1 a loss; above 1 tries every move once")
    ] = 0.0
    root_fpu: Annotated[FirstPlay, Field(description="fpu at the root")] = "reduction"
    root_fpu_reduction: Annotated[float, Field(ge=0, description="fpu_reduction at the root")] = 0.1
    root_fpu_value: Annotated[float, Field(ge=-1, le=10, description="fpu_value at the root")] = 0.0
    gumbel_moves: Annotated[int, Field(ge=1, le=362, description="gumbel: moves that the root considers")] = 16
    gumbel_scale: Annotated[
        float, Field(ge=0, le=10, description="gumbel: scale of the draws; 0 plays without chance")
    ] = 1.0
    gumbel_c_visit: Annotated[
        float, Field(ge=0, description="gumbel: sigma(q) = (c_visit + most visits) x c_scale x q, q in 0..1")
    ] = 50.0
    gumbel_c_scale: Annotated[float, Field(ge=0, description="gumbel: see gumbel_c_visit")] = 1.0
    uct_exploration: Annotated[
        float, Field(ge=0, description="UCT's weight of sqrt(log N / n), for values in -1..1")
    ] = 0.5
    rave_equivalence: Annotated[
        float, Field(gt=0, description="visits that all-moves-as-first counts for at the most")
    ] = 3500.0
    rave_exploration: Annotated[float, Field(ge=0, description="RAVE's weight of the prior, as c_puct is PUCT's")] = 0.5
    virtual_loss: Annotated[float, Field(ge=0, description="losses that a simulation under way counts for")] = 1.0
    score_weight: Annotated[float, Field(ge=0, le=1, description="share of the score in what is maximised")] = 0.05
    score_scale: Annotated[
        float, Field(gt=0, description="points of lead at which half of the score's share is reached")
    ] = 10.0
    priors: Annotated[str, Field(description="network, or the playout policy that gives the priors")] = "network"
    playout: Annotated[str, Field(description="playout policy of the leaves")] = "local"
    playout_weight: Annotated[
        float, Field(ge=0, le=1, description="share of the playouts in a leaf's value; the rest is the network's")
    ] = 0.0
    playouts: Annotated[int, Field(ge=0, description="playouts from a leaf")] = 0
    playout_slope: Annotated[
        float, Field(ge=0, description="0: a playout is won or lost; above: tanh(this / 2 x score)")
    ] = 0.0
    playout_decay: Annotated[
        float, Field(gt=0, le=1, description="the slope shrinks by this with every move of a playout")
    ] = 1.0
    expand_visits: Annotated[
        int, Field(ge=0, lt=1 << 31, description="visits by playouts alone before a move becomes a node")
    ] = 0
    candidate_mass: Annotated[float, Field(ge=0, le=1, description="prior mass of the moves that a node keeps")] = 1.0
    candidate_most: Annotated[int, Field(ge=0, le=1000, description="moves that a node keeps; 0 is no bound")] = 0
    candidate_least: Annotated[int, Field(ge=1, le=1000, description="moves that a node keeps at the least")] = 1

    # --- The priors of the root
    root_temperature: Annotated[float, Field(gt=0, le=100, description="priors of the root to the power 1 / this")] = (
        1.0
    )
    noise_weight: Annotated[
        float, Field(ge=0, le=1, description="share of Dirichlet noise in the priors of the root")
    ] = 0.0
    noise_total: Annotated[float, Field(gt=0, description="sum of the noise's alphas over the moves")] = 10.83
    noise_shaped: Annotated[
        float,
        Field(ge=0, le=1, description="share of noise_total that follows the log priors; the rest is alike for all"),
    ] = 0.0
    transpositions: Annotated[bool, Field(description="positions reached in several orders share a node")] = False

    planned_visits: Annotated[
        int, Field(ge=1, lt=1 << 31, description="simulations that a search plans which nobody told how many it has")
    ] = 400
    stop_futile: Annotated[
        bool, Field(description="no more visits for a root move that cannot be chosen within the plan (forms of PUCT)")
    ] = False
    forced_playouts: Annotated[
        float,
        Field(ge=0, description="k: a tried root move has sqrt(k x prior x visits) visits or more (forms of PUCT)"),
    ] = 0.0
    prune_eyes: Annotated[bool, Field(description="never fill an own true eye inside own pass-alive area")] = True
    ownership: Annotated[bool, Field(description="keep the mean ownership of the evaluated positions")] = False
    memory: Annotated[int, Field(ge=1 << 20, description="bytes that the tree may take; a full tree stops growing")] = (
        512 << 20
    )
    temperature: Annotated[
        float, Field(ge=0, le=100, description="above 0 the move is drawn by visits ^ (1 / this)")
    ] = 0.0
    lcb: Annotated[bool, Field(description="play the best lower confidence bound, not the most visits")] = True
    lcb_deviations: Annotated[float, Field(ge=0, description="standard errors below the mean")] = 5.0
    lcb_share: Annotated[float, Field(ge=0, le=1, description="share of the most visits that a move needs for it")] = (
        0.15
    )

    @field_validator("priors", "playout")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        known = _native.playout_policies() + (["network"] if info.field_name == "priors" else [])
        if name.startswith("linear:"):
            _native.read_linear_weights(name.removeprefix("linear:"))  # a ValueError says what is wrong with the file
        elif name not in known:
            raise ValueError(f"{name!r} is unknown: choose {', '.join(known)}")
        return name

    @model_validator(mode="after")
    def _consistent(self) -> SearchParams:
        if not self.playouts and (self.playout_weight > 0 or self.expand_visits > 0):
            raise ValueError("playout_weight and expand_visits need playouts of 1 or more")
        if self.transpositions and self.expand_visits > 0:
            raise ValueError("transpositions share nodes, which expand_visits delays: set one of them alone")
        return self

    @property
    def asks_network(self) -> bool:
        """Whether priors or values come from a network; else the search runs in native threads alone."""
        return self.priors == "network" or self.playout_weight < 1

    @classmethod
    def preset(cls, name: str) -> SearchParams:
        """The settings of a published system, by its name in `presets.PRESETS`; RecipeError for another."""
        if name not in PRESETS:
            raise RecipeError(f"search preset {name!r} is unknown: choose {', '.join(PRESETS)}")
        return cls(**PRESETS[name])

    def native(self) -> _native.SearchParams:
        """The same settings for the native search."""
        params = _native.SearchParams()
        for name in type(self).model_fields:
            setattr(params, name, getattr(self, name))
        return params


def playout_params(policy: str = "local", **settings: object) -> SearchParams:
    """Settings of a search that needs no network: RAVE over playouts of this policy, which gives the priors too."""
    chosen = {"selection": "rave", "priors": policy, "playout": policy, "playout_weight": 1.0, "playouts": 1}
    return SearchParams.model_validate({**chosen, "expand_visits": 2, **settings})


def set_params(params: SearchParams, settings: Mapping[str, str]) -> SearchParams:
    """The params with some of them given anew, as text. Raises RecipeError that names what is wrong or unknown."""
    known = list(SearchParams.model_fields)
    for name in settings:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            raise RecipeError(
                f"unknown search setting {name!r}; "
                + (f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}")
            )
    try:
        return SearchParams.model_validate_strings({**_texts(params), **settings})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        raise RecipeError(f"{where}: {reason} (found {first['input']!r})" if where else reason) from error


def _texts(params: SearchParams) -> dict[str, str]:
    return {name: str(value) for name, value in params.model_dump().items()}


@dataclass(frozen=True)
class RootStats:
    """The moves at the root, most visits first; an entry a move, means for the side to move.

    A move without visits has the root's own means and lcb -1. `utility` is what the search maximises, in [-1, 1], and
    `lcb` its lower confidence bound; `prior` is the network's, without temperature and noise.
    """

    point: NDArray[np.int32]
    visits: NDArray[np.int32]
    value: Floats
    score: Floats
    utility: Floats
    lcb: Floats
    prior: Floats


class SearchView:
    """What a native search found, all of it for the side to move at the root. May be asked from any thread."""

    def __init__(self, native: _native.Search) -> None:
        self._native = native

    @property
    def visits(self) -> int:
        """Visits of the root, those of a kept tree included."""
        return int(self._native.root_visits())

    @property
    def value(self) -> float:
        """Mean value in [-1, 1]; 0 without visits."""
        return float(self._native.root_value())

    @property
    def score(self) -> float:
        """Mean score in points; 0 without visits."""
        return float(self._native.root_score())

    @property
    def ownership(self) -> Floats | None:
        """Mean ownership [size, size] of the positions evaluated since set_root; None where params do not keep it."""
        return self._native.root_ownership()

    @property
    def bytes(self) -> int:
        """Bytes that the tree's nodes take."""
        return int(self._native.bytes())

    @property
    def held_bytes(self) -> int:
        """Bytes taken from the system for it, never more than `params.memory`."""
        return int(self._native.held_bytes())

    @property
    def is_full(self) -> bool:
        """Whether the memory is used up: the tree grows no more, and visits only weigh what it holds."""
        return bool(self._native.is_full())

    @property
    def nodes(self) -> int:
        """Positions in the tree."""
        return int(self._native.node_count())

    def stats(self) -> RootStats:
        """The moves at the root; empty before the first evaluation."""
        return RootStats(**self._native.root_stats())

    def pv(self, point: int, length: int = 20) -> tuple[int, ...]:
        """The most visited line that begins with this move; empty if it has no visit."""
        return tuple(self._native.pv(point, length))

    def choose(self, temperature: float | None = None) -> int | None:
        """The move to play by the params, or with another temperature; None before any move has a visit."""
        point = int(self._native.choose(temperature))
        return None if point < 0 else point

    def policy_target(self) -> Floats:
        """What the search tells the policy [size * size + 1], sum 1: unforced visits, or the improved policy of Gumbel.

        Raises RuntimeError before any move has a visit.
        """
        return self._native.policy_target()

    def text(self, depth: int = 2, min_visits: int = 1) -> str:
        """The tree as text, a line a move: visits, mean value for the player who makes it, prior."""
        return str(self._native.text(depth, min_visits))


def leaf_buffers(evaluator: Evaluator, rows: int, edge: int) -> tuple[Floats, Floats, Floats]:
    """Planes [rows, C, edge, edge], scalars [rows, S] and mask [rows, edge, edge] for the evaluator's plane set."""
    try:
        planes, scalars = _native.plane_set(evaluator.plane_set)
    except ValueError as error:
        raise NetworkError(f"evaluator {evaluator.name}: {error}") from error
    return (
        np.zeros((rows, len(planes), edge, edge), np.float32),
        np.zeros((rows, len(scalars)), np.float32),
        np.zeros((rows, edge, edge), np.float32),
    )


def scatter(native: _native.Search | _native.SearchPool, evaluator: Evaluator, result: Evaluation, n: int) -> None:
    """Hand the first n results to the positions that wait; NetworkError when they cannot be right."""
    arrays = (result.policy, result.value, result.score, result.ownership)
    policy, value, score, ownership = (np.ascontiguousarray(array, np.float32) for array in arrays)
    try:
        native.scatter(policy, value, score, ownership, n)
    except ValueError as error:
        raise NetworkError(f"evaluator {evaluator.name}: {error}") from error


def plan(native: _native.Search, simulations: int) -> None:
    """Tell a native search how many simulations will follow; 0 or less stands for its `planned_visits`."""
    native.plan(max(0, min(simulations, _MOST_PLANNED)))


# A search by playouts alone looks up this often, in seconds.
_SLICE = 0.02
_ENDLESS = 1 << 40
_MOST_PLANNED = (1 << 31) - 1


class TreeSearch(SearchView):
    """One tree and the buffers that carry its positions to an evaluator. `batch` positions go out at a time.

    Where the params ask no network, `threads` native threads search by playouts instead, and the evaluator is not used.
    With the same games, evaluator, batch and seed it does the same thing again, with one thread. Not for two threads at
    once, except that the questions of SearchView may be asked while another thread is in it.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams | None = None,
        batch: int = 8,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        if batch < 1:
            raise ValueError(f"a batch of {batch} positions is impossible: give 1 or more")
        if threads < 1:
            raise ValueError(f"{threads} threads cannot search: give 1 or more")
        self.evaluator = evaluator
        self.params = params or SearchParams()
        super().__init__(_native.Search(self.params.native(), seed))
        self.batch = batch
        self.threads = threads
        self.evaluations = 0  # positions that the evaluator has seen, or playouts, ever
        self._buffers: tuple[Floats, Floats, Floats] | None = None

    def set_root(self, game: Game, allow: Sequence[int] = (), avoid: Sequence[int] = ()) -> None:
        """Search this position from now on, with the tree that is known if the game went on from the last root.

        `allow` (if not empty) and `avoid` restrict the moves at the root; raises ValueError when none is left.
        """
        self._native.set_root(game._native, list(allow), list(avoid))
        if self._buffers is None or self._buffers[2].shape[1] != game.size:
            self._buffers = leaf_buffers(self.evaluator, self.batch, game.size)

    def plan(self, simulations: int) -> None:
        """Say how many simulations will follow; 0, as after every `set_root`, stands for `params.planned_visits`."""
        plan(self._native, simulations)

    def run(self, visits: int, keep_going: Callable[[], bool] = lambda: True) -> int:
        """Plan and search until the root has `visits`, or until `keep_going()`, asked before each batch, says no."""
        self.plan(visits - self.visits)
        while (done := self.visits) < visits and keep_going():
            self.step(visits - done)
        return self.visits

    def step(self, limit: int | None = None) -> int:
        """Run one batch of simulations, at most `limit`; returns the number of positions that were evaluated.

        It is 0 when all simulations ended in finished games, or in a tree that has filled its memory: they count as
        visits all the same. When the evaluator fails, the search is as it was before the call. A search by playouts
        alone runs up to `limit` of them, for a short time.
        """
        if self._buffers is None:
            raise RuntimeError("the search has no root yet: call set_root first")
        if not self.params.asks_network:
            played = self._native.run(_ENDLESS if limit is None else limit, self.threads, _SLICE)
            self.evaluations += played * self.params.playouts
            return played
        planes, scalars, mask = self._buffers
        limit = self.batch if limit is None else min(limit, self.batch)
        n: int = self._native.gather(self.evaluator.plane_set, planes, scalars, mask, limit)
        if n:
            try:
                scatter(self._native, self.evaluator, self.evaluator.evaluate(planes[:n], scalars[:n], mask[:n]), n)
            except BaseException:
                self._native.forget_waiting()
                raise
            self.evaluations += n
        return n
