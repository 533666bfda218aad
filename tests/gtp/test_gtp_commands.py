"""Every command, right and wrong: a right one does its work, a wrong one answers `?` and changes nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gtp_fakes import FakeEngine, ask, session_of, talk

from tengen.engine.clock import Overtime, TimeControl
from tengen.engine.limits import Limits
from tengen.game import BLACK, WHITE, Game
from tengen.gtp.commands import COMMANDS
from tengen.gtp.session import Session

GTP_2 = """
    protocol_version name version known_command list_commands quit boardsize clear_board komi fixed_handicap
    place_free_handicap set_free_handicap play genmove undo time_settings time_left final_score final_status_list
    loadsgf reg_genmove showboard
"""


def state(session: Session) -> tuple[object, ...]:
    """All that a wrong command must leave alone."""
    game, engine = session.game, session.engine
    assert isinstance(engine, FakeEngine)
    clocks = (session.control, dict(session.clocks))
    return (
        str(game),
        game.size,
        game.komi,
        game.rules,
        game.moves,
        game.handicap,
        clocks,
        engine.script[:],
        engine.asked,
    )


def played(*moves: str, **options: object) -> Session:
    """A session after these moves, Black's first."""
    session = session_of(**options)  # type: ignore[arg-type]
    for move in moves:
        session.game.play(move)
    return session


def test_all_of_gtp_2_is_there() -> None:
    assert set(GTP_2.split()) <= set(COMMANDS)
    assert ask(session_of(), "list_commands").split("\n") == sorted(COMMANDS)


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "GENMOVE b",
        "7",
        "boardsize",
        "boardsize 4",
        "boardsize 20",
        "boardsize nine",
        "boardsize 9 9",
        "boardsize 999999999999999999999",
        "boardsize -9",
        "komi",
        "komi much",
        "komi nan",
        "komi 7.3",
        "komi 1000",
        "komi 7.5 b",
        "play b",
        "play D4 b",
        "play b Z4",
        "play b D10",
        "play b I4",
        "play b D5",
        "play b C4 now",
        "play red C4",
        "genmove",
        "genmove red",
        "genmove b w",
        "reg_genmove",
        "kgs-genmove_cleanup",
        "undo 2",
        "fixed_handicap 2",
        "fixed_handicap x",
        "place_free_handicap 2",
        "set_free_handicap C3 G7",
        "time_settings 10 10",
        "time_settings -1 10 1",
        "time_settings 10 10 1.5",
        "time_settings a b c",
        "time_left b 10",
        "time_left red 10 0",
        "time_left b -1 0",
        "kgs-time_settings",
        "kgs-time_settings hourglass 10",
        "kgs-time_settings absolute",
        "kgs-time_settings byoyomi 10 30",
        "kgs-time_settings byoyomi 10 30 0",
        "kgs-time_settings canadian 10 0 25",
        "kgs-time_settings none 1",
        "final_score b",
        "final_status_list",
        "final_status_list sleeping",
        "loadsgf",
        "loadsgf /no/such/file.sgf",
        "printsgf /no/such/folder/file.sgf",
        "kgs-rules",
        "kgs-rules ing",
        "kata-set-rules",
        "kata-set-rules house",
        "kata-set-rules {",
        'kata-set-rules {"ko":"SPIGHT"}',
        'kata-set-rules {"hasButton":true}',
        'kata-set-rules {"colour":"red"}',
        'kata-set-rules {"suicide":"maybe"}',
        "kata-set-rule ko",
        "kata-set-rule ko forever",
        "kata-set-rule tax SEKI",
        "kata-set-rule size 9",
        "kata-get-rules 1",
        "known_command",
        "list_commands all",
        "protocol_version 2",
        "quit now",
        "stop it",
        "showboard all",
        "get_komi 1",
        "lz-analyze often",
        "lz-analyze b interval",
        "lz-analyze b 50 minmoves x",
        "lz-analyze b -5",
        "kata-analyze b 50 ownership perhaps",
        "kata-analyze allow b",
        "kata-analyze allow b Z9 1",
        "kata-analyze w avoid red C3 1",
        "kata-analyze colour b",
        "kata-genmove_analyze b 50 maxmoves -1",
        "lz-genmove_analyze b b",
    ],
)
def test_a_wrong_command_is_refused_and_changes_nothing(line: str) -> None:
    session = played("D5", "E5")
    session.set_time(TimeControl.absolute(60))
    before = state(session)
    answer = ask(session, line)
    assert answer.startswith("?"), answer
    assert len(answer) > 5 and "Traceback" not in answer and "internal" not in answer
    assert state(session) == before
    assert not session.finished


