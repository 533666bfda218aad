"""Drawing batches from the games that a network played against itself."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tengen.data.batch import Batch, Ints, Rows
from tengen.data.encoding import Encoder
from tengen.data.planes import PlaneSet
from tengen.data.planes import plane_set as find_plane_set
from tengen.data.sampler import SYMMETRY, Sampler
from tengen.data.split import Deal
from tengen.data.store import Shard, Store
from tengen.errors import StoreError

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.int32]


def recorded_positions(store: Store) -> Ints:
    """Count the positions of every game that teach a policy, int64 [games]: those with visits."""
    parts = []
    for shard in store.shards:
        before = np.cumsum([0, *(np.diff(shard.visit_offsets) > 0)], dtype=np.int64)
        parts.append(np.diff(before[shard.visit_rows]))
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


class SelfPlaySampler:
    """Batches of the recorded positions of a store's games from `first_game` on, each a function of (seed, step).

    Recorded is a position with visits, its target. All are dealt without replacement, epoch after epoch, as by
    `Sampler`. `edge` is that of the tensors, the largest board of the games unless given.

    A position counts as its game does, times 1 - `surprise` + `surprise` * s / mean s, where s is how much the search
    surprised the policy and the mean is over all recorded positions (1 where s is unknown). The value target is
    (1 - `value_mix`) * result + `value_mix` * the value that the search found at the root, where it is known.
    Raises StoreError when there is no recorded position.
    """

    def __init__(
        self,
        store: Store,
        first_game: int = 0,
        plane_set: str | PlaneSet = "tengen",
        batch_size: int = 128,
        seed: int = 0,
        *,
        edge: int | None = None,
        symmetries: bool = True,
        threads: int = 1,
        surprise: float = 0.5,
        value_mix: float = 0.0,
    ) -> None:
        for name, share in (("surprise", surprise), ("value_mix", value_mix)):
            if not 0 <= share <= 1:
                raise ValueError(f"{name} must be 0 to 1, not {share:g}")
        self.store = store
        self.plane_set = find_plane_set(plane_set)
        self.batch_size = batch_size
        self.seed = seed
        self.symmetries = symmetries
        self._value_mix = value_mix
        parts = [
            _recorded(shard, int(start), first_game)
            for shard, start in zip(store.shards, store.starts[:-1], strict=True)
            if start + len(shard) > first_game
        ]
        if not sum(len(game) for game, *_ in parts):
            raise StoreError(f"{store.path}: no position with visits from game {first_game} on")
        self._game, self._ply, self._root, surprises = (np.concatenate(column) for column in zip(*parts, strict=True))
        self._factor = _factors(surprises, surprise)
        self._deal = Deal(len(self._game), seed)
        self.edge = int(store.column("size")[first_game:].max()) if edge is None else edge
        self._encoder = Encoder(store, self.plane_set, self.edge, threads, first_game)

    @property
    def positions(self) -> int:
        """Positions in an epoch: all that are recorded."""
        return self._deal.positions

    @property
    def games(self) -> int:
        """Games that the positions come from."""
        return len(np.unique(self._game))

    def batch(self, step: int) -> Batch:
        """Draw and encode batch number `step` >= 0; `target` and `reply` are there."""
        return self.dealt(step * self.batch_size, self.batch_size)

    def dealt(self, start: int, count: int) -> Batch:
        """Encode the positions at places `start` to `start + count` of the deal."""
        places = np.arange(start, start + count)
        position = self._deal(places)
        symmetry = np.zeros(count, np.int64)
        if self.symmetries:
            symmetry = np.floor(8 * self._deal.chance(places, SYMMETRY)).astype(np.int64)
        rows = Rows.as_played(self._game[position].astype(np.int64), self._ply[position].astype(np.int64), symmetry)
        batch = self._encoder.encode(rows, targets=True)
        batch.weight[:] *= self._factor[position]
        if self._value_mix:
            root = self._root[position]
            mixed = (1 - self._value_mix) * batch.value + self._value_mix * root
            np.copyto(batch.value, mixed, where=~np.isnan(root))
        return batch


class MixedSampler:
    """Batches of self-play with a `share` of positions of records, 0 to 1, at the end of each batch.

    Shares that do not come out even are right over many batches. A record's target is the move that was played.
    Raises ValueError when the two do not read the same planes on tensors of one edge.
    """

    def __init__(self, self_play: SelfPlaySampler, records: Sampler, share: float) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"the share of records must be 0 to 1, not {share:g}")
        if (self_play.plane_set, self_play.edge) != (records.plane_set, records.edge):
            raise ValueError(
                f"self-play reads {self_play.plane_set.name} on an edge of {self_play.edge}, "
                f"the records {records.plane_set.name} on {records.edge}: they must be the same"
            )
        if records.one_per_game:
            raise ValueError("records that are mixed in are dealt; one_per_game is for validation")
        self.batch_size = self_play.batch_size
        self.plane_set = self_play.plane_set
        self.edge = self_play.edge
        self._self_play = self_play
        self._records = records
        self._share = share

    @property
    def positions(self) -> int:
        """Positions of self-play in an epoch."""
        return self._self_play.positions

    def batch(self, step: int) -> Batch:
        """Draw and encode batch number `step` >= 0."""
        first, end = (int(at * self.batch_size * self._share) for at in (step, step + 1))
        own = self._self_play.dealt(step * self.batch_size - first, self.batch_size - (end - first))
        records = self._records.encode(self._records.dealt(first, end - first), targets=True)
        return Batch.join([own, records])


def _recorded(shard: Shard, start: int, first_game: int) -> tuple[Places, Places, Floats, Floats]:
    """(game, ply, root value, surprise) of the recorded positions of a shard that starts at row `start`."""
    lists = np.flatnonzero(np.diff(shard.visit_offsets) > 0)
    row = np.searchsorted(shard.visit_rows, lists, side="right") - 1
    wanted = row + start >= first_game
    row, ply = row[wanted], (lists - shard.visit_rows[row])[wanted]
    root = _at(shard.root_values, shard.root_offsets, row, ply)
    surprise = _at(shard.surprises, shard.surprise_offsets, row, ply)
    return (row + start).astype(np.int32), ply.astype(np.int32), root, surprise


def _at(values: Floats, offsets: npt.NDArray[np.int32], row: Ints, ply: Ints) -> Floats:
    """Entry `ply` of the list of each row; NaN where the list is shorter."""
    found = np.full(len(row), np.nan, np.float32)
    there = offsets[row] + ply < offsets[row + 1]
    found[there] = values[(offsets[row] + ply)[there]]
    return found


def _factors(surprises: Floats, share: float) -> Floats:
    """What each position's weight is multiplied by: 1 on average."""
    known = np.maximum(surprises, 0)
    mean = np.nanmean(known) if not np.isnan(known).all() else 0.0
    if not mean > 0:
        return np.ones(len(surprises), np.float32)
    return np.where(np.isnan(known), 1, 1 - share + share * known / mean).astype(np.float32)
