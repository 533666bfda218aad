"""Game sessions without a page: moves, clocks, counting."""

from __future__ import annotations

import datetime
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from known_positions import TRIPLE_KO, TRIPLE_KO_CYCLE
from web_kept import reopened
from web_records import BRANCHED

from tengen.engine import TimeControl
from tengen.errors import IllegalMove, TengenError
from tengen.game import BLACK, WHITE, Game
from tengen.review.game import GameReview, ReviewedMove
from tengen.sgf import GameNode, read_tree
from tengen.web.clock import GameClock
from tengen.web.editor import Editor
from tengen.web.language import use
from tengen.web.library import GameLibrary
from tengen.web.players import DEFAULT_ENGINE, PEOPLE, PlayerChoice, facing, level_of_visits
from tengen.web.records import open_record
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings, Mode
from tengen.web.status_text import hint, status
from tengen.web.tree_layout import tree_layout

D4_9 = 48  # on 9x9


def analysis(size: int = 9, **more: object) -> GameSession:
    return GameSession(GameSettings(size=size, players=PEOPLE, **more))


def moves(session: GameSession) -> list[tuple[int, int]]:
    return session.game.moves


def test_a_click_plays_for_the_person_only_on_their_turn() -> None:
    session = GameSession(GameSettings(size=9))
    assert session.may_click and not session.engine_to_move
    session.click(D4_9)
    assert session.engine_to_move and not session.may_click
    with pytest.raises(IllegalMove, match="engine's turn"):
        session.click(0)
    session.play(20)
    assert session.may_click and moves(session) == [(BLACK, D4_9), (WHITE, 20)]


@pytest.mark.parametrize("point", [-1, 81, True, None, "48", 4.0, [3], {"point": 3}])
def test_a_point_that_is_no_point_is_refused_and_changes_nothing(point: object) -> None:
    session = analysis()
    with pytest.raises(TengenError):
        session.click(point)
    assert moves(session) == []


def test_a_result_is_in_the_record_when_it_is_reached() -> None:
    session = GameSession(GameSettings(size=9))
    fresh = session.to_sgf()
    session.resign()
    version = session.tree.version
    assert str(read_tree(session.to_sgf()).info.result) == "W+R"
    assert session.tree.version == version and session.untouched, "nothing was played"
    assert session.take_back() and session.to_sgf() == fresh


