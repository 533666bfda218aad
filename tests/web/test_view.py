"""What the board draws of a position, and where the nodes of a tree are drawn."""

from __future__ import annotations

import random
import time

import pytest

from tengen.sgf import GameTree
from tengen.web.records import open_record
from tengen.web.view import GOOD, MAX_NAME, MoveNumbers, move_numbers, remarks, tree_layout


def test_marks_of_a_record_are_drawn() -> None:
    root = (
        b"TR[aa]SQ[ba]CR[ca]MA[da]LB[ea:A][fa:<b>long text]LN[aa:ii]AR[ii:aa][xx:aa]DD[hh:ii]TB[ga]TW[ha]SL[da][ia:ib]"
    )
    data = b"(;SZ[9]%b;B[ee];W[cc]DD[])" % root
    session, _ = open_record(data)
    view = session.view()
    assert view.marks == (
        (0, "triangle"),
        (1, "square"),
        (2, "circle"),
        (3, "cross"),
        (8, "selected"),
        (17, "selected"),
    )
    assert view.labels == ((4, "A"), (5, "<b>long text")) and view.lines == ((0, 80, False), (80, 0, True))
    assert view.dimmed == (70, 71, 79, 80) and view.next == 40 and view.territory == "......bw." + 72 * "."
    session.seek(1)
    assert session.view().dimmed == view.dimmed and session.view().marks == () and not session.view().territory
    session.seek(2)
    assert session.view().dimmed == () and session.view().next == -1
    assert sorted(session.to_sgf().replace(b"\n", b"")) == sorted(data)


@pytest.mark.parametrize(
    ("record", "branches"), [(b"(;W[])(;W[cc])", (20,)), (b";W[cc]", ()), (b"(;W[dd])(;W[cc])", (30, 20))]
)
def test_a_variation_that_begins_with_a_pass_is_no_point_of_the_board(record: bytes, branches: tuple[int, ...]) -> None:
    session, _ = open_record(b"(;SZ[9];B[ee]" + record + b")")
    session.seek(1)
    assert session.view().branches == branches


# Black's 5 takes White's 2, and White's 6 is a pass. A variation leaves after 2.
NUMBERED = b"""(;SZ[9];B[ba];W[aa](;B[ii];W[hi];B[ab];W[];B[hh];W[gh];B[dd];W[ee])
(;C[no move];B[gg];W[gf](;B[ge])(;B[gd])))"""


@pytest.mark.parametrize(
    ("wanted", "main", "variation"),
    [
        ("none", {}, {}),
        ("all", {1: 1, 80: 3, 79: 4, 9: 5, 70: 7, 69: 8, 30: 9, 40: 10}, {0: 2, 1: 1, 60: 3, 51: 4, 33: 5}),
        ("last", {70: 7, 69: 8, 30: 9, 40: 10}, {0: 2, 1: 1, 60: 3, 51: 4, 33: 5}),
        ("variations", {}, {60: 1, 51: 2, 33: 3}),
    ],
)
def test_the_moves_of_the_shown_line_are_numbered(
    wanted: MoveNumbers, main: dict[int, int], variation: dict[int, int]
) -> None:
    session, _ = open_record(NUMBERED)

    def numbers() -> dict[int, int]:
        return dict(move_numbers(session.game, session.node, wanted))

    assert numbers() == {}
    session.step(100)
    assert numbers() == main
    session.seek(3)
    session.sibling(1)
    session.step(2)
    session.step(1)
    session.sibling(1)
    assert numbers() == variation


def test_a_stone_shows_the_number_of_the_last_move_on_its_point_unless_it_was_set_up_since() -> None:
    session, _ = open_record(b"(;SZ[9];B[ba];W[aa];B[ab];W[cc];B[aa];W[dd];AE[cc]AB[dd];B[ee])")
    for place, expected in ((3, {1: 1, 9: 3}), (6, {1: 1, 9: 3, 0: 5, 20: 4, 30: 6}), (8, {1: 1, 9: 3, 0: 5, 40: 7})):
        session.seek(place)
        assert dict(move_numbers(session.game, session.node, "all")) == expected


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


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ("", ""),
        ("N[ ]C[a comment]", ""),
        ("N[Correct]", "Correct"),
        ("N[two\nlines]BM[1]", "two lines \u00b7 Bad move"),
        ("BM[]", "Bad move"),
        ("BM[2]", "Very bad move"),
        ("TE[1]", "Good move"),
        ("TE[2]GB[2]", "Very good move \u00b7 Very good for Black"),
        ("DO[]", "Doubtful move"),
        ("IT[]UC[2]", "Interesting move \u00b7 Very unclear position"),
        ("GW[1]HO[1]", "Good for White \u00b7 Hotspot"),
        ("DM[2]", "Even position"),
        ("HO[2]", "Important hotspot"),
        (f"N[{'n' * (MAX_NAME + 1)}]", "n" * MAX_NAME + "\u2026"),
    ],
)
def test_the_name_and_the_annotations_of_a_node_are_said_in_words(properties: str, said: str) -> None:
    session, _ = open_record(f"(;SZ[9];B[ee]{properties})".encode())
    session.seek(1)
    assert remarks(session.node) == said


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
