"""Edits of a record: stones, marks, variations, comments, and their undoing."""

from __future__ import annotations

import pytest

from tengen.errors import IllegalMove, TengenError
from tengen.game import BLACK, WHITE
from tengen.review.game import GameReview
from tengen.sgf import Analysis
from tengen.web.editor import Editor, Tool
from tengen.web.players import DEFAULT_ENGINE, PEOPLE, PERSON
from tengen.web.records import open_record
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings

RECORD = b"(;SZ[9]PB[Ann];B[ee](;W[ec];B[cc])(;W[gg];B[cg]))"


def opened(record: bytes = RECORD, place: int = 0) -> tuple[GameSession, Editor]:
    session, _ = open_record(record)
    session.seek(place)
    return session, Editor(session)


def test_stones_are_set_up_in_a_node_of_their_own_after_a_move() -> None:
    session, editor = opened(place=3)
    editor.apply(Tool.WHITE, 0)
    editor.apply(Tool.WHITE, 1)
    editor.apply(Tool.BLACK, 40)  # a black stone is there: it goes
    assert session.to_sgf().count(b"AW[aa][ba]") == 1 and b"AE[ee]" in session.to_sgf()
    assert session.place == 4 and session.node.move is None and session.game.to_play == WHITE
    editor.apply(Tool.WHITE, 0)
    editor.apply(Tool.BLACK, 40)
    assert session.node.setup == {1: WHITE}, "what is back as it was needs no property"


def test_on_an_empty_board_the_root_is_edited() -> None:
    session, editor = opened(b"(;SZ[9])")
    editor.apply(Tool.BLACK, 40)
    editor.swap_turn()
    assert session.place == 0 and session.to_sgf().replace(b"\n", b"") == b"(;SZ[9]AB[ee]PL[W])"
    assert session.game.to_play == WHITE


PROBLEM = b"(;SZ[9]AB[ca][cb]AW[aa];B[ba];W[ab])"


@pytest.mark.parametrize(("record", "place"), [(PROBLEM, 0), (b"(;SZ[9];AB[ca][cb]AW[aa];B[ba];W[ab])", 1)])
def test_the_start_of_a_problem_is_corrected_in_place_with_its_solution(record: bytes, place: int) -> None:
    session, editor = opened(record, place=place)
    before = session.to_sgf()
    for node in session.tree.walk():
        node.analysis = Analysis(0.5, 0.0, 100)
    editor.apply(Tool.BLACK, 40)
    assert session.node.depth == place and len(session.tree) == place + 3, "no node was added"
    assert session.node.setup == {2: BLACK, 11: BLACK, 0: WHITE, 40: BLACK}
    assert all((node.analysis is None) == (node.depth >= place) for node in session.tree.walk())
    session.step(2)
    assert session.game.board[4, 4] == BLACK, "the solution is one of the corrected position"
    editor.undo()
    assert session.to_sgf() == before and session.node.depth == place
    editor.redo()
    session.step(1)
    assert session.game.board[4, 4] == BLACK


def test_the_turn_of_a_start_position_is_corrected_in_place() -> None:
    session, editor = opened(PROBLEM)
    editor.swap_turn()
    assert session.place == 0 and session.game.to_play == WHITE and len(session.tree) == 3
    editor.undo()
    assert session.game.to_play == BLACK and b"PL" not in session.to_sgf()


