"""A record with variations that is read and written: what it keeps, byte for byte."""

from __future__ import annotations

import lzma
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf as sgfmill_sgf
from sgfmill import sgf_grammar

from tengen.errors import SgfError
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.sgf import GameNode, GameTree, Result, SgfInfo, read_tree, split_trees, write_tree
from tengen.sgf.grammar import first_tree

GAMES = Path(__file__).parents[1] / "data"


def sgfmill_nodes(data: bytes) -> list[dict[str, list[bytes]]]:
    """The raw properties of all nodes as sgfmill's own grammar reads them, parents first: the independent check."""
    nodes, pending = [], [sgf_grammar.parse_sgf_game(data)]
    while pending:
        tree = pending.pop()
        nodes += tree.sequence
        pending += reversed(tree.children)
    return nodes


def test_records_are_written_as_they_were_read() -> None:
    """Every property of every node of the real files, byte for byte; missing handicap stones alone are added."""
    for path in sorted(GAMES.glob("*.sgf")):
        if "truncated" in path.name:
            continue
        data = first_tree(path.read_bytes())
        before, after = sgfmill_nodes(data), sgfmill_nodes(write_tree(read_tree(data)))
        if path.stem in ("fox-no-handicap-stones-3", "fox-rank-kyu"):
            assert len(after[0].pop("AB")) == 3
        assert after == before, path.name
    with lzma.open(GAMES / "tygem-300.sgf.xz") as stream:
        for data in islice(split_trees(stream), 100):
            assert sgfmill_nodes(write_tree(read_tree(data))) == sgfmill_nodes(data)


def test_an_edit_changes_its_own_property_alone() -> None:
    data = "(;GM[1]FF[4]SZ[9]PB[古力]RE[黑中盘胜]XX[a\\]b];B[aa]LB[cc:甲]C[二](;W[bb])(;W[cc];B[]))".encode("gb18030")
    tree = read_tree(data)
    before = sgfmill_nodes(data)
    tree.root.children[0].children[0].comment = "plain"
    before[2]["C"] = [b"plain"]
    assert sgfmill_nodes(write_tree(tree)) == before, "still in its own encoding"
    tree.info = SgfInfo(**{**vars(tree.info), "result": Result(1, None, "resign")})
    before[0]["RE"] = [b"W+R"]
    assert sgfmill_nodes(write_tree(tree)) == before
    for node in tree.walk():  # the same values again
        node.comment, node.setup, node.marks, node.labels, node.to_play = (
            *(node.comment, node.setup, node.marks, node.labels, node.to_play),
        )
    tree.info = tree.info
    assert sgfmill_nodes(write_tree(tree)) == before


def test_properties_keep_their_order_and_new_ones_come_behind_them() -> None:
    """sgfmill sorts them by name: a record that was opened and saved differed in each node."""
    data = b"(;SZ[9]KM[7]GM[1]AP[X](;B[aa];W[bb]TR[cc][dd]C[x\\]y](;B[])(;W[ee]N[z]))(;PL[W]AB[ff]))"
    tree = read_tree(data)
    assert write_tree(tree).replace(b"\n", b"") == data
    tree.info = replace(tree.info, result=Result(1, None, "resign"), event="Cup", white="Bo", black="Al", komi=6.5)
    tree.root.comment = "甲"
    root = "(;SZ[9]GM[1]CA[UTF-8]KM[6.5]AP[X]PB[Al]PW[Bo]EV[Cup]RE[W+R]C[甲]("
    assert write_tree(tree).decode().replace("\n", "").startswith(root)


def test_a_new_record_begins_with_format_game_and_encoding() -> None:
    """Old programs read an encoding only before the texts, and Quarry skips the first bytes of a file."""
    assert write_tree(GameTree.of_game(Game(9), SgfInfo(black="Al"))).startswith(b"(;FF[4]GM[1]CA[UTF-8]SZ[9]PB[Al]")


def test_text_that_the_encoding_may_not_hold_turns_the_record_into_utf8() -> None:
    tree = read_tree("(;SZ[9]PB[古力]CA[GB2312];B[aa]C[先手])".encode("gb18030"))
    tree.root.children[0].children or tree.add_move(tree.root.children[0], WHITE, 10)
    tree.root.children[0].children[0].comment = "후수"
    written = write_tree(tree)
    assert "CA[UTF-8]" in written.decode() and "PB[古力]" in written.decode()
    assert [node.comment for node in read_tree(written).walk()] == ["", "先手", "후수"]


def test_a_character_that_holds_a_bracket_is_kept() -> None:
    tree = read_tree("(;GM[1]SZ[9]PB[古力刓];B[ee]C[黑中盘胜刓 刓])".encode("gb18030"))
    assert tree.info.black == "古力刓" and tree.root.children[0].comment == "黑中盘胜刓 刓"
    assert read_tree(write_tree(tree)).info.black == "古力刓"


