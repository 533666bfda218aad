"""Commands that set up a game: size, komi, an empty board; and the board as text."""

from __future__ import annotations

from tengen.errors import GtpError, IllegalMove
from tengen.game import Game
from tengen.gtp.parse import Arguments
from tengen.gtp.session import Session
from tengen.rules import Rules

KOMI_RANGE = 400
MIN_SIZE, MAX_SIZE = 5, 19


def boardsize(session: Session, args: Arguments) -> str:
    """SIZE: a new game on a board of this size; rules and komi stay."""
    args.expect(1)
    size = args.integer(0)
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise GtpError("unacceptable size")
    session.new_game(Game(size, session.game.rules, session.game.komi))
    return ""


def clear_board(session: Session, args: Arguments) -> str:
    args.expect(0)
    session.new_game(Game(session.game.size, session.game.rules, session.game.komi))
    return ""


def komi(session: Session, args: Arguments) -> str:
    """KOMI: a whole or half number; the moves played so far stay."""
    args.expect(1)
    session.game.komi = acceptable_komi(args.number(0))
    return ""


def acceptable_komi(value: float) -> float:
    """The same komi. Raises GtpError unless a game here can have it."""
    if abs(value) > KOMI_RANGE or not (2 * value).is_integer():
        told = str(value).removesuffix(".0")
        raise GtpError(f"unacceptable komi {told}: a whole or half number up to {KOMI_RANGE} expected")
    return value


def get_komi(session: Session, args: Arguments) -> str:
    args.expect(0)
    return f"{session.game.komi:g}"


def showboard(session: Session, args: Arguments) -> str:
    args.expect(0)
    return f"\n{session.game}"


def replayed(game: Game, rules: Rules) -> Game:
    """The same game under other rules. Raises GtpError if they forbid one of its moves."""
    fresh = Game(game.size, rules, game.komi)
    stones: tuple[list[int], list[int]] = ([], [])
    for color, point in game.setup_stones:
        stones[color].append(point)
    fresh.setup(black=stones[0], white=stones[1], to_play=game.first_to_play)
    for number, (color, point) in enumerate(game.moves, 1):
        try:
            fresh.play(point, color=color)
        except IllegalMove as error:
            raise GtpError(f"move {number} of the game is illegal under these rules: {error}") from error
    return fresh
