"""What a recipe changes as its run goes on."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from tengen.training.config import Strict


class StageConfig(Strict):
    """What a recipe says anew from a cycle on of how games are played: settings that it does not name stay."""

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
    """The settings with the changes; what holds settings itself is changed within."""
    inner = {
        name: changed(settings[name], value)
        for name, value in changes.items()
        if isinstance(value, Mapping) and isinstance(settings.get(name), Mapping)
    }
    return {**settings, **changes, **inner}
