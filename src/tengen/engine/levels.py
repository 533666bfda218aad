"""The ladder of opponents: how the default network plays at each level, and how strong that was measured to be.

`levels.json` has the levels, which `benchmarks/long/levels.py` measures and writes. docs/guides/levels.md has the
method.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

from tengen.engine.style import Style
from tengen.errors import RecipeError

FILE = "levels.json"
SIZES = (9, 13, 19)


@dataclass(frozen=True)
class Level:
    """An opponent on boards of one size, `number` from 1, the weakest.

    It searches `visits` a move and chooses its move by `style`. `elo` is relative to GNU Go 3.8 level 10, with the 95%
    interval from `low` to `high` (None: not bounded) of `games` games. `rank` is an estimate with the bounds
    `rank_low` and `rank_high`: 1 is 1 dan, 0 is 1 kyu, -7 is 8 kyu. `network` is the one that was measured.
    """

    number: int
    size: int
    visits: int
    style: Style
    elo: float
    low: float | None
    high: float | None
    games: int
    rank: float
    rank_low: float
    rank_high: float
    network: str


@cache
def levels_on(size: int) -> tuple[Level, ...]:
    """The levels of a board size, weakest first: measured for 9, 13 and 19; other sizes have those of the nearest."""
    nearest = min(SIZES, key=lambda known: abs(known - size))
    text = (resources.files(__package__) / FILE).read_text(encoding="utf-8")
    measured = json.loads(text)[str(nearest)]
    return tuple(
        Level(number, nearest, **{**row, "style": Style(**row["style"])}, network=measured["network"])
        for number, row in enumerate(measured["levels"], 1)
    )


def level(size: int, number: int) -> Level:
    """The level of this number. Raises RecipeError where there is none."""
    found = levels_on(size)
    if not 1 <= number <= len(found):
        raise RecipeError(f"level {number} is out of range: there are levels 1 to {len(found)} on {size}x{size}")
    return found[number - 1]


def ladder_networks() -> dict[int, str]:
    """The network with which the levels were measured, by board size. A newer one would make them stronger."""
    return {size: levels_on(size)[0].network for size in SIZES}


def rank_text(rank: float) -> str:
    """A rank in words: `8 kyu`, `1 dan`."""
    number = round(rank)
    return f"{number} dan" if number > 0 else f"{1 - number} kyu"