def test_a_game_has_the_date_of_its_first_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not of the day when the page was opened."""
    today = [datetime.date(2026, 11, 29)]
    clock = SimpleNamespace(date=SimpleNamespace(today=lambda: today[0]))
    monkeypatch.setattr("tengen.web.session.datetime", clock)
    session, record = analysis(), open_record(b"(;SZ[9]DT[2024-05-06])")[0]
    for day in (24, 25):
        today[0] = datetime.date(2026, 12, day)
        for each, date in ((session, today[0]), (record, datetime.date(2024, 5, 6))):
            each.play(40)
            each.play(41)
            assert each.tree.info.date == date
            assert each.take_back() and each.take_back()
        assert session.untouched
    session.play(40)
    today[0] = datetime.date(2026, 12, 26)
    session.play(41)
    assert session.tree.info.date == datetime.date(2026, 12, 25)


def test_illegal_moves_are_explained() -> None:
    session = analysis(size=5)
    session.play(1)
    with pytest.raises(IllegalMove, match="already"):
        session.click(1)
    corner = GameSession(
        GameSettings(size=5, players=PEOPLE), start=Game.from_diagram(".O...\nO....\n.....\n.....\n.....\n")
    )
    with pytest.raises(IllegalMove, match="no liberty"):
        corner.click(0)
    ko = GameSession(
        GameSettings(size=5, players=PEOPLE), start=Game.from_diagram(".XO..\nXO.O.\n.XO..\n.....\n.....\n")
    )
    ko.click(7)
    with pytest.raises(IllegalMove, match="take"):
        ko.click(6)


def test_take_back_against_the_engine_takes_back_its_answer_too() -> None:
    session = GameSession(GameSettings(size=9))
    session.click(40)
    session.play(41)
    assert session.take_back()
    assert moves(session) == [] and session.may_click
    assert len(session.tree) == 1, "moves that were taken back leave no branch"
    assert not session.take_back()


def test_take_back_before_the_person_has_moved_does_nothing() -> None:
    session = GameSession(GameSettings(size=9, players=facing(DEFAULT_ENGINE, WHITE)))
    session.play(40)
    assert not session.take_back()
    assert len(moves(session)) == 1


def test_playing_elsewhere_after_going_back_makes_a_branch() -> None:
    session = analysis()
    for point in (10, 20, 30):
        session.play(point)
    session.step(-2)
    session.play(50)
    assert [point for _, point in moves(session)] == [10, 50]
    assert session.tree.root.children[0].children[0].point == 20
    session.sibling(-1)
    assert [point for _, point in moves(session)] == [10, 20]
    session.step(5)
    assert [point for _, point in moves(session)] == [10, 20, 30], "forward follows the branch that was chosen"


def test_playing_a_known_move_follows_the_tree() -> None:
    session = analysis()
    first = session.play(10)
    session.step(-1)
    assert session.play(10) is first and len(session.tree) == 2


def test_take_back_in_the_middle_of_a_line_keeps_what_follows() -> None:
    session = analysis()
    for point in (10, 20, 30):
        session.play(point)
    session.step(-1)
    session.take_back()
    assert session.place == 1 and len(session.tree) == 4


def test_a_move_that_is_taken_back_in_an_analysis_is_no_longer_where_the_game_goes_on() -> None:
    session = GameSession(GameSettings(size=9))
    for point in (40, 41, 42, 43):
        session.play(point)
    session.analyze()
    assert session.take_back() and session.tip is session.node and session.tip in session.tree
    session.step(-1)
    session.go_on()
    assert session.in_progress and session.tip.point == 42


@pytest.mark.parametrize("removed", [1, 2, 4])
def test_a_removal_that_is_undone_leaves_the_game_that_waits_for_the_editor(removed: int) -> None:
    session = GameSession(GameSettings(size=9))
    for point in (40, 41, 42, 43):
        session.play(point)
    session.begin_edit()
    session.seek(removed)
    editor = Editor(session)
    for undone in (False, True, False, True):
        (editor.undo if undone else editor.redo if session.history.can_redo else editor.remove)()
        assert session.unfinished is session.goes_on is undone and session.tip.depth == (4 if undone else removed - 1)
    session.step(9)
    assert session.take_back() and session.tip.depth == 3, "and it can be taken back in the editor"
    session.end_edit()
    assert session.in_progress and session.engine_to_move and session.edited_from is None


def test_a_removal_that_is_undone_after_the_editor_lets_the_game_go_on_unless_another_one_does() -> None:
    for players in (None, facing(DEFAULT_ENGINE, WHITE)):
        session = GameSession(GameSettings(size=9))
        for point in (40, 41):
            session.play(point)
        session.begin_edit()
        Editor(session).remove()
        session.end_edit()
        assert not session.in_progress
        if players is not None:
            session.play_on(players)
            session.play(50)
        session.begin_edit()
        Editor(session).undo()
        session.end_edit()
        assert session.in_progress and session.tip.point == (50 if players else 41)


def test_looking_back_does_not_set_off_the_engine() -> None:
    session = GameSession(GameSettings(size=9))
    session.click(40)
    session.play(41)
    session.step(-1)
    assert not session.engine_to_move
    session.seek(0)
    session.click(50)
    assert session.engine_to_move


def test_seek_and_goto_take_whatever_a_page_sends() -> None:
    session = analysis()
    session.play(10)
    for wrong in ("x", None, 3.5, [1]):
        session.seek(wrong)
        assert not session.goto(wrong)
    assert not session.goto(99)
    session.seek(10**9)
    assert session.place == 1
    session.seek(-5)
    assert session.place == 0


def played_out() -> GameSession:
    """Black owns the left of a 7x7 board, White the right; a White stone is dead in Black's area."""
    diagram = "..XO...\n.OXO...\n..XO...\n..XO...\n..XO...\n..XO...\n..XO...\n"
    session = GameSession(GameSettings(size=7, players=PEOPLE, komi=2.5), start=Game.from_diagram(diagram, komi=2.5))
    session.pass_turn()
    session.pass_turn()
    return session


