"""What the recipes of all kinds share: strict models of their keys, limits of numbers, and what they say of themselves.

Needs no PyTorch.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from tengen.cluster import Place
from tengen.disk import file_name
from tengen.rules import Rules

FileName = Annotated[str, AfterValidator(file_name)]
MAX_BATCH = 1 << 16
"""Positions of a batch: what a batch of 19x19 takes in memory grows to gigabytes."""
MAX_THREADS = 1024
MAX_COUNT = 1_000_000_000
"""Steps, games and cycles of a run: more than any run can have, and small enough for every sum."""
Positive = Annotated[float, Field(gt=0, le=1e30)]  # float32 has to hold it
NonNegative = Annotated[float, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]


def _area_rules(text: str) -> str:
    if Rules.parse(text).scoring == "territory":
        raise ValueError(
            f"under {text} rules players agree on the dead stones after their passes, which no game of a network with "
            "itself does; choose area rules such as chinese, tromp-taylor or aga"
        )
    return text


AreaRules = Annotated[str, AfterValidator(_area_rules)]
"""A rule set that a network can learn from games with itself."""


class Strict(BaseModel):
    """A frozen model that refuses unknown keys. `key` documents a field for the reference of recipe keys.

    Keys that a group lacks have the defaults of its place, which may differ from those of its class.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _complete_groups(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        groups = {
            name: field.default.model_dump(include=field.default.model_fields_set) | given[name]
            for name, field in cls.model_fields.items()
            if isinstance(field.default, Strict) and isinstance(given.get(name), dict)
        }
        return given | groups


def changed(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with the changes applied, nested mappings recursively."""
    inner = {
        name: changed(settings[name], value)
        for name, value in changes.items()
        if isinstance(value, Mapping) and isinstance(settings.get(name), Mapping)
    }
    return {**settings, **changes, **inner}


def key(default: Any, meaning: str, **limits: Any) -> Any:
    """A field with its meaning, as the reference of recipe keys prints it; `limits` as of pydantic's Field."""
    return Field(default, description=meaning, **limits)


def check_network_given(network: Mapping[str, Any], start: str | None) -> None:
    """Raise ValueError for a recipe without a network and without a start whose network it could take."""
    if not network and start is None:
        raise ValueError("network is missing: give its family, such as network: {family: residual}, or a start")


class CardFacts(Strict):
    """Entries of the network's card that the run does not know itself."""

    data: str = key("", "description of the games; the name of the store unless given")
    rules: str = key("", "description of the rule sets of the games")
    licence: str = key("", "licence of the network, if you give it one")
    board_sizes: list[int] = key([], "board sizes that the network knows; those of the games unless given")
    search: dict[str, Any] = key({}, "search settings that suit the network better than the defaults")


class Recipe(Strict):
    """What recipes of every kind say about themselves. Each kind adds `kind`."""

    name: FileName = key(..., "name of the run and its result, no path; the file's name unless given")
    recipe: str = key("", "set by the command: the recipe's name and settings, for the card")
    description: str = key("", "text for people")
    paper: str | None = key(None, "the publication whose system the recipe follows")
    hours: float | None = key(None, "hours that the run takes on two cores, about", gt=0)


class PlaceConfig(Strict):
    """What training takes of a machine of a Ray cluster."""

    cpus: float = key(1, "cores; PyTorch uses as many threads unless `threads` says otherwise", gt=0)
    gpus: float = key(0, "GPUs, or a share of one", ge=0)

    def place(self) -> Place:
        """One worker."""
        return Place(self.cpus, self.gpus, workers=1)
