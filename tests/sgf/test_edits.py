"""Undo and redo of edits of a game tree: any edits come undone to the same bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tengen.sgf import Analysis, EditHistory, GameNode, GameTree, read_tree, write_tree

RECORD = b"(;SZ[9]C[root](;B[aa];W[bb](;B[cc])(;B[dd]))(;B[ee]TR[aa];W[ff]))"
STEPS = st.lists(
    st.tuples(st.sampled_from(["comment", "mark", "add", "remove", "promote"]), st.integers(0, 99)), max_size=12
)


def change(tree: GameTree, history: EditHistory, kind: str, pick: int) -> None:
    """One edit at some node."""
    nodes = list(tree.walk())
    node = nodes[pick % len(nodes)]
    with history.edit(*((node,) if node.parent is None else (node, node.parent)), *node.ancestors):
        if kind == "comment":
            node.comment = f"text {pick}"
        elif kind == "mark":
            node.marks = {pick % 81: "circle"}
        elif kind == "add":
            if tree.position(node).is_legal(pick % 81, pick % 2):  # an undo that leaves an illegal move is refused
                tree.add_move(node, pick % 2, pick % 81)
        elif kind == "promote":
            tree.make_main(node)
        elif node.parent is not None:
            tree.remove(node)


@settings(max_examples=60)
@given(STEPS)
def test_all_edits_are_undone_and_made_again(steps: list[tuple[str, int]]) -> None:
    tree = read_tree(RECORD)
    history, texts = EditHistory(tree), [write_tree(tree)]
    for kind, pick in steps:
        change(tree, history, kind, pick)
        if write_tree(tree) != texts[-1]:
            texts.append(write_tree(tree))
    for text in texts[-2::-1]:
        assert history.undo() is not None and write_tree(tree) == text
    assert history.undo() is None
    for text in texts[1:]:
        assert history.redo() is not None and write_tree(tree) == text
    again = read_tree(write_tree(tree))
    assert {node.id for node in again.walk()} == set(tree.numbered().values()), "numbers are those of the text"
    assert len(again) == len(tree)


def test_children_are_removed_and_put_back_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each child was compared with each: a deletion among 20,000 variations took seconds."""
    tree = GameTree(9, {"SZ": [b"9"]})
    children = [tree.add_node(tree.root, {}) for _ in range(300)]
    history, compared = EditHistory(tree), []
    monkeypatch.setattr(GameNode, "__eq__", lambda node, other: compared.append(node) or node is other)
    with history.edit(tree.root):
        tree.remove(children[150])
    for move in (history.undo, history.redo, history.undo):
        assert move() is not None
    assert [node.id for node in tree.root.children] == [node.id for node in children] and len(compared) < 300


def test_an_edit_that_fails_leaves_nothing() -> None:
    tree = read_tree(RECORD)
    history, before = EditHistory(tree), write_tree(tree)
    with pytest.raises(ZeroDivisionError), history.edit(tree.root):
        tree.root.comment = "no"
        tree.remove(tree.root.children[0])
        raise ZeroDivisionError
    assert write_tree(tree) == before and not history.can_undo and len(tree) == len(read_tree(before))


def test_undo_ends_where_the_encoding_has_changed() -> None:
    tree = read_tree("(;SZ[9]PB[古力];B[aa])".encode("gb18030"))
    history = EditHistory(tree)
    with history.edit(tree.root):
        tree.root.set_text("EV", "Cup")
    assert history.can_undo
    with history.edit(tree.root):
        tree.root.comment = "é"  # the record turns into UTF-8
    assert not history.can_undo and history.undo() is None
    assert "古力".encode() in write_tree(tree)


