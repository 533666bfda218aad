"""Commands that play: moves of both sides and of the engine, and the time that they have."""

from __future__ import annotations

import pytest
from gtp_fakes import FakeEngine, ask, played, session_of
from known_positions import SETTLED, TRIPLE_KO, TRIPLE_KO_CYCLE

from tengen.engine import Engine
from tengen.engine.clock import Overtime, TimeControl
from tengen.engine.limits import Limits
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, WHITE, Game

CORNER = """
. O . X O . . . .
O O X . X O . . .
. . . X O . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
"""


@pytest.mark.parametrize(("line", "reason"), [("play w D8", "occupied"), ("play b A9", "suicide"), ("play b E8", "ko")])
def test_an_illegal_move_is_refused_with_its_reason(line: str, reason: str) -> None:
    session = session_of()
    session.game = Game.from_diagram(CORNER, to_play=WHITE).play("D8")
    assert ask(session, line) == f"? illegal move: {reason}"


def test_moves_in_any_case_and_passes() -> None:
    session = session_of()
    assert [ask(session, line) for line in ("play B d4", "play WHITE Pass", "play black PASS")] == ["", "", ""]
    assert session.game.is_over


def test_the_same_colour_may_move_twice() -> None:
    session = played("D4")
    assert ask(session, "play b E5") == ""
    assert session.game.board[4, 4] == BLACK


def test_undo_takes_one_move_back_and_stops_at_the_first_position() -> None:
    session = session_of()
    ask(session, "fixed_handicap 2")
    ask(session, "play w E5")
    assert ask(session, "undo") == ""
    assert session.game.handicap == 2
    assert ask(session, "undo").startswith("? cannot undo")


def test_genmove_plays_and_reg_genmove_does_not() -> None:
    session = session_of(FakeEngine(["E5", "D4", "pass"]))
    assert ask(session, "reg_genmove b") == "E5" and session.game.moves == []
    assert ask(session, "genmove b") == "D4" and session.game.moves == [(BLACK, session.game.point("D4"))]
    assert ask(session, "kgs-genmove_cleanup w") == "pass"
    assert [cleanup for _, _, cleanup in session.engine.asked] == [False, False, True]  # type: ignore[attr-defined]


def test_resigning_plays_nothing() -> None:
    session = session_of(FakeEngine(["resign"]))
    assert ask(session, "genmove b") == "resign" and session.game.moves == []


def test_a_move_out_of_turn_is_thought_about_for_its_colour() -> None:
    session = played("D4")
    session.engine.script = ["E5"]  # type: ignore[attr-defined]
    assert ask(session, "genmove b") == "E5"
    position = session.engine.position  # type: ignore[attr-defined]
    assert position.to_play == BLACK and position.board[5, 3] == BLACK


def test_pondering_begins_after_an_own_move_only() -> None:
    session = session_of(FakeEngine(["E5", "D4"]), ponder=True)
    session.lines.put("genmove b")
    engine = session.engine
    assert isinstance(engine, FakeEngine)
    ask(session, "play b C3")
    assert engine.pondered == 0
    session.ponder_next = True
    session.lines = type(session.lines)()
    session.after_command()
    assert engine.pondered == 1


# Time.


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
        ("kgs-time_settings canadian 300 60 25", TimeControl.canadian(300, 60, 25)),
        ("kata-time_settings fischer 300 7.5", TimeControl.fischer(300, 7.5)),
    ],
)
def test_the_time_systems_of_kgs_and_katago(line: str, control: TimeControl | None) -> None:
    session = session_of()
    assert ask(session, line) == "" and session.control == control


def test_no_clock_pays_for_getting_the_network_ready() -> None:
    session = session_of()
    ask(session, "boardsize 13")
    ask(session, "time_settings 0 0 0")
    ask(session, "kgs-time_settings none")
    assert session.engine.warm == []  # type: ignore[attr-defined]
    ask(session, "time_settings 300 60 25")
    ask(session, "kata-time_settings fischer 300 7.5")
    assert session.engine.warm == [13, 13]  # type: ignore[attr-defined]


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


def test_the_engine_keeps_its_own_clock_where_nobody_tells_the_time() -> None:
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


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese"])
def test_servers_that_count_what_stands_get_the_dead_stones_captured_under_their_rules(rules: str) -> None:
    """The white stone on D3 cannot escape; while it stands its side wins by Tromp and Taylor's count."""
    session = session_of()
    session.engine = Engine(UniformEvaluator())
    session.game = Game.from_diagram(SETTLED, rules, komi=-8.5).play("pass").play("D3")
    assert session.game.score() < 0
    if rules == "chinese":
        assert ask(session, "genmove b") == "pass", "there the players would agree that it is dead"
        return
    for _ in range(4):
        if ask(session, "genmove b") == "pass":
            break
        session.game.play("pass")
    assert session.game.score() > 0 and session.game.board[6, 3] != WHITE


@pytest.mark.parametrize(("rules", "answer"), [("tromp-taylor", "? illegal move: superko"), ("chinese", "")])
def test_a_ko_taken_back_into_an_earlier_position_is_refused_under_superko(rules: str, answer: str) -> None:
    session = session_of()
    session.game = Game.from_diagram(TRIPLE_KO, rules)
    for color, vertex in zip("bwbwb", TRIPLE_KO_CYCLE, strict=False):
        assert ask(session, f"play {color} {vertex}") == ""
    assert ask(session, f"play w {TRIPLE_KO_CYCLE[5]}") == answer
