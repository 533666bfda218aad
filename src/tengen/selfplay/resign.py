"""At which winrate a side may give up, from the games that were played out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.data.record import GameRecord
from tengen.selfplay.config import ResignConfig

LEAST_GAMES = 50
"""Played-out games below which nobody resigns."""


def lowest(game: GameRecord, turns: int) -> float | None:
    """The lowest threshold (winrate) at which the winner of a game would have given up: None without one."""
    if game.winner not in (0, 1) or game.root_values is None:
        return None
    return lowest_of(game.root_values[game.colors == game.winner], turns)


def lowest_of(values: npt.NDArray[np.floating[Any]], turns: int) -> float:
    """The lowest threshold (winrate) at which a side would have given up whose turns had these root values.

    That is the least, over `turns` turns in a row, of the greatest winrate among them; 1 where there are fewer. Turns
    without a root value (NaN) are passed over.
    """
    winrates = (values[~np.isnan(values)].astype(float) + 1) / 2
    if len(winrates) < turns:
        return 1.0
    return float(np.lib.stride_tricks.sliding_window_view(winrates, turns).max(axis=1).min())


def threshold(games: Iterable[GameRecord], config: ResignConfig) -> float:
    """The greatest winrate to resign at, by games that nobody could resign; 0 (never) with fewer than 50 of them.

    Games that might have been resigned and were not would make every threshold look safe.
    """
    found = [low for game in games if game.ending == "count" and (low := lowest(game, config.turns)) is not None]
    if len(found) < LEAST_GAMES:
        return 0.0
    return float(min(config.most, np.quantile(found, config.false_positives, method="lower")))