def test_ids_are_given_back_as_they_came() -> None:
    assert talk(session_of(), "007 name", "8 \t nonsense # really", "\r", "quit\r") == (
        "=007 Tengen\n\n?8 unknown command\n\n= \n\n"
    )


def test_nothing_after_quit_is_answered() -> None:
    assert talk(session_of(), "quit", "name") == "= \n\n"


def test_known_command() -> None:
    assert ask(session_of(), "known_command genmove") == "true"
    assert ask(session_of(), "known_command genmov") == "false"


# Setting up a game.


def test_boardsize_begins_a_game_and_keeps_komi_and_rules() -> None:
    session = played("D4")
    ask(session, "komi 5.5")
    ask(session, "kgs-rules japanese")
    assert ask(session, "boardsize 13") == ""
    game = session.game
    assert (game.size, game.komi, game.rules.text, game.moves) == (13, 5.5, "japanese", [])


@pytest.mark.parametrize("size", ["5", "19"])
def test_the_smallest_and_the_largest_board(size: str) -> None:
    assert ask(session_of(), f"boardsize {size}") == ""


def test_komi_may_change_during_a_game() -> None:
    session = played("D4", "E5")
    assert ask(session, "komi -0.5") == "" and ask(session, "get_komi") == "-0.5"
    assert len(session.game.moves) == 2


def test_new_rules_are_checked_against_the_game() -> None:
    text = """
    . X O . .
    X O . . .
    O . . . .
    . . . . .
    . . . . .
    """
    session = session_of()
    session.game = Game.from_diagram(text, "new-zealand", to_play=BLACK)
    session.game.play("C4", color=BLACK).play("pass", color=WHITE)
    assert ask(session, "kgs-rules chinese") == ""
    assert session.game.rules.text == "chinese" and len(session.game.moves) == 2


def test_rules_that_forbid_a_move_of_the_game_are_refused() -> None:
    text = """
    . O . . .
    X O . . .
    . O . . .
    O . . . .
    . . . . .
    """
    session = session_of()
    session.game = Game.from_diagram(text, "tromp-taylor", to_play=BLACK)
    session.game.play("A5", color=BLACK).play("A3", color=BLACK)
    answer = ask(session, "kgs-rules chinese")
    assert answer.startswith("? move 2 of the game is illegal under these rules: ") and "suicide" in answer
    assert session.game.rules.text == "tromp-taylor"


def test_rules_in_katagos_form_survive_a_round_trip() -> None:
    for name in ("tromp-taylor", "chinese", "japanese", "aga", "new-zealand"):
        session = session_of()
        assert ask(session, f"kata-set-rules {name}") == ""
        text = ask(session, "kata-get-rules")
        assert set(json.loads(text)) >= {"ko", "scoring", "suicide", "tax", "hasButton", "whiteHandicapBonus"}
        other = session_of()
        ask(other, f"kata-set-rules {text}")
        assert other.game.rules == session.game.rules


def test_one_field_of_the_rules_changes() -> None:
    session = session_of()
    assert ask(session, "kata-set-rule ko SITUATIONAL") == "" and ask(session, "kata-set-rule suicide true") == ""
    assert (session.game.rules.ko, session.game.rules.suicide, session.game.rules.bonus) == ("situational", True, "n")


# Handicap.


def test_fixed_handicap_stands_where_the_protocol_says() -> None:
    session = session_of(size=19)
    assert set(ask(session, "fixed_handicap 4").split()) == {"D4", "Q16", "D16", "Q4"}
    assert session.game.to_play == WHITE and session.game.handicap == 4 and session.game.komi == 7.5


@pytest.mark.parametrize(("size", "number"), [(9, 10), (9, 1), (9, 0), (8, 5), (5, 2)])
def test_impossible_fixed_handicaps(size: int, number: int) -> None:
    assert ask(session_of(size=size), f"fixed_handicap {number}").startswith("? invalid number of stones")


def test_free_handicap_of_the_engine_and_of_the_other_side() -> None:
    session = session_of()
    vertices = ask(session, "place_free_handicap 6").split()
    assert len(vertices) == 6 and session.game.handicap == 6
    other = session_of()
    assert ask(other, "set_free_handicap " + " ".join(vertices)) == ""
    assert (other.game.board == session.game.board).all() and other.game.to_play == WHITE


@pytest.mark.parametrize("vertices", ["C3", "C3 C3", "C3 pass", "C3 Z3"])
def test_bad_vertex_lists(vertices: str) -> None:
    session = session_of()
    assert ask(session, f"set_free_handicap {vertices}").startswith("?")
    assert session.game.handicap == 0


def test_a_handicap_needs_an_empty_board_and_may_be_given_again_after_it_is_cleared() -> None:
    session = session_of()
    ask(session, "fixed_handicap 2")
    assert ask(session, "fixed_handicap 2") == "? board not empty"
    ask(session, "clear_board")
    assert session.game.handicap == 0 and not ask(session, "fixed_handicap 3").startswith("?")


