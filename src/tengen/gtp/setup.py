"""Commands that set up a game: board size, komi and stones."""

from __future__ import annotations

from tengen import coords
from tengen.errors import GtpError, IllegalMove, NetworkError, RecipeError
from tengen.game import BLACK, Game
from tengen.gtp.parse import Arguments
from tengen.gtp.session import GtpSession

KOMI_RANGE = 400


def boardsize(session: GtpSession, args: Arguments) -> str:
    """SIZE: start a new game on this board size. Rules and komi stay. `9 9` and `9:9` mean the same as 9."""
    size = _square(args)
    if not coords.MIN_SIZE <= size <= coords.MAX_SIZE:
        raise GtpError(f"unacceptable size: choose {coords.SIZES}")
    check_network(session, size)
    session.new_game(Game(size, session.game.rules, session.game.komi))
    return ""


def check_network(session: GtpSession, size: int) -> None:
    """Raise GtpError where the network cannot play on boards of this size, or not by the settings."""
    try:
        session.engine.evaluator.on(size)
        session.engine.params_on(size)
    except (NetworkError, RecipeError) as error:
        raise GtpError(f"unacceptable size: {error}") from error


def rectangular_boardsize(session: GtpSession, args: Arguments) -> str:
    """COLUMNS ROWS: as `boardsize`; boards with other numbers of columns than rows are refused."""
    return boardsize(session, args)


def _square(args: Arguments) -> int:
    """The size that the arguments name: SIZE, COLUMNS ROWS or COLUMNS:ROWS."""
    args.expect(1, 2)
    words = args.text(0).split(":") if len(args) == 1 else list(args.words)
    sizes = Arguments(tuple(words))
    columns, rows = sizes.integer(0), sizes.integer(len(sizes) - 1)
    if len(sizes) > 2:
        raise GtpError(f"syntax error: {args.text(0)} is no board size")
    if columns != rows:
        raise GtpError(f"unacceptable size: boards are square, {columns} columns and {rows} rows are not")
    return columns


def clear_board(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    session.new_game(Game(session.game.size, session.game.rules, session.game.komi))
    return ""


def komi(session: GtpSession, args: Arguments) -> str:
    """KOMI: a whole or half number. The moves played so far stay."""
    args.expect(1)
    asked = acceptable_komi(args.number(0))
    if not session.options.force_komi:
        session.game.komi = asked
    return ""


def acceptable_komi(value: float) -> float:
    """Check a komi and return it. Raises GtpError for a value out of range."""
    if abs(value) > KOMI_RANGE or not (2 * value).is_integer():
        shown = str(value).removesuffix(".0")
        raise GtpError(f"unacceptable komi {shown}: a whole or half number up to {KOMI_RANGE} expected")
    return value


def get_komi(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    return f"{session.game.komi:g}"


def showboard(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    return f"\n{session.game}"


def set_position(session: GtpSession, args: Arguments) -> str:
    """COLOR VERTEX COLOR VERTEX ...: a new position without history, Black to play; without arguments an empty board.

    Rules, komi and clocks stay. Stones without liberties are refused.
    """
    size = session.game.size
    if len(args) % 2:
        raise GtpError(f"syntax error: pairs of COLOR VERTEX expected, got {len(args)} arguments")
    stones: tuple[list[int], list[int]] = ([], [])
    for index in range(0, len(args), 2):
        point = args.vertex(index + 1, size)
        if point == session.game.pass_point:
            raise GtpError(f"invalid vertex {args.text(index + 1)}: a point of the board expected")
        stones[args.color(index)].append(point)
    game = Game(size, session.game.rules, session.game.komi)
    try:
        session.game = game.setup(black=stones[0], white=stones[1], to_play=BLACK)
    except IllegalMove as error:
        raise GtpError(f"illegal position: {error}") from error
    return ""
