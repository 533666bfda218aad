"""The opponents that a page offers: levels, an automatic one that follows the results, programs, other networks."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, ClassVar

from tengen.engine.levels import levels_on
from tengen.web.automatic import AutomaticLevel
from tengen.web.session import GameSession
from tengen.web.settings import (
    OWN,
    PERSON,
    GameSettings,
    Mode,
    Player,
    ladder_level,
    levels_for,
    program_player,
    usual_komi,
)

AUTO = "auto"
"""The key of the automatic level; a game at it has a level with the key `auto-4`."""


class Opponents:
    """The opponents of one page. `network` names the network of a board size, `programs` are the server's GTP programs;
    `kept` is what the browser remembers."""

    _counted: ClassVar[weakref.WeakSet[GameSession]] = weakref.WeakSet()  # of all pages: a reload makes a new page

    def __init__(self, network: Callable[[int], str], programs: Collection[str] = ()) -> None:
        self._network, self._programs = network, programs
        self.kept: dict[str, Any] = {}

    def choices(self, size: int, automatic: bool = True) -> dict[str, Player]:
        """All opponents on this board size by key: the automatic level first where there is a network, other levels,
        programs, and last the engine with settings of its own, which the person still has to choose."""
        network = self._network(size)
        first = {AUTO: self.automatic(size)} if network and automatic else {}
        programs = {player.key: player for player in map(program_player, self._programs)}
        return {**first, **levels_for(size, network), **programs, OWN: Player(OWN, "Other network, visits or seconds")}

    def automatic(self, size: int) -> Player:
        """The level that the next automatic game on this board size has."""
        number = min(self._state(size).number, len(levels_on(size)))
        found = ladder_level(size, number, self._network(size))
        about = f"One level up after a win, one down after a loss. {found.about}"
        return replace(found, key=f"{AUTO}-{number}", about=about)

    def first_game(self) -> GameSettings:
        """What a new player is offered."""
        return GameSettings(size=9, komi=usual_komi("chinese", 0, 9), players=(PERSON, self.automatic(9)))

    def again(self, settings: GameSettings) -> GameSettings:
        """The settings of another game after one with these: the automatic level may have moved."""
        black, white = (
            self.automatic(settings.size) if player.key.startswith(f"{AUTO}-") else player
            for player in settings.players
        )
        return replace(settings, players=(black, white))

    def count(self, session: GameSession) -> str:
        """Move the automatic level by a game that has ended here, once; says what comes next, or nothing."""
        settings, result = session.settings, session.result
        decided = session.ended_here and result[:2] in ("B+", "W+") and settings.mode is Mode.PLAY
        if not decided or not settings.opponent.key.startswith(f"{AUTO}-") or session in self._counted:
            return ""
        self._counted.add(session)
        size = settings.size
        won = result[0] == "BW"[settings.human]
        self.kept[str(size)] = self._state(size).after(won, len(levels_on(size))).as_dict()
        return f"Next opponent: {self.automatic(size).title}"

    def _state(self, size: int) -> AutomaticLevel:
        return AutomaticLevel.parse(self.kept.get(str(size)))
