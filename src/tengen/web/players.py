"""The players of a game on the page: a person, the engine at a level or with its own settings, a GTP program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tengen.engine import Style
from tengen.engine.levels import level, levels_on, rank_text
from tengen.errors import TengenError
from tengen.web.language import _

MAX_VISITS, MAX_SECONDS = 1_000_000, 3600.0
AUTO = "auto"
"""The key of the automatic level among opponents; in a game it is a level with the key `auto-4`."""
OWN = "own"
"""The key of an engine with settings of its own."""


@dataclass(frozen=True)
class PlayerChoice:
    """Who plays a color: a person, the engine, or a GTP program by the name that the server gave it.

    The engine plays `visits` or `seconds` a move, without a limit for None, with an installed `network`, the page's
    for an empty name; `style` says how it chooses. `title` and `about` describe it. `key` names it in
    the page: `person`, `level-4`, `auto-4`, `visits-100`, `own`, `program-NAME`.
    """

    key: str
    title: str = ""
    about: str = ""
    visits: int | None = None
    style: Style = field(default_factory=Style)
    seconds: float | None = None
    network: str = ""
    program: str = ""

    @property
    def is_automatic(self) -> bool:
        """Whether the results of the person choose the level."""
        return self.key.startswith(f"{AUTO}-")

    @property
    def is_person(self) -> bool:
        return self.key == PERSON.key

    @property
    def name(self) -> str:
        """How the page calls the player."""
        return _("You") if self.is_person else self.program or "Tengen"

    @property
    def state(self) -> dict[str, Any]:
        """What `player_of` needs to find the player again."""
        return {name: getattr(self, name) for name in ("key", "visits", "seconds", "network", "program")}


PERSON = PlayerChoice("person")
PEOPLE = (PERSON, PERSON)


def level_of_visits(visits: int) -> PlayerChoice:
    """The engine with this number of visits a move, by the best move of the search."""
    return PlayerChoice(f"visits-{visits}", _("{n:,} visits a move", n=visits), _("Strength not measured."), visits)


SEARCH_VISITS = (16, 100, 400, 1600)
"""Visits of the levels besides the ladder, for those who think in visits."""
DEFAULT_ENGINE = level_of_visits(100)
"""The opponent where nothing was chosen."""


def own_player(network: str, visits: int | None = None, seconds: float | None = None) -> PlayerChoice:
    """The engine with an installed network, the page's for an empty name, and a limit. Raises TengenError without."""
    if not (1 <= (visits or 0) <= MAX_VISITS if seconds is None else 0 < seconds <= MAX_SECONDS):
        limits = {"visits": MAX_VISITS, "seconds": MAX_SECONDS}
        raise TengenError(_("an engine needs 1 to {visits:,} visits a move, or up to {seconds:g} seconds", **limits))
    limit = _("{n:,} visits a move", n=visits) if seconds is None else _("{seconds:g} s a move", seconds=seconds)
    title = " \u00b7 ".join(part for part in (network, limit) if part)
    return PlayerChoice(OWN, title, "", visits if seconds is None else None, seconds=seconds, network=network)


def program_player(name: str) -> PlayerChoice:
    """A GTP program of the server."""
    about = _("A GTP program: its strength is that of its own settings.")
    return PlayerChoice(f"program-{name}", _("GTP program"), about, program=name)


def facing(opponent: PlayerChoice, human: int) -> tuple[PlayerChoice, PlayerChoice]:
    """The players of a game of a person, who has the color `human`."""
    return (PERSON, opponent) if human == 0 else (opponent, PERSON)


def ladder_level(size: int, number: int, network: str) -> PlayerChoice:
    """A level of the ladder (`engine.levels`). Its rank is shown for the network that was measured, on its board."""
    found = level(size, number)
    title = _("Level {number}", number=number)
    if (found.size, found.network) != (size, network):
        return PlayerChoice(f"level-{number}", title, _("Strength not measured here."), found.visits, found.style)
    low, high, rank = (rank_name(rank) for rank in (found.rank_low, found.rank_high, found.rank))
    elo = f"{round(found.elo):+,} Elo".replace("-", "\u2212")
    about = _(
        "Estimated between {low} and {high}; measured {elo} against GNU Go level 10 in {games} games.",
        low=low,
        high=high,
        elo=elo,
        games=found.games,
    )
    title = _("{level} · about {rank}", level=title, rank=rank)
    return PlayerChoice(f"level-{number}", title, about, found.visits, found.style)


def rank_name(rank: float) -> str:
    """A rank in words: `8 kyu`, `1 dan`."""
    number, _space, word = rank_text(rank).partition(" ")
    return _("{n} dan", n=number) if word == "dan" else _("{n} kyu", n=number)


def player_of(state: Mapping[str, Any], size: int) -> PlayerChoice:
    """The player of a game that was kept, a level of the ladder as it is now. Raises TengenError or ValueError."""
    key, visits = str(state["key"]), state["visits"]
    if key == PERSON.key:
        return PERSON
    if state["program"]:
        return program_player(str(state["program"]))
    if key == OWN:
        return own_player(str(state["network"]), visits, state["seconds"])
    word, _, number = key.rpartition("-")
    if word not in ("level", AUTO) or not number.isdecimal() or int(number) not in range(1, len(levels_on(size)) + 1):
        return level_of_visits(int(visits))
    found = ladder_level(size, int(number), level(size, int(number)).network)
    return replace(found, key=key, network=str(state["network"]))
