"""Commands about time."""

from __future__ import annotations

from dataclasses import replace

from tengen.engine.clock import Clock, Overtime, TimeControl
from tengen.errors import GtpError, TengenError
from tengen.gtp.parse import Arguments
from tengen.gtp.session import Session

KINDS = ("none", "absolute", "byoyomi", "canadian", "fischer")


def time_settings(session: Session, args: Arguments) -> str:
    """MAIN OVERTIME STONES: Canadian time; 0 seconds of overtime is absolute time, stones without any no limit."""
    args.expect(3)
    main, period, stones = args.number(0), args.number(1), args.integer(2)
    if (period > 0 and stones == 0) or main == period == 0:
        _check_times(main, period, stones)
        session.set_time(None)
    else:
        _begin(session, _control("canadian" if period > 0 else "absolute", main, period, stones))
    return ""


def kgs_time_settings(session: Session, args: Arguments) -> str:
    """none | absolute MAIN | byoyomi MAIN PERIOD PERIODS | canadian MAIN PERIOD STONES, and fischer MAIN INCREMENT."""
    args.expect(1, 4)
    kind = args.text(0).lower()
    if kind not in KINDS:
        raise GtpError(f"unknown time system {args.text(0)}: one of {', '.join(KINDS)} expected")
    wanted = {"none": 0, "absolute": 1, "fischer": 2}.get(kind, 3)
    args.expect(1 + wanted)
    if kind == "none":
        session.set_time(None)
        return ""
    period = args.number(2) if wanted > 1 else 0.0
    _begin(session, _control(kind, args.number(1), period, args.integer(3) if wanted > 2 else 0))
    return ""


def list_time_settings(session: Session, args: Arguments) -> str:
    args.expect(0)
    return " ".join(KINDS)


def time_left(session: Session, args: Arguments) -> str:
    """COLOUR SECONDS STONES: main time when STONES is 0, else the running period with its stones or periods left."""
    args.expect(3)
    color, seconds, stones = args.color(0), args.number(1), args.integer(2)
    _check_times(seconds, 0, stones)
    control = session.control or TimeControl.absolute(seconds)
    if control.overtime in (Overtime.BYOYOMI, Overtime.CANADIAN) and stones > 0:
        clock = Clock(control, 0.0, seconds, stones)
    else:
        clock = replace(control.start(), main=seconds)
    session.clocks[color] = clock
    return ""


def _begin(session: Session, control: TimeControl) -> None:
    """Hold the session to a clock, which is not to pay for getting the network ready."""
    session.set_time(control)
    session.engine.warm_up(session.game.size)


def _control(kind: str, main: float, period: float, count: int) -> TimeControl:
    try:
        match kind:
            case "absolute":
                return TimeControl.absolute(main)
            case "fischer":
                return TimeControl.fischer(main, period)
            case "byoyomi":
                return TimeControl.byoyomi(main, period, count)
            case _:
                return TimeControl.canadian(main, period, count)
    except TengenError as error:
        raise GtpError(f"unacceptable time: {error}") from error


def _check_times(main: float, period: float, stones: int) -> None:
    if main < 0 or period < 0 or stones < 0:
        raise GtpError("unacceptable time: no number below 0 expected")
