"""Commands that play and count: moves of both sides, time, score and status of stones."""

from __future__ import annotations

import pytest
from gtp_fakes import FakeEngine, ask, played, session_of, talk
from known_positions import SETTLED, TRIPLE_KO, TRIPLE_KO_CYCLE

from tengen.engine import Engine
from tengen.engine.clock import Overtime, TimeControl
from tengen.engine.limits import Limits
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.gtp.commands import COMMANDS
from tengen.gtp.parse import parse_line
from tengen.gtp.session import GtpEngine, GtpSession

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


@pytest.mark.parametrize(("line", "reason"), [("play w D8", "occupied"), ("play b A9", "suicide")])
def test_an_illegal_move_is_refused_with_its_reason(line: str, reason: str) -> None:
    session = session_of()
    session.game = Game.from_diagram(CORNER, to_play=WHITE).play("D8")
    assert ask(session, line) == f"? illegal move: {reason}"


def test_moves_of_a_game_under_other_rules_are_accepted() -> None:
    """KataGo accepts them too: ko, superko, suicide of two stones. The next search, and undo, go on from there."""
    session = session_of()
    session.game = Game.from_diagram(CORNER, to_play=WHITE).play("D8")
    assert not session.game.is_legal("E8") and ask(session, "play b E8") == ""
    assert session.game.board[1, 4] == BLACK and session.game.board[1, 3] == EMPTY
    assert ask(session, "play w D8") == "" and ask(session, "undo") == "" and session.game.board[1, 4] == BLACK
    session.game = Game.from_diagram(CORNER, "tromp-taylor", to_play=WHITE).play("D8")
    moves = ["play b A1", "play w A2", "play b E8", "play w D8", "kata-set-rules chinese-ogs", "play b E8"]
    assert [ask(session, line) for line in moves] == [""] * 6
    session.game = Game.from_diagram(". X O .\nX X O .\nO O O .\n. . . .", "chinese", to_play=BLACK)
    assert not session.game.is_legal("A4") and ask(session, "play b A4") == ""
    assert (session.game.board[:2, :2] == EMPTY).all() and session.game.captures == (0, 4)


def test_moves_in_any_case_and_passes() -> None:
    session = session_of()
    assert [ask(session, line) for line in ("play B d4", "play WHITE Pass", "play black PASS")] == ["", "", ""]
    assert session.game.is_over


def test_the_same_color_may_move_twice() -> None:
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


def test_a_move_out_of_turn_is_thought_about_for_its_color() -> None:
    session = played("D4")
    session.engine.script = ["E5"]  # type: ignore[attr-defined]
    assert ask(session, "genmove b") == "E5"
    position = session.engine.position  # type: ignore[attr-defined]
    assert position.to_play == BLACK and position.board[5, 3] == BLACK


# White D1 would make a position again that the game has had. Without its history it is the best move.
REPEATED = """
b D3 w B4 b B1 w D4 b pass w A2 b A4 w C4 b A1 w E2 b B2 w D1 b D2 w A3 b B3 w D5 b E5 w A5 b C5 w C2 b C3 w A2
b E4 w B5 b A3 w E3 b E5 w pass b A2 w E4 b C1 w E5 b E1
"""


@pytest.mark.parametrize("passes", [["w"], ["w", "b", "b"]])
def test_a_move_out_of_turn_is_legal_in_the_game(passes: list[str]) -> None:
    session = GtpSession(Engine(UniformEvaluator(), batch=1), Game(5, "tromp-taylor", komi=0))
    words = [*REPEATED.split(), *(word for color in passes for word in (color, "pass"))]
    for color, vertex in zip(words[::2], words[1::2], strict=True):
        assert ask(session, f"play {color} {vertex}") == ""
    board = session.game.board
    assert session.game.legal_points(WHITE) == [session.game.point("C5")]
    assert ask(session, "genmove w") in ("C5", "pass")
    assert session.game.undo() and (session.game.board == board).all()


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


