"""Positions of a store into batches, by the native encoder."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.data.batch import Batch, Rows
from tengen.data.planes import PlaneSet
from tengen.data.store import Shard, Store
from tengen.errors import StoreError
from tengen.sgf.values import rank, rank_strength


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
        row = rows.game - self._starts[shard]
        try:
            self._plane_set.encode_rows(self._shards, shard, row, rows, batch, self._threads)
        except ValueError as error:
            raise StoreError(
                f"{self._path}: {error}; if it is the store that is damaged, import the games again"
            ) from error
        return batch


def _columns(shard: Shard) -> _native.GameColumns:
    """Hand the columns of a shard to the encoder, which reads them where they lie."""
    codes, rule_sets = shard.texts("rules")
    black_rank, white_rank = (_rank_codes(*shard.texts(column)) for column in ("black_rank", "white_rank"))
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
        black_rank=black_rank,
        white_rank=white_rank,
        visits=shard.visits,
        visit_offsets=shard.visit_offsets,
        visit_rows=shard.visit_rows,
        rule_sets=rule_sets,
    )


def _rank_codes(codes: npt.NDArray[np.int16], texts: list[str]) -> npt.NDArray[np.int8]:
    """Ranks of a column as native code takes them, int8 [rows]; 0 for what is no rank."""
    return np.array([rank_strength(rank(text)) for text in texts] or [0], np.int8)[codes]
