"""The table of commands: name to function. Each takes the session and its arguments, and answers or raises GtpError."""

from __future__ import annotations

from collections.abc import Callable

from tengen.gtp import admin, analysis, handicap, moves, params, records, rules, scoring, setup, timing
from tengen.gtp.parse import Arguments
from tengen.gtp.session import Session, Stream

Handler = Callable[[Session, Arguments], str | Stream]


def known_command(session: Session, args: Arguments) -> str:
    args.expect(1)
    return "true" if args.text(0) in COMMANDS else "false"


def list_commands(session: Session, args: Arguments) -> str:
    args.expect(0)
    return "\n".join(sorted(COMMANDS))


COMMANDS: dict[str, Handler] = {
    "protocol_version": admin.protocol_version,
    "name": admin.name,
    "version": admin.version,
    "known_command": known_command,
    "list_commands": list_commands,
    "stop": admin.stop,
    "quit": admin.quit_,
    "boardsize": setup.boardsize,
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
    "kata-list-params": params.list_params,
    "kata-get-param": params.get_param,
    "kata-set-param": params.set_param,
    "play": moves.play,
    "genmove": moves.genmove,
    "reg_genmove": moves.reg_genmove,
    "kgs-genmove_cleanup": moves.genmove_cleanup,
    "undo": moves.undo,
    "time_settings": timing.time_settings,
    "kgs-time_settings": timing.kgs_time_settings,
    "kata-time_settings": timing.kgs_time_settings,
    "kata-list_time_settings": timing.list_time_settings,
    "time_left": timing.time_left,
    "final_score": scoring.final_score,
    "final_status_list": scoring.final_status_list,
    "loadsgf": records.loadsgf,
    "printsgf": records.printsgf,
    "lz-analyze": analysis.lz_analyze,
    "lz-genmove_analyze": analysis.lz_genmove_analyze,
    "kata-analyze": analysis.kata_analyze,
    "kata-genmove_analyze": analysis.kata_genmove_analyze,
}
