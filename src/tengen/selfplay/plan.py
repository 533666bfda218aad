"""The plan of one game: everything fixed before its first move, drawn from the seed, the cycle and its number."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from tengen.data.seeds import derive
from tengen.selfplay.config import KomiConfig, SelfPlayConfig

_STANDARD = NormalDist()


@dataclass(frozen=True)
class StartPosition:
    """A position that games may start from, as stored moves: the point, with bit 15 set where White played."""

    size: int
    moves: tuple[int, ...]


@dataclass(frozen=True)
class GamePlan:
    """A game to be played. `seed` decides all chance in it; `opening_moves` are drawn from the raw policy."""

    cycle: int
    index: int
    seed: int
    size: int
    rules: str
    komi: float
    start: tuple[int, ...] = ()
    opening_moves: int = 0
    may_resign: bool = False

    @property
    def source(self) -> str:
        """The game's name in the store of the run."""
        return f"{self.cycle:05d}/{self.index:05d}"


def make_plan(
    config: SelfPlayConfig,
    cycle: int,
    index: int,
    *,
    fair_komi: Mapping[int, float] | None = None,
    starts: Sequence[StartPosition] = (),
    resigns: bool = False,
) -> GamePlan:
    """Game `index` of a cycle, by the recipe as it holds then.

    `fair_komi` by board size replaces the one that the recipe starts with. `starts` are high-surprise positions; a
    share of the games on a board of that size begins with one. With `resigns` games of this cycle may be resigned,
    except for the share that is played out.
    """
    seed = derive(config.seed, cycle, index)
    chance = random.Random(seed)  # its random() is the same for a seed in every version of Python
    size = _draw_size(config.game.sizes, chance.random())
    fair = (fair_komi or {}).get(size, config.game.komi.start)
    komi = draw_komi(config.game.komi, fair, size, chance.random(), chance.random())
    openings = -config.opening.moves_mean * math.log(1 - chance.random())
    surprise, which, played_out = chance.random(), chance.random(), chance.random()
    here = [start for start in starts if start.size == size]
    start = here[int(which * len(here))] if here and surprise < config.opening.high_surprise else None
    return GamePlan(
        cycle=cycle,
        index=index,
        seed=derive(seed, 1),
        size=size,
        rules=config.game.rules,
        komi=komi,
        start=() if start is None else start.moves,
        # At most half of the board. A high-surprise start is searched from its first move.
        opening_moves=0 if start else min(int(openings), size * size // 2),
        may_resign=resigns and config.resign is not None and played_out >= config.resign.played_out,
    )


def draw_komi(config: KomiConfig, fair: float, size: int, tail: float, normal: float) -> float:
    """Komi around the fair one, from two numbers drawn evenly from [0, 1); at most one point for each of the board.

    In multiples of one half, so that a network sees draws too, or in whole points.
    """
    deviation = config.tail_deviation if tail < config.tail else config.deviation
    drawn = fair + deviation * _STANDARD.inv_cdf(max(normal, 2.0**-54))
    limit = size * size
    if config.whole:
        return float(min(max(round(drawn), -limit), limit))
    return float(min(max(round(2 * drawn) / 2, -limit), limit))


def _draw_size(shares: Mapping[int, float], drawn: float) -> int:
    left = drawn * sum(shares.values())
    for size in sorted(shares):
        left -= shares[size]
        if left < 0:
            return size
    return max(shares)