@pytest.mark.parametrize(
    ("line", "ends"),
    [
        ("play w C3", False),
        ("time_left w 60 0", False),
        ("play w pass", True),
        ("undo", True),
        ("clear_board", True),
        ("boardsize 13", True),
        ("set_position b A1", True),
        ("komi 0.5", True),
        ("kata-set-rules japanese", True),
        ("kata-set-param ponderingEnabled false", True),
    ],
)
def test_pondering_ends_with_its_game(line: str, ends: bool) -> None:
    session = session_of(ponder=True)
    session.game.play("D4").play("E5").play("pass")
    session.ponder_next = True
    session.after_command()
    engine = session.engine
    assert isinstance(engine, FakeEngine) and (engine.pondered, engine.stopped) == (1, 0)
    ask(session, line)
    assert engine.stopped == ends


def test_pondering_begins_when_the_move_of_a_search_is_played() -> None:
    session = session_of(FakeEngine(["E5", "D4"]), ponder=True)
    ask(session, "kata-search b")
    assert not session.ponder_next
    for line, ponders in (("play w C3", False), ("undo", False), ("kata-search b", False), ("play b D4", True)):
        command = parse_line(line)
        assert command is not None
        COMMANDS[command.name](session, command.args)
        assert session.ponder_next is ponders, line


def test_a_clock_that_has_just_run_out_reads_zero() -> None:
    session = session_of()
    ask(session, "time_settings 60 0 0")
    assert ask(session, "time_left b -2.5 0") == "" and session.clocks[BLACK].main == 0


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


def test_networks_are_compiled_before_the_clock_runs() -> None:
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
    ],
)
def test_seconds_are_used_in_full_unless_a_clock_keeps_what_is_left(limits: Limits, command: str, early: bool) -> None:
    engine = FakeEngine()
    session = session_of(engine, limits=limits)
    ask(session, command)
    ask(session, "genmove b")
    (asked,) = [limits for limits, _, _ in engine.asked if limits]
    assert asked.budget(9, 0).early_stop is early


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese"])
def test_dead_stones_are_captured_under_rules_without_dead_stones(rules: str) -> None:
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


@pytest.mark.parametrize(("rules", "legal"), [("tromp-taylor", False), ("chinese", True)])
def test_a_ko_taken_back_into_an_earlier_position_is_accepted_under_superko(rules: str, legal: bool) -> None:
    session = session_of()
    session.game = Game.from_diagram(TRIPLE_KO, rules)
    for color, vertex in zip("bwbwb", TRIPLE_KO_CYCLE, strict=False):
        assert ask(session, f"play {color} {vertex}") == ""
    assert session.game.is_legal(TRIPLE_KO_CYCLE[5]) == legal
    assert ask(session, f"play w {TRIPLE_KO_CYCLE[5]}") == "" and len(session.game.moves) == 6


# Black's B9 and White's D9 stand in seki with one eye each; J1 is a dead white stone.
SEKI = """
    . X . O . O X . X
    X X X O O O X X .
    O O O X X X X X X
    O O O O O O O X X
    . O . O . O O O X
    O O O O O O O O X
    X X X X X X X X X
    X X X . X X X X .
    X . X X X X . X O
"""
IN_SEKI = {"B9", "A8", "B8", "C8", "D9", "D8", "E8", "F8", "F9"}


def session_at(text: str, rules: str, engine: GtpEngine | None = None) -> GtpSession:
    session = session_of()
    session.engine = engine or session.engine
    session.game = Game.from_diagram(text, rules, komi=0)
    return session


def finished() -> GtpSession:
    """A game that is over but for the white stone on D3, dead among Black's."""
    session = session_of(FakeEngine(dead=("D3",)))
    session.game = Game.from_diagram(SETTLED, komi=0.5).play("D3", color=WHITE)
    return session


