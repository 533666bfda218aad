"""Commands that play and count a game: moves, undo, time, score and status of stones.

The commands that count take, after their standard arguments, what decides which stones are dead: `network`, `playouts`,
`both`, or `dead` and the vertices of the dead stones (there may be none). Without it the rules decide: `both`, or no
stone where the rules count every stone on the board.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tengen import coords
from tengen.engine.clock import Clock, Overtime, TimeControl
from tengen.engine.count import WAYS
from tengen.engine.result import SearchResult
from tengen.engine.shapes import Shapes
from tengen.errors import GtpError, IllegalMove, TengenError
from tengen.game import EMPTY
from tengen.gtp.parse import Arguments
from tengen.gtp.session import GtpSession
from tengen.sgf.values import score_text


def play(session: GtpSession, args: Arguments) -> str:
    """COLOR VERTEX. As in KataGo against ko and superko too, and as a suicide of several stones: the game may have
    other rules than the session."""
    args.expect(2)
    color = args.color(0)
    point = args.vertex(1, session.game.size)
    try:
        session.game.play(point, color=color, tolerant=True)
    except IllegalMove as error:
        raise GtpError(f"illegal move: {str(error).rpartition(': ')[2]}") from error
    session.ponder_next = session.searched == (color, len(session.game.moves) - 1)
    return ""


def genmove(session: GtpSession, args: Arguments) -> str:
    """COLOR: search, play the move and answer it, or `resign`."""
    args.expect(1)
    color = args.color(0)
    return play_result(session, color, session.search(color))


def reg_genmove(session: GtpSession, args: Arguments) -> str:
    """COLOR: the move that the engine would play."""
    args.expect(1)
    return name_of(session.search(args.color(0)), session.game.size)


def search(session: GtpSession, args: Arguments) -> str:
    """COLOR: the move that the engine would play. Pondering begins when that move is played."""
    args.expect(1)
    color = args.color(0)
    return searched(session, color, session.search(color))


def search_cancellable(session: GtpSession, args: Arguments) -> str:
    """COLOR: the same, but the next line of input ends it with the answer `cancelled`."""
    args.expect(1)
    color, cancel = args.color(0), Cancel(session)
    return searched(session, color, session.search(color, until=cancel), cancel)


class Cancel:
    """Whether a line of input has come, which ends a search; asked often, and remembered."""

    def __init__(self, session: GtpSession) -> None:
        self._lines = session.lines
        self.happened = False

    def __call__(self) -> bool:
        self.happened = self.happened or self._lines.pending()
        return self.happened


def genmove_cleanup(session: GtpSession, args: Arguments) -> str:
    """COLOR: like `genmove`, but the engine captures dead stones before it passes."""
    args.expect(1)
    color = args.color(0)
    return play_result(session, color, session.search(color, cleanup=True))


def undo(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    if not session.game.undo():
        raise GtpError("cannot undo: no move has been played")
    return ""


def name_of(result: SearchResult, size: int) -> str:
    return "resign" if result.resign else coords.to_gtp(result.move, size)


def searched(session: GtpSession, color: int, result: SearchResult, cancel: Cancel | None = None) -> str:
    """The move of a search that is not played, or `cancelled`."""
    if cancel is not None and cancel.happened:
        return "cancelled"
    session.searched = color, len(session.game.moves)
    return name_of(result, session.game.size)


def play_result(session: GtpSession, color: int, result: SearchResult) -> str:
    """Play the move of a search unless it is a resignation; its name."""
    if not result.resign:
        session.game.play(result.move, color=color)
        session.ponder_next = True
    return name_of(result, session.game.size)


# Time.

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
    _start_clocks(session, _canadian(main, period, stones))
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
        _start_clocks(session, None)
    elif kind == "canadian":
        _start_clocks(session, _canadian(**values))
    else:
        _start_clocks(session, _control(kind, **values))
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
    session.clocks[color] = clock
    return ""


def _start_clocks(session: GtpSession, control: TimeControl | None) -> None:
    """Start the clocks, and compile the network first: the clock must not pay for it. None for no time limit."""
    session.set_time(control)
    if control is not None:
        session.engine.warm_up(session.game.size)


def _canadian(main: float, period: float, count: float) -> TimeControl | None:
    """The time control of a Canadian period with so many stones; None for no time limit."""
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


# Count.

STATUSES = ("alive", "dead", "seki")


def final_score(session: GtpSession, args: Arguments) -> str:
    """[WAY]: `B+3.5`, `W+0.5`, or `0` for a draw or a game without result, by the rules and komi of the game."""
    score = session.game.score(_dead(session, args, 0))
    return "0" if session.game.is_no_result else score_text(score)


def final_status_list(session: GtpSession, args: Arguments) -> str:
    """STATUS [WAY]: one line of vertices for each chain with that status."""
    args.expect(1, len(args))
    wanted = args.text(0).lower()
    if wanted not in STATUSES:
        raise GtpError(f"invalid status {args.text(0)}: one of {', '.join(STATUSES)} expected")
    game = session.game
    dead = set(_dead(session, args, 1))
    seki = set(game.seki_stones(dead))
    lines = []
    for chain in Shapes(game).chains:
        status = "dead" if chain.stones & dead else "seki" if chain.stones & seki else "alive"
        if status == wanted:
            lines.append(" ".join(coords.to_gtp(point, game.size) for point in sorted(chain.stones)))
    return "\n".join(lines)


def _dead(session: GtpSession, args: Arguments, first: int) -> Collection[int]:
    """The dead stones, by the arguments from index `first` on."""
    if len(args) <= first and not session.game.rules.dead_are_agreed:
        return ()
    way = args.text(first).lower() if len(args) > first else "both"
    if way == "dead":
        points = [args.vertex(index, session.game.size) for index in range(first + 1, len(args))]
        empty = [p for p in points if p == session.game.pass_point or session.game.board.ravel()[p] == EMPTY]
        if empty:
            raise GtpError(f"no stone at {coords.to_gtp(empty[0], session.game.size)}")
        return points
    args.expect(0, first + 1)
    if way not in WAYS:
        raise GtpError(f"invalid way {args.text(first)}: one of {', '.join(WAYS)}, dead expected")
    return session.engine.count(session.game, way).dead