def test_comments_marks_and_setup_can_be_read_by_sgfmill() -> None:
    tree = GameTree.of_game(Game(9))
    node = tree.add_move(tree.root, BLACK, 0)
    node.comment = "a ] bracket \\ and a (;B[aa]) trap"
    node.marks = {40: "triangle", 41: "cross", 42: "triangle"}
    node.labels = {50: "A", 51: "x]:y"}
    after = tree.add_node(node, {})
    after.setup = {3: BLACK, 4: WHITE, 0: EMPTY}
    after.to_play = WHITE

    def rc(point: int) -> tuple[int, int]:
        return 8 - point // 9, point % 9

    theirs = sgfmill_sgf.Sgf_game.from_bytes(write_tree(tree)).get_main_sequence()
    assert theirs[1].get("C") == node.comment
    assert theirs[1].get("TR") == {rc(40), rc(42)} and theirs[1].get("MA") == {rc(41)}
    assert dict(theirs[1].get("LB")) == {rc(50): "A", rc(51): "x]:y"}
    assert theirs[2].get_setup_stones() == ({rc(3)}, {rc(4)}, {rc(0)}) and theirs[2].get("PL") == "w"
    again = read_tree(write_tree(tree)).root.children[0]
    assert (again.comment, again.marks, again.labels) == (node.comment, node.marks, node.labels)
    again.comment, again.marks, again.labels = "", {}, {}
    assert list(again.properties) == ["B"]


def test_marks_that_make_no_sense_are_kept_and_not_shown() -> None:
    tree = read_tree(b"(;SZ[9]LB[zz:1][cc][dd:2][tt:3][:4]TR[zz])")
    assert tree.root.labels == {30: "2"} and tree.root.marks == {}
    written = write_tree(tree)
    assert b"LB[zz:1][cc][dd:2][tt:3][:4]" in written and b"TR[zz]" in written


def test_a_property_in_small_letters_does_not_damage_what_is_written() -> None:
    tree = read_tree(b"(;GM[1]SZ[9];B[aa];b[bb];W[cc])")
    again = read_tree(write_tree(tree))
    assert [node.move for node in again.walk()] == [node.move for node in tree.walk()] == [None, (0, 0), None, (1, 20)]
    assert again.problems == []


def test_a_node_that_cannot_be_read_costs_its_branch_only() -> None:
    data = b"(;SZ[9];B[aa](;W[zz];B[bb];W[yy])(;W[cc]))"
    tree = read_tree(data)
    first = tree.root.children[0]
    assert [child.move for child in first.variations] == [(1, 20)] == [node.move for node in tree.walk()][2:]
    assert len(tree.problems) == 1 and tree.following(first) is first.children[1]
    assert sgfmill_nodes(write_tree(tree)) == sgfmill_nodes(data), "it is kept all the same"
    with pytest.raises(SgfError, match="off the board"):
        tree.position(first.children[0])


def test_stones_off_the_board_are_one_message_a_node() -> None:
    tree = read_tree(b"(;SZ[9]AB[bb]%b;AW[yy];B[cc])" % (b"[zz]" * 3000))
    assert tree.problems == [
        "points off the board: AB[zz] and 2,999 more are not shown, but saved",
        "a point off the board: AW[yy] is not shown, but saved",
    ]
    assert write_tree(tree).count(b"[zz]") == 3000


def test_a_tree_as_deep_as_hostile_text_can_make_it() -> None:
    depth = 20_000
    tree = read_tree(b"(;SZ[9]" + b"(;B[]" * depth + b")" * depth + b")")
    assert len(tree) == sum(1 for _ in tree.walk()) == depth + 1
    assert len(write_tree(tree)) > depth
    assert len(tree.line(tree.root)) == depth + 1


@given(st.recursive(st.just([]), lambda inner: st.lists(inner, max_size=3), max_leaves=20), st.text(max_size=20))
@settings(max_examples=50)
def test_any_tree_and_any_comment_can_be_written(shape: list, comment: str) -> None:
    tree = GameTree.of_game(Game(9), SgfInfo(event=comment))

    def grow(parent: GameNode, part: list, color: int) -> None:
        node = tree.add_node(parent, {"BW"[color]: [b""]})
        node.comment = comment
        for child in part:
            grow(node, child, 1 - color)

    grow(tree.root, shape, 0)
    again = read_tree(write_tree(tree))
    assert [node.move for node in again.walk()] == [node.move for node in tree.walk()]
    assert {node.comment for node in again.walk()} == {node.comment for node in tree.walk()}