def test_after_two_passes_dead_stones_are_marked_and_corrected() -> None:
    session = played_out()
    assert session.phase is Phase.COUNTING
    stone = 8
    session.begin_count([stone])
    # Area: Black 21 with the dead stone taken away, White 28, komi 2.5.
    assert session.score == 21 - 28 - 2.5
    assert session.view().territory[stone] == "b" and session.view().dead == (stone,)
    session.toggle_dead(stone)
    # The White stone lives again: it is a point for White, and the empty points around it touch both colors.
    assert session.score == 7 - 29 - 2.5
    assert status(session) == "White wins by 24.5 as counted"
    session.toggle_dead(stone)
    assert session.agree() == "W+9.5"
    assert session.phase is Phase.OVER and status(session) == "White wins by 9.5"


def test_nothing_is_agreed_before_the_dead_stones_are_counted() -> None:
    """A finger that taps Pass twice may land on the button that comes in its place."""
    session = played_out()
    with pytest.raises(TengenError, match="not finished"):
        session.agree()
    assert session.result == "" and status(session) == "Counting …" and hint(session, paused=False) == ""
    session.begin_count([8])
    assert status(session) == "White wins by 9.5 as counted" and "accept" in hint(session, paused=False)
    assert session.agree() == "W+9.5"


@pytest.mark.parametrize("players", [facing(DEFAULT_ENGINE, BLACK), (DEFAULT_ENGINE, DEFAULT_ENGINE), PEOPLE])
def test_a_long_cycle_ends_the_game_without_result_and_without_a_count(
    players: tuple[PlayerChoice, PlayerChoice],
) -> None:
    settings = GameSettings(size=9, rules="japanese", players=players)
    session = GameSession(settings, start=Game.from_diagram(TRIPLE_KO, "japanese"))
    for point in TRIPLE_KO_CYCLE * 2:
        assert session.phase is Phase.PLAYING
        session.play(session.game.point(point))
    assert session.game.ending == "long cycle"
    assert session.phase is Phase.OVER and session.result == "Void" and not session.live
    assert b"RE[Void]" in session.to_sgf()
    session.result, session.ended_at = "W+R", session.tree.root  # as of a record in whose variation it is
    assert session.phase is Phase.OVER and session.ending == "Void" and not session.may_play
    assert session.take_back() and session.result == "W+R"


def test_toggling_an_empty_point_or_rubbish_changes_nothing() -> None:
    session = played_out()
    session.toggle_dead(8)
    assert not session.counted, "the engine counts first"
    session.begin_count([8])
    session.toggle_dead(0)
    assert session.dead == {8}
    with pytest.raises(TengenError):
        session.toggle_dead("8")


def test_a_finished_game_can_be_taken_back_and_played_on() -> None:
    session = played_out()
    session.begin_count([])
    session.agree()
    session.take_back()
    assert session.phase is Phase.PLAYING and session.result == ""
    session.play(0)


def test_resigning_settles_the_game() -> None:
    session = GameSession(GameSettings(size=9, players=facing(DEFAULT_ENGINE, WHITE)))
    session.resign()
    assert session.result == "B+R" and status(session) == "Black wins by resignation"
    with pytest.raises(IllegalMove, match="ended"):
        session.resign()
    assert not session.engine_to_move


def test_in_a_finished_game_both_colors_can_be_tried_and_the_result_stays() -> None:
    session = GameSession(GameSettings(size=9))
    session.click(40)
    session.play(41)
    session.resign()
    session.step(-1)
    assert session.may_click, "for the engine's color too"
    session.click(50)
    session.click(51)
    assert session.result == "W+R" and b"RE[W+R]" in session.to_sgf() and not session.engine_to_move
    assert session.phase is Phase.PLAYING and status(session) == "White to play"
    assert session.take_back() and session.take_back() and len(session.tree) == 3, "what was tried is taken back"
    session.step(9)
    assert session.phase is Phase.OVER


