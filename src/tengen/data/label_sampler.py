"""Samplers of recorded targets: the visits of self-play's searches, or the labels of a teacher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tengen.data.batch import Batch, Floats, Ints, Rows
from tengen.data.encoder import NO_TARGETS, Encoder, Target
from tengen.data.planes import PlaneSet
from tengen.data.planes import plane_set as find_plane_set
from tengen.data.record import symmetry_table, unpack_shares
from tengen.data.sampler import OnePerGame, Sampler, check_part, check_step, choose_games
from tengen.data.shuffle import Shuffle
from tengen.data.split import Split
from tengen.errors import StoreError

if TYPE_CHECKING:
    from tengen.data.store import Shard, Store

Places = npt.NDArray[np.int32]

MIN_PROBABILITY = 1 / 8192
"""A teacher's moves of a smaller probability are no part of a label."""


@dataclass(frozen=True)
class TargetMix:
    """The share of the labels, 0 to 1, in each target; the rest is the record: the move played, the result.

    `policy` is taken to the power 1 / `temperature` first, and normalized. A label or a part of a record that is
    unknown leaves the other alone. Raises ValueError for a share outside 0 to 1 or a temperature of 0 or less.
    """

    policy: float = 1.0
    temperature: float = 1.0
    value: float = 0.0
    score: float = 0.0
    ownership: float = 0.0

    def __post_init__(self) -> None:
        for name in ("policy", "value", "score", "ownership"):
            _check_share(name, getattr(self, name))
        if not self.temperature > 0:
            raise ValueError(f"temperature must be more than 0, not {self.temperature:g}")


def _check_share(name: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise ValueError(f"{name} must be 0 to 1, not {share:g}")


def recorded_positions(store: Store) -> Ints:
    """Number of positions with recorded visits in every game, int64 [games]. Self-play trains on these."""
    return np.concatenate([shard.recorded for shard in store.shards]) if store.shards else np.empty(0, np.int64)


def evaluation_labels(
    store: Store,
    split: Split,
    validation_fraction: float,
    plane_set: str | PlaneSet,
    size: int | None = None,
    **options: Any,
) -> LabelSampler | None:
    """The labelled positions of a split of a store, as they were played; None where it has none.

    `options` are further arguments of LabelSampler.
    """
    if not recorded_positions(store)[choose_games(store, split, validation_fraction, size)].any():
        return None
    return LabelSampler(
        store,
        plane_set=plane_set,
        symmetries=False,
        surprise=0,
        split=split,
        validation_fraction=validation_fraction,
        size=size,
        **options,
    )


class LabelSampler:
    """Draws batches of positions with recorded policy targets: visits of self-play, or probabilities of a teacher.

    Each batch is a pure function of (seed, step), without replacement in an epoch, as with `Sampler`.

    Args:
        store: The games of a self-play run, or those of `tengen label`.
        first_game: The first game of the replay window. All games from there on are used.
        plane_set: Name of a plane set, or the plane set itself.
        batch_size: Positions in a batch.
        seed: Determines the order of positions and their symmetries.
        edge: Height and width of the tensors. Default is the largest board of the games used, or `size`.
        symmetries: Turn each position by a random one of the eight symmetries.
        threads: Native threads that encode a batch.
        surprise: 0 to 1. A position's weight is that of its game times 1 - surprise + surprise * s / mean(s), where s
            is the divergence of the visits from the raw policy (KataGo's policy surprise weighting). The factor is 1
            where s is unknown.
        mix: The shares of labels and record in the targets.
        extra: Further targets of the batches by name.
        split: `train`, `validation` or `all` games.
        validation_fraction: Share of games in the validation split, 0 to 1.
        size: Use games on boards of this size alone.
        part: (i, n): draw part i of n equal parts of each batch, as `Sampler`.

    Raises StoreError when there is no recorded position, ValueError for a share outside 0 to 1.
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
        mix: TargetMix = TargetMix(),  # frozen
        extra: Mapping[str, Target] = NO_TARGETS,
        split: Split = "all",
        validation_fraction: float = 0.02,
        size: int | None = None,
        part: tuple[int, int] = (0, 1),
    ) -> None:
        _check_share("surprise", surprise)
        check_part(batch_size, part)
        self.part = part
        self.store = store
        self.plane_set = find_plane_set(plane_set)
        self.batch_size = batch_size
        self.seed = seed
        self.symmetries = symmetries
        self._mix = mix
        wanted = choose_games(store, split, validation_fraction, size)
        wanted[:first_game] = False
        parts = [
            _recorded(shard, int(start), wanted[start : start + len(shard)])
            for shard, start in zip(store.shards, store.starts[:-1], strict=True)
            if start + len(shard) > first_game
        ]
        if not sum(len(game) for game, *_ in parts):
            since = f" from game {first_game} on" if first_game else ""
            raise StoreError(
                f"{store.path}: no position with a policy target{since}; self-play and 'tengen label' record them"
            )
        self._game, self._ply, self._root, self._scores, surprises = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        self._factor = _factors(surprises, surprise)
        self._order = Shuffle(len(self._game), seed)
        self.edge = edge or size or int(store.column("size")[first_game:].max())
        self._encoder = Encoder(store, self.plane_set, self.edge, threads, first_game, extra)

    @property
    def positions(self) -> int:
        """Positions in an epoch: all with recorded visits."""
        return self._order.positions

    @property
    def games(self) -> int:
        """Games that the positions come from."""
        return len(self.game_rows)

    @cached_property
    def game_rows(self) -> Ints:
        """Indices of these games in the store, int64 [games]."""
        return np.unique(self._game).astype(np.int64)

    def batch(self, step: int) -> Batch:
        """Draw and encode batch number `step` >= 0, with `target` and `reply`."""
        check_step(step)
        part, parts = self.part
        return self.draw(step * self.batch_size + part * self.batch_size // parts, self.batch_size // parts)

    def draw(self, start: int, count: int, *, labels_alone: bool = False) -> Batch:
        """Encode `count` positions from place `start` of the order of all epochs.

        With `labels_alone` target, value and score are those of the labels whatever the mix, NaN where they have none.
        """
        places = np.arange(start, start + count)
        position = self._order(places)
        symmetry = self._order.symmetries(places) if self.symmetries else np.zeros(count, np.int64)
        rows = Rows.as_played(self._game[position].astype(np.int64), self._ply[position].astype(np.int64), symmetry)
        batch = self._encoder.encode(rows, targets=True)
        batch.weight[:] *= self._factor[position]
        if labels_alone:
            batch.value[:], batch.score[:] = self._root[position], self._scores[position]
        else:
            self._apply_mix(batch, rows, position)
        return batch

    def _apply_mix(self, batch: Batch, rows: Rows, position: Ints) -> None:
        """Mix labels and record in the targets of a batch, in place."""
        mix, target = self._mix, batch.target
        assert target is not None
        if mix.temperature != 1:
            np.power(target, 1 / mix.temperature, out=target)
            target /= target.sum(axis=1, keepdims=True)
        if mix.policy != 1:
            known = np.flatnonzero(batch.policy >= 0)
            target[known] *= mix.policy
            target[known, batch.policy[known]] += 1 - mix.policy
        if mix.value:
            _mix_in(batch.value, self._root[position], mix.value)
        if mix.score:
            _mix_in(batch.score, self._scores[position], mix.score)
        if mix.ownership:
            _mix_in(batch.ownership, self._ownership(rows), mix.ownership)

    def _ownership(self, rows: Rows) -> Floats:
        """The teacher's ownership [n, edge, edge] as the boards are turned; NaN off the board and where unknown."""
        found = np.full((len(rows.game), self.edge, self.edge), np.nan, np.float32)
        for i, (game, ply, symmetry) in enumerate(zip(rows.game, rows.ply, rows.symmetry, strict=True)):
            number, row = self.store.locate(int(game))
            shard = self.store.shards[number]
            packed = shard.root_ownership(row, int(ply))
            if len(packed):
                size = int(shard.size[row])
                turned = np.empty(size * size, np.float32)
                turned[symmetry_table(size)[symmetry, :-1]] = unpack_shares(packed, size * size)
                found[i, :size, :size] = turned.reshape(size, size)
        return found


class MixedSampler:
    """Batches of self-play positions with a `share`, 0 to 1, of positions from game records at the end of each batch.

    A share that is no whole number of positions is met on average over batches. The target of a record is the move
    that was played. Raises ValueError unless both samplers use the same plane set and edge, and for a OnePerGame.
    """

    def __init__(self, self_play: LabelSampler, records: Sampler, share: float) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"the share of records must be 0 to 1, not {share:g}")
        if (self_play.plane_set, self_play.edge) != (records.plane_set, records.edge):
            raise ValueError(
                f"self-play uses plane set {self_play.plane_set.name} and edge {self_play.edge}, "
                f"the records {records.plane_set.name} and {records.edge}: they must be the same"
            )
        if isinstance(records, OnePerGame):
            raise ValueError("records to mix in must be drawn in random order: OnePerGame is for validation")
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
        own = self._self_play.draw(step * self.batch_size - first, self.batch_size - (end - first))
        records = self._records.encode(self._records.draw(first, end - first), targets=True)
        return Batch.join([own, records])


