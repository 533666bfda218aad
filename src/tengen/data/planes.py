"""Plane sets by name: the inputs of a network. `docs/reference/planes.md` explains every plane of the shipped sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.data.batch import Batch, Floats, Ints, Rows
from tengen.errors import NetworkError
from tengen.game import AnyGame, Game, native_game
from tengen.plugins import Registry
from tengen.sgf.values import rank, rank_strength

Shards = Sequence[_native.GameColumns]
Encoded = tuple[Floats, Floats, Floats]
"""Planes, scalars and mask."""
Ranks = tuple[str, str]
"""Ranks of Black and White such as `9d`, `2p` or `5k`; empty where unknown."""

FeatureContext = _native.FeatureContext
UNRANKED: Ranks = ("", "")
NativeSearch = _native.Search | _native.SearchPool | _native.SelfPlay

_POINTS = "_points"
"""The native set with one plane, the number of each point. It gives masks, targets and the turned points."""


@dataclass(frozen=True)
class PlaneSet(ABC):
    """A named encoding of positions for the side to move, as planes [C, H, W] and scalars [S].

    `planes` and `scalars` are their names in the order in which they are written.
    """

    name: str
    planes: tuple[str, ...]
    scalars: tuple[str, ...]

    def encode_game(
        self, game: AnyGame, symmetry: int = 0, edge: int | None = None, ranks: Ranks = UNRANKED
    ) -> Encoded:
        """Encode the position of one game: planes [C, edge, edge], scalars [S], mask [edge, edge]. See encode_games."""
        planes, scalars, mask = self.encode_games([game], edge, [symmetry], [ranks])
        return planes[0], scalars[0], mask[0]

    def encode_games(
        self, games: Sequence[AnyGame], edge: int | None = None, symmetries: Sequence[int] | None = None,
        ranks: Sequence[Ranks] | None = None,
    ) -> Encoded:  # fmt: skip
        """Encode the positions of games for their sides to move.

        Returns float32 planes [B, C, edge, edge], scalars [B, S] and mask [B, edge, edge], which is 1 on the board.
        Each board is turned by its symmetry (0..7, 0 unless given) and lies at the top-left of the tensor. `edge` is
        the size of the largest board unless given. Raises ValueError for an edge that is too small, a symmetry out of
        range or a text that is no rank.
        """
        count = len(games)
        width = max((game.size for game in games), default=1) if edge is None else edge
        planes = np.empty((count, len(self.planes), width, width), np.float32)
        scalars = np.empty((count, len(self.scalars)), np.float32)
        mask = np.empty((count, width, width), np.float32)
        for i, game in enumerate(games):
            symmetry = 0 if symmetries is None else symmetries[i]
            self.write_game(game, planes[i], scalars[i], mask[i], symmetry, UNRANKED if ranks is None else ranks[i])
        return planes, scalars, mask

    @abstractmethod
    def write_game(
        self, game: AnyGame, planes: Floats, scalars: Floats, mask: Floats, symmetry: int = 0, ranks: Ranks = UNRANKED
    ) -> None:
        """Write the position of one game into planes [C, edge, edge], scalars [S] and mask [edge, edge].

        Raises ValueError as encode_games does.
        """

    @abstractmethod
    def gather(self, search: NativeSearch, planes: Floats, scalars: Floats, mask: Floats, *limits: Any) -> int:
        """Write the positions that a native search needs evaluated; returns how many.

        The arrays are planes [N, C, edge, edge], scalars [N, S] and mask [N, edge, edge]. `limits` are those of the
        search's own `gather`.
        """

    @abstractmethod
    def encode_rows(self, shards: Shards, shard: Ints, row: Ints, rows: Rows, batch: Batch, threads: int) -> None:
        """Fill a batch with the positions and targets of `rows`, each at (shard, row), both int64 [B].

        Raises ValueError for what is no position of a game.
        """


class NativePlaneSet(PlaneSet):
    """A plane set written in C++ (`native/features/`)."""

    @classmethod
    def named(cls, name: str) -> NativePlaneSet:
        """The native set of this name; raises NetworkError where there is none."""
        try:
            planes, scalars = _native.plane_set(name)
        except ValueError as error:
            raise NetworkError(str(error)) from None
        return cls(name, tuple(planes), tuple(scalars))

    def encode_rows(self, shards: Shards, shard: Ints, row: Ints, rows: Rows, batch: Batch, threads: int) -> None:
        """Fill a batch in native threads."""
        _encode_rows(self.name, shards, shard, row, rows, batch, threads, batch.planes, batch.scalars)

    def write_game(
        self, game: AnyGame, planes: Floats, scalars: Floats, mask: Floats, symmetry: int = 0, ranks: Ranks = UNRANKED
    ) -> None:
        """Write one position."""
        edge = mask.shape[-1]
        _native.encode_game(self.name, native_game(game), symmetry, edge, planes, scalars, mask, rank_codes(ranks))

    def gather(self, search: NativeSearch, planes: Floats, scalars: Floats, mask: Floats, *limits: Any) -> int:
        """Write the positions of a search without a copy."""
        return search.gather(self.name, planes, scalars, mask, *limits)


@dataclass(frozen=True)
class PythonPlaneSet(PlaneSet):
    """A plane set written in Python over the native features, for experiments.

    `features` gets a `FeatureContext` and returns the planes, [C, size, size] by row and column of the board, and the
    scalars [S]; symmetries and larger tensors are applied to them. The set works wherever a native one does, in
    training, search and self-play, but encoding takes many times as long. `register_plane_set` or an entry point of the
    group `tengen.plane_sets` makes it known by its name.
    """

    features: Callable[[FeatureContext], tuple[npt.ArrayLike, npt.ArrayLike]] = field(repr=False)

    def encode_rows(self, shards: Shards, shard: Ints, row: Ints, rows: Rows, batch: Batch, threads: int) -> None:
        """Fill the targets natively, then the planes and scalars position by position."""
        count, edge = len(rows.ply), batch.mask.shape[-1]
        points = np.empty((count, 1, edge, edge), np.float32)
        none = np.empty((count, 0), np.float32)
        _encode_rows(_POINTS, shards, shard, row, rows, batch, threads, points, none)
        contexts = _native.row_contexts(shards, shard, row, rows.ply, rows.other_scoring, rows.komi_shift)
        for i, context in enumerate(contexts):
            self._write(context, points[i, 0], batch.mask[i], batch.planes[i], batch.scalars[i])

    def write_game(
        self, game: AnyGame, planes: Floats, scalars: Floats, mask: Floats, symmetry: int = 0, ranks: Ranks = UNRANKED
    ) -> None:
        """Write one position."""
        edge, native = mask.shape[-1], native_game(game)
        points = np.empty((1, edge, edge), np.float32)
        _native.encode_game(_POINTS, native, symmetry, edge, points, np.empty(0, np.float32), mask)
        self._write(FeatureContext(native, ranks=rank_codes(ranks)), points[0], mask, planes, scalars)

    def gather(self, search: NativeSearch, planes: Floats, scalars: Floats, mask: Floats, *limits: Any) -> int:
        """Let the search record its positions, then write them one by one; when `features` fails it forgets them."""
        edge, recorder = mask.shape[-1], _native.PositionRecorder()
        points, numbers = np.empty((len(mask), 1, edge, edge), np.float32), np.empty((len(mask), 1), np.float32)
        count = search.gather(recorder, points, numbers, mask, *limits)
        contexts = recorder.take()
        try:
            for i in range(count):
                self._write(contexts[int(numbers[i, 0])], points[i, 0], mask[i], planes[i], scalars[i])
        except BaseException:
            search.forget_waiting()
            raise
        return count

    def _write(self, context: FeatureContext, points: Floats, mask: Floats, planes: Floats, scalars: Floats) -> None:
        """Write the features of a position; `points` [edge, edge] has the number of each point, turned."""
        try:
            found, numbers = (np.asarray(part, np.float32) for part in self.features(context))
        except ValueError as error:
            raise NetworkError(f"plane set {self.name!r}: {error}") from error
        size = context.size
        for what, given, wanted in (
            ("planes", found, (len(self.planes), size, size)),
            ("scalars", numbers, (len(self.scalars),)),
        ):
            if given.shape != wanted:
                raise NetworkError(f"plane set {self.name!r} gives {what} of shape {given.shape}, not {wanted}")
            if not np.isfinite(given).all():
                raise NetworkError(f"plane set {self.name!r} gives {what} that are not finite (NaN or infinity)")
        on_board = mask > 0
        planes[:] = 0
        planes[:, on_board] = found.reshape(len(found), -1)[:, points[on_board].astype(np.intp)]
        scalars[:] = numbers


PLANE_SETS: Registry[PlaneSet] = Registry(
    "plane set",
    "tengen.plane_sets",
    {name: NativePlaneSet.named(name) for name in _native.plane_set_names()},
    NetworkError,
    part_type=PlaneSet,
)
"""All plane sets by name; those of installed packages through the entry points of `tengen.plane_sets`."""


def register_plane_set(planes: PlaneSet) -> PlaneSet:
    """Make a plane set known by its name in this process. Raises ValueError where the name is that of another set of
    Tengen or of an installed package."""
    return PLANE_SETS.register(planes.name, planes)


def plane_set_names() -> list[str]:
    """Return the names of all plane sets."""
    return list(PLANE_SETS)


def plane_set(name: str | PlaneSet) -> PlaneSet:
    """Return the plane set of this name, or the set itself; raises NetworkError for an unknown name."""
    if not isinstance(name, str):
        return name
    found = PLANE_SETS[name]
    # A search asks for its set in every step, and isinstance of an abstract class is slow.
    if type(found) is not NativePlaneSet and (not isinstance(found, PlaneSet) or found.name != name):
        raise NetworkError(
            f"what is registered or installed as plane set {name!r} is {found!r}, no plane set of this name"
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
        if text and rank(text) != text:
            raise ValueError(f"{text!r} is no rank: write one such as 5k, 3d or 1p, or nothing where it is unknown")
    return rank_strength(ranks[0]), rank_strength(ranks[1])


def _encode_rows(
    name: str,
    shards: Shards,
    shard: Ints,
    row: Ints,
    rows: Rows,
    batch: Batch,
    threads: int,
    planes: Floats,
    scalars: Floats,
) -> None:
    """Write mask and targets of a batch, and planes and scalars of the native plane set of this name."""
    _native.encode_rows(
        name,
        shards,
        shard=shard,
        row=row,
        ply=rows.ply,
        symmetry=rows.symmetry,
        other_scoring=rows.other_scoring,
        komi_shift=rows.komi_shift,
        edge=batch.mask.shape[-1],
        planes=planes,
        scalars=scalars,
        mask=batch.mask,
        policy=batch.policy,
        value=batch.value,
        score=batch.score,
        ownership=batch.ownership,
        weight=batch.weight,
        threads=threads,
        target=batch.target,
        reply=batch.reply,
    )
