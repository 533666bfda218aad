"""Plane sets by name: the inputs of a network. `docs/planes.md` explains every plane of the shipped sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.data.batch import Batch, Rows
from tengen.errors import NetworkError
from tengen.game import Game
from tengen.plugins import Registry
from tengen.sgf.values import rank, rank_strength

Floats = npt.NDArray[np.float32]
Encoded = tuple[Floats, Floats, Floats]
"""Planes, scalars and mask."""
Ranks = tuple[str, str]
"""Ranks of Black and White such as `9d`, `2p` or `5k`; empty where unknown."""

FeatureContext = _native.FeatureContext
UNRANKED: Ranks = ("", "")


@dataclass(frozen=True)
class PlaneSet(ABC):
    """A named encoding of positions for the side to move, as planes [C, H, W] and scalars [S].

    `planes` and `scalars` are their names in the order in which they are written.
    """

    name: str
    planes: tuple[str, ...]
    scalars: tuple[str, ...]

    def encode_game(
        self, game: Game | _native.Game, symmetry: int = 0, edge: int | None = None, ranks: Ranks = UNRANKED
    ) -> Encoded:
        """Encode the position of one game: planes [C, edge, edge], scalars [S], mask [edge, edge]. See encode_games."""
        planes, scalars, mask = self.encode_games([game], edge, [symmetry], [ranks])
        return planes[0], scalars[0], mask[0]

    def encode_games(
        self,
        games: Sequence[Game | _native.Game],
        edge: int | None = None,
        symmetries: Sequence[int] | None = None,
        ranks: Sequence[Ranks] | None = None,
    ) -> Encoded:
        """Encode the positions of games for their sides to move.

        Returns float32 planes [B, C, edge, edge], scalars [B, S] and mask [B, edge, edge], which is 1 on the board.
        Each board is turned by its symmetry (0..7, 0 unless given) and lies at the top-left of the tensor. `edge` is
        the size of the largest board unless given. Raises ValueError for an edge that is too small, a symmetry out of
        range or a text that is no rank.
        """
        count = len(games)
        width = (max((game.size for game in games), default=1)) if edge is None else edge
        planes = np.empty((count, len(self.planes), width, width), np.float32)
        scalars = np.empty((count, len(self.scalars)), np.float32)
        mask = np.empty((count, width, width), np.float32)
        for i, game in enumerate(games):
            symmetry = 0 if symmetries is None else symmetries[i]
            codes = (0, 0) if ranks is None else rank_codes(ranks[i])
            native = game._native if isinstance(game, Game) else game
            self._write_game(native, symmetry, codes, planes[i], scalars[i], mask[i])
        return planes, scalars, mask

    @abstractmethod
    def encode_rows(
        self,
        shards: Sequence[_native.GameColumns],
        shard: npt.NDArray[np.int64],
        row: npt.NDArray[np.int64],
        rows: Rows,
        batch: Batch,
        threads: int,
    ) -> None:
        """Fill a batch with the positions and targets of `rows`, each at (shard, row), both int64 [B].

        Raises ValueError for what is no position of a game.
        """

    @abstractmethod
    def _write_game(
        self, game: _native.Game, symmetry: int, ranks: tuple[int, int], planes: Floats, scalars: Floats, mask: Floats
    ) -> None:
        """Write one position into planes [C, edge, edge], scalars [S] and mask [edge, edge]."""


class NativePlaneSet(PlaneSet):
    """A plane set written in C++ (`native/features/`). Search needs one of these."""

    @classmethod
    def named(cls, name: str) -> NativePlaneSet:
        """The native set of this name; raises NetworkError where there is none."""
        try:
            planes, scalars = _native.plane_set(name)
        except ValueError as error:
            raise NetworkError(str(error)) from None
        return cls(name, tuple(planes), tuple(scalars))

    def encode_rows(
        self,
        shards: Sequence[_native.GameColumns],
        shard: npt.NDArray[np.int64],
        row: npt.NDArray[np.int64],
        rows: Rows,
        batch: Batch,
        threads: int,
    ) -> None:
        """Fill a batch in native threads."""
        _native.encode_rows(
            self.name, shards, shard, row, rows.ply, rows.symmetry, rows.other_scoring, rows.komi_shift,
            batch.mask.shape[-1], batch.planes, batch.scalars, batch.mask, batch.policy, batch.value, batch.score,
            batch.ownership, batch.weight, threads, batch.target, batch.reply,
        )  # fmt: skip

    def _write_game(
        self, game: _native.Game, symmetry: int, ranks: tuple[int, int], planes: Floats, scalars: Floats, mask: Floats
    ) -> None:
        _native.encode_game(self.name, game, symmetry, mask.shape[-1], planes, scalars, mask, ranks)


@dataclass(frozen=True)
class PythonPlaneSet(PlaneSet):
    """A plane set written in Python over the native features, for experiments.

    `features` gets a `FeatureContext` and returns the planes, [C, size, size] by row and column of the board, and the
    scalars [S]; symmetries and larger tensors are applied to them. Batches take many times as long as those of a native
    set, and search cannot use the set: training, evaluation on game records and raw-policy play can.
    `register_plane_set` or an entry point of the group `tengen.plane_sets` makes it known by its name.
    """

    features: Callable[[FeatureContext], tuple[npt.ArrayLike, npt.ArrayLike]] = field(repr=False)

    def encode_rows(
        self,
        shards: Sequence[_native.GameColumns],
        shard: npt.NDArray[np.int64],
        row: npt.NDArray[np.int64],
        rows: Rows,
        batch: Batch,
        threads: int,
    ) -> None:
        """Fill the targets natively, then the planes and scalars position by position."""
        count, edge = len(rows.ply), batch.mask.shape[-1]
        _native.encode_rows(
            "_none", shards, shard, row, rows.ply, rows.symmetry, rows.other_scoring, rows.komi_shift, edge,
            np.empty((count, 0, edge, edge), np.float32), np.empty((count, 0), np.float32), batch.mask, batch.policy,
            batch.value, batch.score, batch.ownership, batch.weight, threads, batch.target, batch.reply,
        )  # fmt: skip
        contexts = _native.row_contexts(shards, shard, row, rows.ply, rows.other_scoring, rows.komi_shift)
        for i, context in enumerate(contexts):
            self._write(context, int(rows.symmetry[i]), batch.planes[i], batch.scalars[i])

    def _write_game(
        self, game: _native.Game, symmetry: int, ranks: tuple[int, int], planes: Floats, scalars: Floats, mask: Floats
    ) -> None:
        # The empty native set checks symmetry and edge, and writes the mask.
        edge = mask.shape[-1]
        none = np.empty((0, edge, edge), np.float32)
        _native.encode_game("_none", game, symmetry, edge, none, np.empty(0, np.float32), mask, (0, 0))
        self._write(FeatureContext(game, ranks=ranks), symmetry, planes, scalars)

    def _write(self, context: FeatureContext, symmetry: int, planes: Floats, scalars: Floats) -> None:
        found, numbers = (np.asarray(part, np.float32) for part in self.features(context))
        size = context.size
        for what, given, wanted in (
            ("planes", found, (len(self.planes), size, size)),
            ("scalars", numbers, (len(self.scalars),)),
        ):
            if given.shape != wanted:
                raise NetworkError(f"plane set {self.name!r} gives {what} of shape {given.shape}, not {wanted}")
        turned = found[:, ::-1] if symmetry & 1 else found
        turned = turned[:, :, ::-1] if symmetry & 2 else turned
        planes[:] = 0
        planes[:, :size, :size] = turned.transpose(0, 2, 1) if symmetry & 4 else turned
        scalars[:] = numbers


PLANE_SETS: Registry[PlaneSet] = Registry(
    "plane set",
    "tengen.plane_sets",
    {name: NativePlaneSet.named(name) for name in _native.plane_set_names()},
    NetworkError,
)
"""All plane sets by name; those of installed packages through the entry points of `tengen.plane_sets`."""


def register_plane_set(planes: PlaneSet) -> PlaneSet:
    """Make a plane set known by its name in this process. Raises ValueError where another set has the name."""
    return PLANE_SETS.register(planes.name, planes)


def plane_set_names() -> list[str]:
    """Return the names of all plane sets."""
    return list(PLANE_SETS)


def plane_set(name: str | PlaneSet) -> PlaneSet:
    """Return the plane set of this name, or the set itself; raises NetworkError for an unknown name."""
    if isinstance(name, PlaneSet):
        return name
    found = PLANE_SETS[name]
    if not isinstance(found, PlaneSet) or found.name != name:
        raise NetworkError(
            f"the entry point {name!r} of 'tengen.plane_sets' gives {found!r}, no plane set of this name"
        )
    return found


def native_plane_set(name: str) -> NativePlaneSet:
    """Return the native plane set of this name; raises NetworkError for an unknown name or a set written in Python."""
    found = plane_set(name)
    if not isinstance(found, NativePlaneSet):
        raise NetworkError(
            f"plane set {name!r} is written in Python: it serves training, evaluation and raw-policy play; "
            "search needs a native set (native/features)"
        )
    return found


def encode_game(
    planes: PlaneSet | str, game: Game, symmetry: int = 0, edge: int | None = None, ranks: Ranks = UNRANKED
) -> Encoded:
    """Encode the position of a game for its side to move: planes [C, edge, edge], scalars [S], mask [edge, edge].

    The board is turned by `symmetry` (0..7) and lies at the top-left of a tensor of `edge`, which is the board's size
    unless given. Raises ValueError for an edge that is too small, a symmetry out of range or a text that is no rank.
    """
    return plane_set(planes).encode_game(game, symmetry, edge, ranks)


def rank_codes(ranks: Ranks) -> tuple[int, int]:
    """Return ranks as native code takes them; raises ValueError for a text that is no rank."""
    for text in ranks:
        if rank(text) != text:
            raise ValueError(f"{text!r} is no rank: write one such as 5k, 3d or 1p, or nothing where it is unknown")
    return rank_strength(ranks[0]), rank_strength(ranks[1])
