"""Commands that place handicap stones."""

from __future__ import annotations

from collections.abc import Callable

from tengen import coords
from tengen.errors import GtpError, IllegalMove
from tengen.game import EMPTY, WHITE, Game
from tengen.gtp.parse import Arguments
from tengen.gtp.session import GtpSession
from tengen.handicap import fixed_handicap as fixed_points
from tengen.handicap import free_handicap


def fixed_handicap(session: GtpSession, args: Arguments) -> str:
    """NUMBER: place stones on the points of the protocol; answers the points."""
    return _place_number(session, args, fixed_points)


def place_free_handicap(session: GtpSession, args: Arguments) -> str:
    """NUMBER: place stones where the engine chooses; answers the points."""
    return _place_number(session, args, free_handicap)


def set_free_handicap(session: GtpSession, args: Arguments) -> str:
    """VERTEX VERTEX ...: place stones on these points."""
    size = session.game.size
    args.expect(2, size * size - 1)
    _expect_empty(session)
    points = [args.vertex(index, size) for index in range(len(args))]
    if session.game.pass_point in points:
        raise GtpError("bad vertex list: pass is not a point")
    if len(set(points)) < len(points):
        raise GtpError("bad vertex list: a vertex is repeated")
    _place(session, points)
    return ""


def _expect_empty(session: GtpSession) -> None:
    if session.game.moves or (session.game.board != EMPTY).any():
        raise GtpError("board not empty")


def _place_number(session: GtpSession, args: Arguments, points_for: Callable[[int, int], list[int]]) -> str:
    args.expect(1)
    _expect_empty(session)
    try:
        return _place(session, points_for(session.game.size, args.integer(0)))
    except IllegalMove as error:
        raise GtpError(f"invalid number of stones: {error}") from error


def _place(session: GtpSession, points: list[int]) -> str:
    game = Game(session.game.size, session.game.rules, session.game.komi)
    session.game = game.setup(black=points, to_play=WHITE)
    return " ".join(coords.to_gtp(point, game.size) for point in points)
