"""The first moves of a pair of games: drawn from a policy, random, or from a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tengen.coords import to_gtp
from tengen.errors import IllegalMove, RecipeError, SgfError
from tengen.game import Game
from tengen.match.conditions import Conditions
from tengen.match.moves import allowed_moves, draw_moves
from tengen.match.player import Player
from tengen.match.spec import PlayerSpec
from tengen.sgf import read_game, split_trees
from tengen.sgf.grammar import RECORD_SUFFIXES

_EDGE = 2  # outermost lines of a large board that random openings avoid
_ORDER = 7  # purpose of a seed: the order of a list


@dataclass(frozen=True)
class GamePair:
    """Two games that share an opening: their round, and the players, first the one with Black in the first game."""

    round: int
    players: tuple[Player, Player]


class Openings(Protocol):
    """Where the first moves of a pair come from."""

    def moves(self, pairs: Sequence[GamePair]) -> list[list[int]]:
        """The first moves of each of these pairs, a function of the pair alone."""


def open_openings(conditions: Conditions, open_player: Callable[[PlayerSpec], Player]) -> Openings:
    """The openings of the conditions. Raises TengenError where a network or a list does not exist or does not fit."""
    if conditions.are_openings_listed:
        return Listed(conditions)
    if conditions.opening_network is None:
        return Drawn(conditions)
    opener = open_player(PlayerSpec(name="openings", player=f"raw:{conditions.opening_network}"))
    opener.start_game(0, conditions.new_game(), seed=0)
    return Drawn(conditions, opener)


def list_path(openings: str) -> Path:
    """The path of a list of openings. Raises RecipeError when it does not exist."""
    if not Path(openings).exists():
        raise RecipeError(
            f"openings {openings!r} do not exist: give policy, policy:NETWORK, players, random, or the path of SGF "
            "files or of a list of moves"
        )
    return Path(openings)


class Drawn:
    """Openings drawn from a policy by the seed of the match, all pairs at once. Nobody passes in an opening.

    The policy is that of the `opener` if there is one. Otherwise, for `policy`, that of the first player of the pair
    that has one; for `players`, the first player's for Black and the second one's for White, and swapped in every
    other round. Without a policy, and for `random`, the moves are random points off the edge.
    """

    def __init__(self, conditions: Conditions, opener: Player | None = None) -> None:
        self._conditions = conditions
        self._opener = opener

    def moves(self, pairs: Sequence[GamePair]) -> list[list[int]]:
        conditions = self._conditions
        games = [conditions.new_game() for _ in pairs]
        uniform = np.array(
            [np.random.default_rng((conditions.seed, pair.round)).random(conditions.drawn) for pair in pairs]
        )
        for ply in range(conditions.drawn):
            playing = [i for i, game in enumerate(games) if not game.is_over and game.legal_points()]
            for asked, chosen in self._by_policy(pairs, games, playing):
                group = [games[i] for i in chosen]
                legal = allowed_moves(group, "free", "none")
                legal[:, -1] = False
                weights = self._weights(asked, group)
                points = draw_moves(weights, legal, conditions.opening_temperature, uniform[chosen, ply])
                for game, point in zip(group, points.tolist(), strict=True):
                    game.play(point)
        return [[point for _, point in game.moves] for game in games]

    def _by_policy(
        self, pairs: Sequence[GamePair], games: Sequence[Game], playing: Sequence[int]
    ) -> list[tuple[tuple[Player, ...], list[int]]]:
        """The numbers of pairs with the players whose policies they ask for the next move, in this order."""
        groups: dict[tuple[int, ...], tuple[tuple[Player, ...], list[int]]] = {}
        for i in playing:
            asked: tuple[Player, ...] = pairs[i].players
            if self._opener is not None:
                asked = (self._opener,)
            elif self._conditions.openings == "random":
                asked = ()
            elif self._conditions.openings == "players":
                asked = (asked[(pairs[i].round + games[i].to_play) % 2],)
            groups.setdefault(tuple(map(id, asked)), (asked, []))[1].append(i)
        return list(groups.values())

    def _weights(self, asked: Sequence[Player], games: Sequence[Game]) -> NDArray[np.float64]:
        for player in asked:
            if (policy := player.opening_policy(games)) is not None:
                return policy.astype(np.float64)
        return np.tile(_off_edge(games[0].size), (len(games), 1))


class Listed:
    """Openings of a list in a seeded order; after the last one the first comes again.

    The list is a folder of SGF files, an SGF file of one or more games, or a text file with a line of moves for each
    opening, such as `D4 Q16 Q4`, where `#` begins a comment. Records have the handicap stones of the match, if it has
    any. RecipeError names an opening that is illegal here.
    """

    def __init__(self, conditions: Conditions) -> None:
        path = list_path(conditions.openings)
        lines = [_checked(conditions, where, moves[: conditions.opening]) for where, moves in _read(path, conditions)]
        self._lines = list(dict.fromkeys(lines))
        if not self._lines:
            raise RecipeError(f"{path} holds no opening")
        self._order = np.random.default_rng((conditions.seed, _ORDER)).permutation(len(self._lines))

    def __len__(self) -> int:
        """Openings that differ."""
        return len(self._lines)

    def moves(self, pairs: Sequence[GamePair]) -> list[list[int]]:
        return [list(self._lines[self._order[pair.round % len(self)]]) for pair in pairs]


Line = tuple[int | str, ...]
"""Moves as points or as GTP names them, in turn."""


def is_record(name: str) -> bool:
    """Whether a file of this name has SGF records; others are lists of moves."""
    return name.lower().endswith(RECORD_SUFFIXES)


def opening_files(path: Path) -> list[Path]:
    """The files of a list of openings: itself, or all records in a folder."""
    return sorted(file for file in path.rglob("*") if is_record(file.name)) if path.is_dir() else [path]


def _read(path: Path, conditions: Conditions) -> Iterator[tuple[str, Line]]:
    """Every opening with its place in the list."""
    if path.is_dir():
        for file in opening_files(path):
            yield from _read(file, conditions)
    elif is_record(path.name):
        for i, tree in enumerate(split_trees(BytesIO(path.read_bytes()))):
            yield f"{path}, game {i + 1}", _main_line(f"{path}, game {i + 1}", tree, conditions)
    else:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise RecipeError(f"{path} is not a text file: a list of openings has a line of moves for each") from error
        for i, line in enumerate(text.splitlines()):
            if words := line.partition("#")[0].split():
                yield f"{path}, line {i + 1}", tuple(words)


def _main_line(where: str, tree: bytes, conditions: Conditions) -> Line:
    try:
        game, _ = read_game(tree, partial=conditions.opening is not None, rules=conditions.rules)
    except SgfError as error:
        raise RecipeError(f"{where}: {error}") from error
    if game.size != conditions.size:
        raise RecipeError(f"{where} is of {game.size}x{game.size}, the match of {conditions.size}x{conditions.size}")
    start = conditions.new_game()
    in_turn = all(color == (start.first_to_play + i) % 2 for i, (color, _) in enumerate(game.moves))
    if sorted(game.setup_stones) != sorted(start.setup_stones) or not in_turn:
        other, begin = "", "an empty board"
        if conditions.handicap:
            points = " ".join(to_gtp(point, start.size) for _, point in start.setup_stones)
            other, begin = "other ", f"the handicap of the match, {points}"
        raise RecipeError(f"{where} has {other}handicap stones or moves out of turn: an opening is played from {begin}")
    return tuple(point for _, point in game.moves)


def _checked(conditions: Conditions, where: str, moves: Line) -> tuple[int, ...]:
    """The points of an opening that can be played; RecipeError for another."""
    game = conditions.new_game()
    try:
        for move in moves:
            game.play(move)
    except IllegalMove as error:
        raise RecipeError(f"{where}: {error}") from error
    if game.is_over:
        raise RecipeError(f"{where}: the game ends in its opening")
    return tuple(point for _, point in game.moves)


def _off_edge(size: int) -> NDArray[np.float64]:
    """Equal weights [size * size + 1] for the points that lie off the edge, none for pass."""
    edge = _EDGE if size >= 9 else 0
    board = np.zeros((size, size))
    board[edge : size - edge, edge : size - edge] = 1
    return np.append(board.ravel(), 0.0)