def test_a_game_that_is_played_on_from_a_tried_move_goes_on_where_it_had_ended() -> None:
    session = GameSession(GameSettings(size=9, players=facing(DEFAULT_ENGINE, WHITE)))
    session.play(40)
    session.resign(WHITE)
    session.play(41)
    session.play_on(facing(DEFAULT_ENGINE, WHITE))
    assert session.take_back() and [point for _, point in moves(session)] == [40]
    assert session.phase is Phase.PLAYING and session.may_click


def test_a_move_after_a_change_of_the_turn_has_the_history_before_it() -> None:
    session = analysis(5, rules="japanese")
    for point in (1, 0, 5, 25, 7):  # the second move is taken
        session.play(point)
    Editor(session).swap_turn()
    session.play(8)
    known = session.tree.position(session.node)
    assert known.captures == (1, 0) and session.game.captures == known.captures
    assert session.game.moves == known.moves
    session.play(25)
    Editor(session).swap_turn()
    session.play(25)
    assert session.phase is Phase.COUNTING and session.tree.position(session.node).is_over


def test_a_game_is_analyzed_and_played_on_from_any_point() -> None:
    session = GameSession(GameSettings(size=9))
    for point in (40, 41, 42, 43):
        session.play(point)
    assert session.in_progress
    session.analyze()
    assert session.mode is Mode.ANALYZE and not session.in_progress
    session.step(-2)
    session.click(60)
    session.click(61)
    level = level_of_visits(3)
    session.play_on(facing(level, WHITE))
    assert session.engine_to_move and session.settings.opponent == level and session.names == ("Tengen", "You")
    session.play(62)
    assert session.may_click and [point for _, point in moves(session)] == [40, 41, 60, 61, 62]
    session.seek(1)
    session.play_on((level, level))
    assert session.engine_to_move and not session.may_click


@pytest.mark.parametrize("kept", [False, True])
def test_the_players_of_a_record_are_described_in_the_language_of_the_page(tmp_path: Path, kept: bool) -> None:
    record, _ = open_record(b"(;SZ[9]KM[7]PW[Bo]WR[9p];B[ee])")
    own = GameSession(GameSettings(size=9, komi=7.0, players=PEOPLE))
    own.play(40)
    for session, names, details in (
        (record, ("\u9ed2", "Bo"), ("", "9p \u00b7 \u30b3\u30df 7")),
        (own, ("\u9ed2", "\u767d"), ("", "\u30b3\u30df 7")),
    ):
        if kept:
            GameLibrary(tmp_path).keep(session)
        shown, context = reopened(tmp_path) if kept else session, copy_context()
        assert (shown.names, shown.details) == (session.names, session.details)
        context.run(use, "ja")
        assert context.run(lambda shown=shown: (shown.names, shown.details)) == (names, details)


def test_a_record_is_played_on_and_its_result_stays_until_the_new_one() -> None:
    session, _ = open_record(BRANCHED)
    session.seek(3)
    assert session.phase is Phase.OVER
    session.play_on(facing(level_of_visits(1), WHITE))
    assert session.phase is Phase.PLAYING and session.may_click and b"RE[W+R]" in session.to_sgf()
    assert session.names == ("Tengen", "You") and session.in_progress
    session.click(0)
    assert session.engine_to_move and session.result == "W+R"
    session.resign(BLACK)
    session.play_on(facing(level_of_visits(1), BLACK))
    session.resign()
    assert session.result == "W+R" and session.names == ("Anna", "Bo")
    session.play_on(facing(level_of_visits(1), WHITE))
    session.resign()
    assert b"RE[B+R]" in session.to_sgf()


def test_a_game_goes_on_by_the_moves_that_led_to_the_earlier_result() -> None:
    session, _ = open_record(b"(;SZ[9]KM[7]RE[B+R];B[ee];W[cc];B[gg])")
    session.seek(2)
    session.play_on(facing(level_of_visits(1), BLACK))
    session.click(60)
    assert len(session.tree) == 4 and session.engine_to_move and session.result == "B+R"
    session.play(10)
    assert session.may_click
    session.resign()
    assert session.result == "W+R" and session.phase is Phase.OVER


def test_no_game_goes_on_after_its_last_pass() -> None:
    session = played_out()
    session.begin_count([])
    session.agree()
    with pytest.raises(IllegalMove, match="go back"):
        session.play_on(facing(level_of_visits(1), BLACK))
    assert session.result and session.mode is Mode.ANALYZE


