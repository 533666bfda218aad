"""The settings of a game: size, rules, players, level and time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from tengen.coords import MAX_SIZE, MIN_SIZE
from tengen.engine import Style, TimeControl
from tengen.errors import TengenError
from tengen.handicap import max_fixed_handicap
from tengen.rules import Rules

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


LEVELS: tuple[Level, ...] = (
    Level(
        "beginner",
        "Beginner",
        "Random moves from the network's policy at temperature 1.6. No search, many mistakes.",
        1,
        Style(policy_temperature=1.6),
    ),
    Level(
        "casual",
        "Casual",
        "Random moves from the network's policy. No search.",
        1,
        Style(policy_temperature=1.0),
    ),
    Level(
        "club",
        "Club",
        "Random moves from the network's policy at temperature 0.5: mostly its best moves. No search.",
        1,
        Style(policy_temperature=0.5),
    ),
    Level("policy", "Raw policy (no search)", "Always the best move of the network's policy.", 1),
    Level("visits-16", "16 visits a move", "A fast search.", 16),
    Level("visits-100", "100 visits a move", "", 100),
    Level("visits-400", "400 visits a move", "", 400),
    Level("visits-1600", "1,600 visits a move", "Slow on a small computer.", 1600),
)


def level_of_visits(visits: int) -> Level:
    """The level with this number of visits a move: one of `LEVELS` where there is one."""
    for known in LEVELS:
        if known.visits == visits and known.style == Style():
            return known
    return Level(f"visits-{visits}", f"{visits:,} visits a move", "", visits)


@dataclass(frozen=True)
class GameSettings:
    """The settings of one game; `human` is the person's color in Mode.PLAY. Raises TengenError for bad values."""

    size: int = 19
    rules: str = "chinese"
    komi: float = 7.5
    handicap: int = 0
    mode: Mode = Mode.PLAY
    human: int = 0
    level: Level = LEVELS[5]
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
    def names(self) -> tuple[str, str]:
        """The names of the players, Black's first."""
        if self.mode is Mode.ANALYZE:
            return "Black", "White"
        people = ("You", "Tengen") if self.human == 0 else ("Tengen", "You")
        return people if self.mode is Mode.PLAY else ("Tengen", "Tengen")

    @property
    def details(self) -> tuple[str, str]:
        """A line below each name: the engine's level, and White's komi."""
        strength = [self.level.title if name == "Tengen" else "" for name in self.names]
        return strength[0], " · ".join(part for part in (strength[1], f"komi {self.komi:g}") if part)


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
