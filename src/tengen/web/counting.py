"""The count at the end of a game: groups, territory, and the result in words."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from tengen.coords import neighbors, pass_point, to_gtp
from tengen.errors import IllegalMove, TengenError
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.game import COLOR_NAMES as NAMES
from tengen.web.language import N_, _, ngettext

REASONS = {
    "occupied": N_("there is already a stone on this point"),
    "ko": N_("ko: play elsewhere before you retake"),
    "superko": N_("superko: this repeats an earlier position of the game"),
    "suicide": N_("suicide: a stone here would have no liberty"),
}


def color_names() -> tuple[str, str]:
    """Black and White in the language of this context."""
    return _("Black"), _("White")


def region(start: int, inside: Collection[int], size: int) -> set[int]:
    """The points of `inside` that are connected to `start`, itself included."""
    found, pending = {start}, [start]
    while pending:
        for near in neighbors(pending.pop(), size):
            if near in inside and near not in found:
                found.add(near)
                pending.append(near)
    return found


def group_of(board: NDArray[np.int8], point: int) -> set[int]:
    """The stones that live or die with the stone on `point`: those of its color in the same region."""
    size, flat = len(board), board.ravel()
    color = int(flat[point])
    reach = region(point, set(np.flatnonzero(flat != 1 - color).tolist()), size)
    return {at for at in reach if flat[at] == color}


def territory(game: Game, dead: Collection[int]) -> str:
    """The owner of each empty point and dead stone: `b`, `w`, or `.` for neither and for living stones; row-major."""
    living = game.board.ravel() != EMPTY
    living[list(dead)] = False
    owners = game.owners(dead=sorted(dead)).ravel()
    return "".join("." if lives else "bw."[owner] for lives, owner in zip(living, owners, strict=True))


def lost_result(loser: int, how: str) -> str:
    """The result of a game that a color lost, as SGF writes it: `how` is R, by resignation, or T, on time."""
    return f"{'WB'[loser]}+{how}"


def in_words(result: str) -> str:
    """A result as a sentence without its full stop: `Black wins by 3.5`. Unknown forms stay as they are."""
    if result in ("0", "Draw", "draw"):
        return _("The game is a draw")
    if result == "Void":
        return _("The game has no result")
    winner = {"B": NAMES[BLACK], "W": NAMES[WHITE]}.get(result[:1])
    if winner is None or result[1:2] != "+":
        return result
    color, how = _(winner), result[2:]
    match how[:1]:
        case "":
            return _("{color} wins", color=color)
        case "R":
            return _("{color} wins by resignation", color=color)
        case "T":
            return _("{color} wins on time", color=color)
        case "F":
            return _("{color} wins by forfeit", color=color)
        case _other:
            return _("{color} wins by {points}", color=color, points=how)


def vertex(point: int, size: int) -> str:
    """A move as people write it, such as `D4`."""
    return _("pass") if point == pass_point(size) else to_gtp(point, size)


def moves_text(moves: int) -> str:
    """A number of moves."""
    return ngettext("{n} move", "{n} moves", moves)


def sentence(text: str) -> str:
    """A message with a capital letter and a full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "\u3002")) else _("{text}.", text=text)


def check_point(point: object, size: int) -> int:
    """A point that a page sent, as an int on the board. Raises TengenError for anything else."""
    if not isinstance(point, int) or isinstance(point, bool) or not 0 <= point < size * size:
        raise TengenError(_("{point!r} is not a point of a {size}x{size} board", point=point, size=size))
    return point


def explain(error: IllegalMove) -> str:
    """Why a move is illegal, as a sentence."""
    reason = str(error).rpartition("illegal: ")[2]
    return _(REASONS[reason]) if reason in REASONS else str(error)