PASSES = b"(;SZ[9]KM[6.5]RU[Japanese]RE[B+R];B[ee];W[gc];B[];W[];B[cc];W[cg])"


def test_a_count_in_the_middle_of_a_record_is_taken_back_to_the_result_that_it_had() -> None:
    session, _ = open_record(PASSES)
    before = session.to_sgf()
    session.analyze()
    session.seek(4)
    session.begin_count([])
    session.agree()
    assert session.result == "W+6.5" and b"RE[W+6.5]" in session.to_sgf() and session.ended_here
    assert session.take_back() and session.to_sgf() == before
    assert (session.result, session.ended_here, session.live) == ("B+R", False, False)
    session.seek(99)
    assert session.phase is Phase.OVER


def test_results_are_taken_back_one_after_the_other() -> None:
    session, _ = open_record(PASSES.replace(b"KM[6.5]", b"").replace(b"B+R", b"B+3/4 zi"))
    before = session.to_sgf()
    session.seek(2)
    session.play_on(facing(level_of_visits(1), BLACK))
    session.click(0)
    session.play(1)
    session.resign()
    played_on = session.node
    session.seek(4)
    session.analyze()
    session.seek(0)
    for point in (81, 81):
        session.play(point)
    session.begin_count([])
    session.agree()
    assert session.result == "W+6.5"
    session.take_back()
    assert session.result == "W+R" and session.ended_here and not session.live and session.place == 1
    session.goto(played_on.id)
    assert session.phase is Phase.OVER and session.take_back()
    assert session.live and session.may_click and b"RE[B+3/4 zi]" in session.to_sgf()
    assert session.take_back() and session.place == 2
    session.goto(session.tree.root.variations[1].id)
    session.take_back()
    assert session.to_sgf() == before


def count_and_play_on(session: GameSession) -> GameNode:
    """Count a record at its passes, and play on before them against the engine; returns the counted position."""
    session.seek(4)
    session.begin_count([])
    session.agree()
    counted = session.node
    session.seek(2)
    session.play_on(facing(level_of_visits(1), BLACK))
    return counted


@pytest.mark.parametrize("edited", [False, True])
def test_a_result_is_taken_back_alone_while_the_game_goes_on_elsewhere(edited: bool) -> None:
    session, _ = open_record(PASSES)
    session.analyze()
    counted = count_and_play_on(session)
    session.click(0)
    tip = session.play(1)
    if edited:
        session.begin_edit()
    session.goto(counted.id)
    assert session.take_back() and session.result == "B+R" and session.node is counted
    if edited:
        assert not session.live
        session.end_edit()
    assert session.in_progress and session.tip is tip


def test_a_game_goes_on_where_the_result_that_comes_back_was_reached() -> None:
    session, _ = open_record(PASSES)
    session.seek(2)
    session.play_on(facing(level_of_visits(1), BLACK))
    session.resign()
    counted = count_and_play_on(session)
    tip = session.node
    session.goto(counted.id)
    assert session.take_back() and session.result == "W+R" and session.ended_at is None
    session.goto(tip.id)
    assert session.phase is Phase.PLAYING and session.tip is tip


def test_undo_on_a_record_goes_back_and_removes_nothing() -> None:
    session, _ = open_record(BRANCHED)
    before = session.to_sgf()
    session.seek(99)
    for _ in range(3):
        assert session.take_back()
    assert session.place == 0 and not session.take_back() and session.to_sgf() == before
    session.seek(99)
    assert session.phase is Phase.OVER, "the result stays too"
    session.play_on(facing(level_of_visits(1), WHITE))
    session.take_back()
    assert session.to_sgf() == before


def test_take_back_takes_ones_own_resignation_back_before_any_move() -> None:
    session = GameSession(GameSettings(size=9))
    session.click(40)
    session.play(41)
    session.resign()
    assert session.take_back()
    assert session.result == "" and len(moves(session)) == 2 and session.may_click
    assert session.take_back() and moves(session) == []


def test_take_back_of_a_resignation_by_the_engine_takes_back_the_move_that_it_resigned_at() -> None:
    """It would only resign again."""
    session = GameSession(GameSettings(size=9))
    session.click(40)
    session.resign(WHITE)
    assert session.result == "B+R" and session.take_back()
    assert session.result == "" and moves(session) == [] and session.may_click


