"""Commands that set up a game: size, komi, rules, handicap stones and records."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tengen import coords
from tengen.engine.positions import replayed
from tengen.errors import GtpError, IllegalMove, NetworkError, RecipeError, SgfError, TengenError
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.gtp.parse import Arguments
from tengen.gtp.play import final_score
from tengen.gtp.session import GtpSession
from tengen.handicap import fixed_handicap as fixed_points
from tengen.handicap import free_handicap
from tengen.rules import Rules
from tengen.sgf import SgfInfo, read_game, write_game
from tengen.sgf.values import result

logger = logging.getLogger(__name__)

KOMI_RANGE = 400


def boardsize(session: GtpSession, args: Arguments) -> str:
    """SIZE: start a new game on this board size. Rules and komi stay. `9 9` and `9:9` mean the same as 9."""
    size = _square(args)
    if not coords.MIN_SIZE <= size <= coords.MAX_SIZE:
        raise GtpError(f"unacceptable size: choose {coords.SIZES}")
    _check_network(session, size)
    session.new_game(Game(size, session.game.rules, session.game.komi))
    return ""


def _check_network(session: GtpSession, size: int) -> None:
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


# Rules.

KGS_NAMES = ("chinese", "aga", "japanese", "new_zealand")
_KGS_MEANING = {"chinese": "chinese-kgs"}  # KGS has positional superko


def kgs_rules(session: GtpSession, args: Arguments) -> str:
    """chinese | aga | japanese | new_zealand."""
    args.expect(1)
    if args.text(0).lower() not in KGS_NAMES:
        raise GtpError(f"unknown rules {args.text(0)}: one of {', '.join(KGS_NAMES)} expected")
    name = args.text(0).lower()
    _use(session, parse_rules(_KGS_MEANING.get(name, name)))
    return ""


def get_rules(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    return json.dumps(session.game.rules.katago)


def set_rules(session: GtpSession, args: Arguments) -> str:
    """A name, or a JSON object with the fields of `kata-get-rules`."""
    args.expect(1, 1000)
    _use(session, parse_rules(" ".join(args.words)))
    return ""


def set_rule(session: GtpSession, args: Arguments) -> str:
    """FIELD VALUE: change one field of the rules."""
    args.expect(2)
    fields = session.game.rules.katago
    key = "scoring" if args.text(0) == "score" else args.text(0)
    if key not in fields:
        raise GtpError(f"unknown field {key}: one of {', '.join(fields)} expected")
    fields[key] = args.boolean(1) if isinstance(fields[key], bool) else args.text(1)
    _use(session, parse_rules(json.dumps(fields)))
    return ""


def parse_rules(text: str) -> Rules:
    try:
        return Rules.parse(text)
    except TengenError as error:
        raise GtpError(str(error)) from error


def _use(session: GtpSession, rules: Rules) -> None:
    session.game = replayed(session.game, rules)


# Handicap.


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


# Records.


def loadsgf(session: GtpSession, args: Arguments) -> str:
    """FILE [NUMBER]: load the main line of a record, up to the position before move NUMBER.

    Rules and komi stay as they are where the record has none; of rules that are unknown the log says so. If the rules
    of the session forbid a move of the record, the rules are guessed from the record; moves that these forbid too, or
    the rules that the record names, are played as by `play`.
    """
    args.expect(1, 1000)
    words = list(args.words)
    number = args.integer(len(words) - 1) if len(words) > 1 and words[-1].isdigit() else None
    name = " ".join(words[:-1] if number is not None else words)
    try:
        game, info = _read(Path(name), session.game, None if number is None else max(number - 1, 0))
    except (OSError, TengenError) as error:
        if isinstance(error, FileNotFoundError) and len(words) > 1 and Path(" ".join(words[:-1])).is_file():
            raise GtpError(f"cannot load file {name}: {words[-1]} is not a number of moves from 0 up") from error
        raise GtpError(f"cannot load file {name}: {_reason(error)}") from error
    _check_network(session, game.size)
    if session.options.force_komi:
        game.komi = session.game.komi
    session.new_game(game)
    if info.unknown_rules:
        logger.warning("loadsgf: the rules RU[%s] are unknown; used: %s", info.unknown_rules[:40], game.rules.text)
    return ""


def printsgf(session: GtpSession, args: Arguments) -> str:
    """[FILE]: print the game as SGF, or write it into the file; the file `-` means to print it.

    A game that is over has the result of `final_score`, one without result `Void`.
    """
    args.expect(0, 1000)
    counted = session.game.is_over and not session.game.is_no_result
    record = write_game(session.game, SgfInfo(result=result(final_score(session, Arguments()) if counted else "")))
    if args.words in ((), ("-",)):
        return record.decode("utf-8")
    try:
        Path(" ".join(args.words)).write_bytes(record)
    except OSError as error:
        raise GtpError(f"cannot write file: {_reason(error)}") from error
    return ""


def _read(path: Path, current: Game, moves: int | None) -> tuple[Game, SgfInfo]:
    """The game of a record, at most so many moves, with the rules and komi of the current game where it has none."""
    record, rules = path.read_bytes(), current.rules.text
    for assumed in (rules, ""):
        with suppress(SgfError):
            return read_game(record, rules=assumed, komi=current.komi, moves=moves)
    return read_game(record, rules=rules, komi=current.komi, moves=moves, tolerant=True)


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
