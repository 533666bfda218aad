"""Commands about the program itself."""

from __future__ import annotations

from tengen.gtp.parse import Arguments
from tengen.gtp.session import Session


def protocol_version(session: Session, args: Arguments) -> str:
    args.expect(0)
    return "2"


def name(session: Session, args: Arguments) -> str:
    args.expect(0)
    return "Tengen"


def version(session: Session, args: Arguments) -> str:
    """The version of Tengen, and which network plays on the board of the game."""
    args.expect(0)
    return f"{session.options.version} ({session.engine.name_on(session.game.size)})"


def stop(session: Session, args: Arguments) -> str:
    """A search has ended by the time this is carried out: the line alone ended it. Pondering ends here."""
    args.expect(0)
    session.engine.stop()
    return ""


def quit_(session: Session, args: Arguments) -> str:
    args.expect(0)
    session.finished = True
    return ""
