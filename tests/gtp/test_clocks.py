"""Commands about time, and the clocks of a session."""

from __future__ import annotations

from pathlib import Path

import pytest
from gtp_fakes import FakeEngine, ask, session_of, talk

from tengen.engine.clock import Clock, Overtime, TimeControl
from tengen.engine.limits import Limits
from tengen.errors import NetworkError
from tengen.game import BLACK, WHITE
from tengen.gtp.session import GtpSession
from tengen.gtp.streams import InputQueue


def test_a_clock_that_has_just_run_out_reads_zero() -> None:
    session = session_of()
    ask(session, "time_settings 60 0 0")
    assert ask(session, "time_left b -2.5 0") == "" and session.clocks[BLACK].main == 0


def test_canadian_absolute_and_no_time() -> None:
    session = session_of()
    ask(session, "time_settings 300 60 25")
    assert session.control == TimeControl.canadian(300, 60, 25)
    ask(session, "time_settings 300 0 0")
    assert session.control == TimeControl.absolute(300)
    for free in ("time_settings 300 60 0", "time_settings 0 0 0"):
        ask(session, free)
        assert session.control is None and session.clocks == {}


@pytest.mark.parametrize(
    ("line", "control"),
    [
        ("kgs-time_settings none", None),
        ("kgs-time_settings absolute 300", TimeControl.absolute(300)),
        ("kgs-time_settings byoyomi 300 30 5", TimeControl.byoyomi(300, 30, 5)),
        ("kgs-time_settings byoyomi 300 30 0", TimeControl.absolute(300)),
        ("kgs-time_settings byoyomi 300 0 5", TimeControl.absolute(300)),
        ("kgs-time_settings canadian 300 60 25", TimeControl.canadian(300, 60, 25)),
        ("kgs-time_settings canadian 300 60 0", None),
        ("kgs-time_settings canadian 300 0 25", TimeControl.absolute(300)),
        ("kgs-time_settings canadian 300 0 0", TimeControl.absolute(300)),
        ("kata-time_settings fischer 300 7.5", TimeControl.fischer(300, 7.5)),
        ("kata-time_settings fischer-capped 60 7.5 90 20", TimeControl.fischer(60, 7.5, 90, 20)),
        ("kata-time_settings fischer-capped 60 7.5 -1 -1", TimeControl.fischer(60, 7.5)),
    ],
)
def test_the_time_systems_of_kgs_and_katago(line: str, control: TimeControl | None) -> None:
    session = session_of()
    assert ask(session, line) == "" and session.control == control


@pytest.mark.parametrize(
    ("lines", "warm"),
    [
        (["time_settings 0 0 0", "kgs-time_settings none", "boardsize 13"], []),
        (["boardsize 13", "time_settings 300 60 25", "kata-time_settings fischer 300 7.5"], [13]),
        (["time_settings 0 3 1", "boardsize 13", "clear_board", "boardsize 9"], [9, 13, 9]),
        (["time_settings 0 3 1", "loadsgf {sgf}"], [9, 7]),
        (["time_left b 3 0", "time_left w 3 0"], [9]),
        (["boardsize 13", "time_left b 3 0", "boardsize 7", "time_left b 3 0"], [13, 7]),
    ],
)
def test_networks_are_compiled_before_the_clock_runs(lines: list[str], warm: list[int], tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text("(;SZ[7])")
    session = session_of()
    for line in lines:
        assert ask(session, line.format(sgf=tmp_path / "game.sgf")) == ""
    assert session.engine.warm == warm  # type: ignore[attr-defined]


def given_clocks(session: GtpSession) -> list[Clock | None]:
    """The clocks of the searches so far."""
    return [limits.clock for limits, _, _ in session.engine.asked if limits]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        (["time_left b 30 0"], 25),
        (["time_settings 60 0 0", "time_left b 30 0", "time_left w 30 0"], 25),
        (["time_settings 60 0 0"], 55),
        (["time_settings 60 0 0", "time_left b 0 0"], -5),
    ],
)
def test_a_clock_pays_for_the_compilation_that_it_waits_for(lines: list[str], left: float) -> None:
    """gtp2ogs sends the times and the first genmove at once: the clock of the server runs meanwhile."""
    session = session_of(FakeEngine(compiling=5))
    talk(session, *lines, "genmove b")
    session.lines = InputQueue(session.now)
    talk(session, "time_left b 20 0", "genmove b")
    assert [clock and clock.main for clock in given_clocks(session)] == [left, 20]


@pytest.mark.parametrize(
    "control", ["time_settings 0 4 1", "kgs-time_settings byoyomi 0 2 1", "kgs-time_settings fischer 4 2"]
)
def test_a_clock_that_nobody_tells_outlives_a_compilation(control: str) -> None:
    session = session_of(FakeEngine(compiling=5))
    talk(session, control, *2 * ("genmove b", "genmove w"))
    clocks = given_clocks(session)
    assert len(clocks) == 4 and not any(clock is None or clock.flagged for clock in clocks)


