"""The settings of a game: size, rules, players, level and time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from tengen.coords import MAX_SIZE, MIN_SIZE
from tengen.engine import Style, TimeControl
from tengen.engine.levels import level, levels_on, rank_text
from tengen.errors import TengenError
from tengen.handicap import max_fixed_handicap
from tengen.rules import Rules

RULES = ("chinese", "japanese", "korean", "aga", "new-zealand", "tromp-taylor")
MAX_KOMI = float(MAX_SIZE**2)
MAX_VISITS, MAX_SECONDS = 1_000_000, 3600.0


OWN = "own"
"""The key of an engine with settings of its own."""


class Mode(StrEnum):
    """The players: a person and an engine, engines alone, or a person for both colors."""

    PLAY = "play"
    WATCH = "watch"
    ANALYZE = "analyze"


@dataclass(frozen=True)
class Player:
    """Who plays a color: a person, the engine, or a GTP program by the name that the server gave it.

    The engine plays `visits` or `seconds` a move, without a limit for None, with an installed `network`, the page's
    for an empty name; `style` says how it chooses. `key` names the player in the page, `title` and `about` describe it.
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
    def is_person(self) -> bool:
        return self.key == PERSON.key

    @property
    def name(self) -> str:
        """How the page calls the player."""
        return "You" if self.is_person else self.program or "Tengen"

    @property
    def state(self) -> dict[str, Any]:
        """What `player_of` needs to find the player again."""
        return {name: getattr(self, name) for name in ("key", "visits", "seconds", "network", "program")}


PERSON = Player("person")
PEOPLE = (PERSON, PERSON)


def level_of_visits(visits: int) -> Player:
    """The engine with this number of visits a move, by the best move of the search."""
    return Player(f"visits-{visits}", f"{visits:,} visits a move", "Not measured.", visits)


SEARCHES = tuple(level_of_visits(visits) for visits in (16, 100, 400, 1600))
"""Levels beside the ladder, for those who think in visits."""


def own_player(network: str, visits: int | None = None, seconds: float | None = None) -> Player:
    """The engine with an installed network, the page's for an empty name, and a limit. Raises TengenError without."""
    if not (1 <= (visits or 0) <= MAX_VISITS if seconds is None else 0 < seconds <= MAX_SECONDS):
        raise TengenError(f"an engine needs 1 to {MAX_VISITS:,} visits a move, or up to {MAX_SECONDS:g} seconds")
    limit = f"{visits:,} visits a move" if seconds is None else f"{seconds:g} s a move"
    title = " \u00b7 ".join(part for part in (network, limit) if part)
    return Player(OWN, title, "", visits if seconds is None else None, seconds=seconds, network=network)


def program_player(name: str) -> Player:
    """A GTP program of the server."""
    about = "A GTP program: its strength is that of its own settings."
    return Player(f"program-{name}", "GTP program", about, program=name)


def facing(opponent: Player, human: int) -> tuple[Player, Player]:
    """The players of a game of a person, who has the color `human`."""
    return (PERSON, opponent) if human == 0 else (opponent, PERSON)


def ladder_level(size: int, number: int, network: str) -> Player:
    """A level of the ladder (`engine.levels`). Its rank is shown for the network that was measured, on its board."""
    found = level(size, number)
    title = f"Level {number}"
    if (found.size, found.network) != (size, network):
        return Player(f"level-{number}", title, "Not measured here.", found.visits, found.style)
    low, high = rank_text(found.rank_low), rank_text(found.rank_high)
    elo = f"{round(found.elo):+,} Elo".replace("-", "\u2212")
    about = f"Estimated between {low} and {high}; measured {elo} against GNU Go level 10 in {found.games} games."
    return Player(f"level-{number}", f"{title} · about {rank_text(found.rank)}", about, found.visits, found.style)


