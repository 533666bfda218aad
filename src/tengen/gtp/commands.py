"""The table of commands, and the commands about the program.

A command takes the session and its arguments, and returns the answer or raises GtpError.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import tengen
from tengen.engine.katago_params import RELEASE
from tengen.gtp import analysis, clocks, counting, handicap, network, params, play, records, rules, setup
from tengen.gtp.parse import Arguments
from tengen.gtp.session import GtpSession, Stream


def protocol_version(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    return "2"


def name(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    return session.options.name


def version(session: GtpSession, args: Arguments) -> str:
    """The version of Tengen, and the name of the network for this board size.

    Under KataGo's name it is KataGo's release, by which LizzieYzy decides what it may ask for.
    """
    args.expect(0)
    options, network = session.options, session.engine.name_on(session.game.size)
    if options.answer_version:
        return options.answer_version
    if options.name == "KataGo":
        return f"{RELEASE}+tengen-{tengen.__version__}+{network}"
    return f"{tengen.__version__} ({network})"


def stop(session: GtpSession, args: Arguments) -> str:
    """Stop pondering. A running search has already been ended by this input line."""
    args.expect(0)
    session.engine.stop()
    return ""


def interrupt(session: GtpSession, args: Arguments) -> str:
    """GoGui asks with this whether the comment line `# interrupt` ends a search."""
    args.expect(0)
    return ""


def cpu_time(session: GtpSession, args: Arguments) -> str:
    """Seconds of processor time that this process has used."""
    args.expect(0)
    return f"{time.process_time():.3f}"


def quit_(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    session.finished = True
    return ""


Handler = Callable[[GtpSession, Arguments], str | Stream]


def known_command(session: GtpSession, args: Arguments) -> str:
    args.expect(1)
    return "true" if args.text(0) in COMMANDS else "false"


def list_commands(session: GtpSession, args: Arguments) -> str:
    """All names, `protocol_version` first as in KataGo: LizzieYzy finds the list by it."""
    args.expect(0)
    return "\n".join(COMMANDS)


COMMANDS: dict[str, Handler] = {
    "protocol_version": protocol_version,
    "name": name,
    "version": version,
    "known_command": known_command,
    "list_commands": list_commands,
    "stop": stop,
    "quit": quit_,
    "gogui-interrupt": interrupt,
    "cputime": cpu_time,
    "gomill-cpu_time": cpu_time,
    "boardsize": setup.boardsize,
    "rectangular_boardsize": setup.rectangular_boardsize,
    "clear_board": setup.clear_board,
    "komi": setup.komi,
    "get_komi": setup.get_komi,
    "showboard": setup.showboard,
    "kgs-rules": rules.kgs_rules,
    "kata-set-rules": rules.set_rules,
    "kata-get-rules": rules.get_rules,
    "kata-set-rule": rules.set_rule,
    "fixed_handicap": handicap.fixed_handicap,
    "place_free_handicap": handicap.place_free_handicap,
    "set_free_handicap": handicap.set_free_handicap,
    "set_position": setup.set_position,
    "kata-list-params": params.list_params,
    "kata-get-param": params.get_param,
    "kata-get-params": params.get_params,
    "kata-set-param": params.set_param,
    "kata-set-params": params.set_params_by_json,
    "kata-get-models": network.get_models,
    "kata-raw-nn": network.raw_nn,
    "kata-raw-human-nn": network.raw_human_nn,
    "clear_cache": params.clear_cache,
    "play": play.play,
    "genmove": play.genmove,
    "reg_genmove": play.reg_genmove,
    "kata-search": play.search,
    "kata-search_cancellable": play.search_cancellable,
    "kgs-genmove_cleanup": play.genmove_cleanup,
    "undo": play.undo,
    "time_settings": clocks.time_settings,
    "kgs-time_settings": clocks.kgs_time_settings,
    "kata-time_settings": clocks.kgs_time_settings,
    "kata-list_time_settings": clocks.list_time_settings,
    "time_left": clocks.time_left,
    "final_score": counting.final_score,
    "final_status_list": counting.final_status_list,
    "loadsgf": records.loadsgf,
    "printsgf": records.printsgf,
    "lz-analyze": analysis.lz_analyze,
    "lz-genmove_analyze": analysis.lz_genmove_analyze,
    "kata-analyze": analysis.kata_analyze,
    "kata-genmove_analyze": analysis.kata_genmove_analyze,
    "kata-search_analyze": analysis.kata_search_analyze,
    "kata-search_analyze_cancellable": analysis.kata_search_analyze_cancellable,
    "analyze": analysis.sabaki_analyze,
    "genmove_analyze": analysis.sabaki_genmove_analyze,
}