@pytest.mark.parametrize(("komi", "without"), [(b"KM[0.5]", 0.5), (b"", 7.5)])
def test_the_handicap_of_a_record_follows_its_stones(komi: bytes, without: float) -> None:
    """A stone of two is put elsewhere, and another color beside them makes no handicap."""
    session, editor = opened(b"(;SZ[9]RU[Chinese]HA[2]" + komi + b"AB[cg][gc];W[ee];B[cc])")
    before, known = session.to_sgf(), session.game.komi
    expected = [("2", 2.0)]
    for tool, point, handicap, bonus in (
        (Tool.BLACK, 24, "0", 0.0),
        (Tool.BLACK, 60, "2", 2.0),
        (Tool.BLACK, 0, "3", 3.0),
        (Tool.WHITE, 80, "0", 0.0),
    ):
        editor.apply(tool, point)
        expected.append((handicap, bonus))
        assert (session.tree.root.text("HA"), session.game.white_bonus) == expected[-1]
        assert session.game.komi == session.settings.komi == (known if bonus else without)
        assert session.details[1].endswith(f"komi {session.game.komi:g}") and len(session.line) == 3
        again, _ = opened(session.to_sgf())
        assert again.game.setup_stones == session.game.setup_stones and again.game.komi == session.game.komi
    for handicap, bonus in expected[-2::-1]:
        editor.undo()
        assert (session.tree.root.text("HA"), session.game.white_bonus) == (handicap, bonus)
        assert session.settings.komi == session.game.komi
    assert session.to_sgf() == before
    editor.redo()
    assert session.tree.root.text("HA") == "0"


def test_no_handicap_is_named_where_the_record_names_none_or_stones_follow_a_move() -> None:
    session, editor = opened(b"(;SZ[9]AB[cg][gc];W[ee])")
    editor.apply(Tool.BLACK, 0)
    assert b"HA" not in session.to_sgf()
    session, editor = opened(b"(;SZ[9]HA[2]AB[cg][gc];W[ee])", place=1)
    editor.apply(Tool.BLACK, 0)
    session.seek(0)
    editor.swap_turn()
    assert session.tree.root.text("HA") == "2"


def test_a_correction_that_makes_a_move_of_a_variation_illegal_is_refused_and_changes_nothing() -> None:
    session, editor = opened(b"(;SZ[9]AB[ca][cb]AW[aa](;B[ba];W[ab])(;B[gg];W[ee];B[hh]))")
    before = session.to_sgf()
    for node in session.tree.walk():
        node.analysis = Analysis(0.5, 0.0, 100)
    for point in (1, 40):  # of the main line, of the other variation
        with pytest.raises(TengenError, match="remove it first"):
            editor.apply(Tool.BLACK, point)
        assert session.to_sgf() == before and not session.history.can_undo
        assert session.game.board.flat[point] == 2 and all(node.analysis for node in session.tree.walk())
    session.goto(session.tree.root.children[1].children[0].id)
    editor.remove()
    session.seek(0)
    editor.apply(Tool.BLACK, 40)
    assert session.node.setup[40] == BLACK


def test_a_correction_shows_a_variation_that_was_illegal_and_its_undo_hides_it_again() -> None:
    session, editor = opened(b"(;SZ[9]AB[ee][dd](;B[aa];W[bb])(;W[ee];B[cc];W[dd]))")
    before, root = session.to_sgf(), session.tree.root
    main, hidden = root.children
    assert root.variations == [main]
    editor.apply(Tool.BLACK, 40)  # the stone goes
    for _ in range(2):
        assert root.variations == [main, hidden]
        assert [node.point for node in session.tree.line(hidden)] == [None, 40, 20], "the next move is still illegal"
        editor.undo()
        assert root.variations == [main] and session.to_sgf() == before
        assert session.tree.line(root) == [root, main, *main.children]
        editor.redo()
    session.goto(hidden.children[0].id)
    session.play(60)
    with pytest.raises(TengenError, match="remove it first"):
        editor.undo()
    assert root.variations == [main, hidden] and session.game.board.flat[60] == WHITE
    session.take_back()
    editor.undo()
    assert root.variations == [main] and session.to_sgf() == before


def test_stones_without_liberties_are_refused_and_leave_no_trace() -> None:
    session, editor = opened(b"(;SZ[9]AB[ab][ba])")
    before = session.to_sgf()
    with pytest.raises(TengenError, match="without a liberty"):
        editor.apply(Tool.WHITE, 0)
    with pytest.raises(TengenError):
        editor.apply(Tool.WHITE, 81)
    assert session.to_sgf() == before and not session.history.can_undo


