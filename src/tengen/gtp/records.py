"""Commands that load and print game records."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from tengen.errors import GtpError, SgfError, TengenError, os_reason
from tengen.game import Game
from tengen.gtp.counting import final_score
from tengen.gtp.parse import Arguments
from tengen.gtp.session import GtpSession
from tengen.gtp.setup import check_network
from tengen.sgf import SgfInfo, read_game, write_game
from tengen.sgf.values import result

_logger = logging.getLogger(__name__)


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
        reason = os_reason(error) if isinstance(error, OSError) else error
        raise GtpError(f"cannot load file {name}: {reason}") from error
    check_network(session, game.size)
    if session.options.force_komi:
        game.komi = session.game.komi
    session.new_game(game)
    if info.unknown_rules:
        _logger.warning("loadsgf: the rules RU[%s] are unknown; used: %s", info.unknown_rules[:40], game.rules.text)
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
        raise GtpError(f"cannot write file: {os_reason(error)}") from error
    return ""


def _read(path: Path, current: Game, moves: int | None) -> tuple[Game, SgfInfo]:
    """The game of a record, up to `moves` moves, with the rules and komi of the current game where it has none."""
    record, rules = path.read_bytes(), current.rules.text
    for assumed in (rules, ""):
        with suppress(SgfError):
            return read_game(record, rules=assumed, komi=current.komi, moves=moves)
    return read_game(record, rules=rules, komi=current.komi, moves=moves, tolerant=True)