def test_a_clock_runs_from_the_arrival_of_time_left() -> None:
    """As of one that comes while a search runs, or a search that `genmove` ends."""
    session = session_of(engine := FakeEngine(seconds=4))
    session.lines.put("time_left b 20 0", "time_left w 20 0")
    engine.time += 2
    session.lines.put("genmove b")
    engine.time += 1
    talk(session)
    assert given_clocks(session) == [Clock(TimeControl.absolute(20), 17)] and session.clocks[BLACK].main == 13


def test_the_clocks_of_a_script_wait_for_the_moves_before() -> None:
    session = session_of(FakeEngine(seconds=4))
    talk(session, "time_settings 60 0 0", *2 * ("genmove b", "genmove w"), "time_left b 9 0", "genmove b")
    assert [clock and clock.main for clock in given_clocks(session)] == [60, 60, 56, 56, 9]


def test_a_size_that_the_network_does_not_know_is_an_error_of_the_search_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(engine: FakeEngine, size: int) -> None:
        raise NetworkError("19x19 only")

    monkeypatch.setattr(FakeEngine, "warm_up", refuse)
    session = session_of()
    assert ask(session, "time_settings 300 0 0") == "" and ask(session, "boardsize 13") == ""


def test_time_left_sets_the_clock_that_a_move_is_given() -> None:
    session = session_of(FakeEngine(["E5"]))
    ask(session, "kgs-time_settings byoyomi 300 30 5")
    ask(session, "time_left b 12 0")
    assert (session.clocks[BLACK].main, session.clocks[BLACK].count) == (12, 5)
    ask(session, "time_left b 30 2")
    assert (session.clocks[BLACK].main, session.clocks[BLACK].period, session.clocks[BLACK].count) == (0, 30, 2)
    clock = session.clocks[BLACK]
    ask(session, "genmove b")
    limits = session.engine.asked[0][0]  # type: ignore[attr-defined]
    assert limits.clock == clock and limits.visits is None


def test_a_move_leaves_the_clock_what_the_lag_needs() -> None:
    session = session_of(engine := FakeEngine(), limits=Limits(lag_buffer=2))
    ask(session, "kgs-time_settings byoyomi 0 30 5")
    assert ask(session, "kata-get-param lagBuffer") == "2"
    ask(session, "genmove b")
    assert ask(session, "kata-set-param lagBuffer 1.5") == ""
    ask(session, "genmove w")
    assert [limits.budget(9, 0).seconds for limits, _, _ in engine.asked if limits] == [28, 28.5]


def test_the_session_keeps_the_clock_without_time_left() -> None:
    session = session_of(FakeEngine(["E5"], seconds=4.0))
    ask(session, "time_settings 300 0 0")
    ask(session, "genmove b")
    assert (session.clocks[BLACK].main, session.clocks[WHITE].main) == (296, 300)
    ask(session, "clear_board")
    assert session.clocks[BLACK].main == 300


def test_time_left_without_time_settings_is_absolute_time() -> None:
    session = session_of()
    ask(session, "time_left w 60 0")
    assert session.clocks[WHITE].control.overtime is Overtime.NONE


def test_visits_bound_a_move_where_nothing_else_does() -> None:
    engine = FakeEngine()
    ask(session_of(engine), "genmove b")
    ask(session_of(engine, limits=Limits(seconds=2)), "genmove b")
    assert [(limits.visits, limits.seconds) for limits, _, _ in engine.asked if limits] == [(400, None), (None, 2)]


@pytest.mark.parametrize(
    ("limits", "command", "early"),
    [
        (Limits(seconds=2), "name", False),
        (Limits(seconds=2, visits=50), "name", False),
        (Limits(), "kata-set-param maxTime 2", False),
        (Limits(seconds=2), "time_settings 300 0 0", True),
        (Limits(), "time_settings 300 0 0", True),
        (Limits(visits=50), "name", True),
        (Limits(), "kgs-time_settings byoyomi 0 30 5", False),
        (Limits(visits=50), "kata-time_settings fischer-capped 60 10 60 -1", False),
    ],
)
def test_seconds_are_used_in_full_unless_a_clock_keeps_what_is_left(limits: Limits, command: str, early: bool) -> None:
    engine = FakeEngine()
    session = session_of(engine, limits=limits)
    ask(session, command)
    ask(session, "genmove b")
    (asked,) = [limits for limits, _, _ in engine.asked if limits]
    assert asked.budget(9, 0).decided(lead=40, left=20, playouts=20, elapsed=1.0) is early