def _recorded(shard: Shard, start: int, wanted: npt.NDArray[np.bool_]) -> tuple[Places, Places, Floats, Floats, Floats]:
    """(game, ply, value, score, surprise) of the recorded positions in the `wanted` games of a shard that starts at row
    `start`."""
    lists = np.flatnonzero(np.diff(shard.visit_offsets) > 0)
    row = np.searchsorted(shard.visit_rows, lists, side="right") - 1
    lists, row = lists[wanted[row]], row[wanted[row]]
    ply = lists - shard.visit_rows[row]
    root = _at(shard.root_values, shard.root_offsets, row, ply)
    score = _at(shard.root_scores, shard.root_score_offsets, row, ply)
    surprise = _at(shard.surprises, shard.surprise_offsets, row, ply)
    return (row + start).astype(np.int32), ply.astype(np.int32), root, score, surprise


def _mix_in(target: Floats, label: Floats, share: float) -> None:
    """Mix a share of labels into a target, in place; where one of them is unknown, the target is the other."""
    mixed = (1 - share) * target + share * label
    np.copyto(target, np.where(np.isnan(mixed), np.where(np.isnan(target), label, target), mixed))


def _at(values: Floats, offsets: npt.NDArray[np.int32], row: Ints, ply: Ints) -> Floats:
    """Entry `ply` of the list of each row; NaN where the list is shorter."""
    found = np.full(len(row), np.nan, np.float32)
    there = offsets[row] + ply < offsets[row + 1]
    found[there] = values[(offsets[row] + ply)[there]]
    return found


def _factors(surprises: Floats, share: float) -> Floats:
    """Factor of each position's weight, with mean 1."""
    known = np.maximum(surprises, 0)
    mean = np.nanmean(known) if not np.isnan(known).all() else 0.0
    if not mean > 0:
        return np.ones(len(surprises), np.float32)
    return np.where(np.isnan(known), 1, 1 - share + share * known / mean).astype(np.float32)
