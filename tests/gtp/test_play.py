"""Commands that search and play moves: moves of both sides, undo and pondering."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from gtp_fakes import FakeEngine, ask, played, session_of
from known_positions import SETTLED, TRIPLE_KO, TRIPLE_KO_CYCLE

from tengen.engine import Engine, Limits, SearchResult
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.gtp.commands import COMMANDS
from tengen.gtp.parse import parse_line
from tengen.gtp.program import EngineInfo, read_engine_info
from tengen.gtp.session import GtpSession
from tengen.gtp.streams import InputQueue

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


CHAT = "MALKOVICH:Visits 16 Winrate {}% ScoreLead {} ScoreStdev 20.0 PV {}\n"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("genmove w", CHAT.format("56.25", "0.8", "E5 pass")),
        ("kgs-genmove_cleanup b", CHAT.format("43.75", "-0.8", "E5 pass")),
        ("kata-search w", CHAT.format("56.25", "0.8", "E5 pass")),
        ("kata-search_cancellable w", ""),
        ("kata-genmove_analyze w 100", CHAT.format("56.25", "0.8", "E5 pass")),
        ("kata-search_analyze_cancellable w 100", ""),
        ("kata-analyze w 100", ""),
    ],
)
def test_a_move_is_told_on_standard_error_for_the_chat(
    command: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """For gtp2ogs. The end of the input ends what can be cancelled."""
    session = session_of(FakeEngine(["E5", "D4"]))
    ask(session, "kata-set-params " + json.dumps({"ogsChatToStderr": True, "reportAnalysisWinratesAs": "WHITE"}))
    ask(session, command)
    assert capsys.readouterr().err == line
    if line:
        winrate, score = float(line.split()[3].strip("%")) / 100, float(line.split()[5])
        assert read_engine_info([line], "E5") == EngineInfo(winrate, score, 16)
    ask(session, "kata-set-param ogsChatToStderr false")
    ask(session, command)
    assert capsys.readouterr().err == ""


def test_the_chat_leaves_out_a_score_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    class Scoreless(FakeEngine):
        def _result(self, word: str) -> SearchResult:
            return replace(super()._result(word), score=None, lead=None)

    session = session_of(Scoreless(["E5"]))
    ask(session, "kata-set-param ogsChatToStderr true")
    ask(session, "genmove b")
    line = capsys.readouterr().err
    assert line == "MALKOVICH:Visits 16 Winrate 56.25% PV E5 pass\n"
    assert read_engine_info([line], "E5") == EngineInfo(0.5625, None, 16)


def test_pondering_has_the_limits_of_its_settings() -> None:
    session = session_of(ponder=True)
    for line, limits in (
        ("kata-set-param maxTimePondering 2.5", Limits(seconds=2.5)),
        ("kata-set-param maxVisitsPondering 50", Limits(visits=50, seconds=2.5)),
        ("kata-set-param maxTimePondering 1e20", Limits(visits=50)),
    ):
        assert ask(session, line) == ""
        session.ponder_next, session.lines = True, InputQueue()
        session.after_command()
        assert isinstance(session.engine, FakeEngine) and session.engine.ponder_limits == limits


def test_pondering_begins_when_the_move_of_a_search_is_played() -> None:
    session = session_of(FakeEngine(["E5", "D4"]), ponder=True)
    ask(session, "kata-search b")
    assert not session.ponder_next
    for line, ponders in (("play w C3", False), ("undo", False), ("kata-search b", False), ("play b D4", True)):
        command = parse_line(line)
        assert command is not None
        COMMANDS[command.name](session, command.args)
        assert session.ponder_next is ponders, line


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
