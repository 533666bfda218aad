"""The first moves of a game, the same for both games of a pair: drawn by a policy or at random, or from a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tengen.errors import IllegalMove, RecipeError, SgfError
from tengen.match.conditions import Conditions
from tengen.match.player import Player
from tengen.match.players import open_player
from tengen.match.spec import PlayerSpec
from tengen.sgf import read_game, split_trees

_EDGE = 2  # a random opening keeps off the two outermost lines of a large board
_ORDER = 7  # what a seed is for: the order of a list


class Openings(Protocol):
    """Where the first moves of a pair come from."""

    def moves(self, number: int, players: Sequence[Player]) -> list[int]:
        """The first moves of the pairs with this number, from 0, always the same; `players` are those of the pair."""


def open_openings(conditions: Conditions) -> Openings:
    """What the conditions ask for. Raises TengenError where a network or a list is not there or does not fit."""
    source = conditions.openings
    if source in ("policy", "random"):
        return Drawn(conditions)
    if source.startswith("policy:"):
        opener = open_player(PlayerSpec(name="openings", player=f"raw:{source.removeprefix('policy:')}"))
        opener.begin(conditions.new_game(), seed=0)
        return Drawn(conditions, opener)
    return Listed(conditions)


def list_path(openings: str) -> Path:
    """Where a list of openings is. Raises RecipeError when it is not there."""
    if not Path(openings).exists():
        raise RecipeError(
            f"openings {openings!r} are not there: give policy, policy:NETWORK, random, or the path of SGF files or of "
            "a list of moves"
        )
    return Path(openings)


class Drawn:
    """Openings drawn by a policy, by the seed of the match.

    It is the `opener`'s where one is given, else that of the first player of the pair that has one; without any, or
    where the conditions say `random`, they are random points off the edge.
    """

    def __init__(self, conditions: Conditions, opener: Player | None = None) -> None:
        self._conditions = conditions
        self._opener = opener

    def moves(self, number: int, players: Sequence[Player]) -> list[int]:
        rng = np.random.default_rng((self._conditions.seed, number))
        game = self._conditions.new_game()
        asked = players if self._opener is None else [self._opener]
        if self._conditions.openings == "random":
            asked = []
        for _ in range(self._conditions.drawn):
            policy = next((p for p in (player.policy(game) for player in asked) if p is not None), None)
            weights = _inner(game.size) if policy is None else policy.astype(np.float64)
            legal = game.legal_points()
            if not legal:
                break
            share = weights[legal]
            game.play(int(rng.choice(legal, p=share / share.sum() if share.any() else None)))
        return [point for _, point in game.moves]


class Listed:
    """Openings of a list in a seeded order; when all have been used they come again.

    The list is a folder of SGF files, an SGF file of one or more games, or a text file with a line of moves for each
    opening, such as `D4 Q16 Q4`, where `#` begins a comment. RecipeError names an opening that is illegal here.
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

    def moves(self, number: int, players: Sequence[Player]) -> list[int]:
        return list(self._lines[self._order[number % len(self)]])


Line = tuple[int | str, ...]
"""Moves as points or as GTP names them, Black first."""


def _read(path: Path, conditions: Conditions) -> Iterator[tuple[str, Line]]:
    """Every opening with the place where it stands."""
    if path.is_dir():
        for file in sorted(path.rglob("*.sgf")):
            yield from _read(file, conditions)
    elif path.suffix.lower() == ".sgf":
        for i, tree in enumerate(split_trees(BytesIO(path.read_bytes()))):
            yield f"{path}, game {i + 1}", _main_line(f"{path}, game {i + 1}", tree, conditions)
    else:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise RecipeError(f"{path} is no text: a list of openings has a line of moves for each") from error
        for i, line in enumerate(text.splitlines()):
            if words := line.partition("#")[0].split():
                yield f"{path}, line {i + 1}", tuple(words)


def _main_line(where: str, tree: bytes, conditions: Conditions) -> Line:
    try:
        game, _ = read_game(tree, partial=conditions.opening is not None)
    except SgfError as error:
        raise RecipeError(f"{where}: {error}") from error
    if game.size != conditions.size:
        raise RecipeError(f"{where} is of {game.size}x{game.size}, the match of {conditions.size}x{conditions.size}")
    if game.setup_stones or any(color != i % 2 for i, (color, _) in enumerate(game.moves)):
        raise RecipeError(f"{where} has handicap stones or moves out of turn: an opening is played from an empty board")
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


def _inner(size: int) -> NDArray[np.float64]:
    """Equal weights [size * size + 1] for the points that lie off the edge, none for pass."""
    edge = _EDGE if size >= 9 else 0
    board = np.zeros((size, size))
    board[edge : size - edge, edge : size - edge] = 1
    return np.append(board.ravel(), 0.0)
