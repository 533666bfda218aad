"""The settings of a search, checked: from keywords, presets, texts and a network's advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from pydantic import ConfigDict, ValidationError, model_validator

from tengen import _native
from tengen.engine.param_fields import SearchParamFields
from tengen.engine.presets import PRESETS
from tengen.errors import RecipeError, refused_value, unknown_name
from tengen.evaluators.evaluator import BatchEvaluator
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import read_card
from tengen.evaluators.playout_file import read_playout_card

PassPolicy = Literal["free", "no-legal-move", "no-useful-move"]
"""When a pass is allowed, as the native core names it; see `pass_policy` of the settings."""


class SearchParams(SearchParamFields):
    """Settings of a search; frozen, and strict about names and ranges.

    The fields, with their ranges and descriptions, come from `native/search/params.def`. Means, values and constants of
    exploration are on the scale of the utility, -1 (lost) to 1 (won): a constant that was published for win rates in
    0..1 counts twice here. `preset` gives the settings of published systems. Raises ValueError for a setting out of
    range and for settings that contradict each other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="after")
    def _consistent(self) -> SearchParams:
        self.native().check()
        return self

    @property
    def uses_network(self) -> bool:
        """Whether priors or values come from a network; else the search runs in native threads alone."""
        return self.priors == "network" or self.playout_weight < 1

    @classmethod
    def preset(cls, name: str) -> SearchParams:
        """The settings of a published system, by its name in `presets.PRESETS`; RecipeError for another.

        All fields count as set, so that a network's advice changes none of them.
        """
        return cls(**{**cls().model_dump(), **_preset(name)})

    def advised(self, advice: Mapping[str, Any]) -> SearchParams:
        """These settings, and where they do not say anything themselves those of `advice`.

        The key `preset` of the advice names a published system; its other keys change single settings of that. Raises
        RecipeError for advice that names no setting or preset, or an impossible value, and for settings that contradict
        the advice: the error names those of the advice to set as well.
        """
        if "preset" in advice:
            advice = {**_preset(str(advice["preset"])), **{n: v for n, v in advice.items() if n != "preset"}}
        wanted = {name: value for name, value in advice.items() if name not in self.model_fields_set}
        return self._following(wanted) if wanted else self

    def has_value(self, network: BatchEvaluator) -> bool:
        """Whether a search by these settings and a network's advice has a value: the network's, or that of playouts."""
        return network.has_value or self.advised(network.advice).playout_weight > 0

    def _following(self, advice: Mapping[str, object]) -> SearchParams:
        try:
            return set_params(self, advice)
        except RecipeError as error:
            set_params(SearchParams(), advice)  # raises where the advice alone is impossible
            against = self._against(advice)
            advised = ", ".join(f"{name}={advice[name]}" for name in against)
            instead = ", ".join(f"{name}={getattr(self, name)}" for name in against)
            raise RecipeError(f"{error}; the network advises {advised}: set {instead} as well") from error

    def _against(self, advice: Mapping[str, object]) -> list[str]:
        """The names of the advice that these settings contradict once the rest is followed."""
        followed: dict[str, object] = {}
        left = list(advice)
        while added := next((name for name in left if self._allows({**followed, name: advice[name]})), None):
            followed[added] = advice[added]
            left.remove(added)
        return left

    def _allows(self, settings: Mapping[str, object]) -> bool:
        try:
            set_params(self, settings)
        except RecipeError:
            return False
        return True

    def native(self) -> _native.SearchParams:
        """The same settings for the native search."""
        params = _native.SearchParams()
        for name in type(self).model_fields:
            setattr(params, name, getattr(self, name))
        return params


def _preset(name: str) -> dict[str, Any]:
    if name not in PRESETS:
        raise RecipeError(unknown_name("search preset", name, PRESETS))
    return PRESETS[name]


def playout_params(policy: str = "local", priors: str = "linear", selection: str = "rave") -> SearchParams:
    """Settings of a search that needs no network: RAVE over playouts of one policy, with the priors of another.

    Raises RecipeError for an unknown policy or selection, and NetworkError for weights that cannot be read.
    """
    if policy.startswith("linear:"):
        read_playout_card(policy.removeprefix("linear:"))  # says why a file cannot be read, which the core does not
    chosen = {"selection": selection, "playout_weight": 1, "playouts": 1, "expand_visits": 2}
    return set_params(SearchParams(), {**chosen, "priors": priors, "playout": policy})


def set_params(params: SearchParams, settings: Mapping[str, object]) -> SearchParams:
    """The params with some of them given anew, as text or as values. Raises RecipeError that names what is wrong or
    unknown."""
    known = list(SearchParams.model_fields)
    for name in settings:
        if name not in known:
            raise RecipeError(unknown_name("search setting", name, known))
    changed = {**params.model_dump(exclude_unset=True), **settings}
    try:
        return SearchParams.model_validate_strings({name: str(value) for name, value in changed.items()})
    except ValidationError as error:
        first = error.errors()[0]
        raise RecipeError(refused_value(first, ".".join(map(str, first["loc"])))) from error


def set_beside(params: SearchParams, settings: Mapping[str, object], advice: Mapping[str, Any]) -> SearchParams:
    """The params as `set_params` gives them; settings that need what `advice` says besides are given with it, and it
    counts as asked for.

    A playout_weight of 1 needs the playouts of a preset that the card of a network names.
    """
    try:
        return set_params(params, settings)
    except RecipeError:
        with suppress(RecipeError):
            return set_params(params.advised(advice), settings)
        raise


def read_params(params: SearchParams, settings: Sequence[str], net: str) -> SearchParams:
    """The params with those of `--set NAME=VALUE`, which may need what the card of the network `net` advises besides.

    Raises RecipeError for another form, name or value.
    """
    given = dict(map(split_setting, settings))
    try:
        return set_params(params, given)
    except RecipeError:
        if net in ("", "uniform"):  # without a card
            raise
        return set_beside(params, given, read_card(find_network(net)).search)


def split_setting(setting: str) -> tuple[str, str]:
    """Name and value of a `--set NAME=VALUE`. Raises RecipeError for another form."""
    name, equals, value = setting.partition("=")
    if not equals:
        raise RecipeError(f"--set {name}: write NAME=VALUE, such as c_puct=1.1")
    return name, value