def test_the_score_is_counted_without_the_dead() -> None:
    session = finished()
    assert ask(session, "final_score") == "W+7.5"
    ask(session, "komi -20")
    assert ask(session, "final_score") == "B+13"
    ask(session, "komi -7")
    assert ask(session, "final_score") == "0"


def test_the_status_of_stones_is_listed_chain_by_chain() -> None:
    session = finished()
    assert ask(session, "final_status_list dead") == "D3"
    assert ask(session, "final_status_list seki") == ""
    alive = ask(session, "final_status_list alive").split("\n")
    assert ["A8" in alive[0].split(), "D9" in alive[1].split(), alive[2]] == [True, True, "H4 J4 J3"]


@pytest.mark.parametrize(
    ("rules", "score"),
    # Area: Black 48, White 32, C9 nobody's. Territory: Black H9 J8 B1 D2 G1 J1 J2 and a prisoner, White A5 C5 E5.
    [("chinese", "B+16"), ("aga", "B+16"), ("japanese", "B+5"), ("korean", "B+5")],
)
def test_a_person_names_the_dead(rules: str, score: str) -> None:
    session = session_at(SEKI, rules)
    assert ask(session, "final_score dead J1") == score
    assert set(ask(session, "final_status_list seki dead J1").split()) == IN_SEKI
    assert ask(session, "final_status_list dead dead J1") == "J1"
    assert ask(session, "final_score dead") == ask(session_at(SEKI, rules), "final_score")


def test_the_score_depends_on_whether_dead_stones_are_agreed() -> None:
    """With D3 alive White has 45 points, and Black 37 less D3 and less C3, which touches both."""
    session = finished()
    for value, score in (("false", "W+10.5"), ("true", "W+7.5")):
        assert ask(session, f"kata-set-rule friendlyPassOk {value}") == ""
        assert (ask(session, "final_score"), session.game.rules.dead_are_agreed) == (score, value == "true")


def test_by_tromp_taylor_everything_on_the_board_lives_unless_a_way_is_given() -> None:
    """White's 44 points and D3; of Black's 37 D3 is lost, and C3 touches both."""
    session = finished()
    session.game = Game.from_diagram(SETTLED, "tromp-taylor", komi=0.5).play("D3", color=WHITE)
    assert ask(session, "final_score") == "W+10.5"
    assert ask(session, "final_status_list dead") == ""
    assert "D3" in ask(session, "final_status_list alive").split()
    for way in ("both", "dead D3"):
        assert ask(session, f"final_score {way}") == "W+7.5"
        assert ask(session, f"final_status_list dead {way}") == "D3"


@pytest.mark.parametrize("way", ["", " playouts", " network", " both", " PLAYOUTS"])
def test_every_stone_has_one_status_and_the_count_agrees(way: str) -> None:
    """Without a network that knows owners every way is the playouts'."""
    session = session_at(SEKI, "japanese", Engine(UniformEvaluator()))
    lists = {status: ask(session, f"final_status_list {status}{way}").split() for status in ("alive", "dead", "seki")}
    stones = sorted(vertex for listed in lists.values() for vertex in listed)
    assert len(stones) == len(set(stones)) == int((session.game.board != 2).sum())
    score = session.game.score(lists["dead"])
    assert ask(session, f"final_score{way}") == (f"{'B' if score > 0 else 'W'}+{abs(score):g}" if score else "0")
    assert "J1" in lists["dead"]


def test_unknown_ways_are_refused() -> None:
    session = session_at(SEKI, "chinese")
    assert ask_error(session, "final_score guess") == "invalid way guess: one of both, network, playouts, dead expected"
    assert ask_error(session, "final_status_list dead playouts D4") == "syntax error: unexpected argument D4"
    assert ask_error(session, "final_score dead C9") == "no stone at C9"
    assert ask_error(session, "final_score dead pass") == "no stone at pass"


def ask_error(session: GtpSession, line: str) -> str:
    return talk(session, line).removeprefix("? ").strip()
