"""The fair komi of a board, learnt from the games of a run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tengen.data.record import GameRecord
from tengen.game import BLACK
from tengen.selfplay.config import KomiConfig

NEWEST = 5
"""The share of the games, one over this, whose komi tells which one was last believed fair."""
LEAST_GAMES = 50
"""Games below which nothing is learnt."""


def fair_komi(games: Iterable[GameRecord], config: KomiConfig) -> float:
    """The komi at which Black would have won half of `games` (of one board size): a multiple of one half.

    It is the median of Black's margin without komi, which is smoothed by the mean of its middle fifth. Of a game that
    was not counted only the winner is known: its margin is taken for a point beyond every komi that was drawn. Games
    whose komi lay in the tail say little about even play and are left out. It lies within `config.step` of the fair
    komi before, which is told from the newest games, the last fifth; `config.start` with fewer than 50 games.
    """
    told = [(margin, game.komi) for game in games if game.komi is not None and (margin := _margin(game)) is not None]
    if not config.learn or len(told) < LEAST_GAMES:
        return config.start
    margins, komis = np.array(told).T
    margins = np.where(np.isposinf(margins), komis.max() + 1, np.where(np.isneginf(margins), komis.min() - 1, margins))
    even = np.abs(komis - np.median(komis)) <= 3 * config.deviation + 0.5
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
