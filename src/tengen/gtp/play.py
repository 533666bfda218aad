"""Commands that search and play moves, and take them back."""

from __future__ import annotations

import sys

from tengen import coords
from tengen.engine.katago_view import Viewpoint
from tengen.engine.result import SearchResult
from tengen.errors import GtpError, IllegalMove
from tengen.gtp.analysis_lines import chat_line
from tengen.gtp.parse import Arguments
from tengen.gtp.session import GtpSession


def play(session: GtpSession, args: Arguments) -> str:
    """COLOR VERTEX. As in KataGo against ko and superko too, and as a suicide of several stones: the game may have
    other rules than the session."""
    args.expect(2)
    color = args.color(0)
    point = args.vertex(1, session.game.size)
    try:
        session.game.play(point, color=color, tolerant=True)
    except IllegalMove as error:
        raise GtpError(f"illegal move: {str(error).rpartition(': ')[2]}") from error
    session.ponder_next = session.searched == (color, len(session.game.moves) - 1)
    return ""


def genmove(session: GtpSession, args: Arguments) -> str:
    """COLOR: search, play the move and answer it, or `resign`."""
    args.expect(1)
    color = args.color(0)
    return play_result(session, color, session.search(color))


def reg_genmove(session: GtpSession, args: Arguments) -> str:
    """COLOR: the move that the engine would play."""
    args.expect(1)
    return name_of(session.search(args.color(0)), session.game.size)


def search(session: GtpSession, args: Arguments) -> str:
    """COLOR: the move that the engine would play. Pondering begins when that move is played."""
    args.expect(1)
    color = args.color(0)
    return searched(session, color, session.search(color))


def search_cancellable(session: GtpSession, args: Arguments) -> str:
    """COLOR: the same, but the next line of input ends it with the answer `cancelled`."""
    args.expect(1)
    color, cancel = args.color(0), Cancel(session)
    return searched(session, color, session.search(color, until=cancel), cancel)


class Cancel:
    """Whether a line of input has come, which ends a search; asked often, and remembered."""

    def __init__(self, session: GtpSession) -> None:
        self._lines = session.lines
        self.happened = False

    def __call__(self) -> bool:
        self.happened = self.happened or self._lines.pending()
        return self.happened


def genmove_cleanup(session: GtpSession, args: Arguments) -> str:
    """COLOR: like `genmove`, but the engine captures dead stones before it passes."""
    args.expect(1)
    color = args.color(0)
    return play_result(session, color, session.search(color, cleanup=True))


def undo(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    if not session.game.undo():
        raise GtpError("cannot undo: no move has been played")
    return ""


def name_of(result: SearchResult, size: int) -> str:
    return "resign" if result.resign else coords.to_gtp(result.move, size)


def searched(session: GtpSession, color: int, result: SearchResult, cancel: Cancel | None = None) -> str:
    """The move of a search that is not played, or `cancelled`."""
    if cancel is not None and cancel.happened:
        return "cancelled"
    _chat(session, result)
    session.searched = color, len(session.game.moves)
    return name_of(result, session.game.size)


def play_result(session: GtpSession, color: int, result: SearchResult) -> str:
    """Play the move of a search unless it is a resignation; its name."""
    _chat(session, result)
    if not result.resign:
        session.game.play(result.move, color=color)
        session.ponder_next = True
    return name_of(result, session.game.size)


def _chat(session: GtpSession, result: SearchResult) -> None:
    """Print KataGo's line about a move on standard error, where gtp2ogs and matches read it before the answer."""
    if session.settings.chat:
        viewpoint = Viewpoint.of(session.settings.perspective, result.to_play)
        print(chat_line(result, session.game.size, viewpoint), file=sys.stderr, flush=True)
