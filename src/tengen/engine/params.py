"""Everything about a search that can be chosen: names, ranges and meanings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from tengen import _native
from tengen.engine.presets import PRESETS
from tengen.errors import RecipeError, unknown_name

Selection = Literal["puct", "puct-alphago", "puct-leela-zero", "puct-darkforest", "gumbel", "uct", "rave"]
FirstPlay = Literal["reduction", "network", "absolute"]

_LARGEST = 1e9  # of any setting: the native search computes in float32


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
    rave_exploration: Annotated[float, Field(ge=0, description="RAVE's weight of the prior, as c_puct is PUCT's")] = 2.5
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
    playouts: Annotated[int, Field(ge=0, le=1000, description="playouts from a leaf")] = 0
    playout_slope: Annotated[
        float, Field(ge=0, description="0: a playout is won or lost; above: tanh(this / 2 x score)")
    ] = 0.0
    playout_decay: Annotated[
        float, Field(gt=0, le=1, description="the slope shrinks by this with every move of a playout")
    ] = 1.0
    leaf_symmetry: Annotated[
        Literal["none", "random"],
        Field(
            description="random: each position is evaluated turned by one of the eight symmetries, drawn by the seed"
        ),
    ] = "none"
    expand_visits: Annotated[
        int, Field(ge=0, lt=1 << 31, description="visits by playouts alone before a move becomes a node")
    ] = 0
    candidate_mass: Annotated[float, Field(ge=0, le=1, description="prior mass of the moves that a node keeps")] = 1.0
    candidate_max: Annotated[int, Field(ge=0, le=1000, description="moves that a node keeps; 0 is no bound")] = 0
    candidate_min: Annotated[int, Field(ge=1, le=1000, description="moves that a node keeps at the least")] = 1

    # --- The priors of the root
    policy_temperature: Annotated[
        float, Field(gt=0, le=100, description="a network's priors to the power 1 / this, in every node")
    ] = 1.0
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
        bool,
        Field(description="none for a root move that cannot be chosen in the visits to come, if known (forms of PUCT)"),
    ] = False
    forced_playouts: Annotated[
        float,
        Field(ge=0, description="k: a tried root move has sqrt(k x prior x visits) visits or more (forms of PUCT)"),
    ] = 0.0
    merge_symmetric: Annotated[
        bool, Field(description="of root moves that a symmetry of the position exchanges search and report one")
    ] = False
    prune_pass_alive: Annotated[
        bool, Field(description="no move where all lived or was enclosed beyond change at the root (area counting)")
    ] = False
    simulate_to_end: Annotated[
        bool,
        Field(
            description="each simulation goes on to the end of the game, and every position that it passes counts for "
            "the moves of its side above; with puct-alphago and a network alone"
        ),
    ] = False
    forbid_pass: Annotated[bool, Field(description="pass only where nothing else is left")] = False
    prune_eyes: Annotated[bool, Field(description="never fill an own true eye inside own pass-alive area")] = True
    ownership: Annotated[bool, Field(description="keep the mean ownership of the evaluated positions")] = False
    memory: Annotated[
        int, Field(ge=1 << 20, lt=1 << 48, description="bytes that the tree may take; a full tree stops growing")
    ] = 512 << 20
    temperature: Annotated[
        float, Field(ge=0, le=100, description="above 0 the move is drawn by visits ^ (1 / this)")
    ] = 0.0
    lcb: Annotated[bool, Field(description="play the best lower confidence bound, not the most visits")] = True
    lcb_deviations: Annotated[float, Field(ge=0, description="standard errors below the mean")] = 5.0
    lcb_share: Annotated[float, Field(ge=0, le=1, description="share of the most visits that a move needs for it")] = (
        0.15
    )

    @field_validator("*")
    @classmethod
    def _finite(cls, value: object) -> object:
        if isinstance(value, float) and value > _LARGEST:
            raise ValueError(f"must be {_LARGEST:g} or less")
        return value

    @field_validator("priors", "playout")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        known = _native.playout_policies() + (["network"] if info.field_name == "priors" else [])
        if name.startswith("linear:"):
            _native.read_linear_weights(name.removeprefix("linear:"))  # ValueError where it cannot
        elif name not in known:
            raise ValueError(f"{name!r} is unknown: choose {', '.join(known)}")
        return name

    @model_validator(mode="after")
    def _consistent(self) -> SearchParams:
        if not self.playouts and (self.playout_weight > 0 or self.expand_visits > 0):
            raise ValueError("playout_weight and expand_visits need playouts of 1 or more")
        if self.transpositions and self.expand_visits > 0:
            raise ValueError("transpositions share nodes, which expand_visits delays: set one of them alone")
        if self.simulate_to_end and (
            self.selection != "puct-alphago"
            or self.priors != "network"
            or self.playouts
            or self.transpositions
            or self.stop_futile
        ):
            raise ValueError(
                "simulate_to_end needs selection puct-alphago and a network's priors and values alone, without "
                "playouts, transpositions and stop_futile"
            )
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
        return cls(**{"policy_temperature": 1.0, **PRESETS[name]})

    def advised(self, advice: Mapping[str, Any]) -> SearchParams:
        """These settings, and where they do not say anything themselves those of `advice`.

        Raises RecipeError for advice that names no setting or an impossible value.
        """
        wanted = {name: value for name, value in advice.items() if name not in self.model_fields_set}
        return set_params(self, {name: str(value) for name, value in wanted.items()}) if wanted else self

    def native(self) -> _native.SearchParams:
        """The same settings for the native search."""
        params = _native.SearchParams()
        for name in type(self).model_fields:
            setattr(params, name, getattr(self, name))
        return params


def playout_params(policy: str = "local", priors: str = "linear", selection: str = "rave") -> SearchParams:
    """Settings of a search that needs no network: RAVE over playouts of one policy, with the priors of another.

    Raises RecipeError for an unknown policy or selection.
    """
    chosen = {"selection": selection, "playout_weight": "1", "playouts": "1", "expand_visits": "2"}
    return set_params(SearchParams(), {**chosen, "priors": priors, "playout": policy})


def set_params(params: SearchParams, settings: Mapping[str, str]) -> SearchParams:
    """The params with some of them given anew, as text. Raises RecipeError that names what is wrong or unknown."""
    known = list(SearchParams.model_fields)
    for name in settings:
        if name not in known:
            raise RecipeError(unknown_name("search setting", name, known))
    try:
        return SearchParams.model_validate_strings({**_texts(params), **settings})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        found = repr(first["input"])
        told = reason if not where or found in reason else f"{reason} (found {found})"
        raise RecipeError(f"{where}: {told}" if where else told) from error


def _texts(params: SearchParams) -> dict[str, str]:
    return {name: str(value) for name, value in params.model_dump(exclude_unset=True).items()}
