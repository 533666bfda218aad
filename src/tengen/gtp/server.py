"""The GTP server: from the settings of the command line to the loop that reads commands and writes answers."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tengen.engine import Limits, Style, load_engine
from tengen.engine.katago_params import KATAGO_PARAMS
from tengen.engine.levels import ladder_networks, level
from tengen.engine.params import SearchParams, playout_params, read_params, split_setting
from tengen.errors import GtpError, RecipeError, TengenError
from tengen.evaluators.human import HumanNetwork
from tengen.game import Game
from tengen.gtp.commands import COMMANDS
from tengen.gtp.params import WEAKENING, change_settings
from tengen.gtp.parse import Command, parse_line
from tengen.gtp.session import GtpOptions, GtpSession, Stream
from tengen.gtp.setup import acceptable_komi
from tengen.gtp.streams import open_channel
from tengen.machine import Device
from tengen.rules import Rules

READY = "GTP ready"
"""KataGo's words on standard error when the network is loaded. LizGoban sends nothing before it has read them."""


@dataclass(frozen=True)
class Settings:
    """The options of `tengen gtp`; its help explains each. `version` is the answer to the command `version`."""

    version: str = "0"
    name: str = "Tengen"
    answer_version: str | None = None
    net: str = "default"
    human_net: str | None = None
    playouts: str | None = None
    preset: str | None = None
    params: tuple[str, ...] = ()
    visits: int | None = None
    seconds: float | None = None
    size: int = 19
    komi: float | None = None
    force_komi: bool = False
    rules: str = "chinese"
    ponder: bool = False
    resign: bool = True
    temperature: float = 0.0
    weaken: float | None = None
    level: int | None = None
    device: Device = "auto"
    threads: int = 0
    batch: int | None = None
    seed: int = 0
    log: Path | None = None
    on_size: Callable[[int], object] = lambda size: None


def run(settings: Settings) -> None:
    """Serve GTP on standard input and output. Raises TengenError before the first answer for impossible settings."""
    limits = Limits(visits=settings.visits, seconds=settings.seconds)
    style = Style(temperature=settings.temperature, policy_temperature=settings.weaken, resign=settings.resign)
    rules = Rules.parse(settings.rules)
    komi = rules.usual_komi if settings.komi is None else acceptable_komi(settings.komi)
    game = Game(settings.size, rules, komi)
    _start_log(settings.log)
    params = _params(settings)
    if settings.level is not None:
        level(settings.size, settings.level)
    lines, write = open_channel()
    engine = load_engine(
        settings.net,
        params=params,
        device=settings.device,
        threads=settings.threads,
        batch=settings.batch,
        seed=settings.seed,
        style=style,
        on_sizes={} if settings.level is None else ladder_networks(),
    )
    options = GtpOptions(
        name=settings.name,
        version=settings.version,
        answer_version=settings.answer_version,
        net=settings.net,
        batch=settings.batch,
        limits=limits,
        visits_without_clock=engine.limits.visits,
        ponder=settings.ponder,
        level=settings.level,
        force_komi=settings.force_komi,
        on_size=settings.on_size,
    )
    human = HumanNetwork(settings.human_net, settings.device, settings.threads) if settings.human_net else None
    session = GtpSession(engine, game, lines, options, human=human)
    try:
        change_settings(session, dict(map(split_setting, filter(_is_for_session, settings.params))))
        print(READY, file=sys.stderr, flush=True)
        serve(session, write)
    except BrokenPipeError:
        logger.info("the reader of the answers has closed the pipe")
    finally:
        engine.close()


def _params(settings: Settings) -> SearchParams:
    """The search settings: those of the network, the playouts or the preset, then those of --set."""
    alone = settings.net == "none"
    if settings.playouts is not None and not alone:
        raise RecipeError(
            "--playouts needs --net none; to mix playouts with a network use --set playouts=N --set playout_weight=W"
        )
    if settings.preset is not None and alone:
        raise RecipeError("--preset needs a network; with --net none use --playouts and --set")
    if settings.device != "auto" and alone:
        raise RecipeError(f"--device {settings.device} needs a network; --net none has none")
    if settings.batch is not None and alone:
        raise RecipeError(f"--batch {settings.batch} needs a network; with --net none use --threads")
    if settings.weaken is not None and alone:
        raise RecipeError(f"--weaken {settings.weaken:g} needs a network; with --net none use few --visits")
    if settings.level is not None and settings.net != "default":
        raise RecipeError(f"--level {settings.level} needs the network default, with which the levels were measured")
    for option in ("visits", "temperature", "weaken") if settings.level is not None else ():
        if value := getattr(settings, option):
            raise RecipeError(f"--{option} {value:g} and --level {settings.level}, which sets it: give one of them")
    if alone:
        params = playout_params(settings.playouts or "local")
    else:
        params = SearchParams() if settings.preset is None else SearchParams.preset(settings.preset)
    chosen = [setting for setting in settings.params if not _is_for_session(setting)]
    return read_params(params, chosen, "" if alone else settings.net)


def _is_for_session(setting: str) -> bool:
    """Whether NAME=VALUE sets more than the search: a parameter of KataGo, or the style."""
    return split_setting(setting)[0] in {*KATAGO_PARAMS, *WEAKENING}


def _start_log(file: Path | None) -> None:
    logging.basicConfig(
        filename=file,
        level=logging.DEBUG if file else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )


logger = logging.getLogger(__name__)

Write = Callable[[str], None]


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
            logger.debug("-> %s", line.rstrip())
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
        if begun or not known:
            logger.exception("the command %s failed", command.name)
        text = _body(str(error)) if known else f"internal error in {command.name}: see the log"
        write("\n" if begun else f"?{mark} {text}\n\n")  # an answer that has begun can only end
    session.after_command()


def _carry_out(session: GtpSession, command: Command) -> str | Stream:
    handler = COMMANDS.get(command.name)
    if handler is None:
        raise GtpError("unknown command")
    return handler(session, command.args)


def _body(text: str) -> str:
    """An answer without empty lines, which would end it."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