def test_marks_and_labels_come_and_go() -> None:
    session, editor = opened()
    for tool, point in ((Tool.TRIANGLE, 1), (Tool.SQUARE, 2), (Tool.CIRCLE, 2), (Tool.CROSS, 3), (Tool.CROSS, 3)):
        editor.apply(tool, point)
    for tool, point in ((Tool.LETTER, 1), (Tool.LETTER, 2), (Tool.NUMBER, 3), (Tool.LETTER, 1), (Tool.LETTER, 4)):
        editor.apply(tool, point)
    assert session.node.marks == {1: "triangle", 2: "circle"}
    assert session.node.labels == {2: "B", 3: "1", 4: "A"}


def test_a_variation_is_promoted_and_removed_and_all_is_undone_and_redone() -> None:
    session, editor = opened(place=2)
    session.sibling(1)
    texts = [session.to_sgf()]
    for edit in (
        editor.promote,
        editor.remove,
        lambda: editor.comment("a"),
        lambda: editor.comment("ab"),
        lambda: editor.apply(Tool.BLACK, 0),
    ):
        edit()
        texts.append(session.to_sgf())
    assert b"W[gg]" not in texts[2] and texts[1].index(b"gg") < texts[1].index(b"ec")
    del texts[3]  # typing is one edit
    for text in texts[-2::-1]:
        editor.undo()
        assert session.to_sgf() == text
    editor.undo()
    for text in texts[1:]:
        editor.redo()
        assert session.to_sgf() == text
    assert not session.history.can_redo


def test_a_move_that_was_played_after_an_edit_stays_when_it_is_undone() -> None:
    session, editor = opened(place=2)
    editor.remove()
    session.play(0)
    session.step(-1)
    editor.undo()
    session.goto(session.tree.root.id)
    assert {child.point for child in session.tree.root.children[0].children} == {22, 60, 0}


def test_no_undo_or_redo_makes_a_later_move_illegal() -> None:
    session = GameSession(GameSettings(9, players=PEOPLE))
    editor = Editor(session)
    editor.apply(Tool.BLACK, 40)
    editor.apply(Tool.BLACK, 40)
    for point in (40, 41):
        session.play(point)
    text = session.to_sgf()
    session.seek(0)
    with pytest.raises(TengenError, match="remove it first"):
        editor.undo()
    assert session.to_sgf() == text and session.history.can_undo and not session.history.can_redo
    session.step(2)
    assert session.take_back() and session.take_back()
    editor.undo()
    assert session.tree.root.setup == {40: BLACK}
    editor.undo()
    session.play(40)
    with pytest.raises(TengenError, match="remove it first"):
        editor.redo()
    assert session.history.can_redo and not session.tree.root.setup


def test_moves_between_two_edits_of_a_comment_stay_when_it_is_undone() -> None:
    session, editor = opened(b"(;SZ[9];B[ee])", place=1)
    node = session.node
    editor.comment("good", node)
    for point in (0, 1):
        session.play(point)
    editor.comment("good shape", node)
    assert session.take_back() and session.take_back()
    editor.comment("good shapes", node)
    texts = []
    while session.history.can_undo:
        editor.undo()
        texts.append((node.comment, len(session.tree)))
    assert texts == [("good shape", 2), ("good", 2), ("", 2)]
    while session.history.can_redo:
        editor.redo()
    assert node.comment == "good shapes" and not node.children


@pytest.mark.parametrize("edit", ["promote", "remove"])
def test_the_turn_of_the_first_position_does_not_change_with_the_order_of_variations(edit: str) -> None:
    session, editor = opened(b"(;SZ[9](;B[ee];W[ed])(;PL[W];W[ee];B[ed]))")
    before = session.to_sgf()
    session.tree.root.analysis = Analysis(0.5, 0.0, 100)
    session.goto(session.tree.root.children[edit == "promote"].id)
    getattr(editor, edit)()
    session.goto(session.tree.root.id)
    assert session.game.to_play == BLACK and b"PL[B]" in session.to_sgf()
    editor.undo()
    assert session.to_sgf() == before and session.tree.root.analysis, "no position has changed"


