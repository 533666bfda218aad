"""The loop of GTP: take a line, carry out its command, write the answer."""

from __future__ import annotations

import logging
from collections.abc import Callable

from tengen.errors import GtpError, TengenError
from tengen.gtp.commands import COMMANDS
from tengen.gtp.parse import Command, parse_line
from tengen.gtp.session import Session, Stream

logger = logging.getLogger(__name__)

Write = Callable[[str], None]


def serve(session: Session, write: Write) -> None:
    """Answer the lines of `session.lines` until `quit` or their end.

    `write` gets whole answers, or the parts of an answer that grows; it raises BrokenPipeError when nobody reads.
    """
    while not session.finished:
        line = session.lines.get()
        if line is None:
            return
        command = parse_line(line)
        if command is not None:
            logger.debug("-> %s", line.rstrip())
            _answer(session, command, write)


def _answer(session: Session, command: Command, write: Write) -> None:
    mark = command.id or ""
    try:
        reply = _carry_out(session, command)
        if isinstance(reply, Stream):
            write(f"={mark}\n")
            last = reply.run(lambda text: write(_body(text) + "\n"))
            write(f"{_body(last)}\n\n" if last else "\n")
        else:
            break_ = "\n" if reply.startswith("\n") else " "
            write(f"={mark}{break_}{_body(reply)}\n\n")
    except TengenError as error:
        write(f"?{mark} {_body(str(error))}\n\n")
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception:
        logger.exception("the command %s failed", command.name)
        write(f"?{mark} internal error in {command.name}: the log says more\n\n")
    session.after_command()


def _carry_out(session: Session, command: Command) -> str | Stream:
    handler = COMMANDS.get(command.name)
    if handler is None:
        raise GtpError("unknown command")
    return handler(session, command.args)


def _body(text: str) -> str:
    """An answer without the empty lines that would end it."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