def test_to_resign_while_looking_back_ends_the_game_at_its_end() -> None:
    session = GameSession(GameSettings(size=9))
    session.click(40)
    session.play(41)
    session.step(-1)
    session.resign()
    assert session.phase is Phase.OVER and session.place == 2 and status(session) == "White wins by resignation"
    session.step(-1)
    with pytest.raises(IllegalMove, match="ended"):
        session.resign()
    session.step(1)
    assert session.take_back() and session.may_click and len(moves(session)) == 2


def test_time_runs_for_the_side_to_move_and_loses_the_game() -> None:
    session = GameSession(GameSettings(size=9, clock=TimeControl.absolute(60)))
    assert not session.tick(100.0)
    assert not session.tick(130.0)
    assert session.clock is not None and session.clock.text(BLACK) == "0:30"
    session.click(40, 150.0)
    assert not session.tick(150.0)
    session.play(41, 155.0)
    session.tick(155.0)
    assert session.clock.text(WHITE) == "0:55" and session.clock.text(BLACK) == "0:10"
    assert session.tick(166.0)
    assert session.result == "W+T" and status(session) == "White wins on time"
    assert not session.tick(1000.0)


def test_a_persons_time_runs_while_looking_back_and_the_engines_does_not() -> None:
    session = GameSession(GameSettings(size=9, clock=TimeControl.absolute(60)))
    session.tick(0.0)
    session.click(40, 10.0)
    session.step(-1)
    for now in (10.0, 500.0):
        assert not session.tick(now)
    assert session.clock is not None and session.clock.text(WHITE) == "1:00"
    session.step(1)
    session.tick(500.0)
    session.play(41, 501.0)
    session.seek(0)
    assert not session.tick(501.0) and not session.tick(521.0) and session.clock.text(BLACK) == "0:30"
    assert session.tick(560.0) and session.result == "W+T" and session.place == 2
    assert session.take_back() and session.may_click and len(moves(session)) == 2, "the loss on time alone"
    assert session.clock is None


@pytest.mark.parametrize("control", [TimeControl.fischer(60, 10), TimeControl.byoyomi(4, 30, 2)])
def test_the_clocks_stand_still_in_analysis(control: TimeControl) -> None:
    settings = GameSettings(size=9, clock=control)
    session = GameSession(settings)
    session.tick(0.0)
    session.click(40, 5.0)
    session.tick(5.0)
    session.play(41, 6.0)
    session.tick(6.0)
    session.tick(8.0)
    session.analyze()
    session.tick(8.0)
    clock = session.clock
    assert clock is not None
    left, record = [clock.remaining(color) for color in (BLACK, WHITE)], session.to_sgf()
    for number in range(6):
        node = session.play(number, 9.0 + number)
        assert set(node.properties) == {"BW"[number % 2]} and session.played[node.id].seconds is None
    assert [clock.remaining(color) for color in (BLACK, WHITE)] == left
    assert b"BL[" in record and session.to_sgf().count(b"L[") == record.count(b"L[")
    session.goto(2)
    session.play_on(settings.players)
    session.tick(100.0)
    assert not session.tick(101.0) and session.clock is clock
    assert clock.seconds(BLACK) == left[BLACK].max_seconds - 1


def test_clocks_are_written_into_the_record() -> None:
    session = GameSession(GameSettings(size=9, clock=TimeControl.byoyomi(60, 10, 3)))
    session.tick(0.0)
    session.click(40, 65.0)
    assert all(text in session.to_sgf() for text in (b"TM[60]", b"OT[3x10 byo-yomi]", b"BL[10.0]", b"OB[3]"))
    tree = read_tree(GameSession(GameSettings(size=9, clock=TimeControl.canadian(60, 300, 25))).to_sgf())
    assert tree.root.text("OT") == "25/300 Canadian"


def test_handicap_gives_white_the_first_move() -> None:
    session = GameSession(GameSettings(size=9, handicap=3, komi=0.5))
    assert session.game.to_play == WHITE and session.engine_to_move
    assert session.view().stones.count("X") == 3


