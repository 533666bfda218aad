"""The GTP server: from the settings of the command line to the loop that reads commands and writes answers."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import tengen
from tengen.engine import Style, load_engine
from tengen.engine.katago_params import KATAGO_PARAMS, RELEASE
from tengen.engine.levels import ladder_networks, level
from tengen.engine.options import EngineOptions
from tengen.engine.params import split_setting
from tengen.errors import GtpError, RecipeError, TengenError
from tengen.evaluators.board_warnings import boards_warning
from tengen.game import Game
from tengen.gtp.commands import COMMANDS
from tengen.gtp.params import WEAKENING, change_settings
from tengen.gtp.parse import Command, parse_line
from tengen.gtp.session import GtpOptions, GtpSession, Stream
from tengen.gtp.setup import acceptable_komi
from tengen.gtp.streams import open_channel
from tengen.rules import Rules

_logger = logging.getLogger(__name__)

Write = Callable[[str], None]
READY = "GTP ready"
"""KataGo's words on standard error when the network is loaded. LizGoban sends nothing before it has read them."""


@dataclass(frozen=True)
class GtpSettings:
    """The options of `tengen gtp`; its help explains each. `size`, `komi` and `rules` are those of the first game."""

    engine: EngineOptions = field(default_factory=EngineOptions)
    session: GtpOptions = field(default_factory=GtpOptions)
    style: Style = field(default_factory=Style)
    size: int = 19
    komi: float | None = None
    rules: str = "chinese"
    log: Path | None = None


def run(settings: GtpSettings) -> None:
    """Serve GTP on standard input and output. Raises TengenError before the first answer for impossible settings."""
    given, is_by_level = settings.engine, settings.session.level is not None
    rules = Rules.parse(settings.rules)
    komi = rules.usual_komi if settings.komi is None else acceptable_komi(settings.komi)
    game = Game(settings.size, rules, komi)
    _start_log(settings.log)
    of_search = tuple(setting for setting in given.settings if not _is_for_session(setting))
    params = replace(given, settings=of_search).search_params()
    _check_weakening(settings)
    lines, write = open_channel()
    engine = load_engine(
        given.net,
        params=params,
        device=given.device,
        threads=given.threads,
        batch=given.batch,
        seed=given.seed,
        style=settings.style,
        on_sizes=ladder_networks() if is_by_level else {},
    )
    options = replace(settings.session, net=given.net, batch=given.batch, default_visits=engine.limits.visits)
    session = GtpSession(engine, game, lines, options, human=given.human_network(), on_size=boards_warning(given.net))
    try:
        change_settings(session, dict(map(split_setting, filter(_is_for_session, given.settings))))
        if settings.session.name == "KataGo":  # gtp2ogs takes lines for its chat from a program that tells this name
            print(f"Tengen {tengen.__version__}, with the protocol of KataGo v{RELEASE}", file=sys.stderr)
        print(READY, file=sys.stderr, flush=True)
        serve(session, write)
    except BrokenPipeError:
        _logger.info("the reader of the answers has closed the pipe")
    finally:
        engine.close()


def _check_weakening(settings: GtpSettings) -> None:
    """Raise RecipeError for ways to play weaker that contradict each other or the network, and for an unknown level."""
    net, number, weaken = settings.engine.net, settings.session.level, settings.style.policy_temperature
    if weaken is not None and net == "none":
        raise RecipeError(f"--weaken {weaken:g} needs a network; with --net none use few --visits")
    if number is None:
        return
    if net != "default":
        raise RecipeError(f"--level {number} needs the network default, with which the levels were measured")
    visits, temperature = settings.session.limits.visits, settings.style.temperature
    for option, value in (("visits", visits), ("temperature", temperature), ("weaken", weaken)):
        if value:
            raise RecipeError(f"--{option} {value:g} and --level {number}, which sets it: give one of them")
    level(settings.size, number)


def _is_for_session(setting: str) -> bool:
    """Whether NAME=VALUE sets more than the search: a parameter of KataGo, or the style."""
    return split_setting(setting)[0] in {*KATAGO_PARAMS, *WEAKENING}


def _start_log(file: Path | None) -> None:
    logging.basicConfig(
        filename=file,
        level=logging.DEBUG if file else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )


def serve(session: GtpSession, write: Write) -> None:
    """Answer the commands of `session.lines` until `quit` or the end of the input.

    `write` gets whole answers, or the parts of a `Stream`. It raises BrokenPipeError when the reader has gone.
    """
    while not session.finished:
        line = session.lines.get()
        if line is None:
            return
        command = parse_line(line)
        if command is not None:
            _logger.debug("-> %s", line.rstrip())
            _answer(session, command, write)


def _answer(session: GtpSession, command: Command, write: Write) -> None:
    mark, begun = command.id or "", False
    try:
        reply = _carry_out(session, command)
        if isinstance(reply, Stream):
            write(f"={mark}\n")
            begun = True
            last = reply.run(lambda text: write(_body(text) + "\n"))
            write(f"{_body(last)}\n\n" if last else "\n")
        else:
            break_ = "\n" if reply.startswith("\n") else " "
            write(f"={mark}{break_}{_body(reply)}\n\n")
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        known = isinstance(error, TengenError)
        text = _body(str(error)) if known else f"internal error in {command.name}: see the log"
        # An answer that has begun can only end. Where it cannot be written, this raises the same error again.
        write("\n" if begun else f"?{mark} {text}\n\n")
        if begun or not known:
            _logger.exception("the command %s failed", command.name)
    session.after_command()


def _carry_out(session: GtpSession, command: Command) -> str | Stream:
    handler = COMMANDS.get(command.name)
    if handler is None:
        raise GtpError("unknown command")
    return handler(session, command.args)


def _body(text: str) -> str:
    """An answer without empty lines, which would end it."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
