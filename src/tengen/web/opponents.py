"""The opponents that a page offers: the ladder, searches, and the automatic level, which follows the results."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from tengen.engine.levels import levels_on
from tengen.web.automatic import AutomaticLevel
from tengen.web.language import _
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings, Level, Mode, ladder_level, level_of_visits, levels_for, usual_komi

AUTO = "auto"
"""The key of the automatic level; a game at it has a level with the key `auto-4`."""


class Opponents:
    """The opponents of one page. `network` names the network of a board size; `kept` is what the browser remembers."""

    _counted: ClassVar[weakref.WeakSet[GameSession]] = weakref.WeakSet()  # of all pages: a reload makes a new page

    def __init__(self, network: Callable[[int], str]) -> None:
        self._network = network
        self.kept: dict[str, Any] = {}

    def levels(self, size: int) -> dict[str, Level]:
        """All levels on this board size by key, the automatic one first where there is a network."""
        network = self._network(size)
        automatic = {AUTO: self.automatic(size)} if network else {}
        return {**automatic, **levels_for(size, network)}

    def automatic(self, size: int) -> Level:
        """The level that the next automatic game on this board size has."""
        number = min(self._state(size).number, len(levels_on(size)))
        found = ladder_level(size, number, self._network(size))
        about = " ".join((_("One level up after a win, one down after a loss."), found.about))
        return replace(found, key=f"{AUTO}-{number}", about=about)

    def first_game(self) -> GameSettings:
        """What a new player is offered."""
        return GameSettings(size=9, komi=usual_komi("chinese", 0, 9), level=self.automatic(9))

    def again(self, settings: GameSettings) -> GameSettings:
        """The settings of another game after one with these: the automatic level may have moved."""
        if not settings.level.key.startswith(f"{AUTO}-"):
            return settings
        return replace(settings, level=self.automatic(settings.size))

    def count(self, session: GameSession) -> str:
        """Move the automatic level by a game that has ended here, once; says what comes next, or nothing."""
        settings, result = session.settings, session.result
        decided = session.ended_here and result[:2] in ("B+", "W+") and settings.mode is Mode.PLAY
        if not decided or not settings.level.key.startswith(f"{AUTO}-") or session in self._counted:
            return ""
        self._counted.add(session)
        size = settings.size
        won = result[0] == "BW"[settings.human]
        self.kept[str(size)] = self._state(size).after(won, len(levels_on(size))).as_dict()
        return _("Next opponent: {level}", level=self.automatic(size).title)

    def translated(self, settings: GameSettings) -> GameSettings:
        """The settings with the texts of their level in the language of this context."""
        size, level = settings.size, settings.level
        known = {one.key: one for one in self.levels(size).values()}
        other = level_of_visits(level.visits) if level.key.startswith("visits-") else level
        return replace(settings, level=known.get(level.key, other))

    def _state(self, size: int) -> AutomaticLevel:
        return AutomaticLevel.parse(self.kept.get(str(size)))
