"""Drawing batches from a game store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tengen.data.batch import Batch, Ints, Rows
from tengen.data.encoding import Encoder
from tengen.data.planes import PlaneSet
from tengen.data.planes import plane_set as find_plane_set
from tengen.data.split import Deal, Split, choose, derive
from tengen.data.store import Store
from tengen.errors import StoreError

__all__ = ["Rows", "Sampler"]

# What a number is drawn for; keeps the draws independent of each other.
SYMMETRY, _PLY, _SCORING, _KOMI = 1, 2, 3, 4
# Half of the positions are told with another komi: a logistic deviation of this scale, in points.
_KOMI_SCALE = 4.0


class Sampler:
    """Batches of positions of a store, each a pure function of (seed, step).

    Positions are dealt without replacement: every epoch is a fresh permutation of all positions of the split, and
    batches run on from one epoch into the next. So the whole state is two numbers, and to resume is to ask for the
    next step. With `one_per_game` an epoch is instead one random position of every game that has one, the move not a
    pass, in the order of the store and the same in every epoch; its last batch is short. That is for validation.

    `plies` = (first, last) keeps positions before moves first <= ply <= last, counted from 0. `edge` is that of the
    tensors, the largest board of the store unless given. `threads` encode at once; they change nothing else.
    With `vary_rules` half of the positions are told under the other way of counting, and half of those with a known
    score with another komi and its result: records of one server then teach a network every rule set and komi.
    With `targets` batches hold `target` and `reply` too.
    Raises StoreError when the split holds no position.
    """

    def __init__(
        self,
        store: Store,
        split: Split = "train",
        plane_set: str | PlaneSet = "tengen",
        batch_size: int = 256,
        seed: int = 0,
        *,
        symmetries: bool = True,
        threads: int = 1,
        validation_fraction: float = 0.02,
        plies: tuple[int, int | None] = (0, None),
        one_per_game: bool = False,
        edge: int | None = None,
        vary_rules: bool = False,
        targets: bool = False,
    ) -> None:
        self.store = store
        self.plane_set = find_plane_set(plane_set)
        self.batch_size = batch_size
        self.seed = seed
        self.symmetries = symmetries
        self.plies = plies
        self.one_per_game = one_per_game
        self.vary_rules = vary_rules
        self.targets = targets
        counts = self._positions_per_game()
        self._games = np.flatnonzero(choose(store.hashes, split, validation_fraction) & (counts > 0))
        self._ends: Ints = np.cumsum(counts[self._games], dtype=np.int64)
        if not len(self._games):
            raise StoreError(f"{store.path}: {_why_nothing(store, split, validation_fraction)}")
        self.edge = int(store.column("size").max()) if edge is None else edge
        self._deal = Deal(int(self._ends[-1]), seed)
        self._encoder = Encoder(store, self.plane_set, self.edge, threads)

    @property
    def positions(self) -> int:
        """Positions in an epoch."""
        return len(self._games) if self.one_per_game else int(self._ends[-1])

    @property
    def games(self) -> int:
        """Games that the positions come from."""
        return len(self._games)

    @property
    def game_rows(self) -> Ints:
        """Where these games are in the store."""
        return self._games

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
        if not self.one_per_game:
            return self.dealt(start, self.batch_size)
        start %= self.steps_per_epoch * self.batch_size
        places = np.arange(start, min(start + self.batch_size, self.positions))
        game = self._games[places]
        return self._told(places, game, np.array([self._one_ply(int(g)) for g in game], np.int64))

    def dealt(self, start: int, count: int) -> Rows:
        """Return the positions at places `start` to `start + count` of the deal."""
        places = np.arange(start, start + count)
        position = self._deal(places)
        index = np.searchsorted(self._ends, position, side="right")
        ply = position - np.where(index > 0, self._ends[index - 1], 0) + self.plies[0]
        return self._told(places, self._games[index], ply)

    def encode(self, rows: Rows, targets: bool | None = None) -> Batch:
        """Encode any positions of the store: those before move `ply`; at the end of a game there is no policy.

        `targets` are as the sampler's own unless given.
        """
        return self._encoder.encode(rows, self.targets if targets is None else targets)

    def _told(self, places: Ints, game: Ints, ply: Ints) -> Rows:
        symmetry = np.zeros(len(places), np.int64)
        if self.symmetries:
            symmetry = np.floor(8 * self._deal.chance(places, SYMMETRY)).astype(np.int64)
        rows = Rows.as_played(game.astype(np.int64), ply, symmetry)
        if not self.vary_rules:
            return rows
        scoring, komi = self._deal.chance(places, _SCORING), self._deal.chance(places, _KOMI)
        return replace(rows, other_scoring=scoring < 0.5, komi_shift=_komi_shift(komi))

    def _positions_per_game(self) -> Ints:
        first, last = self.plies
        ends = self.store.lengths.astype(np.int64)
        if last is not None:
            ends = np.minimum(ends, last + 1)
        return np.maximum(ends - first, 0)

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


def _why_nothing(store: Store, split: Split, fraction: float) -> str:
    if split != "validation":
        return f"no position of the split '{split}' passes the filters"
    return (
        f"none of its {len(store)} games is set apart to judge on, by a validation_fraction of {fraction:g}; "
        "give a larger one, or a validation_store"
    )


def _komi_shift(chance: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """None for the lower half of the chances, else a logistic deviation in half points, at most about 40."""
    inner = np.clip(2 * chance - 1, 1e-4, 1 - 1e-4)
    shift = np.round(2 * _KOMI_SCALE * np.log(inner / (1 - inner))) / 2
    return np.where(chance < 0.5, 0, shift).astype(np.float32)