def player_of(state: Mapping[str, Any], size: int) -> Player:
    """The player of a game that was kept, a level of the ladder as it is now. Raises TengenError or ValueError."""
    key, visits = str(state["key"]), state["visits"]
    if key == PERSON.key:
        return PERSON
    if state["program"]:
        return program_player(str(state["program"]))
    if key == OWN:
        return own_player(str(state["network"]), visits, state["seconds"])
    word, _, number = key.rpartition("-")
    if word not in ("level", "auto") or not number.isdecimal() or int(number) not in range(1, len(levels_on(size)) + 1):
        return level_of_visits(int(visits))
    return replace(ladder_level(size, int(number), level(size, int(number)).network), key=key)


def levels_for(size: int, network: str) -> dict[str, Player]:
    """All levels on a board size by key, weakest first; `network` is the name of the one that plays there.

    Without a network there is no policy to draw from, so that only searches are left.
    """
    ladder = [ladder_level(size, one.number, network) for one in levels_on(size)] if network else []
    return {known.key: known for known in (*ladder, *SEARCHES)}


@dataclass(frozen=True)
class AnalysisSettings:
    """How positions are searched for a person: an installed network, the page's for an empty name, the visits of the
    analysis of a position, and those of each position of a review. Raises TengenError for values out of range."""

    network: str = ""
    visits: int = 20_000
    review_visits: int = 100

    def __post_init__(self) -> None:
        for visits in (self.visits, self.review_visits):
            if not 1 <= visits <= MAX_VISITS:
                raise TengenError(f"{visits:,} visits are out of range: choose 1 to {MAX_VISITS:,}")


@dataclass(frozen=True)
class GameSettings:
    """The settings of one game; `players` has Black's first. Raises TengenError for bad values."""

    size: int = 19
    rules: str = "chinese"
    komi: float = 7.5
    handicap: int = 0
    players: tuple[Player, Player] = (PERSON, SEARCHES[1])
    clock: TimeControl | None = None

    def __post_init__(self) -> None:
        if not MIN_SIZE <= self.size <= MAX_SIZE:
            raise TengenError(f"board size {self.size} is out of range: choose {MIN_SIZE} to {MAX_SIZE}")
        if not math.isfinite(self.komi) or abs(self.komi) > MAX_KOMI or self.komi * 2 != round(self.komi * 2):
            raise TengenError(f"komi {self.komi:g} is not possible: choose a whole or half number up to {MAX_KOMI:g}")
        if not 0 <= self.handicap <= max_fixed_handicap(self.size) or self.handicap == 1:
            allowed = (
                f"choose 0 or 2 to {max_fixed_handicap(self.size)}" if max_fixed_handicap(self.size) else "choose 0"
            )
            raise TengenError(f"handicap {self.handicap} is not possible on {self.size}x{self.size}: {allowed}")

    @property
    def mode(self) -> Mode:
        """Who plays: a person and an engine, engines alone, or a person for both colors."""
        people = sum(player.is_person for player in self.players)
        return (Mode.WATCH, Mode.PLAY, Mode.ANALYZE)[people]

    @property
    def human(self) -> int:
        """The person's color in Mode.PLAY."""
        return 0 if self.players[0].is_person else 1

    @property
    def opponent(self) -> Player:
        """The other player in Mode.PLAY."""
        return self.players[1 - self.human]

    @property
    def names(self) -> tuple[str, str]:
        """The names of the players, Black's first."""
        if self.mode is Mode.ANALYZE:
            return "Black", "White"
        return self.players[0].name, self.players[1].name

    @property
    def details(self) -> tuple[str, str]:
        """A line below each name: how strong an engine is, and White's komi."""
        black, white = (player.title for player in self.players)
        return black, " · ".join(part for part in (white, f"komi {self.komi:g}") if part)


def usual_komi(rules: str, handicap: int, size: int) -> float:
    """The usual komi under these rules. On 7x7 it is 9, the result of perfect play."""
    if handicap:
        return 0.5
    if size == 7:
        return 9.0
    return Rules.parse(rules).usual_komi


def first_game(size: int, visits: int) -> GameSettings:
    """The settings that a tab opens with. Raises TengenError for an impossible size."""
    return GameSettings(size=size, komi=usual_komi("chinese", 0, size), players=(PERSON, level_of_visits(visits)))
