"""The settings of a game (size, rules, komi, players and time), and of the analysis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from tengen.coords import MAX_SIZE, MIN_SIZE
from tengen.engine import TimeControl
from tengen.errors import TengenError
from tengen.handicap import max_fixed_handicap
from tengen.rules import Rules
from tengen.web.language import _
from tengen.web.players import DEFAULT_ENGINE, MAX_VISITS, PERSON, PlayerChoice, level_of_visits
from tengen.web.words import color_names

MAX_KOMI = float(MAX_SIZE**2)
MIN_REVIEW_VISITS = 2
"""The first visit of a position tries no move."""


class Mode(StrEnum):
    """The players: a person and an engine, engines alone, or a person for both colors."""

    PLAY = "play"
    WATCH = "watch"
    ANALYZE = "analyze"


@dataclass(frozen=True)
class PageAnalysis:
    """How positions are searched for a person: an installed network, the page's for an empty name, the visits of the
    analysis of a position, and those of each position of a review. Raises TengenError for values out of range."""

    network: str = ""
    visits: int = 20_000
    review_visits: int = 100

    def __post_init__(self) -> None:
        for visits, low in ((self.visits, 1), (self.review_visits, MIN_REVIEW_VISITS)):
            if not low <= visits <= MAX_VISITS:
                wrong = _("{n:,} visits are out of range", n=visits)
                raise TengenError(wrong + ": " + _("choose {low} to {high}", low=low, high=format(MAX_VISITS, ",")))


@dataclass(frozen=True)
class GameSettings:
    """The settings of one game; `players` has Black's first. Raises TengenError for bad values.

    `chosen`: whether the command line named the strength of the opponent.
    """

    size: int = 19
    rules: str = "chinese"
    komi: float = 7.5
    handicap: int = 0
    players: tuple[PlayerChoice, PlayerChoice] = (PERSON, DEFAULT_ENGINE)
    clock: TimeControl | None = None
    chosen: bool = False

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
    def mode(self) -> Mode:
        """Who plays: a person and an engine, engines alone, or a person for both colors."""
        people = sum(player.is_person for player in self.players)
        return (Mode.WATCH, Mode.PLAY, Mode.ANALYZE)[people]

    @property
    def human(self) -> int:
        """The person's color in Mode.PLAY."""
        return 0 if self.players[0].is_person else 1

    @property
    def opponent(self) -> PlayerChoice:
        """The other player in Mode.PLAY."""
        return self.players[1 - self.human]

    @property
    def is_even(self) -> bool:
        """Whether neither player has an advantage: no handicap, and the usual komi of the rules."""
        return not self.handicap and self.komi == usual_komi(self.rules, 0, self.size)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the players, Black's first."""
        if self.mode is Mode.ANALYZE:
            return color_names()
        return self.players[0].name, self.players[1].name

    @property
    def details(self) -> tuple[str, str]:
        """A line below each name: how strong an engine is, and White's komi."""
        return player_details(self.titles, self.komi)

    @property
    def titles(self) -> tuple[str, str]:
        """How strong each player is, Black first; empty for a person."""
        return self.players[0].title, self.players[1].title


def player_details(ranks: tuple[str, str], komi: float) -> tuple[str, str]:
    """A line below the name of each player, Black's first: the rank or strength, and White's komi."""
    black, white = ranks
    return black, " · ".join(part for part in (white, _("komi {komi:g}", komi=komi)) if part)


def usual_komi(rules: str, handicap: int, size: int) -> float:
    """The usual komi under these rules. On 7x7 it is the result of perfect play: 9 by area, 8 by territory."""
    if handicap:
        return 0.5
    parsed = Rules.parse(rules)
    if size == 7:
        return 8.0 if parsed.scoring == "territory" else 9.0
    return parsed.usual_komi


def first_game(size: int, visits: int | None) -> GameSettings:
    """The settings that a tab opens with, without `visits` against `DEFAULT_ENGINE`. Raises TengenError for an
    impossible size."""
    opponent = DEFAULT_ENGINE if visits is None else level_of_visits(visits)
    komi = usual_komi("chinese", 0, size)
    return GameSettings(size=size, komi=komi, players=(PERSON, opponent), chosen=visits is not None)
