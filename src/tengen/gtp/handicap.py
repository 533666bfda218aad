"""Commands for handicap games: Black's stones stand from the start, and White moves first."""

from __future__ import annotations

from collections.abc import Callable

from tengen import coords
from tengen.errors import GtpError, IllegalMove
from tengen.game import EMPTY, WHITE, Game
from tengen.gtp.parse import Arguments
from tengen.gtp.session import Session
from tengen.handicap import fixed_handicap as fixed_points
from tengen.handicap import free_handicap


def fixed_handicap(session: Session, args: Arguments) -> str:
    """NUMBER: the points that the protocol prescribes; answers them."""
    return _place_number(session, args, fixed_points)


def place_free_handicap(session: Session, args: Arguments) -> str:
    """NUMBER: stones where the engine wants them; answers them."""
    return _place_number(session, args, free_handicap)


def set_free_handicap(session: Session, args: Arguments) -> str:
    """VERTEX VERTEX ...: stones where the other side wants them."""
    size = session.game.size
    args.expect(2, size * size - 1)
    _expect_empty(session)
    points = [args.vertex(index, size) for index in range(len(args))]
    if size * size in points:
        raise GtpError("bad vertex list: pass is no handicap stone")
    if len(set(points)) < len(points):
        raise GtpError("bad vertex list: a vertex is there twice")
    _place(session, points)
    return ""


def _expect_empty(session: Session) -> None:
    if session.game.moves or (session.game.board != EMPTY).any():
        raise GtpError("board not empty")


def _place_number(session: Session, args: Arguments, points_for: Callable[[int, int], list[int]]) -> str:
    args.expect(1)
    _expect_empty(session)
    try:
        return _place(session, points_for(session.game.size, args.integer(0)))
    except IllegalMove as error:
        raise GtpError(f"invalid number of stones: {error}") from error


def _place(session: Session, points: list[int]) -> str:
    game = Game(session.game.size, session.game.rules, session.game.komi)
    session.game = game.setup(black=points, to_play=WHITE)
    return " ".join(coords.to_gtp(point, game.size) for point in points)