def test_the_edits_of_a_move_that_is_taken_back_are_not_undone() -> None:
    session, editor = opened()
    session.seek(0)
    editor.comment("kept until it is undone")
    session.play(0)
    session.play(1)
    editor.comment("of a move")
    editor.apply(Tool.CIRCLE, 5)
    editor.undo()
    assert session.take_back() and not session.history.can_redo
    editor.undo()
    assert session.node is session.tree.root and not session.node.comment and not session.history.can_undo
    editor.redo()
    assert session.node.comment and not session.history.can_redo
    session.seek(1)
    session.play(50)
    assert session.node in session.tree and b"[ff]" in session.to_sgf()


def test_the_order_of_variations_is_undone_after_a_take_back() -> None:
    session, editor = opened(place=1)
    for point in (0, 1):
        session.play(point)
    editor.promote()
    session.take_back()
    editor.undo()
    assert session.node in session.tree and session.tree.root.children[0].children[0].point == 22


def test_the_first_position_cannot_be_removed() -> None:
    _, editor = opened()
    with pytest.raises(TengenError, match="first"):
        editor.remove()


DECIDED = b"(;SZ[9]PB[Ann]BR[9k]PW[Bo]RU[Japanese]KM[6.5]RE[B+3.5]DT[1846-09];B[ee];W[ec];B[cc];W[gg])"


def test_the_game_information_is_edited_undone_and_redone() -> None:
    session, editor = opened(DECIDED, place=2)
    before = session.to_sgf()
    session.begin_count([])
    editor.describe({"PB": "Anna \u53e4\u529b", "EV": "Cup", "RE": "W+2"}, "chinese", 7.0)
    text = session.to_sgf().decode()
    for value in ("PB[Anna \u53e4\u529b]", "EV[Cup]", "RE[W+2]", "RU[chinese]", "KM[7]", "DT[1846-09]", "BR[9k]"):
        assert value in text
    assert session.names == ("Anna \u53e4\u529b", "Bo") and session.details == ("9k", "komi 7")
    assert (session.game.rules.text, session.game.komi) == ("chinese", 7.0)
    assert (session.settings.rules, session.settings.komi, session.result) == ("chinese", 7.0, "W+2")
    assert session.place == 2 and not session.counted
    editor.describe({"RE": ""}, "chinese", 7.5)
    assert session.result == "" and session.ended_at is None
    editor.undo()
    assert session.result == "W+2" and session.ended_at is not None and session.ended_at.depth == 4
    editor.undo()
    assert session.to_sgf().replace(b"CA[UTF-8]", b"") == before and session.place == 2
    assert session.names == ("Ann", "Bo") and session.game.komi == 6.5 and session.result == "B+3.5"
    editor.redo()
    assert session.names == ("Anna \u53e4\u529b", "Bo") and session.game.komi == 7.0


@pytest.mark.parametrize(
    ("texts", "rules", "komi", "wrong"),
    [
        ({"RE": "Ann wins"}, "japanese", 6.5, "cannot be read"),
        ({"PB": "Anna"}, "japanese", 7.0, "the result is B"),
        ({"PB": "Anna"}, "japanese", 6.3, "whole or half"),
        ({"RE": ""}, "japanese", 700.0, "not possible"),
        ({"RE": ""}, "japanese", 100.0, "up to 50"),
        ({"RE": "B+3"}, "japanese", 6.5, r"the result is B\+3"),
    ],
)
def test_impossible_game_information_changes_nothing(
    texts: dict[str, str], rules: str, komi: float, wrong: str
) -> None:
    session, editor = opened(DECIDED)
    before = session.to_sgf()
    for node in session.tree.walk():
        node.analysis = Analysis(0.5, None, 1)
    with pytest.raises(TengenError, match=wrong):
        editor.describe(texts, rules, komi)
    assert session.to_sgf() == before and not session.history.can_undo
    assert all(node.analysis is not None for node in session.tree.walk()), "what is refused costs no analysis"
    assert session.names == ("Ann", "Bo") and session.game.komi == 6.5 and session.result == "B+3.5"


