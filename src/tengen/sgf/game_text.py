"""A game of one line of play from SGF and to SGF."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tengen import coords
from tengen.errors import IllegalMove, SgfError
from tengen.game import Game
from tengen.sgf.grammar import first_tree
from tengen.sgf.info import SgfInfo, raw_text
from tengen.sgf.main_line import SgfRecord, read_record
from tengen.sgf.tree import GameTree
from tengen.sgf.tree_text import write_tree


def read_game(
    source: bytes | str | os.PathLike[str],
    partial: bool = False,
    *,
    rules: str = "",
    komi: float | None = None,
    moves: int | None = None,
    tolerant: bool = False,
) -> tuple[Game, SgfInfo]:
    """Read the main line of a record and check it by the rules.

    Args:
        source: The bytes of a record, or the path of a file.
        partial: Read a damaged or illegal game up to the damage or the illegal move.
        rules: The rule set of a record that names none or an unknown one; empty to guess where it names none
            (`SgfInfo.rules_or_guess`).
        komi: The komi of a record without one; None to guess (`SgfInfo.komi_or_guess`).
        moves: Read this many moves at most, 0 or more; what follows may be damaged or illegal. None for all.
        tolerant: Play moves that `Game.play` accepts as tolerant: against ko and superko, and suicides of several
            stones.

    Returns:
        The game, and the game information as the record gives it, without guesses.

    Raises:
        SgfError: The record is not a complete legal game of Go (with `partial`: no game at all), or names unknown
            rules.
        OSError: The file cannot be read.
        ValueError: `moves` is below 0.
    """
    if moves is not None and moves < 0:
        raise ValueError(f"a record has no {moves} moves: give 0 or more, or None for all")
    record = read_record(first_tree(source if isinstance(source, bytes) else Path(source).read_bytes()))
    if moves is not None and len(record.moves) >= moves:
        record = replace(record, moves=record.moves[:moves], problem=None)
    if record.problem and not partial:
        raise record.problem
    info = record.info
    assumed = replace(info, rules=info.rules or rules, komi=komi if info.komi is None else info.komi)
    return _play(replace(record, info=assumed), partial, tolerant), info


def _play(record: SgfRecord, partial: bool, tolerant: bool) -> Game:
    """Play a record by its rules. Raises SgfError at the first illegal move, or stops there with `partial`."""
    info = record.info
    game = Game(record.size, info.rules_or_guess, info.komi_or_guess)
    try:
        game.setup(record.setup(0), record.setup(1), record.first)
        for move in record.moves.tolist():
            game.play(move & 0x7FFF, color=move >> 15, tolerant=tolerant)
    except IllegalMove as error:
        if not partial:
            raise SgfError(str(error)) from None
    return game


def write_game(game: Game, info: SgfInfo | None = None, comments: Sequence[str] = ()) -> bytes:
    """Write a game as SGF in UTF-8, with `comments[i]` at move i; `GameTree.of_game` completes the game information."""
    root = write_tree(GameTree.of_game(game, info, moves=False)).rstrip()
    nodes = []  # written here, not by a tree: a match in one batch writes hundreds of games a second
    for i, (color, point) in enumerate(game.moves):
        comment = f"C[{raw_text(comments[i]).decode()}]" if i < len(comments) and comments[i] else ""
        nodes.append(f";{'BW'[color]}[{coords.to_sgf(point, game.size)}]{comment}")
    lines = ["".join(nodes[i : i + 10]) for i in range(0, len(nodes), 10)]
    return root[:-1] + "".join(f"\n{line}" for line in lines).encode() + b")\n"