# Moves.


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


# Counting.


FINISHED = """
. X X O . O . O .
X X O O O O O O O
X . X O . O . . .
X X X O O . . . .
. X . X O O O . .
X X X X X O . O O
. X . O X O O . O
X X X X X X O O .
. X . . . X O . .
"""


def finished() -> Session:
    session = session_of(FakeEngine(dead=("D3",)))
    session.game = Game.from_diagram(FINISHED, komi=0.5)
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


# Records.


def test_a_game_survives_printing_and_loading(tmp_path: Path) -> None:
    session = session_of()
    ask(session, "komi 6.5")
    ask(session, "fixed_handicap 3")
    for line in ("play w E5", "play b D4", "play w pass", "play b F6"):
        ask(session, line)
    path = tmp_path / "a game.sgf"
    assert ask(session, f"printsgf {path}") == ""
    assert ask(session, "printsgf").startswith("(;")
    other = session_of(size=19)
    assert ask(other, f"loadsgf {path}") == ""
    assert other.game.moves == session.game.moves and (other.game.board == session.game.board).all()
    assert (other.game.size, other.game.komi, other.game.handicap) == (9, 6.5, 3)


def test_a_record_is_loaded_up_to_a_move(tmp_path: Path) -> None:
    session = played("D4", "E5", "F6")
    path = tmp_path / "game.sgf"
    ask(session, f"printsgf {path}")
    for number, moves in ((1, 0), (2, 1), (3, 2), (4, 3), (50, 3)):
        other = session_of()
        ask(other, f"loadsgf {path} {number}")
        assert len(other.game.moves) == moves


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.sgf"
    path.write_text("no game at all")
    session = played("D4")
    assert ask(session, f"loadsgf {path}").startswith("? cannot load file: ")
    assert len(session.game.moves) == 1


# Analysis.


def test_leela_zeros_lines() -> None:
    session = played("D4")
    session.engine.script = ["E5"]  # type: ignore[attr-defined]
    assert talk(session, "3 lz-analyze w 50") == (
        "=3\n"
        "info move E5 visits 12 winrate 5625 prior 3000 lcb 5000 order 0 pv E5 pass "
        "info move A9 visits 3 winrate 5000 prior 1000 lcb 3750 order 1 pv A9\n\n"
    )
    assert session.engine.asked[0][:2] == (Limits(early_stop=False), 0.5)  # type: ignore[attr-defined]


def test_katagos_lines_with_what_is_asked_for() -> None:
    session = session_of(FakeEngine(["E5"]))
    answer = talk(session, "kata-analyze interval 10 maxmoves 1 rootInfo true ownership true pvVisits true")
    lines = answer.split("\n")
    assert lines[0] == "=" and lines[2:] == ["", ""]
    words = lines[1].split(" rootInfo ")[0].split()
    values = dict(zip(words[1::2], words[2::2], strict=False))
    assert (values["move"], values["visits"], values["winrate"], values["scoreLead"]) == ("E5", "12", "0.5625", "1.25")
    assert lines[1].count("info move") == 1 and "rootInfo visits 16 " in lines[1]
    ownership = lines[1].split(" ownership ")[1].split()
    assert len(ownership) == 81 and ownership[0] == "0.5000" and set(ownership[1:]) == {"0.0000"}


def test_minmoves_shows_moves_without_visits() -> None:
    session = session_of(FakeEngine(["E5"]))
    assert talk(session, "lz-analyze minmoves 3").count("info move") == 3


def test_allow_and_avoid_reach_the_search_of_their_colour() -> None:
    session = session_of(FakeEngine(["E5"]))
    talk(session, "kata-analyze b 10 avoid b C3,D4 1 avoid b E5 1 avoid w F6 1")
    points = sorted(session.game.point(vertex) for vertex in ("C3", "D4", "E5"))
    assert session.engine.restricted == ([], points)  # type: ignore[attr-defined]


def test_a_search_without_a_move_is_refused() -> None:
    session = played("D4")
    assert talk(session, "kata-analyze w allow w D4 1").startswith("? no legal move")


def test_a_move_is_played_at_the_end_of_its_analysis() -> None:
    session = session_of(FakeEngine(["E5", "resign"], reports=2))
    lines = talk(session, "lz-genmove_analyze b 10").split("\n")
    assert lines[0] == "=" and len(lines) == 7 and lines[4:] == ["play E5", "", ""]
    assert session.game.moves == [(BLACK, 40)]
    session.lines = type(session.lines)()
    assert talk(session, "kata-genmove_analyze w").endswith("\nplay resign\n\n")
    assert len(session.game.moves) == 1
