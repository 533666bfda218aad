"""Positions of a store into batches, by the native encoder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.data.batch import Batch
from tengen.data.planes import PlaneSet
from tengen.data.store import Shard, Store
from tengen.errors import StoreError

Ints = npt.NDArray[np.int64]


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


class Encoder:
    """Encodes positions of `store` from the game `first_game` on, into tensors of `edge`, on `threads` threads."""

    def __init__(self, store: Store, plane_set: PlaneSet, edge: int, threads: int = 1, first_game: int = 0) -> None:
        self._path = store.path
        self._plane_set = plane_set
        self._edge = edge
        self._threads = threads
        first = max(0, int(np.searchsorted(store.starts, first_game, side="right")) - 1)
        self._starts = store.starts[first:]
        self._shards = [_columns(shard) for shard in store.shards[first:]]

    def encode(self, rows: Rows, targets: bool = False) -> Batch:
        """Encode positions, those before move `ply`; at the end of a game there is no policy.

        With `targets` the batch holds target and reply too. Raises StoreError for what is no position of a game.
        """
        planes, scalars = len(self._plane_set.planes), len(self._plane_set.scalars)
        batch = Batch.empty(len(rows.game), planes, scalars, self._edge, targets)
        shard = np.searchsorted(self._starts, rows.game, side="right") - 1
        try:
            _native.encode_rows(
                self._plane_set.name, self._shards, shard, rows.game - self._starts[shard], rows.ply, rows.symmetry,
                rows.other_scoring, rows.komi_shift, self._edge, batch.planes, batch.scalars, batch.mask,
                batch.policy, batch.value, batch.score, batch.ownership, batch.weight, self._threads,
                batch.target, batch.reply,
            )  # fmt: skip
        except ValueError as error:
            raise StoreError(
                f"{self._path}: {error}; if it is the store that is damaged, import the games again"
            ) from error
        return batch


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
        visits=shard.visits,
        visit_offsets=shard.visit_offsets,
        visit_rows=shard.visit_rows,
        rule_sets=rule_sets,
    )