def test_rules_that_forbid_a_move_of_the_game_are_refused() -> None:
    suicide = b"(;SZ[9]RU[NZ]KM[7];B[ab];W[ba];B[bb];W[ii];B[ca];W[aa];B[cc])"  # White captures itself
    session, editor = opened(suicide)
    session.tree.root.analysis = Analysis(0.5, None, 1)
    with pytest.raises(TengenError, match="illegal under these rules"):
        editor.describe({}, "japanese", 7.0)
    assert session.game.rules.suicide and len(session.line) == 8 and session.tree.root.analysis is not None
    editor.describe({}, "tromp-taylor", 7.0)
    assert len(session.line) == 8


MOVES = b";B[ee];W[cc])"


@pytest.mark.parametrize(
    ("head", "texts", "rules", "komi", "written"),
    [
        (b"RU[Japanese]", {}, "chinese", 6.5, b"KM[6.5]RU[chinese]"),
        (b"KM[7.5]", {}, "chinese", 6.5, b"KM[6.5]RU[chinese]"),
        (b"", {}, "japanese", 7.5, b"KM[7.5]RU[japanese]"),
        (b"", {"PB": "Ann"}, "japanese", 6.5, b"PB[Ann]"),
        (b"RU[foo]", {}, "japanese", 7.5, b"KM[7.5]RU[japanese]"),
        (b"KM[6.5]RE[B+3]RU[Chinese]", {"RE": "B+3.5"}, "chinese", 7.5, b"KM[7.5]RE[B+3.5]RU[Chinese]"),
        (b"RE[B+2]", {"RE": "?"}, "japanese", 6.5, b"RE[?]"),
        (b"AB[cc][gg]HA[2]", {}, "japanese", 0.5, b"KM[0.5]RU[japanese]"),
    ],
)
def test_rules_and_komi_that_a_record_does_not_name_are_both_written_with_a_change_of_one(
    head: bytes, texts: dict[str, str], rules: str, komi: float, written: bytes
) -> None:
    session, editor = opened(b"(;" + head + b"SZ[9]" + MOVES)
    editor.describe(texts, rules, komi)
    text = session.to_sgf().replace(b"\n", b"")
    assert all(part + b"]" in text for part in written.split(b"]")[:-1])
    assert all((name in text) == (name in head + written) for name in (b"KM", b"RU")), "no more than that"
    for one in (session, opened(text)[0]):
        assert (one.game.rules.text, one.game.komi, one.settings.komi) == (rules, komi, komi)


def test_a_record_in_chinese_stones_keeps_its_result_with_another_komi() -> None:
    stones = b"(;SZ[9]RU[Chinese]KM[375]RE[B+2.75]" + MOVES
    session, editor = opened(stones)
    editor.describe({"PB": "Ann"}, "chinese", 7.5)
    assert b"KM[375]" in session.to_sgf() and b"RE[B+2.75]" in session.to_sgf()
    with pytest.raises(TengenError, match=r"the result is B\+5\.5"):
        editor.describe({}, "chinese", 7.0)
    editor.describe({}, "chinese", 6.5)
    assert session.result == "B+5.5" and opened(session.to_sgf())[0].result == "B+5.5"
    editor.undo()
    assert session.result == "B+5.5" and b"RE[B+2.75]" in session.to_sgf()
    editor.describe({"RE": "B+3.5"}, "chinese", 7.5)
    assert session.result == "B+3.5" and opened(session.to_sgf())[0].result == "B+3.5", "what is typed is in points"


