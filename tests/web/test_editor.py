"""Edits of a record: stones, marks, variations, comments, and their undoing."""

from __future__ import annotations

import pytest

from tengen.errors import TengenError
from tengen.game import WHITE
from tengen.web.editor import Editor, Tool
from tengen.web.records import open_record
from tengen.web.session import GameSession

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
    assert session.place == 0 and session.to_sgf().replace(b"\n", b"") == b"(;AB[ee]PL[W]SZ[9])"
    assert session.game.to_play == WHITE


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
    ],
)
def test_impossible_game_information_changes_nothing(
    texts: dict[str, str], rules: str, komi: float, wrong: str
) -> None:
    session, editor = opened(DECIDED)
    before = session.to_sgf()
    with pytest.raises(TengenError, match=wrong):
        editor.describe(texts, rules, komi)
    assert session.to_sgf() == before and not session.history.can_undo
    assert session.names == ("Ann", "Bo") and session.game.komi == 6.5 and session.result == "B+3.5"


def test_rules_that_forbid_a_move_of_the_game_are_refused() -> None:
    suicide = b"(;SZ[9]RU[NZ]KM[7];B[ab];W[ba];B[bb];W[ii];B[ca];W[aa];B[cc])"  # White captures itself
    session, editor = opened(suicide)
    with pytest.raises(TengenError, match="illegal under these rules"):
        editor.describe({}, "japanese", 7.0)
    assert session.game.rules.suicide and len(session.line) == 8
    editor.describe({}, "tromp-taylor", 7.0)
    assert len(session.line) == 8