def timed(control: TimeControl, *seconds: float) -> tuple[GameSession, GameClock]:
    """A game in which Black has used these seconds for each move, and White none."""
    session, now = GameSession(GameSettings(size=9, players=facing(level_of_visits(1), BLACK), clock=control)), 0.0
    for point, used in enumerate(seconds):
        session.tick(now)
        now += used
        session.play(2 * point, now)
        session.play(2 * point + 1, now)
    assert session.clock is not None
    return session, session.clock


@pytest.mark.parametrize(
    ("control", "seconds", "texts"),
    [
        (TimeControl.absolute(60), (5, 10), ("0:45", "0:45", "0:45")),
        (TimeControl.fischer(180, 10), (5, 10), ("3:05", "2:55", "2:45")),
        (TimeControl.fischer(15, 10), (14, 10), ("0:11", "1.0", "1.0")),
        (TimeControl.canadian(0, 300, 5), (50, 20), ("3:50 (3)", "3:50 (4)", "3:50 (5)")),
        (TimeControl.byoyomi(10, 30, 3), (15, 20), ("0:30 (3)", "0:10 (3)", "5.0 (3)")),
        (TimeControl.byoyomi(0, 30, 3), (20, 20), ("0:30 (3)", "0:10 (3)", "0:10 (3)")),
    ],
)
def test_a_take_back_takes_back_what_the_move_gave_the_clock(
    control: TimeControl, seconds: tuple[float, ...], texts: tuple[str, ...]
) -> None:
    """A take back never loses the game on time, and no byo-yomi period."""
    session, clock = timed(control, *seconds)
    found = [clock.text(BLACK)]
    for _ in seconds:
        assert session.take_back()
        found.append(clock.text(BLACK))
    assert tuple(found) == texts


def test_a_clock_takes_a_move_back_once() -> None:
    """The move was back by an undo: removed, undone, taken back, removed again and undone."""
    session = GameSession(GameSettings(size=9, players=PEOPLE, clock=TimeControl.fischer(60, 10)))
    session.tick(0.0)
    node = session.click(40, 5.0)
    Editor(session).remove()
    session.show_again(session.history.undo())
    assert session.node is node and session.take_back() and node not in session.tree
    clock = session.clock
    assert clock is not None and clock.seconds(BLACK) == 55
    session.history.redo()
    session.show_again(session.history.undo())
    assert session.node is node and session.take_back() and node not in session.tree
    assert clock.seconds(BLACK) == 55


def test_the_engines_clock_gains_nothing_by_a_take_back() -> None:
    session, clock = timed(TimeControl.fischer(180, 10), 5)
    assert clock.text(WHITE) == "3:10"
    session.take_back()
    assert clock.text(WHITE) == "3:00"


def test_mistakes_are_visited_in_the_order_of_the_game() -> None:
    """From the position before each, where the better move can be seen; one that was removed is left out."""
    session, _ = open_record(b"(;SZ[9];B[aa];W[bb];B[cc];W[dd];B[ee])")
    line = session.line
    losses = (0.1, 7.0, 2.0, 0.2, 13.0)
    moves = tuple(
        ReviewedMove(node, number, number % 2 == 0, node.point or 0, "opening", loss, 0.0, None, None)
        for number, (node, loss) in enumerate(zip(line[1:], losses, strict=True), 1)
    )
    session.analyses.review = GameReview(session.tree, "made", 1, tuple(line), moves)
    assert list(session.analyses.grades().values()) == [0, 4, 2, 0, 5]
    assert {cell[0]: cell[6] for cell in tree_layout(session.tree, session.analyses.grades())}[line[5].id] == 5
    visited = []
    for _ in range(4):
        session.to_mistake(True)
        visited.append(session.place)
    assert visited == [1, 2, 4, 4]
    session.to_mistake(False)
    assert session.place == 2
    session.tree.remove(line[5])
    assert [move.number for move in session.analyses.mistakes()] == [2, 3]
    best = tuple(replace(move, rank=1) for move in moves)
    session.analyses.review = replace(session.analyses.review, moves=best)
    assert set(session.analyses.grades().values()) == {0} and session.analyses.mistakes() == []
