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