def test_a_komi_that_contradicts_the_result_is_refused_where_it_is_the_guess_too() -> None:
    session, editor = opened(b"(;SZ[9]KM[0]RE[B+2]" + MOVES)
    with pytest.raises(TengenError, match=r"the result is B\+2"):
        editor.describe({}, "japanese", 6.5)
    assert session.game.komi == 0 and b"KM[0]" in session.to_sgf()


def test_komi_0_in_an_even_game_of_fox_is_refused_with_the_reason() -> None:
    session, editor = opened(b"(;SZ[9]RU[Chinese]KM[375]TC[3]TT[30]RE[W+R]" + MOVES)
    with pytest.raises(TengenError, match="Fox"):
        editor.describe({}, "chinese", 0.0)
    assert b"KM[375]" in session.to_sgf()


@pytest.mark.parametrize("setup", [b"", b";AE[aa]"])
def test_the_result_of_a_game_with_a_free_handicap_of_fox_is_edited(setup: bytes) -> None:
    """Black's first stones are the handicap, and the komi of an even game that stands there is none."""
    stones = b";B[gc];B[cg];W[gg];B[cc]"
    session, editor = opened(b"(;SZ[9]RU[Japanese]KM[375]HA[0]RE[B+R]TC[3]TT[30]" + setup + stones + b")")
    assert (session.game.komi, session.tree.info.handicap) == (0, 2)
    editor.describe({"RE": "W+R"}, "japanese", 0.0)
    assert session.result == "W+R" and (session.tree.komi, session.tree.info.handicap) == (0, 2)
    assert opened(session.to_sgf())[0].result == "W+R"
    editor.describe({}, "japanese", 0.5)
    assert opened(session.to_sgf())[0].settings.komi == 0.5


def test_an_event_that_is_cleared_is_not_that_of_another_name() -> None:
    """TE of the Nihon Ki-in stands for EV; what stands there for other properties, and TE[1] of SGF, stays."""
    for record in (b"EV[Cup]TE[Honinbo]KO[5.5]", b"TE[Honinbo]KO[5.5]"):
        session, editor = opened(b"(;SZ[9]RU[Japanese]" + record + b";B[ee])")
        before = session.to_sgf()
        editor.describe({"EV": ""}, "japanese", 5.5)
        assert session.tree.info.event == "" and b"TE" not in session.to_sgf() and b"KO[5.5]" in session.to_sgf()
        editor.undo()
        assert session.to_sgf() == before
    session, editor = opened(b"(;SZ[9]RU[Japanese]EV[Cup]TE[1]KM[5.5];B[ee])")
    editor.describe({"EV": ""}, "japanese", 5.5)
    assert b"TE[1]" in session.to_sgf() and session.tree.info.event == ""


def test_refused_game_information_leaves_the_encoding() -> None:
    record = "(;SZ[9]PB[古力]PW[常昊];B[ee]C[围棋];W[cc])".encode("gb18030")
    session, editor = opened(record)
    before = session.to_sgf()
    with pytest.raises(TengenError, match="cannot be read"):
        editor.describe({"PB": "Иван", "RE": "Ann wins"}, "japanese", 6.5)
    assert session.to_sgf() == before and session.tree.charset == "gb18030" and session.tree.root.text("PB") == "古力"
    editor.describe({"PB": "Иван"}, "japanese", 6.5)
    text = session.to_sgf().decode()
    assert all(part in text for part in ("CA[UTF-8]", "PB[Иван]", "PW[常昊]", "C[围棋]"))


@pytest.mark.parametrize("result", ["W+0.0", "0", "Draw", "W+", "W+R", "Void", ""])
def test_names_do_not_end_a_game_that_goes_on_from_a_record(result: str) -> None:
    record = f"(;SZ[9]KM[6]TC[3]TT[30]RE[{result}]".encode() + MOVES
    session, editor = opened(record, place=1)
    session.play_on((PERSON, DEFAULT_ENGINE))
    before = session.result
    editor.describe({"EV": "Cup"}, session.tree.rules, session.tree.komi)
    assert session.live and session.in_progress and session.result == before
    assert f"RE[{result}]".encode() in session.to_sgf() or not result


