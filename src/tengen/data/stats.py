"""Statistics of a game store."""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.data.store import NO_DATE, Shard, Store

LENGTH_STEP = 50
_EPOCH = datetime.date(1970, 1, 1)
_WINNERS = {0: "black", 1: "white", 2: "draw", -1: "unknown"}


@dataclass
class StoreStats:
    """Counts over all games. `lengths` has steps of LENGTH_STEP moves. An unknown komi is None.

    with_visits: games with visits of self-play. with_labels: games with labels of the `teacher`, which is empty unless
    `tengen label` made the store.
    """

    games: int = 0
    moves: int = 0
    bytes: int = 0
    with_score: int = 0
    with_ownership: int = 0
    with_visits: int = 0
    with_labels: int = 0
    teacher: str = ""
    shortest: int = 0
    median: float = 0.0
    longest: int = 0
    first_date: datetime.date | None = None
    last_date: datetime.date | None = None
    sizes: Counter[int] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    komi: Counter[float | None] = field(default_factory=Counter)
    handicaps: Counter[int] = field(default_factory=Counter)
    winners: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    ranks: Counter[str] = field(default_factory=Counter)
    years: Counter[int] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)

    @property
    def bytes_a_game(self) -> float:
        """Mean size of a game on disk in bytes."""
        return self.bytes / self.games if self.games else 0.0

    def as_dict(self) -> dict[str, Any]:
        """All numbers in a form for JSON."""
        counters = {
            name: {"unknown" if key in (None, "") else str(key): count for key, count in sorted(value.items(), key=str)}
            for name, value in vars(self).items()
            if isinstance(value, Counter)
        }
        dates = {name: str(getattr(self, name) or "") for name in ("first_date", "last_date")}
        return {**asdict(self), **counters, **dates, "bytes_a_game": round(self.bytes_a_game, 1)}


def collect(store: Store) -> StoreStats:
    """Compute the statistics of a store, shard by shard."""
    stats = StoreStats(games=len(store), moves=store.positions, bytes=sum(s["bytes"] for s in store.manifest["shards"]))
    for shard in store.shards:
        _count(stats, shard)
    if teacher := store.manifest.get("teacher"):  # whose labels are in the place of visits
        stats.teacher, stats.with_labels, stats.with_visits = teacher["name"], stats.with_visits, 0
    if len(store):
        lengths = store.lengths
        stats.shortest, stats.longest = int(lengths.min()), int(lengths.max())
        stats.median = float(np.median(lengths))
    return stats


def _count(stats: StoreStats, shard: Shard) -> None:
    stats.sizes.update(_tally(shard.size))
    stats.handicaps.update(_tally(shard.handicap))
    stats.komi.update({None if np.isnan(value) else value: n for value, n in _tally(shard.komi).items()})
    stats.winners.update({_WINNERS[value]: n for value, n in _tally(shard.winner).items()})
    stats.lengths.update(_tally(np.diff(shard.offsets) // LENGTH_STEP * LENGTH_STEP))
    stats.with_score += int(np.count_nonzero(~np.isnan(shard.score)))
    stats.with_ownership += int(np.count_nonzero(np.diff(shard.ownership_offsets)))
    stats.with_visits += len(shard) - shard.batch.column("visits").null_count
    for counter, columns in (
        (stats.rules, ("rules",)),
        (stats.endings, ("ending",)),
        (stats.ranks, ("black_rank", "white_rank")),
    ):
        for column in columns:
            codes, names = shard.texts(column)
            counter.update({names[code]: n for code, n in _tally(codes).items()})
    _count_dates(stats, shard.date[shard.date != NO_DATE])


def _count_dates(stats: StoreStats, days: npt.NDArray[np.int32]) -> None:
    if not len(days):
        return
    first, last = (_EPOCH + datetime.timedelta(int(day)) for day in (days.min(), days.max()))
    stats.first_date = min(filter(None, (stats.first_date, first)))
    stats.last_date = max(filter(None, (stats.last_date, last)))
    stats.years.update(_tally(days.astype("datetime64[D]").astype("datetime64[Y]").astype(int) + 1970))


def _tally(values: npt.NDArray[Any]) -> dict[Any, int]:
    distinct, counts = np.unique(values, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))