@pytest.mark.parametrize("setup", [True, False])
def test_an_edit_of_a_position_drops_the_analysis_of_it_and_of_all_that_follows(setup: bool) -> None:
    tree = read_tree(RECORD)
    history, node = EditHistory(tree), tree.root.children[0]

    def edit() -> None:
        with history.edit(node):
            if setup:
                node.setup = {80: 0}
            else:
                node.comment = "text"

    for change in (edit, history.undo, history.redo):
        keys = {each.id: each.position_key for each in tree.walk()}
        for each in tree.walk():
            each.analysis = Analysis(0.5, None, 1)
        change()
        dropped = [each for each in tree.walk() if each.analysis is None]
        assert dropped == (list(tree.walk(node)) if setup else [])
        assert dropped == [each for each in tree.walk() if each.position_key != keys[each.id]]


def test_an_edit_of_the_rules_checks_the_moves_anew_and_drops_all_analyses() -> None:
    suicide = b"(;SZ[9]RU[Japanese]KM[6.5];B[ab];W[ba];B[bb];W[ii];B[ca];W[aa];B[cc])"  # White captures itself
    tree = read_tree(suicide)
    history = EditHistory(tree)
    assert len(tree.check_moves()) == 1

    def edit(rules: str, komi: str) -> None:
        with history.edit(tree.root):
            tree.root.set_text("RU", rules)
            tree.root.set_text("KM", komi)

    def state() -> tuple[str, float, int]:
        return tree.rules, tree.komi, len(list(tree.walk()))

    steps = (
        (lambda: edit("New Zealand", "7"), ("new-zealand", 7.0, 8)),
        (history.undo, ("japanese", 6.5, 6)),
        (history.redo, ("new-zealand", 7.0, 8)),
        (lambda: edit("New Zealand", "5.5"), ("new-zealand", 5.5, 8)),
        (lambda: edit("Japanese", "5.5"), ("japanese", 5.5, 6)),
    )
    for change, expected in steps:
        for each in tree.walk():
            each.analysis = Analysis(0.5, None, 1)
        change()
        assert state() == expected
        assert all(each.analysis is None for each in tree.walk())
        assert {(game.rules.text, game.komi) for game in tree.positions(tree.line(tree.root))} == {expected[:2]}
    with pytest.raises(ZeroDivisionError), history.edit(tree.root):
        tree.root.set_text("KM", "0.5")
        tree.read_rules()
        _ = 1 / 0
    assert state() == ("japanese", 5.5, 6), "an edit that fails leaves the rules"


SUICIDE = b"(;SZ[9]RU[NZ]KM[7];B[ab];W[ba];B[bb];W[ii];B[ca](;W[aa];B[cc])(;W[ia]))"  # White captures itself


def test_a_line_that_other_rules_make_illegal_is_not_gone_along() -> None:
    tree = read_tree(SUICIDE)
    history = EditHistory(tree)
    tree.visit(tree.line(tree.root)[-1])
    with history.edit(tree.root):
        tree.root.set_text("RU", "Japanese")
    assert [node.move for node in tree.line(tree.root)][-1] == (1, 8) and len(tree.line(tree.root)) == 7
    assert len(list(tree.positions(tree.line(tree.root)))) == 7
    history.undo()
    assert len(list(tree.walk())) == 9


def test_an_illegal_move_that_is_removed_and_comes_back_is_checked_again() -> None:
    tree = read_tree(SUICIDE.replace(b"NZ", b"Japanese"))
    history = EditHistory(tree)
    tree.check_moves()
    parent = tree.line(tree.root)[4]

    def edit(rules: str) -> None:
        with history.edit(tree.root):
            tree.root.set_text("RU", rules)

    with history.edit(parent):
        tree.set_children(parent, [])
    edit("NZ")
    for _ in range(2):
        history.undo()
    assert len(list(tree.walk())) == 7
    edit("NZ")
    assert len(list(tree.walk())) == 9


def test_rules_are_tried_without_a_change() -> None:
    tree = read_tree(SUICIDE)
    for node in tree.walk():
        node.analysis = Analysis(0.5, None, 1)
    version = tree.version
    assert tree.allows("tromp-taylor", 0.5) and not tree.allows("japanese", 7.0)
    assert len(list(tree.walk())) == 9 and tree.version == version and tree.rules == "new-zealand"
    assert all(node.analysis is not None and not node.edits for node in tree.walk())
