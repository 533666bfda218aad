"""Commands that play: moves of the other side, moves of the engine, and taking them back."""

from __future__ import annotations

from tengen import coords
from tengen.engine.result import SearchResult
from tengen.errors import GtpError, IllegalMove
from tengen.gtp.parse import Arguments
from tengen.gtp.session import Session


def play(session: Session, args: Arguments) -> str:
    """COLOUR VERTEX."""
    args.expect(2)
    color = args.color(0)
    point = args.vertex(1, session.game.size)
    try:
        session.game.play(point, color=color)
    except IllegalMove as error:
        raise GtpError(f"illegal move: {str(error).rpartition(': ')[2]}") from error
    return ""


def genmove(session: Session, args: Arguments) -> str:
    """COLOUR: think, play the move and name it, or `resign`."""
    args.expect(1)
    color = args.color(0)
    return play_result(session, color, session.search(color))


def reg_genmove(session: Session, args: Arguments) -> str:
    """COLOUR: name the move that the engine would play."""
    args.expect(1)
    return name_of(session.search(args.color(0)), session.game.size)


def genmove_cleanup(session: Session, args: Arguments) -> str:
    """COLOUR: as `genmove`, but dead stones are captured before a pass."""
    args.expect(1)
    color = args.color(0)
    return play_result(session, color, session.search(color, cleanup=True))


def undo(session: Session, args: Arguments) -> str:
    args.expect(0)
    if not session.game.undo():
        raise GtpError("cannot undo: no move has been played")
    return ""


def name_of(result: SearchResult, size: int) -> str:
    return "resign" if result.resign else coords.to_gtp(result.move, size)


def play_result(session: Session, color: int, result: SearchResult) -> str:
    """Play the move of a search, unless it resigns, and name it."""
    if not result.resign:
        session.game.play(result.move, color=color)
        session.ponder_next = True
    return name_of(result, session.game.size)
