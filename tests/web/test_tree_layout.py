"""Where the nodes of a tree are drawn, and in which colors."""

from __future__ import annotations

import random
import sys
import time

import pytest

from tengen.sgf import GameTree
from tengen.web.annotations import GOOD
from tengen.web.records import open_record
from tengen.web.tree_layout import tree_layout


def test_drawing_keeps_every_node_apart_and_parents_first() -> None:
    session, _ = open_record(b"(;SZ[9];B[aa](;W[bb];C[n];B[cc];W[dd])(;W[ee];B[ff])(;W[gg]))")
    session.seek(0)
    session.play(80)
    cells = tree_layout(session.tree)
    assert len({(column, row) for _, column, row, *_ in cells}) == len(session.tree) == len(cells) == 10
    for index, (_, column, row, kind, parent, _, grade, remark) in enumerate(cells):
        assert grade == -1 and remark == (kind == "note")
        if kind != "root":
            assert parent < index and cells[parent][1] == column - 1 and cells[parent][2] <= row
    assert [cell[1:4] + cell[5:6] for cell in cells if cell[2] == 0] == [
        (0, 0, "root", 0),
        (1, 0, "black", 1),
        (2, 0, "white", 2),
        (3, 0, "note", 2),
        (4, 0, "black", 3),
        (5, 0, "white", 4),
    ]


def test_the_tree_colors_annotated_moves_and_marks_nodes_with_a_remark() -> None:
    moves = b";B[aa]BM[1];W[ba]BM[2];B[ca]DO[];W[da]TE[1]C[so];B[ea]IT[];W[fa]N[Wrong];B[ga]C[ ];BM[1]HO[1];W[ha]"
    session, _ = open_record(b"(;SZ[9]GB[1]" + moves + b")")
    wanted = [(-1, 1), (3, 0), (4, 0), (2, 0), (GOOD, 1), (GOOD, 0), (-1, 1), (-1, 0), (-1, 1), (-1, 0)]
    assert [cell[6:] for cell in tree_layout(session.tree)] == wanted
    first, second = (node.id for node in session.line[1:3])
    reviewed = [cell[6] for cell in tree_layout(session.tree, {first: 0, second: 5})]
    assert reviewed[1:4] == [0, 5, 2], "a review knows better than the record"


def test_a_very_long_line_needs_no_deep_recursion() -> None:
    session, _ = open_record(b"(;SZ[19]" + b";B[];W[]" * 2500 + b")")
    assert len(tree_layout(session.tree)) == 5001


@pytest.mark.parametrize("shape", ["a branch at each node", "all branches at the root"])
def test_a_tree_of_many_variations_is_laid_out_in_a_moment(shape: str) -> None:
    tree = GameTree(9, {"SZ": [b"9"]})
    node = tree.root
    for _ in range(9_950):
        tree.add_node(node, {})
        following = tree.add_node(node, {})
        node = following if shape == "a branch at each node" else node
    before = time.process_time()
    cells = tree_layout(tree)
    assert time.process_time() - before < 2, "a search row by row takes 5 s and more"
    assert len({cell[1:3] for cell in cells}) == len(cells) == 19_901


def test_the_layout_of_a_tree_takes_few_calls_a_node() -> None:
    """40 calls a node, even of nodes with a move alone, took a fifth of a second after each move in a large tree."""
    tree = GameTree(9, {"SZ": [b"9"]})
    for _ in range(20):
        node = tree.root
        for point in range(50):
            node = tree.add_node(node, {"BW"[point % 2]: [b""]})
    events: list[str] = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: events.append(event))
    try:
        tree_layout(tree)
    finally:
        sys.setprofile(before)
    assert events.count("call") + events.count("c_call") < 25 * len(tree)


def test_a_variation_takes_the_first_row_that_is_free_from_its_own_column_on() -> None:
    """Compared with a search row by row."""
    choice = random.Random(1)
    for _ in range(100):
        tree = GameTree(9, {"SZ": [b"9"]})
        nodes = [tree.root]
        for _ in range(choice.randrange(80)):
            nodes.append(tree.add_node(choice.choice(nodes[-choice.choice((1, 80)) :]), {}))
        last = [-1] * 100
        cells = tree_layout(tree)
        for (_, column, row, _, parent, *_), node in zip(cells, tree.walk(), strict=True):
            free = cells[parent][2] if parent >= 0 else 0
            if node.parent is not None and node.parent.children[0] is not node:
                free = next(k for k in range(free + 1, 100) if last[k] < column - 1)
            assert row == free
            last[row] = max(last[row], column)
