"""What a browser remembers of a person: light or dark, sound, coordinates, and the last settings of a new game."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

KEY = "tengen"
"""The entry of the browser's local storage."""


@dataclass
class Preferences:
    """The preferences of one browser. dark: None follows the system. game: the fields of the dialog of a new game."""

    dark: bool | None = None
    sound: bool = True
    coordinates: bool = True
    game: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: object) -> Preferences:
        """Read what a browser sent; whatever makes no sense stays as it is for a new one."""
        try:
            values = json.loads(text) if isinstance(text, str) else {}
        except ValueError:
            values = {}
        made = cls()
        if isinstance(values, dict):
            for name in ("dark", "sound", "coordinates"):
                if isinstance(values.get(name), bool):
                    setattr(made, name, values[name])
            if isinstance(values.get("game"), dict):
                made.game = values["game"]
        return made

    def script(self) -> str:
        """JavaScript that stores the preferences."""
        return f"localStorage.setItem({json.dumps(KEY)}, {json.dumps(json.dumps(vars(self)))})"

    @staticmethod
    def read_script() -> str:
        """JavaScript that returns what is stored, null for nothing."""
        return f"return localStorage.getItem({json.dumps(KEY)})"


Switch = Literal["dark", "sound", "coordinates"]
