"""What is agreed before a game: size, rules, who plays, with how much time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from tengen.engine import TimeControl
from tengen.errors import TengenError
from tengen.handicap import most_fixed
from tengen.web.levels import LEVELS, Level, custom_level

RULES = ("chinese", "japanese", "korean", "aga", "new-zealand", "tromp-taylor")
MIN_SIZE, MAX_SIZE = 5, 19
MAX_KOMI = 361.0


class Mode(StrEnum):
    """Who moves: a person against the engine, the engine alone, or a person both colours."""

    PLAY = "play"
    WATCH = "watch"
    ANALYSE = "analyse"


@dataclass(frozen=True)
class GameSettings:
    """One agreement; raises TengenError where a value cannot be played. `human` is the person's colour in Mode.PLAY."""

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
            raise TengenError(f"no board of size {self.size}: choose {MIN_SIZE} to {MAX_SIZE}")
        if not math.isfinite(self.komi) or abs(self.komi) > MAX_KOMI or self.komi * 2 != round(self.komi * 2):
            raise TengenError(f"komi {self.komi:g} cannot be played: choose a whole or half number")
        if not 0 <= self.handicap <= most_fixed(self.size) or self.handicap == 1:
            raise TengenError(f"a handicap of {self.handicap} does not fit: choose 0 or 2 to {most_fixed(self.size)}")

    @property
    def names(self) -> tuple[str, str]:
        """What the players, Black and White, are called."""
        if self.mode is Mode.ANALYSE:
            return "Black", "White"
        people = ("You", "Tengen") if self.human == 0 else ("Tengen", "You")
        return people if self.mode is Mode.PLAY else ("Tengen", "Tengen")

    @property
    def abouts(self) -> tuple[str, str]:
        """A few words about each player: the engine's strength, White's komi."""
        strength = [self.level.title if name == "Tengen" else "" for name in self.names]
        return strength[0], " · ".join(part for part in (strength[1], f"komi {self.komi:g}") if part)


def usual_komi(rules: str, handicap: int, size: int) -> float:
    """The komi that games under these rules have. On 7x7 perfect play is worth 9 points to Black."""
    if handicap:
        return 0.5
    if size == 7:
        return 9.0
    return 6.5 if rules in ("japanese", "korean") else 7.0 if rules == "new-zealand" else 7.5


def first_game(size: int, visits: int) -> GameSettings:
    """The game that a tab opens with; raises TengenError for a size that cannot be played."""
    return GameSettings(size=size, komi=usual_komi("chinese", 0, size), level=custom_level(visits))
