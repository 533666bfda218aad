"""Encodes positions of a game store: the batch of any positions, under their own rules or under others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.coords import MAX_SIZE, SIZES
from tengen.data.batch import Batch, Rows
from tengen.data.planes import PlaneSet
from tengen.data.record import UNKNOWN_KOMI
from tengen.data.seeds import ANY_RULES, derive, uniform
from tengen.errors import NetworkError, StoreError
from tengen.sgf.values import rank, rank_strength

if TYPE_CHECKING:
    from tengen.data.store import Shard, Store

Target = Callable[["Store", Rows, int], npt.NDArray[Any]]
"""From (store, positions, edge of the tensors) to an array [B, ...] for the losses. A target with a value a point
applies `rows.symmetry` itself."""
NO_TARGETS: Mapping[str, Target] = MappingProxyType({})
RULE_SETS = ("japanese", "chinese", "aga", "new-zealand", "tromp-taylor", "korean")
"""The rules that games are put under for a teacher."""
# Scale of the logistic distribution of the change of komi, in points.
_KOMI_SCALE = 4.0


class Encoder:
    """Encodes positions of the games of `store` from `first_game` on, with further targets `extra` by name.

    `edge` is the height and width of the tensors. The result does not depend on the number of `threads`. With a seed
    `any_rules` half of the games are under a random one of RULE_SETS, and half under another komi; the result of such a
    game is unknown. With `recorded` the policy targets are the visits or labels of the store, where it has them.
    """

    def __init__(
        self,
        store: Store,
        plane_set: PlaneSet,
        edge: int,
        threads: int = 1,
        first_game: int = 0,
        extra: Mapping[str, Target] = NO_TARGETS,
        any_rules: int | None = None,
        recorded: bool = True,
    ) -> None:
        self._store = store
        self._extra = extra
        self._plane_set = plane_set
        self._edge = edge
        self._threads = threads
        self._made_of = store, plane_set, edge, threads, first_game, dict(extra), any_rules, recorded
        first = max(0, int(np.searchsorted(store.starts, first_game, side="right")) - 1)
        self._starts = store.starts[first:]
        try:
            self._shards = [_columns(shard, any_rules, recorded) for shard in store.shards[first:]]
        except StoreError:
            raise
        except ValueError as error:  # unknown rules, or visits of other moves
            raise StoreError(f"{store.path}: {error}; the store is damaged: import the games again") from error

    def __reduce__(self) -> tuple[Any, ...]:
        """Of the columns, which are memory-mapped files, the path is pickled, as of the store."""
        return Encoder, self._made_of

    def encode(self, rows: Rows, targets: bool = False) -> Batch:
        """Encode the positions before the moves `ply`. At the end of a game `policy` is -1.

        With `targets` the batch holds `target` and `reply` too. Raises StoreError for a game, ply or symmetry that does
        not exist and for a damaged game.
        """
        planes, scalars = len(self._plane_set.planes), len(self._plane_set.scalars)
        batch = Batch.empty(len(rows.game), planes, scalars, self._edge, targets)
        shard = np.searchsorted(self._starts, rows.game, side="right") - 1
        row = rows.game - self._starts[shard]
        try:
            self._plane_set.encode_rows(self._shards, shard, row, rows, batch, self._threads)
        except NetworkError:  # of a plane set written in Python
            raise
        except ValueError as error:
            if (largest := int(self._store.column("size").max())) > MAX_SIZE:
                raise StoreError(f"{self._store.path} has games on {largest}x{largest}; boards are {SIZES}") from error
            raise StoreError(
                f"{self._store.path}: {error}; if it is the store that is damaged, import the games again"
            ) from error
        extra = {name: target(self._store, rows, self._edge) for name, target in self._extra.items()}
        return replace(batch, extra=extra) if extra else batch


def _columns(shard: Shard, any_rules: int | None, recorded: bool) -> _native.GameColumns:
    """The columns of a shard for the native encoder, which reads them without a copy."""
    visits, visit_offsets, visit_rows = shard.visits, shard.visit_offsets, shard.visit_rows
    if not recorded:  # no list of visits in any game
        visits, visit_offsets, visit_rows = visits[:0], np.zeros(1, np.int32), np.zeros(len(shard) + 1, np.int32)
    codes, rule_sets = shard.texts("rules")
    komi, score, winner = shard.komi, shard.score, shard.winner
    ownership, ownership_offsets = shard.ownership, shard.ownership_offsets
    if any_rules is not None:
        # Draws of a game follow from its hash.
        other, chosen, shift = (uniform(shard.hash, derive(any_rules, purpose)) for purpose in ANY_RULES)
        names = np.array([*rule_sets, *RULE_SETS])
        rules = (len(rule_sets) + np.floor(chosen * len(RULE_SETS))).astype(np.int16)
        rules, change = np.where(other < 0.5, rules, codes).astype(np.int16), komi_shift(shift)
        varied = (names[rules] != names[codes]) | (change != 0)
        codes, rule_sets = rules, names.tolist()
        komi = np.where(np.isnan(komi), np.float32(UNKNOWN_KOMI), komi).astype(np.float32) + change
        # What the game ended with holds no longer.
        score = np.where(varied, np.nan, score).astype(np.float32)
        winner = np.where(varied, -1, winner).astype(np.int8)
        lengths = np.diff(ownership_offsets)
        ownership = ownership[ownership_offsets[0] : ownership_offsets[-1]][np.repeat(~varied, lengths)]
        ownership_offsets = np.append(0, np.cumsum(np.where(varied, 0, lengths))).astype(ownership_offsets.dtype)
    black_rank, white_rank = (_rank_codes(*shard.texts(column)) for column in ("black_rank", "white_rank"))
    return _native.GameColumns(
        size=shard.size,
        moves=shard.moves,
        offsets=shard.offsets,
        black_stones=shard.black_stones,
        black_offsets=shard.black_offsets,
        white_stones=shard.white_stones,
        white_offsets=shard.white_offsets,
        ownership=ownership,
        ownership_offsets=ownership_offsets,
        first=shard.first,
        rules=codes,
        komi=komi,
        score=score,
        weight=shard.weight,
        winner=winner,
        black_rank=black_rank,
        white_rank=white_rank,
        visits=visits,
        visit_offsets=visit_offsets,
        visit_rows=visit_rows,
        rule_sets=rule_sets,
    )


def _rank_codes(codes: npt.NDArray[np.int16], texts: list[str]) -> npt.NDArray[np.int8]:
    """Ranks of a column as native code takes them, int8 [rows]; 0 for a text that is no rank."""
    return np.array([rank_strength(rank(text)) for text in texts] or [0], np.int8)[codes]


def komi_shift(chance: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Changes of komi from chances in 0..1: 0 below 0.5, else a logistic deviate in half points, at most about 40."""
    inner = np.clip(2 * chance - 1, 1e-4, 1 - 1e-4)
    shift = np.round(2 * _KOMI_SCALE * np.log(inner / (1 - inner))) / 2
    return np.where(chance < 0.5, 0, shift).astype(np.float32)
