"""The opponents that a page offers: levels, an automatic one that follows the results, programs, other networks."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Mapping, MutableMapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from tengen.engine.levels import levels_on
from tengen.web.language import _
from tengen.web.players import (
    AUTO,
    OWN,
    PERSON,
    SEARCH_VISITS,
    PlayerChoice,
    ladder_level,
    level_of_visits,
    own_player,
    program_player,
)
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings, Mode, usual_komi

FIRST_LEVEL = 2
"""The number of the level that a new player is offered."""


@dataclass(frozen=True)
class AutomaticLevel:
    """The number of the next level, how many levels the next result moves it, and the last result.

    Results move it by two levels until one goes the other way, and by one from then on. A draw moves nothing.
    """

    number: int = FIRST_LEVEL
    step: int = 2
    won: bool | None = None

    @classmethod
    def parse(cls, values: object) -> AutomaticLevel:
        """What a browser has kept; a new one for whatever makes no sense."""
        if not isinstance(values, Mapping):
            return cls()
        number, step, won = (values.get(name) for name in ("number", "step", "won"))
        if type(number) is int and 1 <= number <= 99 and step in (1, 2) and (won is None or isinstance(won, bool)):
            return cls(number, step, won)
        return cls()

    def after(self, won: bool, highest: int) -> AutomaticLevel:
        """The level after a win or a loss, from 1 to `highest`."""
        step = self.step if self.won in (None, won) else 1
        return AutomaticLevel(min(max(self.number + (step if won else -step), 1), highest), step, won)

    def as_dict(self) -> dict[str, Any]:
        """The level as a dictionary, for the browser to keep."""
        return asdict(self)


class Opponents:
    """The opponents of one page. `network` names the network of a board size, `ladder_network` that of the levels there
    (the same unless given), `programs` are the server's GTP programs; `kept` is what the browser remembers."""

    # The state before and after each game that has counted, of all pages: a reload makes a new page.
    _counted: ClassVar[MutableMapping[GameSession, tuple[AutomaticLevel, AutomaticLevel]]] = weakref.WeakKeyDictionary()

    def __init__(
        self,
        network: Callable[[int], str],
        programs: Collection[str] = (),
        ladder_network: Callable[[int], str] | None = None,
    ) -> None:
        self._network, self._programs = network, programs
        self._ladder_network = ladder_network or network
        self.kept: dict[str, Any] = {}

    def choices(self, size: int, automatic: bool = True) -> dict[str, PlayerChoice]:
        """All opponents on this board size by key: the automatic level first where there is a network, other levels,
        programs, and last the engine with settings of its own, which the person still has to choose."""
        has_network = bool(self._network(size))
        first = {AUTO: self.automatic(size)} if has_network and automatic else {}
        # Without a network there is no policy to draw from, so that only searches are left.
        ladder = [self._level(size, one.number) for one in levels_on(size)] if has_network else []
        programs = {player.key: player for player in map(program_player, self._programs)}
        return {
            **first,
            **{level.key: level for level in (*ladder, *map(level_of_visits, SEARCH_VISITS))},
            **programs,
            OWN: PlayerChoice(OWN, _("Other network, visits or seconds")),
        }

    def automatic(self, size: int) -> PlayerChoice:
        """The level that the next automatic game on this board size has."""
        number = min(self._state(size).number, len(levels_on(size)))
        found = self._level(size, number)
        about = " ".join((_("Up after a win, down after a loss: by two levels at first, then by one."), found.about))
        return replace(found, key=f"{AUTO}-{number}", about=about)

    def _level(self, size: int, number: int) -> PlayerChoice:
        network = self._ladder_network(size)
        found = ladder_level(size, number, network)
        return found if network == self._network(size) else replace(found, network=network)

    def first_game(self) -> GameSettings:
        """What a new player is offered."""
        opponent = next(iter(self.choices(9).values()))
        return GameSettings(size=9, komi=usual_komi("chinese", 0, 9), players=(PERSON, opponent))

    def again(self, settings: GameSettings) -> GameSettings:
        """The settings of another game after one with these: the automatic level may have moved."""
        black, white = (self.automatic(settings.size) if player.is_automatic else player for player in settings.players)
        return replace(settings, players=(black, white))

    def count(self, session: GameSession) -> str:
        """Move the automatic level by a game that has ended here, once; says what comes next, or nothing.

        Games with a handicap or another komi than the usual one do not count, since the levels were measured in even
        games. Nor does a result that is taken back: the level returns, unless another game has moved it since.
        """
        settings, result = session.settings, session.result
        decided = session.ended_here and result[:2] in ("B+", "W+") and settings.mode is Mode.PLAY
        size, state = settings.size, self._state(settings.size)
        counted = self._counted.get(session)
        if counted is not None and not result:
            del self._counted[session]
            before, after = counted
            if state != after:
                return ""
            self.kept[str(size)] = before.as_dict()
        elif decided and counted is None and settings.opponent.is_automatic and settings.is_even:
            won = result[0] == "BW"[settings.human]
            self._counted[session] = state, state.after(won, len(levels_on(size)))
            self.kept[str(size)] = self._counted[session][1].as_dict()
        else:
            return ""
        return _("Next opponent: {level}", level=self.automatic(size).title)

    def translated(self, settings: GameSettings) -> GameSettings:
        """The settings with the texts of their players in the language of this context."""
        known = {player.key: player for player in self.choices(settings.size).values()}

        def again(player: PlayerChoice) -> PlayerChoice:
            if player.key == OWN:
                return own_player(player.network, player.visits, player.seconds)
            if player.key.startswith("visits-") and player.visits is not None:
                return level_of_visits(player.visits)
            return known.get(player.key, player)

        black, white = map(again, settings.players)
        return replace(settings, players=(black, white))

    def _state(self, size: int) -> AutomaticLevel:
        return AutomaticLevel.parse(self.kept.get(str(size)))
