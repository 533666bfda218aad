"""The settings of a game: size, rules, players, level and time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum

from tengen.coords import MAX_SIZE, MIN_SIZE
from tengen.engine import Style, TimeControl
from tengen.engine.levels import level, levels_on, rank_text
from tengen.errors import TengenError
from tengen.handicap import max_fixed_handicap
from tengen.rules import Rules
from tengen.web.language import _

RULES = ("chinese", "japanese", "korean", "aga", "new-zealand", "tromp-taylor")
MAX_KOMI = float(MAX_SIZE**2)


class Mode(StrEnum):
    """The players: a person and the engine, the engine alone, or a person for both colors."""

    PLAY = "play"
    WATCH = "watch"
    ANALYZE = "analyze"


@dataclass(frozen=True)
class Level:
    """How strong the engine plays: the visits of a move, and how a move is chosen, in the engine's own terms.

    `key` names the level in the page, `title` and `about` describe it to a player.
    """

    key: str
    title: str
    about: str
    visits: int
    style: Style = field(default_factory=Style)


def level_of_visits(visits: int) -> Level:
    """The level with this number of visits a move, by the best move of the search."""
    return Level(f"visits-{visits}", _("{n:,} visits a move", n=visits), _("Not measured."), visits)


SEARCHES = tuple(level_of_visits(visits) for visits in (16, 100, 400, 1600))
"""Levels beside the ladder, for those who think in visits."""


def ladder_level(size: int, number: int, network: str) -> Level:
    """A level of the ladder (`engine.levels`). Its rank is shown for the network that was measured, on its board."""
    found = level(size, number)
    title = _("Level {number}", number=number)
    if (found.size, found.network) != (size, network):
        return Level(f"level-{number}", title, _("Not measured here."), found.visits, found.style)
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
    return Level(f"level-{number}", title, about, found.visits, found.style)


def rank_name(rank: float) -> str:
    """A rank in words: `8 kyu`, `1 dan`."""
    number, _space, word = rank_text(rank).partition(" ")
    return _("{n} dan", n=number) if word == "dan" else _("{n} kyu", n=number)


def level_of_key(key: str, size: int, visits: int) -> Level:
    """The level that a game was kept with, of the ladder where the key says so, by the automatic level or not."""
    word, _, number = key.rpartition("-")
    if word not in ("level", "auto") or not number.isdecimal() or int(number) not in range(1, len(levels_on(size)) + 1):
        return level_of_visits(visits)
    return replace(ladder_level(size, int(number), level(size, int(number)).network), key=key)


def levels_for(size: int, network: str) -> dict[str, Level]:
    """All levels on a board size by key, weakest first; `network` is the name of the one that plays there.

    Without a network there is no policy to draw from, so that only searches are left.
    """
    ladder = [ladder_level(size, one.number, network) for one in levels_on(size)] if network else []
    return {known.key: known for known in (*ladder, *(level_of_visits(one.visits) for one in SEARCHES))}


@dataclass(frozen=True)
class GameSettings:
    """The settings of one game; `human` is the person's color in Mode.PLAY. Raises TengenError for bad values."""

    size: int = 19
    rules: str = "chinese"
    komi: float = 7.5
    handicap: int = 0
    mode: Mode = Mode.PLAY
    human: int = 0
    level: Level = SEARCHES[1]
    clock: TimeControl | None = None

    def __post_init__(self) -> None:
        if not MIN_SIZE <= self.size <= MAX_SIZE:
            wrong = _("board size {size} is out of range", size=self.size)
            raise TengenError(wrong + ": " + _("choose {low} to {high}", low=MIN_SIZE, high=MAX_SIZE))
        if not math.isfinite(self.komi) or abs(self.komi) > MAX_KOMI or self.komi * 2 != round(self.komi * 2):
            wrong = _("komi {komi:g} is not possible", komi=self.komi)
            raise TengenError(wrong + ": " + _("choose a whole or half number up to {limit:g}", limit=MAX_KOMI))
        if not 0 <= self.handicap <= max_fixed_handicap(self.size) or self.handicap == 1:
            wrong = _("handicap {n} is not possible on {size}x{size}", n=self.handicap, size=self.size)
            highest = max_fixed_handicap(self.size)
            allowed = _("choose 0 or 2 to {n}", n=highest) if highest else _("choose 0")
            raise TengenError(f"{wrong}: {allowed}")

    @property
    def names(self) -> tuple[str, str]:
        """The names of the players, Black's first."""
        if self.mode is Mode.ANALYZE:
            return _("Black"), _("White")
        people = (_("You"), "Tengen") if self.human == 0 else ("Tengen", _("You"))
        return people if self.mode is Mode.PLAY else ("Tengen", "Tengen")

    @property
    def details(self) -> tuple[str, str]:
        """A line below each name: the engine's level, and White's komi."""
        strength = [self.level.title if name == "Tengen" else "" for name in self.names]
        return strength[0], " · ".join(part for part in (strength[1], _("komi {komi:g}", komi=self.komi)) if part)


def usual_komi(rules: str, handicap: int, size: int) -> float:
    """The usual komi under these rules. On 7x7 it is 9, the result of perfect play."""
    if handicap:
        return 0.5
    if size == 7:
        return 9.0
    return Rules.parse(rules).usual_komi


def first_game(size: int, visits: int) -> GameSettings:
    """The settings that a tab opens with. Raises TengenError for an impossible size."""
    return GameSettings(size=size, komi=usual_komi("chinese", 0, size), level=level_of_visits(visits))
