"""Commands about time: the time control of the game, and the time left of each side."""

from __future__ import annotations

from dataclasses import replace

from tengen.engine.clock import Clock, Overtime, TimeControl
from tengen.errors import GtpError, TengenError
from tengen.gtp.parse import Arguments
from tengen.gtp.session import GtpSession

# The arguments of each kind of time after its name; the last two are KataGo's. A negative cap is none.
KINDS = {
    "none": (),
    "absolute": ("main",),
    "byoyomi": ("main", "period", "count"),
    "canadian": ("main", "period", "count"),
    "fischer": ("main", "increment"),
    "fischer-capped": ("main", "increment", "main_cap", "move_cap"),
}
_MIN_SECONDS = -10  # some programs report a clock that has just run out


def time_settings(session: GtpSession, args: Arguments) -> str:
    """MAIN OVERTIME STONES: Canadian time. OVERTIME 0 is absolute time; OVERTIME above 0 with STONES 0 is no limit."""
    args.expect(3)
    main, period, stones = args.number(0), args.number(1), args.integer(2)
    session.set_time(_canadian(main, period, stones))
    return ""


def kgs_time_settings(session: GtpSession, args: Arguments) -> str:
    """KIND SECONDS ...: a kind of time with its arguments.

    none | absolute MAIN | byoyomi MAIN PERIOD PERIODS | canadian MAIN PERIOD STONES | fischer MAIN INCREMENT |
    fischer-capped MAIN INCREMENT MAIN_CAP MOVE_CAP (a negative cap is none). byoyomi with PERIOD or PERIODS 0 is
    absolute time; canadian is read as in `time_settings`.
    """
    args.expect(1, 5)
    kind = args.text(0).lower()
    if kind not in KINDS:
        raise GtpError(f"unknown time system {args.text(0)}: one of {', '.join(KINDS)} expected")
    names = KINDS[kind]
    args.expect(1 + len(names))
    values = {n: args.integer(i) if n == "count" else args.number(i) for i, n in enumerate(names, 1)}
    if kind == "none":
        session.set_time(None)
    elif kind == "canadian":
        session.set_time(_canadian(**values))
    else:
        session.set_time(_control(kind, **values))
    return ""


def list_time_settings(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    return " ".join(KINDS)


def time_left(session: GtpSession, args: Arguments) -> str:
    """COLOR SECONDS STONES: main time left if STONES is 0, else the period with the stones or periods left."""
    args.expect(3)
    color, seconds, stones = args.color(0), args.number(1), args.integer(2)
    seconds = 0.0 if _MIN_SECONDS <= seconds < 0 else seconds
    _check_times(seconds, 0, stones)
    control = session.control or TimeControl.absolute(seconds)
    if control.overtime in (Overtime.BYOYOMI, Overtime.CANADIAN) and stones > 0:
        clock = Clock(control, 0.0, seconds, stones)
    else:
        clock = replace(control.start(), main=seconds)
    session.set_clock(color, clock)
    return ""


def _canadian(main: float, period: float, count: float) -> TimeControl | None:
    """The time control of a Canadian period of `count` stones; None for no time limit."""
    _check_times(main, period, count)
    if (period > 0 and count == 0) or main == period == 0:
        return None
    return _control("canadian" if period > 0 else "absolute", main, period, count)


def _control(kind: str, main: float, period: float = 0, count: float = 0, **fischer: float) -> TimeControl:
    _check_times(main, period, count)
    caps = {name: value for name in ("main_cap", "move_cap") if (value := fischer.get(name, -1)) >= 0}
    try:
        match kind:
            case "absolute":
                return TimeControl.absolute(main)
            case "byoyomi" if period == 0 or count == 0:
                return TimeControl.absolute(main)
            case "byoyomi":
                return TimeControl.byoyomi(main, period, int(count))
            case "canadian":
                return TimeControl.canadian(main, period, int(count))
            case _:
                return TimeControl.fischer(main, fischer["increment"], **caps)
    except TengenError as error:
        raise GtpError(f"unacceptable time: {error}") from error


def _check_times(main: float, period: float, count: float) -> None:
    if main < 0 or period < 0 or count < 0:
        raise GtpError("unacceptable time: numbers from 0 up expected")
