"""Drawing batches from a game store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.data.batch import Batch
from tengen.data.planes import plane_set as find_plane_set
from tengen.data.split import Permutation, Split, choose, derive, mix
from tengen.data.store import Shard, Store
from tengen.errors import StoreError

Ints = npt.NDArray[np.int64]

# What a number is drawn for; keeps the draws independent of each other.
_SYMMETRY, _PLY, _SCORING, _KOMI = 1, 2, 3, 4
# Half of the positions are told with another komi: a logistic deviation of this scale, in points.
_KOMI_SCALE = 4.0


@dataclass(frozen=True)
class Rows:
    """The positions of a batch, each [B] int64: game (global row of the store), ply, symmetry 0..7.

    And how each is told: `other_scoring` [B] bool, as if area had been counted for territory or the reverse;
    `komi_shift` [B] float32, points added to komi, which holds only where the score is known.
    """

    game: Ints
    ply: Ints
    symmetry: Ints
    other_scoring: npt.NDArray[np.bool_]
    komi_shift: npt.NDArray[np.float32]

    @classmethod
    def as_played(cls, game: Ints, ply: Ints, symmetry: Ints) -> Rows:
        """Positions told under the rules and komi of their games."""
        return cls(game, ply, symmetry, np.zeros(len(game), np.bool_), np.zeros(len(game), np.float32))


class Sampler:
    """Batches of positions of a store, each a pure function of (seed, step).

    Positions are dealt without replacement: every epoch is a fresh permutation of all positions of the split, and
    batches run on from one epoch into the next. So the whole state is two numbers, and to resume is to ask for the
    next step. With `one_per_game` an epoch is instead one random position of every game that has one, the move not a
    pass, in the order of the store and the same in every epoch; its last batch is short. That is for validation.

    `plies` = (first, last) keeps positions before moves first <= ply <= last, counted from 0. `edge` is that of the
    tensors, the largest board of the store unless given. `threads` encode at once; they change nothing else.
    With `vary_terms` half of the positions are told under the other way of counting, and half of those with a known
    score with another komi and its result: records of one server then teach a network every rule set and komi.
    Raises StoreError when the split holds no position.
    """

    def __init__(
        self,
        store: Store,
        split: Split = "train",
        plane_set: str = "tengen",
        batch_size: int = 256,
        seed: int = 0,
        *,
        symmetries: bool = True,
        threads: int = 1,
        validation_fraction: float = 0.02,
        plies: tuple[int, int | None] = (0, None),
        one_per_game: bool = False,
        edge: int | None = None,
        vary_terms: bool = False,
    ) -> None:
        self.store = store
        self.plane_set = find_plane_set(plane_set)
        self.batch_size = batch_size
        self.seed = seed
        self.symmetries = symmetries
        self.threads = threads
        self.plies = plies
        self.one_per_game = one_per_game
        self.vary_terms = vary_terms
        self._shards = [_columns(shard) for shard in store.shards]
        counts = self._positions_per_game()
        self._games = np.flatnonzero(choose(store.hashes, split, validation_fraction) & (counts > 0))
        self._ends: Ints = np.cumsum(counts[self._games], dtype=np.int64)
        if not len(self._games):
            raise StoreError(f"{store.path}: no position of the split '{split}' passes the filters")
        self.edge = int(store.column("size").max()) if edge is None else edge

    @property
    def positions(self) -> int:
        """Positions in an epoch."""
        return len(self._games) if self.one_per_game else int(self._ends[-1])

    @property
    def games(self) -> int:
        """Games that the positions come from."""
        return len(self._games)

    @property
    def steps_per_epoch(self) -> int:
        """Batches in an epoch; the last may reach into the next epoch (or be short, with `one_per_game`)."""
        return -(-self.positions // self.batch_size)

    def batch(self, step: int) -> Batch:
        """Draw and encode batch number `step` >= 0."""
        return self.encode(self.rows(step))

    def rows(self, step: int) -> Rows:
        """Draw the positions of batch number `step`."""
        start = step * self.batch_size
        if self.one_per_game:
            start = step % self.steps_per_epoch * self.batch_size
            order = np.arange(start, min(start + self.batch_size, self.positions))
            game = self._games[order]
            ply = np.array([self._one_ply(int(g)) for g in game], np.int64)
        else:
            order = np.arange(start, start + self.batch_size)
            place = self._deal(order)
            index = np.searchsorted(self._ends, place, side="right")
            game = self._games[index]
            ply = place - np.where(index > 0, self._ends[index - 1], 0) + self.plies[0]
        symmetry = np.zeros(len(order), np.int64)
        if self.symmetries:
            symmetry = np.floor(8 * self._chance(order, _SYMMETRY)).astype(np.int64)
        rows = Rows.as_played(game.astype(np.int64), ply, symmetry)
        if not self.vary_terms:
            return rows
        scoring, komi = self._chance(order, _SCORING), self._chance(order, _KOMI)
        return replace(rows, other_scoring=scoring < 0.5, komi_shift=_komi_shift(komi))

    def _chance(self, order: Ints, purpose: int) -> npt.NDArray[np.float64]:
        """A number in 0 <= u < 1 for every place in the deal."""
        return (mix(order.astype(np.uint64), derive(self.seed, purpose)) >> np.uint64(11)) / 2.0**53

    def encode(self, rows: Rows) -> Batch:
        """Encode any positions of the store: those before move `ply`; at the end of a game there is no policy."""
        batch = Batch.empty(len(rows.game), len(self.plane_set.planes), len(self.plane_set.scalars), self.edge)
        shard = np.searchsorted(self.store.starts, rows.game, side="right") - 1
        _native.encode_rows(
            self.plane_set.name, self._shards, shard, rows.game - self.store.starts[shard], rows.ply, rows.symmetry,
            rows.other_scoring, rows.komi_shift, self.edge, batch.planes, batch.scalars, batch.mask,
            batch.policy, batch.value, batch.score, batch.ownership, batch.weight, self.threads,
        )  # fmt: skip
        return batch

    def _positions_per_game(self) -> Ints:
        first, last = self.plies
        ends = self.store.lengths.astype(np.int64)
        if last is not None:
            ends = np.minimum(ends, last + 1)
        return np.maximum(ends - first, 0)

    def _deal(self, order: Ints) -> Ints:
        """Return the positions at places of the endless deal of epoch after epoch."""
        epochs = order // self.positions
        place = np.empty_like(order)
        for epoch in np.unique(epochs):
            here = epochs == epoch
            place[here] = _permutation(self.positions, self.seed, int(epoch))(order[here] % self.positions)
        return place

    def _one_ply(self, game: int) -> int:
        """Choose the one ply of a game: of a move that is no pass, unless all of them are."""
        shard, row = self.store.locate(game)
        columns = self.store.shards[shard]
        first, last = self.plies
        moves = columns.moves[columns.offsets[row] : columns.offsets[row + 1]][: None if last is None else last + 1]
        size = int(columns.size[row])
        plies = np.flatnonzero((moves[first:] & np.uint16(0x7FFF)) != size * size) + first
        if not len(plies):
            return first
        return int(plies[derive(self.seed, _PLY, int(columns.hash[row])) % len(plies)])


def _komi_shift(chance: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """None for the lower half of the chances, else a logistic deviation in half points, at most about 40."""
    inner = np.clip(2 * chance - 1, 1e-4, 1 - 1e-4)
    shift = np.round(2 * _KOMI_SCALE * np.log(inner / (1 - inner))) / 2
    return np.where(chance < 0.5, 0, shift).astype(np.float32)


@lru_cache(maxsize=8)
def _permutation(size: int, seed: int, epoch: int) -> Permutation:
    return Permutation(size, derive(seed, epoch))


def _columns(shard: Shard) -> _native.GameColumns:
    """Hand the columns of a shard to the encoder, which reads them where they lie."""
    codes, rule_sets = shard.texts("rules")
    return _native.GameColumns(
        size=shard.size,
        moves=shard.moves,
        offsets=shard.offsets,
        black_stones=shard.black_stones,
        black_offsets=shard.black_offsets,
        white_stones=shard.white_stones,
        white_offsets=shard.white_offsets,
        ownership=shard.ownership,
        ownership_offsets=shard.ownership_offsets,
        first=shard.first,
        rules=codes,
        komi=shard.komi,
        score=shard.score,
        weight=shard.weight,
        winner=shard.winner,
        rule_sets=rule_sets,
    )
