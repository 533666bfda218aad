"""Statistics of the games of one cycle, as JSON values.

Every share is in 0..1; a figure without games is None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.data.record import WHITE_BIT, points_of, symmetry_table
from tengen.data.store import Store
from tengen.selfplay.conditions import resign_threshold_of
from tengen.selfplay.games import SelfPlayGames

Figures = dict[str, Any]

NEAR = 1.0
"""Points around the fair komi within which a game counts for checking it."""

_OPENINGS = (6, 10)  # moves after which openings are compared
_THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)  # winrates of the resignation curve
_BANDS = 10  # of root values, for their calibration


def game_statistics(
    store: Store,
    first: int = 0,
    end: int | None = None,
    *,
    max_moves: int | None = None,
    fair_komi: Mapping[int, float] | None = None,
    resign_winrate: float | None = None,
    resign_turns: int = 3,
    played_out: Sequence[bool] | None = None,
) -> Figures:
    """The figures of rows first <= row < end of a run's store.

    A game that is not resigned and has `max_moves` moves (2 x size x size unless given) ended at the limit.
    `fair_komi` by board size is the run's estimate; games within a point of it check the estimate.
    `resign_winrate` is the threshold in use, None without resignation; `played_out` [rows] marks the games without
    resignation. Without it all games that nobody resigned count, which hides false positives once games are.
    """
    games = SelfPlayGames.of(store, first, end)
    return {
        "games": len(games),
        "sizes": _tally(games.size),
        "length": _spread(games.lengths),
        "length_share": _mean(games.lengths / games.size.astype(float) ** 2),
        "black_share": _black_share(games.black_results),
        "draws": _mean(games.winner == 2),
        "score": _spread(games.score),
        "komi": _spread(games.komi),
        "fair": _fair(games, fair_komi or {}),
        "endings": _endings(games, max_moves),
        "passes": _mean(games.points == np.repeat(games.size.astype(int) ** 2, games.lengths)),
        "first_moves": first_moves(games),
        **_variety(games, store.hashes[:first]),
        "surprise": _spread(games.surprises),
        "values": root_values(games),
        "resign": resignation(games, resign_winrate, resign_turns, played_out),
    }


def first_moves(games: SelfPlayGames) -> dict[str, list[list[int]]]:
    """How often each point was the first move, by board size: counts [size][size], the top row first."""
    maps = {}
    openings = games.first_moves(1)[:, 0]
    for size in np.unique(games.size).tolist():
        points = openings[games.size == size]
        points = points[points < size * size]  # no pass, no White move, no game without moves
        maps[str(size)] = np.bincount(points, minlength=size * size).reshape(size, size).tolist()
    return maps


def canonical_openings(games: SelfPlayGames, count: int) -> list[bytes]:
    """A key of the first `count` moves of every game, the same for all eight symmetries."""
    keys = [b""] * len(games)
    openings = games.first_moves(count)
    for size in np.unique(games.size).tolist():
        rows = np.flatnonzero(games.size == size)
        moves = openings[rows]
        points, colors = points_of(moves), moves & np.uint16(WHITE_BIT)
        table = np.full((8, WHITE_BIT), WHITE_BIT - 1, np.uint16)
        table[:, : size * size + 1] = symmetry_table(size)
        turned = (table[:, points] | colors).astype(">u2")  # big end first: bytes compare as numbers do
        for place, row in enumerate(rows.tolist()):
            keys[row] = bytes([size]) + min(turned[s, place].tobytes() for s in range(8))
    return keys


def root_values(games: SelfPlayGames) -> Figures:
    """Root values of the searches against the results of the games.

    `start`: mean first value of a game for Black. `correlation` of values and results from Black's side, over all
    moves; `bias` is the mean difference. `black_ahead`, `mover_ahead`: share of values above 0 for Black and for the
    side to move. `calibration`: rows of (mean value, mean result, moves) for ten bands of values.
    """
    values = games.black_values
    results = games.black_results[games.owner]
    known = ~np.isnan(values) & ~np.isnan(results)
    value, result = values[known].astype(float), results[known].astype(float)
    return {
        "start": _mean(_first_known(games)),
        "deviation": _finite(value.std()) if len(value) else None,
        "correlation": _correlation(value, result),
        "bias": _mean(value - result),
        "black_ahead": _mean(value > 0),
        "mover_ahead": _mean(games.values[known] > 0),
        "calibration": _calibration(value, result),
    }


def resignation(games: SelfPlayGames, winrate: float | None, turns: int, played_out: Sequence[bool] | None) -> Figures:
    """How often the winner of a game that was played out would have resigned it.

    A side resigns at threshold w when its winrate was below w on `turns` of its turns in a row. `curve` holds the
    share of false positives for several thresholds; `false_positives` that for `winrate`.
    """
    lows = resign_thresholds_of_winners(games, turns, played_out)
    shares = {f"{threshold:g}": _mean(lows < threshold) for threshold in _THRESHOLDS}
    return {
        "played_out": len(lows),
        "threshold": winrate,
        "turns": turns,
        "false_positives": None if winrate is None else _mean(lows < winrate),
        "curve": shares,
    }


def resign_thresholds_of_winners(
    games: SelfPlayGames, turns: int, played_out: Sequence[bool] | None
) -> npt.NDArray[np.float64]:
    """The lowest threshold (winrate) at which the winner would have resigned, for every game played out to a winner.

    `conditions.winner_resign_threshold` has that of one game. `played_out` as in `game_statistics`.
    """
    kept = np.array(games.ending, object) != "resign" if played_out is None else np.array(played_out, bool)
    decided = np.flatnonzero(np.isin(games.winner, (0, 1)) & kept)
    lows = np.ones(len(decided))
    colors, starts = games.colors, games.starts
    for i, game in enumerate(decided.tolist()):
        stretch = slice(starts[game], starts[game + 1])
        lows[i] = resign_threshold_of(games.values[stretch][colors[stretch] == games.winner[game]], turns)
    return lows


def _endings(games: SelfPlayGames, max_moves: int | None) -> dict[str, int]:
    """Games by how they ended; a game as long as the limit that was counted ended there."""
    limits = 2 * games.size.astype(int) ** 2 if max_moves is None else np.full(len(games), max_moves)
    names = np.array(games.ending, object)
    names[~np.isin(names, ("resign", "void")) & (games.lengths >= limits)] = "move limit"
    return _tally(names.astype(str))


def _fair(games: SelfPlayGames, fair_komi: Mapping[int, float]) -> dict[str, Figures]:
    """By board size: the estimated fair komi, the games within a point of it, and Black's winrate in those."""
    found = {}
    for size, komi in sorted(fair_komi.items()):
        near = (games.size == int(size)) & (np.abs(games.komi - komi) <= NEAR)
        found[str(size)] = {
            "komi": komi,
            "games": int(near.sum()),
            "black_share": _black_share(games.black_results[near]),
        }
    return found


