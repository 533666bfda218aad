"""Samplers: batches of positions drawn from game stores, each a function of seed and step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from tengen.data.batch import Batch, Ints, Rows
from tengen.data.encoder import NO_TARGETS, Encoder, Target, komi_shift
from tengen.data.planes import PlaneSet
from tengen.data.planes import plane_set as find_plane_set
from tengen.data.record import is_opponents, points_of
from tengen.data.seeds import CHOICE, KOMI, PLY, SCORING, WITHIN, derive, mix, uniform
from tengen.data.shuffle import Shuffle
from tengen.data.split import Split, choose
from tengen.errors import StoreError, unknown_name

if TYPE_CHECKING:
    from tengen.data.store import Store

RuleChoice = Literal["recorded", "vary", "any"]
"""The rules and komi that a `Sampler` puts positions under."""


@dataclass(frozen=True)
class PositionChoice:
    """Which positions of the games of a split a `Sampler` draws.

    Args:
        plies: (first, last), both inclusive: the moves whose positions are used, counted from 0, or back from -1, the
            last move of each game. None for no end.
        games: Number of games of the split to use: the first ones in an order by hash, which are a random sample, the
            same in every import, and contained in each larger one.
        positions_per_game: Positions to use of each game, all where it has fewer: a random one of each of as many
            equal parts of the game. They are the same in all epochs.
        max_positions: Number of positions to use, of as few games as possible, in the same order by hash.
        skip_passes: Leave out positions whose next move is a pass.
        opponents: Of a game that an import has kept for one of its players (`GameRecord.player`), use the positions in
            which the opponent moves too, without a policy: a value learned where one player moves alone would take the
            results of that player for those of the side to move. Without it such positions are left out.

    Raises ValueError for numbers out of range.
    """

    plies: tuple[int, int | None] = (0, None)
    games: int | None = None
    positions_per_game: int | None = None
    max_positions: int | None = None
    skip_passes: bool = False
    opponents: bool = False

    def __post_init__(self) -> None:
        for name in ("games", "max_positions", "positions_per_game"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise ValueError(f"{name} must be 1 or more, or None for all, not {number}")
        first, last = self.plies
        if last is not None and (first < 0) == (last < 0) and last < first:
            raise ValueError(f"plies are (first, last): {last} is before {first}")

    def bounds(self, moves: Ints) -> tuple[Ints, Ints]:
        """(first, end), both [games], of the plies in games of so many `moves` [games]; equal where there is none."""
        first, last = self.plies
        start = np.clip(first if first >= 0 else moves + first, 0, moves)
        end = moves if last is None else np.clip(last + 1 if last >= 0 else moves + last + 1, start, moves)
        return start, end


class Sampler:
    """Draws batches of positions from a game store. Each batch is a pure function of (seed, step).

    Positions are drawn without replacement: every epoch is a new permutation of all positions of the split, and batches
    continue across the end of an epoch. There is no other state, so training resumes by asking for the next step.
    A pickled sampler, as for the workers of a PyTorch DataLoader, draws the same batches; the store is opened again.

    Args:
        store: The game store.
        split: `train`, `validation` or `all` games of the store. The split of a game follows from its hash.
        plane_set: Name of a plane set, or the plane set itself.
        batch_size: Positions in a batch.
        seed: Determines the order of positions, their symmetries, and the rules other than `recorded`.
        symmetries: Turn each position by a random one of the eight symmetries.
        threads: Native threads that encode a batch. The result does not depend on them.
        validation_fraction: Share of games in the validation split, 0 to 1.
        size: Use games on boards of this size alone.
        choice: The positions of these games. Default is all of them.
        rules: `recorded`: the rules and komi of the record. `vary`: half of the positions of even games under the other
            scoring rule, territory for area or area for territory, and half of the positions with a known score under
            another komi; the result of a game with a known score follows. A network then learns all rule sets and komi
            from the records of one server. `any`: half of the games under other rules and half under another komi, as
            `Encoder` puts them. Their results are then unknown: for a teacher that says the value.
        edge: Height and width of the tensors. Default is the largest board of the store, or `size`.
        targets: Fill `target` and `reply` of the batches: the moves of the record, whatever visits or labels the store
            has, which are for `LabelSampler`.
        extra: Further targets of the batches by name.
        part: (i, n): draw part i of n equal parts of each batch, for one of n devices.

    Raises StoreError when the split holds no position or fewer games or positions than asked for, NetworkError for an
    unknown plane set, ValueError for an unknown split or rules and numbers out of range.
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
        size: int | None = None,
        choice: PositionChoice = PositionChoice(),  # frozen
        rules: RuleChoice = "recorded",
        edge: int | None = None,
        targets: bool = False,
        extra: Mapping[str, Target] = NO_TARGETS,
        part: tuple[int, int] = (0, 1),
    ) -> None:
        check_part(batch_size, part)
        if rules not in get_args(RuleChoice):
            raise ValueError(unknown_name("choice of rules", rules, get_args(RuleChoice)))
        self.store = store
        self.plane_set = find_plane_set(plane_set)
        self.batch_size = batch_size
        self.part = part
        self.seed = seed
        self.symmetries = symmetries
        self.choice = choice
        self.rules = rules
        self.targets = targets
        self._positions = _Positions(store, choose_games(store, split, validation_fraction, size), choice, seed)
        if not len(self._positions):
            raise StoreError(f"{store.path}: {_why_nothing(store, split, validation_fraction, size)}")
        self.edge = edge or size or int(store.column("size").max())
        self._order = Shuffle(len(self._positions), seed)
        any_rules = seed if rules == "any" else None
        self._encoder = Encoder(
            store, self.plane_set, self.edge, threads, extra=extra, any_rules=any_rules, recorded=False
        )

    @property
    def positions(self) -> int:
        """Positions in an epoch."""
        return len(self._positions)

    @property
    def games(self) -> int:
        """Number of games that the positions come from."""
        return len(self.game_rows)

    @property
    def game_rows(self) -> Ints:
        """Indices of these games in the store, int64 [games]."""
        return self._positions.games

    @property
    def steps_per_epoch(self) -> int:
        """Batches in an epoch. The last one continues into the next epoch."""
        return -(-self.positions // self.batch_size)

    def batch(self, step: int) -> Batch:
        """Draw and encode batch number `step` >= 0."""
        return self.encode(self.rows(step))

    def rows(self, step: int) -> Rows:
        """Draw the positions of batch number `step` >= 0, not encoded."""
        check_step(step)
        start, end = self._places(step)
        part, parts = self.part
        first, last = (start + (end - start) * i // parts for i in (part, part + 1))
        return self.draw(first, last - first)

    def draw(self, start: int, count: int) -> Rows:
        """Return `count` positions from place `start` of the order of all epochs."""
        places = np.arange(start, start + count)
        return self._rows_of(places, *self._positions.locate(self._order(places)))

    def encode(self, rows: Rows, targets: bool | None = None) -> Batch:
        """Encode any positions of the store, given as `Rows`. At the end of a game `policy` is -1, and so it is for the
        moves of opponents, where the choice has them.

        `targets` is the setting of the sampler unless given. Raises StoreError for positions that do not exist.
        """
        batch = self._encoder.encode(rows, self.targets if targets is None else targets)
        if self.choice.opponents:
            hidden = _are_opponents(self.store, rows)
            batch.policy[hidden] = -1
            if batch.target is not None:
                batch.target[hidden] = 0
        return batch

    def _places(self, step: int) -> tuple[int, int]:
        """(start, end) of a batch in the order of all epochs."""
        return step * self.batch_size, (step + 1) * self.batch_size

    def _rows_of(self, places: Ints, game: Ints, ply: Ints) -> Rows:
        """The positions at some places of the order, with the symmetries and rules that are drawn for these places."""
        symmetry = self._order.symmetries(places) if self.symmetries else np.zeros(len(places), np.int64)
        rows = Rows.as_played(game.astype(np.int64), ply, symmetry)
        if self.rules != "vary":
            return rows
        scoring, komi = self._order.chance(places, SCORING), self._order.chance(places, KOMI)
        other = (scoring < 0.5) & self._even[rows.game]
        return replace(rows, other_scoring=other, komi_shift=komi_shift(komi))

    @cached_property
    def _even(self) -> npt.NDArray[np.bool_]:
        """Whether each game began with Black on an empty board. Of others the score under the other scoring rule is
        unknown: the stones of a handicap count under area scoring alone."""
        stones = [np.diff(shard.black_offsets) + np.diff(shard.white_offsets) for shard in self.store.shards]
        first = [shard.first for shard in self.store.shards]
        return np.concatenate([(s == 0) & (f == 0) for s, f in zip(stones, first, strict=True)] or [np.empty(0, bool)])


class OnePerGame(Sampler):
    """Draws one random position of each game, one whose move is not a pass. For validation.

    Of a game with several rows, as one that was labelled several times, the first counts. The games are in an order by
    hash, so that the first ones are a random sample. All epochs are the same, and the last batch of an epoch is
    shorter. The arguments are those of `Sampler`; of a choice, the numbers of positions choose games alone.
    """

    @property
    def positions(self) -> int:
        """Positions in an epoch: one of each game."""
        return self.games

    @cached_property
    def game_rows(self) -> Ints:
        """Indices of these games in the store, int64 [games]."""
        rows = super().game_rows
        first = np.unique(self.store.first_rows[rows], return_index=True)[1]
        return rows[np.sort(first)]

    def draw(self, start: int, count: int) -> Rows:
        """Return `count` positions from place `start` of the order of all epochs, which are the same."""
        places = np.arange(start, start + count) % self.positions
        game = self._by_hash[places]
        return self._rows_of(places, game, np.array([self._one_ply(int(g)) for g in game], np.int64))

    def _places(self, step: int) -> tuple[int, int]:
        start = step % self.steps_per_epoch * self.batch_size
        return start, min(start + self.batch_size, self.positions)

    @cached_property
    def _by_hash(self) -> Ints:
        return _by_hash(self.store, self.game_rows)

    def _one_ply(self, game: int) -> int:
        """Choose a random ply of a game whose move is not a pass; the first ply if all moves are passes."""
        shard, row = self.store.locate(game)
        columns = self.store.shards[shard]
        moves = columns.moves[columns.offsets[row] : columns.offsets[row + 1]]
        first, end = (int(bound[0]) for bound in self.choice.bounds(np.array([len(moves)])))
        moves = moves[first:end]
        own = ~is_opponents(moves, columns.player[row]) | self.choice.opponents
        plies = np.flatnonzero(own & ~_is_pass(moves, columns.size[row]))
        plies = first + (plies if len(plies) else np.flatnonzero(own)[:1])
        return int(plies[derive(self.seed, PLY, int(columns.hash[row])) % len(plies)])


class _Positions:
    """The positions of a choice in the games that `wanted`, bool [games], has. They are numbered from 0, game by game.

    `games` are the rows of the games with such positions, in order.
    """

    def __init__(self, store: Store, wanted: npt.NDArray[np.bool_], choice: PositionChoice, seed: int) -> None:
        self._store = store
        self._parts, self._key = choice.positions_per_game, derive(seed, WITHIN)
        # Moves of each game within `plies`, without those that are skipped, and the positions that are drawn of them.
        self._first_ply, end = choice.bounds(store.lengths.astype(np.int64))
        skipped_game, skipped_move = _skipped_moves(store, choice, self._first_ply, end)
        known = end - self._first_ply - np.bincount(skipped_game, minlength=len(end))
        counts = known if self._parts is None else np.minimum(known, self._parts)
        games = np.flatnonzero(wanted & (counts > 0))
        if len(games) and (choice.games is not None or choice.max_positions is not None):
            games, counts = _restrict(store, games, counts, choice.games, choice.max_positions)
        self.games: Ints = games
        self._known: Ints = known[games]
        self._ends: Ints = np.cumsum(counts[games], dtype=np.int64)
        # Of each skipped move: the place of its game, and the number of the moves that stay before it in all games.
        there = np.isin(skipped_game, games)
        self._starts: Ints = np.cumsum(self._known) - self._known
        self._skipped_game = np.searchsorted(games, skipped_game[there])
        in_game = np.arange(len(self._skipped_game)) - np.searchsorted(self._skipped_game, self._skipped_game)
        self._skipped = self._starts[self._skipped_game] + skipped_move[there] - in_game

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def locate(self, position: Ints) -> tuple[Ints, Ints]:
        """(game, ply), both [n], of the positions of these numbers [n]."""
        index = np.searchsorted(self._ends, position, side="right")
        number = position - np.where(index > 0, self._ends[index - 1], 0)
        if self._parts is not None:
            number = self._within_game(index, number, self._parts)
        # Add the moves that are skipped before the position, in its game.
        before = np.searchsorted(self._skipped, self._starts[index] + number, side="right")
        number = number + before - np.searchsorted(self._skipped_game, index)
        game = self.games[index]
        return game, number + self._first_ply[game]

    def _within_game(self, index: Ints, part: Ints, parts: int) -> Ints:
        """A random position, counted from 0, of part number `part` of each game `index`, both [n]."""
        known = self._known[index]
        parts_there = np.minimum(known, parts)
        first, end = part * known // parts_there, (part + 1) * known // parts_there
        words = self._store.hashes[self.games[index]] ^ part.astype(np.uint64)
        found: Ints = first + (uniform(words, self._key) * (end - first)).astype(np.int64)
        return found


def _skipped_moves(store: Store, choice: PositionChoice, first: Ints, end: Ints) -> tuple[Ints, Ints]:
    """(game, number of the move within `plies`) of the passes and moves of opponents that a choice skips, in order.

    `first` and `end` are its bounds in each game.
    """
    games, plies = [np.empty(0, np.int64)], [np.empty(0, np.int64)]  # a store may be empty
    for shard, start in zip(store.shards, store.starts[:-1], strict=True):
        is_skipped = np.zeros(len(shard.moves), bool)
        if choice.skip_passes:
            is_skipped |= _is_pass(shard.moves, np.repeat(shard.size, np.diff(shard.offsets)))
        if not choice.opponents and np.isin(shard.player, (0, 1)).any():
            is_skipped |= is_opponents(shard.moves, np.repeat(shard.player, np.diff(shard.offsets)))
        there = np.flatnonzero(is_skipped)
        row = np.searchsorted(shard.offsets, there, side="right") - 1
        games.append(row + int(start))
        plies.append(there - shard.offsets[row])
    game, ply = np.concatenate(games).astype(np.int64), np.concatenate(plies).astype(np.int64)
    inside = (ply >= first[game]) & (ply < end[game])
    return game[inside], ply[inside] - first[game][inside]


def _are_opponents(store: Store, rows: Rows) -> npt.NDArray[np.bool_]:
    """Which of these positions are those of an opponent of the player that an import was asked for."""
    found = np.zeros(len(rows.game), bool)
    places = np.searchsorted(store.starts, rows.game, side="right") - 1
    for place in np.unique(places).tolist():
        shard, there = store.shards[place], np.flatnonzero(places == place)
        row = rows.game[there] - store.starts[place]
        at = shard.offsets[row] + rows.ply[there]
        moved = at < shard.offsets[row + 1]  # not at the end of a game
        found[there[moved]] = is_opponents(shard.moves[at[moved]], shard.player[row[moved]])
    return found


def _is_pass(moves: npt.NDArray[np.uint16], size: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which of the stored moves, on boards of the given size or sizes, are passes."""
    found: npt.NDArray[np.bool_] = points_of(moves) == np.asarray(size, np.int64) ** 2
    return found


def choose_games(store: Store, split: Split, fraction: float, size: int | None) -> npt.NDArray[np.bool_]:
    """Which games of a store belong to a split and are on boards of `size`, or of any; bool [games]."""
    chosen = choose(store.hashes, split, fraction)
    return chosen if size is None else chosen & (store.column("size") == size)


def check_part(batch_size: int, part: tuple[int, int]) -> None:
    """Raise ValueError for a batch without positions, and where it has no such equal parts."""
    if batch_size < 1:
        raise ValueError(f"a batch of {batch_size} positions is impossible: give 1 or more")
    if not 0 <= part[0] < part[1]:
        raise ValueError(f"there is no part {part[0]} of {part[1]}: give (i, n) with 0 <= i < n")
    if batch_size % part[1]:
        raise ValueError(f"a batch of {batch_size} positions has no {part[1]} equal parts")


def check_step(step: int) -> None:
    """Raise ValueError for a batch that there is not."""
    if step < 0:
        raise ValueError(f"there is no batch {step}: they count from 0")


def _by_hash(store: Store, chosen: Ints) -> Ints:
    """These games in an order by hash, a random one that is the same in every import."""
    return chosen[np.argsort(mix(store.hashes[chosen], CHOICE), kind="stable")]


def _restrict(store: Store, chosen: Ints, counts: Ints, games: int | None, positions: int | None) -> tuple[Ints, Ints]:
    """(games in order, positions of each game of the store): the first ones in the order of the hashes."""
    order = _by_hash(store, chosen)
    if games is not None:
        hashes = store.hashes[order]
        number = np.cumsum(np.diff(hashes, prepend=hashes[:1]) != 0)  # of the game of each row
        if games > (there := number[-1] + 1):
            raise StoreError(
                f"{store.path}: {games:,} games are asked for, and {there:,} are there to choose from; "
                "data.games=null takes all"
            )
        order = order[number < games]
    counts = counts.copy()
    if positions is not None:
        sums = np.cumsum(counts[order])
        if positions > sums[-1]:
            raise StoreError(
                f"{store.path}: {positions:,} positions are asked for, and {sums[-1]:,} are there; "
                "data.max_positions=null takes all"
            )
        last = int(np.searchsorted(sums, positions))
        counts[order[last]] -= sums[last] - positions
        order = order[: last + 1]
    return np.sort(order), counts


def _why_nothing(store: Store, split: Split, fraction: float, size: int | None) -> str:
    if split != "validation":
        return f"no position of the split '{split}' passes the filters"
    games = int(choose_games(store, "all", fraction, size).sum())
    on = "" if size is None else f" on {size}x{size}"
    return (
        f"none of its {games} games{on} is set apart to validate on, by a validation_fraction of {fraction:g}; "
        "give a larger one, or a validation_store"
    )
