"""What the games of a cycle depend on besides the recipe: fair komi, resignation threshold, high-surprise starts.

All of it is derived from the games of the cycles before, so a resumed run derives the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.data.record import WHITE_BIT, GameRecord
from tengen.errors import IllegalMove
from tengen.game import BLACK, Game
from tengen.selfplay.config import GameConfig, KomiConfig, ResignConfig, SelfPlayConfig
from tengen.selfplay.plan import StartPosition, make_plan

RECENT = 4
"""Cycles whose games determine fair komi, resignation and high-surprise starts."""
NEWEST = 5
"""One over the share of the newest games, whose komi shows the fair komi used last."""
MIN_GAMES = 50
"""Games below which neither komi nor the resignation threshold is estimated."""
MAX_STARTS = 256
"""High-surprise starts that are kept."""


@dataclass(frozen=True)
class CycleConditions:
    """What the games of a cycle depend on besides recipe and network: derived from the games of earlier cycles."""

    fair_komi: dict[int, float]
    resign_winrate: float = 0.0
    starts: list[StartPosition] = field(default_factory=list)

    @classmethod
    def of(cls, config: SelfPlayConfig, recent: list[GameRecord], cycle: int) -> CycleConditions:
        """The conditions that follow from the games of the last RECENT cycles before `cycle`."""
        now, sizes = config.at(cycle), config.game.sizes
        komi = {size: fair_komi((game for game in recent if game.size == size), now.game.komi) for size in sizes}
        resign = config.resign
        winrate = 0.0
        if resign is not None and cycle >= resign.after:
            winrate = resign_threshold((game for game in recent if was_played_out(config, game.source)), resign)
        starts = high_surprise_starts(recent, now.game) if now.opening.high_surprise else []
        return cls(komi, winrate, starts)


def was_played_out(config: SelfPlayConfig, source: str) -> bool:
    """Whether resignation was off in the game of this source, whatever the threshold of its cycle."""
    cycle, _, index = source.partition("/")
    if config.resign is None or int(cycle) < config.resign.after:
        return True
    return not make_plan(config, int(cycle), int(index), resigns=True).may_resign


def fair_komi(games: Iterable[GameRecord], config: KomiConfig) -> float:
    """The komi at which Black would have won half of `games` (of one board size): a multiple of one half.

    It is the median of Black's margin without komi, smoothed by the mean of its middle fifth. Of a game that was not
    counted only the winner is known: its margin is a point beyond every komi that was drawn. Games whose komi lay in
    the tail are left out. The result is within `config.step` of the previous fair komi, the median komi of the newest
    fifth of the games; `config.start` with fewer than 50 games.
    """
    known = [(margin, game.komi) for game in games if game.komi is not None and (margin := _margin(game)) is not None]
    if not config.learn or len(known) < MIN_GAMES:
        return config.start
    margins, komis = np.array(known).T
    margins = np.where(np.isposinf(margins), komis.max() + 1, np.where(np.isneginf(margins), komis.min() - 1, margins))
    away = np.abs(komis - np.median(komis))
    even = away <= max(3 * config.deviation + 0.5, away.min())  # the median may lie between two komis
    ordered = np.sort(margins[even])
    n = len(ordered)
    middle = ordered[int(0.4 * n) : max(int(np.ceil(0.6 * n)), int(0.4 * n) + 1)]
    before = np.median(komis[-max(len(komis) // NEWEST, 1) :])
    return float(np.round(2 * np.clip(middle.mean(), before - config.step, before + config.step)) / 2)


def _margin(game: GameRecord) -> float | None:
    if game.score is not None:
        return game.score + (game.komi or 0.0)
    if game.winner in (0, 1):
        return np.inf if game.winner == BLACK else -np.inf
    return None


def winner_resign_threshold(game: GameRecord, turns: int) -> float | None:
    """The lowest threshold (winrate) at which the winner of a game would have resigned; None without a winner.

    `statistics.resign_thresholds_of_winners` has those of many games.
    """
    if game.winner not in (0, 1) or game.root_values is None:
        return None
    return resign_threshold_of(game.root_values[game.colors == game.winner], turns)


def resign_threshold_of(values: npt.NDArray[np.floating[Any]], turns: int) -> float:
    """The lowest threshold (winrate) at which a side whose turns had these root values would have resigned.

    That is the minimum, over `turns` turns in a row, of the maximum winrate among them; 1 where there are fewer. Turns
    without a root value (NaN) are skipped.
    """
    winrates = (values[~np.isnan(values)].astype(float) + 1) / 2
    if len(winrates) < turns:
        return 1.0
    return float(np.lib.stride_tricks.sliding_window_view(winrates, turns).max(axis=1).min())


def resign_threshold(games: Iterable[GameRecord], config: ResignConfig) -> float:
    """The highest winrate to resign at, from games without resignation; 0 (never) with fewer than 50 of them.

    Games in which resignation was on and did not happen would make every threshold look safe.
    """
    counted = (game for game in games if game.ending == "count")
    found = [low for game in counted if (low := winner_resign_threshold(game, config.turns)) is not None]
    if len(found) < MIN_GAMES:
        return 0.0
    return float(min(config.max_threshold, np.quantile(found, config.false_positives, method="lower")))


def high_surprise_starts(games: Iterable[GameRecord], config: GameConfig) -> list[StartPosition]:
    """The MAX_STARTS positions of highest policy surprise, at most one of a game, the highest first.

    Games of another stage of the run may have a position that does not occur in games of `config`, or in which they
    have ended: it is left out.
    """
    found: list[tuple[float, int, StartPosition]] = []
    for number, game in enumerate(games):
        if game.surprises is None or np.all(np.isnan(game.surprises)):
            continue
        ply = int(np.nanargmax(game.surprises))
        moves = tuple(int(move) for move in game.moves[:ply])
        found.append((-float(game.surprises[ply]), number, StartPosition(game.size, moves)))
    ordered = (start for _, _, start in sorted(found, key=lambda item: item[:2]))
    return list(islice((start for start in ordered if _occurs(start, config)), MAX_STARTS))


def _occurs(start: StartPosition, config: GameConfig) -> bool:
    """Whether the moves of a start are legal, and none of them ends the game."""
    game = Game(start.size, config.rules).limit_moves(config.max_moves or 2 * start.size**2)
    for move in start.moves:
        try:
            game.play(move & ~WHITE_BIT, color=int(bool(move & WHITE_BIT)))
        except IllegalMove:
            return False
        if game.end_by_rules(config.settle) is not None:
            return False
    return True
