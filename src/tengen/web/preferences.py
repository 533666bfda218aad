"""What a browser remembers of a person: light or dark, sound, coordinates, and the last settings of a new game."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tengen.errors import TengenError
from tengen.web.settings import AnalysisSettings

KEY = "tengen"
"""The entry of the browser's local storage."""


@dataclass
class Preferences:
    """The preferences of one browser.

    dark: None follows the system. game: the fields of the dialog of a new game. levels: the automatic level of each
    board size (`automatic.AutomaticLevel`). analysis: how positions are searched for the person. teach: whether the
    teacher is on, and from which loss in points it warns.
    """

    dark: bool | None = None
    sound: bool = True
    coordinates: bool = True
    game: dict[str, Any] = field(default_factory=dict)
    levels: dict[str, Any] = field(default_factory=dict)
    teach: tuple[bool, float] = False, 3.0
    analysis: AnalysisSettings = field(default_factory=AnalysisSettings)

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
            for name in ("game", "levels"):
                if isinstance(values.get(name), dict):
                    setattr(made, name, values[name])
            teach = values.get("teach")
            if isinstance(teach, list) and [type(part) for part in teach] in ([bool, int], [bool, float]):
                made.teach = teach[0], float(teach[1])
            analysis = values.get("analysis")
            if isinstance(analysis, dict) and [type(part) for part in analysis.values()] == [str, int, int]:
                with suppress(TengenError, TypeError):
                    made.analysis = AnalysisSettings(**analysis)
        return made

    def script(self) -> str:
        """JavaScript that stores the preferences."""
        return f"localStorage.setItem({json.dumps(KEY)}, {json.dumps(json.dumps(asdict(self)))})"

    @staticmethod
    def read_script() -> str:
        """JavaScript that returns what is stored, null for nothing."""
        return f"return localStorage.getItem({json.dumps(KEY)})"


Switch = Literal["dark", "sound", "coordinates"]
