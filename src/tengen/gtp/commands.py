"""The table of commands, and the commands about the program and its search settings.

A command takes the session and its arguments, and returns the answer or raises GtpError.
"""

from __future__ import annotations

from collections.abc import Callable

from tengen.engine.params import SearchParams, set_params
from tengen.errors import GtpError, unknown_name
from tengen.gtp import analysis, play, setup
from tengen.gtp.parse import Arguments
from tengen.gtp.session import GtpSession, Stream


def protocol_version(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    return "2"


def name(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    return "Tengen"


def version(session: GtpSession, args: Arguments) -> str:
    """The version of Tengen, and the name of the network for this board size."""
    args.expect(0)
    return f"{session.options.version} ({session.engine.name_on(session.game.size)})"


def stop(session: GtpSession, args: Arguments) -> str:
    """Stop pondering. A running search has already been ended by this input line."""
    args.expect(0)
    session.engine.stop()
    return ""


def quit_(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    session.finished = True
    return ""


def list_params(session: GtpSession, args: Arguments) -> str:
    """The names of the search settings, on one line."""
    args.expect(0)
    return " ".join(SearchParams.model_fields)


def get_param(session: GtpSession, args: Arguments) -> str:
    """NAME: the value of one setting on this board size; the card of a network may give its own."""
    args.expect(1)
    name = args.text(0)
    if name not in SearchParams.model_fields:
        raise GtpError(unknown_name("search setting", name, SearchParams.model_fields))
    return _text(getattr(session.engine.params_on(session.game.size), name))


def set_param(session: GtpSession, args: Arguments) -> str:
    """NAME VALUE: change one setting. The next search starts a new tree."""
    args.expect(2)
    session.engine.params = set_params(session.engine.asked_params, {args.text(0): args.text(1)})
    return ""


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


Handler = Callable[[GtpSession, Arguments], str | Stream]


def known_command(session: GtpSession, args: Arguments) -> str:
    args.expect(1)
    return "true" if args.text(0) in COMMANDS else "false"


def list_commands(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    return "\n".join(sorted(COMMANDS))


COMMANDS: dict[str, Handler] = {
    "protocol_version": protocol_version,
    "name": name,
    "version": version,
    "known_command": known_command,
    "list_commands": list_commands,
    "stop": stop,
    "quit": quit_,
    "boardsize": setup.boardsize,
    "clear_board": setup.clear_board,
    "komi": setup.komi,
    "get_komi": setup.get_komi,
    "showboard": setup.showboard,
    "kgs-rules": setup.kgs_rules,
    "kata-set-rules": setup.set_rules,
    "kata-get-rules": setup.get_rules,
    "kata-set-rule": setup.set_rule,
    "fixed_handicap": setup.fixed_handicap,
    "place_free_handicap": setup.place_free_handicap,
    "set_free_handicap": setup.set_free_handicap,
    "kata-list-params": list_params,
    "kata-get-param": get_param,
    "kata-set-param": set_param,
    "play": play.play,
    "genmove": play.genmove,
    "reg_genmove": play.reg_genmove,
    "kgs-genmove_cleanup": play.genmove_cleanup,
    "undo": play.undo,
    "time_settings": play.time_settings,
    "kgs-time_settings": play.kgs_time_settings,
    "kata-time_settings": play.kgs_time_settings,
    "kata-list_time_settings": play.list_time_settings,
    "time_left": play.time_left,
    "final_score": play.final_score,
    "final_status_list": play.final_status_list,
    "loadsgf": setup.loadsgf,
    "printsgf": setup.printsgf,
    "lz-analyze": analysis.lz_analyze,
    "lz-genmove_analyze": analysis.lz_genmove_analyze,
    "kata-analyze": analysis.kata_analyze,
    "kata-genmove_analyze": analysis.kata_genmove_analyze,
}
