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
    args.expect(0)
    return session.options.version


def stop(session: Session, args: Arguments) -> str:
    """A search has ended by the time this is carried out: the line alone ended it. Pondering ends here."""
    args.expect(0)
    session.engine.stop()
    return ""


def quit_(session: Session, args: Arguments) -> str:
    args.expect(0)
    session.finished = True
    return ""
