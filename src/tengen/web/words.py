"""The words of the page for colors, moves, numbers, results and illegal moves, in the language of this context."""

from __future__ import annotations

from tengen.coords import pass_point, to_gtp
from tengen.errors import IllegalMove
from tengen.game import BLACK, COLOR_NAMES, WHITE
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


def vertex(point: int, size: int) -> str:
    """A move as people write it, such as `D4`."""
    return _("pass") if point == pass_point(size) else to_gtp(point, size)


def moves_text(moves: int) -> str:
    """A number of moves."""
    return ngettext("{n} move", "{n} moves", moves)


def visits_text(visits: int) -> str:
    """A number of visits."""
    return ngettext("{n:,} visit", "{n:,} visits", visits)


def leader(score: float) -> str:
    """Who is ahead by Black's score, and by how many points."""
    if not round(score, 1):
        return _("even")
    color = _(COLOR_NAMES[WHITE if score < 0 else BLACK])
    return _("{color} leads by {points}", color=color, points=f"{abs(round(score, 1)):g}")


def in_words(result: str) -> str:
    """A result as a sentence without its full stop: `Black wins by 3.5`. Unknown forms stay as they are."""
    if result in ("0", "Draw", "draw"):
        return _("The game is a draw")
    if result == "Void":
        return _("The game has no result")
    winner = {"B": COLOR_NAMES[BLACK], "W": COLOR_NAMES[WHITE]}.get(result[:1])
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


def explain(error: IllegalMove) -> str:
    """Why a move is illegal, as a sentence."""
    reason = str(error).rpartition("illegal: ")[2]
    return _(REASONS[reason]) if reason in REASONS else str(error)


def sentence(text: str) -> str:
    """A message with a capital letter and a full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "\u3002")) else _("{text}.", text=text)