def _variety(games: SelfPlayGames, earlier: npt.NDArray[np.uint64]) -> Figures:
    """Duplicates within the cycle and of earlier games, and distinct openings, as shares of the games."""
    count = max(1, len(games))
    distinct = {f"{moves}": len(set(canonical_openings(games, moves))) / count for moves in _OPENINGS}
    return {
        "duplicates": 1 - len(np.unique(games.hash)) / count if len(games) else None,
        "repeated": _mean(np.isin(games.hash, earlier)),
        "distinct_openings": distinct if len(games) else dict.fromkeys(distinct),
    }


def _first_known(games: SelfPlayGames) -> npt.NDArray[np.float64]:
    """The first value of each game that has one, from Black's side."""
    known = np.flatnonzero(~np.isnan(games.values))
    _, place = np.unique(games.owner[known], return_index=True)
    return games.black_values[known[place]].astype(float)


def _calibration(value: npt.NDArray[np.float64], result: npt.NDArray[np.float64]) -> list[list[float]]:
    band = np.clip(((value + 1) / 2 * _BANDS).astype(int), 0, _BANDS - 1)
    chosen = (band == i for i in range(_BANDS))
    return [
        [round(float(value[c].mean()), 4), round(float(result[c].mean()), 4), int(c.sum())] for c in chosen if c.any()
    ]


def _correlation(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float | None:
    """Pearson's; None where one of them does not vary."""
    if len(a) < 2 or a.std() < 1e-9 or b.std() < 1e-9:
        return None
    return _finite(np.corrcoef(a, b)[0, 1])


def _black_share(results: npt.NDArray[Any]) -> float | None:
    """Black's share of the points of the games with a result, a draw being half a point."""
    return _mean((results[~np.isnan(results)] + 1) / 2)


def _spread(values: npt.NDArray[Any]) -> dict[str, float | None]:
    known = values[~np.isnan(values)].astype(float)
    if not len(known):
        return dict.fromkeys(("mean", "deviation", "low", "median", "high"))
    low, median, high = np.quantile(known, (0.1, 0.5, 0.9))
    figures = {"mean": known.mean(), "deviation": known.std(), "low": low, "median": median, "high": high}
    return {name: _finite(figure) for name, figure in figures.items()}


def _tally(values: npt.NDArray[Any]) -> dict[str, int]:
    distinct, counts = np.unique(values, return_counts=True)
    return {str(value): int(count) for value, count in zip(distinct.tolist(), counts.tolist(), strict=True)}


def _mean(values: npt.NDArray[Any]) -> float | None:
    return _finite(np.mean(values)) if len(values) else None


def _finite(value: Any) -> float | None:
    return round(float(value), 6) if math.isfinite(value) else None
