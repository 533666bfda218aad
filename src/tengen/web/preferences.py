"""What a browser remembers of a person: its look, its language, and the last settings of a new game."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from tengen.errors import TengenError
from tengen.web.language import COOKIE, LANGUAGES, Language
from tengen.web.settings import MIN_REVIEW_VISITS, PageAnalysis
from tengen.web.teaching import DEFAULT_THRESHOLD
from tengen.web.view import MOVE_NUMBERS, MoveNumbers

STORED_SCRIPT = "tengen.stored()"
"""JavaScript that tells what is stored, null for nothing."""


@dataclass
class Preferences:
    """The preferences of one browser.

    dark: None follows the system. game: the fields of the dialog of a new game. levels: the automatic level of each
    board size (`opponents.AutomaticLevel`). analysis: how positions are searched for the person. teach: whether the
    teacher is on, and from which loss in points it warns. confirm: whether a tap must be confirmed, None for large
    boards on small screens. variations: whether the board and the tree show what follows. numbers: which moves show
    their numbers. language: None as the browser.
    """

    dark: bool | None = None
    sound: bool = True
    coordinates: bool = True
    game: dict[str, Any] = field(default_factory=dict)
    levels: dict[str, Any] = field(default_factory=dict)
    teach: tuple[bool, float] = False, DEFAULT_THRESHOLD
    analysis: PageAnalysis = field(default_factory=PageAnalysis)
    confirm: bool | None = None
    variations: bool = True
    numbers: MoveNumbers = "none"
    language: Language | None = None

    def __post_init__(self) -> None:
        self._stored = asdict(self)  # what the browser has, as far as this tab knows

    @classmethod
    def parse(cls, text: object) -> Preferences:
        """Read what a browser sent; whatever makes no sense stays as it is for a new one."""
        try:
            values = json.loads(text) if isinstance(text, str) else {}
        except ValueError:
            values = {}
        made = cls()
        if isinstance(values, dict):
            for name in ("dark", "sound", "coordinates", "confirm", "variations"):
                if isinstance(values.get(name), bool):
                    setattr(made, name, values[name])
            for name in ("game", "levels"):
                if isinstance(values.get(name), dict):
                    setattr(made, name, values[name])
            teach = values.get("teach")
            if isinstance(teach, list) and [type(part) for part in teach] in ([bool, int], [bool, float]):
                made.teach = teach[0], float(teach[1])
            if values.get("numbers") in MOVE_NUMBERS:
                made.numbers = values["numbers"]
            if values.get("language") in LANGUAGES:
                made.language = values["language"]
            analysis = values.get("analysis")
            if isinstance(analysis, dict) and [type(part) for part in analysis.values()] == [str, int, int]:
                if analysis.get("review_visits") == 1:  # of earlier versions
                    analysis = {**analysis, "review_visits": MIN_REVIEW_VISITS}
                with suppress(TengenError, TypeError):
                    made.analysis = PageAnalysis(**analysis)
        made._stored = asdict(made)
        return made

    def script(self) -> str:
        """JavaScript that stores what has changed since the last one; other tabs store theirs beside it."""
        before, self._stored = self._stored, asdict(self)
        changed = {name: value for name, value in self._stored.items() if value != before[name]}
        if "levels" in changed:
            known = before["levels"]
            changed["levels"] = {size: level for size, level in self.levels.items() if level != known.get(size)}
        return f"tengen.keep({json.dumps(changed)})"

    def reload_script(self) -> str:
        """JavaScript that stores the preferences, for the server the language in a cookie, and loads the page again
        in the language, where the browser tells the server of it.
        """
        return f"{self.script()}; tengen.reloadWith({json.dumps(f'{COOKIE}={self.language}')})"