def test_a_result_that_is_set_after_its_place_was_removed_has_a_place_of_the_game() -> None:
    session, editor = opened(DECIDED, place=4)
    editor.remove()
    editor.describe({"RE": "W+R"}, "japanese", 6.5)
    assert session.ended_at is session.line[-1] and session.ended_at in session.tree


@pytest.mark.parametrize(("earlier", "komi"), [("B+R", 6.5), ("B+R", 5.5), ("B+3.5", 6.5)])
def test_a_result_that_a_count_replaced_comes_back_under_other_rules_unless_it_is_a_score(
    earlier: str, komi: float
) -> None:
    session, editor = opened(f"(;SZ[9]RU[Japanese]KM[6.5]RE[{earlier}];B[ee];W[gc];B[];W[];B[cc])".encode(), place=4)
    session.begin_count([])
    session.agree()
    editor.describe({}, "chinese", komi)
    assert session.take_back() and session.result == (earlier if earlier == "B+R" else "")
    again, _ = open_record(session.to_sgf())
    assert (again.tree.rules, again.tree.komi, again.result) == ("chinese", komi, session.result)


def test_names_keep_the_review_of_a_game_by_korean_rules() -> None:
    session = GameSession(GameSettings(9, "korean", 6.5, players=PEOPLE))
    for point in (40, 41):
        session.play(point)
    session.analyses.review = review = GameReview(session.tree, "", 0, (), ())
    Editor(session).describe({"PB": "Ann"}, session.tree.rules, 6.5)
    assert session.analyses.review is review and session.settings.rules == "korean"
    Editor(session).describe({}, session.tree.rules, 5.5)
    assert session.analyses.review is None


@pytest.mark.parametrize("record", ["RU[Korean]KM[650]", "RU[Korean]", "RU[Korean]RE[B+3]KM[6.5]", "RU[Japanese]"])
def test_an_event_changes_neither_rules_nor_komi_nor_result(record: str) -> None:
    """The dialog names the rules as the record does, the tree by the first of their names."""
    session, editor = opened(f"(;SZ[9]{record};B[ee])".encode())
    before = dict(session.tree.root.properties)
    editor.describe({"EV": "Cup"}, "korean" if "Korean" in record else "japanese", session.tree.komi)
    assert session.tree.root.properties == {**before, "EV": [b"Cup"]}


def test_a_move_after_a_changed_turn_is_one_that_the_record_allows() -> None:
    """White takes a ko and Black passes. By the history of the line Black may not take back on his turn either."""
    session, editor = opened(b"(;SZ[9]RU[tromp-taylor]AB[dc][cd][de][ed]AW[ec][fd][ee];W[dd];B[])")
    session.seek(2)
    editor.swap_turn()
    with pytest.raises(IllegalMove, match="superko"):
        session.play(session.game.point("E6"))
    assert session.node.to_play == BLACK and not session.node.children
    session.play(session.game.point("A1"))
    session.step(-1)
    session.step(1)
    assert session.game.board[8, 0] == BLACK


def test_a_review_of_other_stones_is_dropped() -> None:
    """The stones at the root are taken away, and set up again, after the game was reviewed."""
    session = GameSession(GameSettings(9, players=PEOPLE))
    editor = Editor(session)
    editor.apply(Tool.BLACK, 0)
    session.play(40)
    review = GameReview(session.tree, "", 0, tuple(session.line), ())
    for change, kept in ((lambda: editor.comment("a"), True), (editor.undo, True), (editor.undo, False)):
        session.analyses.review = review
        change()
        assert (session.analyses.review is review) == kept
    session.analyses.review = review
    editor.redo()
    assert session.analyses.review is None
