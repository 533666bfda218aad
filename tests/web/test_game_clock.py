"""The clocks that a game shows while they run."""

from tengen.engine import TimeControl
from tengen.web.game_clock import GameClock


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
