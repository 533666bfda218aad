"""The clocks of a game on the page, and the times that a record tells."""

from __future__ import annotations

import pytest

from tengen.engine import TimeControl
from tengen.web.clock import GameClock
from tengen.web.records import open_record


def test_byo_yomi_runs_period_by_period_and_is_made_whole_by_a_move() -> None:
    clock = GameClock(TimeControl.byoyomi(60, 30, 3))
    clock.start(0, 0.0)
    assert not clock.flagged(0, 45.0) and clock.text(0) == "0:15"
    assert not clock.flagged(0, 70.0) and clock.text(0) == "0:20 (3)"
    assert not clock.flagged(0, 125.0) and clock.text(0) == "0:25 (1)"
    clock.moved(0, 125.0)
    assert clock.text(0) == "0:30 (1)"
    clock.start(0, 200.0)
    assert not clock.flagged(0, 225.5) and clock.text(0) == "4.5 (1)"
    assert clock.flagged(0, 230.0)
    assert clock.text(1) == "1:00"


def test_fischer_adds_after_each_move() -> None:
    clock = GameClock(TimeControl.fischer(20, 10))
    clock.start(1, 5.0)
    clock.moved(1, 12.0)
    assert clock.text(1) == "0:23"
    clock.start(1, 12.0)
    assert not clock.flagged(1, 34.9)
    assert clock.flagged(1, 35.1)


def test_only_one_clock_runs() -> None:
    clock = GameClock(TimeControl.absolute(100))
    clock.start(0, 0.0)
    clock.start(1, 10.0)
    clock.stop(30.0)
    assert (clock.seconds(0), clock.seconds(1)) == (90.0, 80.0)
    assert not clock.flagged(0, 500.0)


@pytest.mark.parametrize(
    ("record", "times"),
    [
        ("TM[600];B[aa]BL[590];W[bb]WL[600.5];B[cc]BL[588.5];W[dd]", [(1, 0, 10.0), (3, 0, 1.5)]),
        ("TM[60]OT[10 fischer];B[aa]BL[65];W[bb]WL[70];B[cc]BL[45]", [(1, 0, 5.0), (2, 1, 0.0), (3, 0, 30.0)]),
        ("TM[60]OT[3x10 byo-yomi];B[aa]BL[5];W[bb]WL[50];B[cc]BL[10]OB[3];W[dd]WL[20];B[ee]BL[10]OB[2]",
         [(1, 0, 55.0), (2, 1, 10.0), (4, 1, 30.0)]),
        ("TM[x];B[aa]BL[inf];W[bb]WL[-3];B[cc]BL[];W[dd]WL[9]", []),
        (";B[aa];W[bb]", []),
    ],
)  # fmt: skip
def test_the_time_of_a_move_is_what_the_record_has_less(record: str, times: list[tuple[int, int, float]]) -> None:
    session, _ = open_record(f"(;SZ[9]{record})".encode())
    session.step(9)
    assert session.line_times() == times
    session.tree.root.set_text("TM", "")
    assert session.line_times() == [each for each in times if each[0] > 2], "what the record says now"
