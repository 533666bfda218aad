"""Commands that load and print game records."""

from __future__ import annotations

from pathlib import Path

from tengen.errors import GtpError, SgfError, TengenError
from tengen.game import Game
from tengen.gtp.parse import Arguments
from tengen.gtp.session import Session
from tengen.sgf import SgfInfo, read_game, write_game


def loadsgf(session: Session, args: Arguments) -> str:
    """FILE [NUMBER]: the main line of a record, up to the position before move NUMBER.

    Rules and komi that the record does not give stay; rules that forbid one of its moves are guessed from it instead.
    """
    args.expect(1, 1000)
    words = list(args.words)
    number = args.integer(len(words) - 1) if len(words) > 1 and words[-1].isdigit() else None
    name = " ".join(words[:-1] if number is not None else words)
    try:
        game = _read(Path(name), session.game)
    except (OSError, TengenError) as error:
        raise GtpError(f"cannot load file: {_reason(error)}") from error
    while number is not None and len(game.moves) >= max(number, 1):
        game.undo()
    session.new_game(game)
    return ""


def printsgf(session: Session, args: Arguments) -> str:
    """[FILE]: the game as SGF, into the file if one is named."""
    args.expect(0, 1000)
    record = write_game(session.game, SgfInfo())
    if not args.words:
        return record.decode("utf-8")
    try:
        Path(" ".join(args.words)).write_bytes(record)
    except OSError as error:
        raise GtpError(f"cannot write file: {_reason(error)}") from error
    return ""


def _read(path: Path, terms: Game) -> Game:
    """The game of a record, by the rules and komi of `terms` where it gives none."""
    record = path.read_bytes()
    try:
        return read_game(record, rules=terms.rules.text, komi=terms.komi)[0]
    except SgfError:
        return read_game(record, komi=terms.komi)[0]


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
