"""The game tree: what it keeps of a record, how it is walked and changed, and what the rules say of it."""

from __future__ import annotations

import lzma
import random
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf as sgfmill_sgf
from sgfmill import sgf_grammar

from tengen.errors import SgfError
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.sgf import GameNode, GameTree, Result, SgfInfo, read_game, read_tree, split_trees, write_tree
from tengen.sgf.grammar import first_tree

GAMES = Path(__file__).parent / "data"


def sgfmill_nodes(data: bytes) -> list[dict[str, list[bytes]]]:
    """The raw properties of all nodes as sgfmill's own grammar reads them, parents first: the independent check."""
    nodes, pending = [], [sgf_grammar.parse_sgf_game(data)]
    while pending:
        tree = pending.pop()
        nodes += tree.sequence
        pending += reversed(tree.children)
    return nodes


def all_nodes(tree: GameTree) -> list[GameNode]:
    nodes, pending = [], [tree.root]
    while pending:
        nodes.append(pending.pop())
        pending += reversed(nodes[-1].children)
    return nodes


def grown() -> GameTree:
    """A main line of four moves, a branch of two at the second, another at the first."""
    tree = GameTree.of_game(Game(9))
    node = tree.root
    main = []
    for ply, point in enumerate((10, 11, 12, 13)):
        node = tree.add_move(node, ply % 2, point)
        main.append(node)
    branch = tree.add_move(main[0], 1, 20)
    tree.add_move(branch, 0, 21)
    tree.add_move(tree.root, 0, 30)
    return tree


# What a record keeps.


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
    assert [node.move for node in all_nodes(again)] == [node.move for node in all_nodes(tree)]
    assert {node.comment for node in all_nodes(again)} == {node.comment for node in all_nodes(tree)}


# Ways through the tree.


def test_paths_lines_and_move_numbers() -> None:
    tree = grown()
    last = tree.line(tree.root)[-1]
    assert [node.point for node in last.path] == [None, 10, 11, 12, 13]
    assert (last.depth, last.move_number, tree.root.depth, tree.root.path) == (4, 4, 0, [tree.root])
    note = tree.add_node(last, {"C": [b"a word"]})
    assert (note.depth, note.move_number, note.comment, note.move) == (5, 4, "a word", None)


def test_the_way_that_was_visited_is_followed() -> None:
    tree = grown()
    branch = tree.root.children[0].children[1]
    tree.visit(branch)
    assert [node.point for node in tree.line(tree.root)] == [None, 10, 20, 21]
    tree.remove(branch)
    assert [node.point for node in tree.line(tree.root)] == [None, 10, 11, 12, 13]
    assert tree.get(branch.id) is None and len(tree) == 6
    with pytest.raises(ValueError, match="root"):
        tree.remove(tree.root)


def test_what_a_record_cannot_say_is_refused_and_changes_nothing() -> None:
    tree = grown()
    before, gone = write_tree(tree), tree.root.children[0].children[1]
    for change, message in (
        (lambda: tree.add_move(tree.root, 2, 5), r"0 \(black\) or 1 \(white\), not 2"),
        (lambda: tree.add_move(tree.root, -1, 5), "not -1"),
        (lambda: setattr(tree.root, "to_play", 5), "not 5"),
        (lambda: setattr(tree.root, "setup", {3: 0, 4: 5}), "not 5"),
        (lambda: setattr(tree.root, "marks", {3: "circle", 4: "TR"}), "unknown mark 'TR'"),
        (lambda: (tree.remove(gone), tree.make_main(gone)), "not in this tree"),
    ):
        with pytest.raises(ValueError, match=message):
            change()
        assert write_tree(tree) == before or gone not in tree
    assert [node.point for node in tree.line(tree.root)] == [None, 10, 11, 12, 13]


def test_a_known_move_is_not_added_twice_and_a_variation_can_become_the_main_line() -> None:
    tree = grown()
    branch = tree.root.children[0].children[1]
    assert tree.add_move(tree.root.children[0], 1, 20) is branch and len(tree) == 8
    tree.make_main(branch.children[0])
    assert [point for _, point in read_game(write_tree(tree))[0].moves] == [10, 20, 21]


# What the rules say.


def test_positions_are_those_of_the_moves_on_the_way() -> None:
    for name in ("fox-variations", "fox-handicap-3-komi-550", "tygem-count", "fox-no-handicap-stones-3"):
        data = (GAMES / f"{name}.sgf").read_bytes()
        tree, (game, _) = read_tree(data), read_game(data)
        end = tree.position(tree.line(tree.root)[-1])
        assert (end.moves, end.setup_stones, end.komi, end.rules) == (
            game.moves,
            game.setup_stones,
            game.komi,
            game.rules,
        )


@pytest.mark.parametrize(
    ("text", "turn"),
    [
        ("HA[2]AB[cc][gg]", WHITE),
        ("AB[cc:cd]", WHITE),
        (";AB[cc];AB[gg]C[x]", WHITE),
        ("HA[2]AB[cc][gg]PL[B]", BLACK),
        ("AB[cc]", BLACK),
        ("AB[cc][gg]AW[aa]", BLACK),
        ("AB[cc][gg];AW[aa]", BLACK),
        ("AB[cc][gg];AE[gg]", BLACK),
        ("AB[cc][gg];B[aa]", BLACK),
        ("AW[cc][gg]", BLACK),
        ("", BLACK),
        ("HA[2]", BLACK),
        ("HA[2]PL[W]", WHITE),
        ("AB[cc][gg]PL[black]", BLACK),
        ("AB[cc][gg]PL[1]", BLACK),
        ("AB[cc]AW[gg]PL[2]", WHITE),
        ("AB[cc][gg]PL[]", WHITE),
        ("AB[cc][gg]PL[?]", WHITE),
        ("AB[cc];PL[W];PL[]", WHITE),
    ],
)
def test_white_begins_after_a_handicap_where_nothing_says_otherwise(text: str, turn: int) -> None:
    record = f"(;SZ[9]RU[chinese]{text})".encode()
    tree, (game, _) = read_tree(record), read_game(record)
    assert (tree.position(tree.root).to_play, game.first_to_play) == (turn, turn)
    end = tree.position(tree.line(tree.root)[-1])
    assert (end.to_play, sorted(end.setup_stones)) == (game.to_play, sorted(game.setup_stones))


def test_stones_that_are_set_up_in_the_middle_start_a_new_history() -> None:
    tree = read_tree(b"(;SZ[9]KM[5.5];B[cc];AW[dd][ee:ef]AE[cc]PL[W];W[aa])")
    game = tree.position(tree.line(tree.root)[-1])
    stones = {point: int(color) for point, color in enumerate(game.board.ravel()) if color != EMPTY}
    assert stones == {30: WHITE, 40: WHITE, 49: WHITE, 0: WHITE}
    assert game.moves == [(WHITE, 0)] and game.komi == 5.5
    assert "captures" in tree.check_moves()[0]


@pytest.mark.parametrize("edit", [b"PL[B]", b"AE[ee]", b"AE[ee];AW[aa]", b"AB[aa]AW[bb]PL[W]"])
@pytest.mark.parametrize(("rules", "bonus"), [(b"chinese", 4), (b"aga", 3), (b"japanese", 0)])
def test_a_handicap_counts_as_before_when_stones_are_set_up_in_the_middle(
    edit: bytes, rules: bytes, bonus: int
) -> None:
    """Set up in several nodes before the first move, stones are the handicap; after it they are none."""
    record = b"(;SZ[9]KM[0.5]RU[" + rules + b"];AB[cc][gc];AB[cg][gg]PL[W];W[ee];B[ef];" + edit + b";B[])"
    tree = read_tree(record)
    line = tree.line(tree.root)
    assert [tree.position(node).handicap for node in line[:5]] == [0, 2, 4, 4, 4]
    game = tree.position(line[-1])
    owners = game.owners()
    area = int((owners == BLACK).sum() - (owners == WHITE).sum())
    stones = 0 if game.rules.scoring == "area" else int((game.board == BLACK).sum() - (game.board == WHITE).sum())
    assert game.score() == area - stones - 0.5 - bonus


@pytest.mark.parametrize("rules", ["japanese", "chinese", "aga-button"])
def test_a_turn_that_changes_in_the_middle_keeps_prisoners_and_history(rules: str) -> None:
    head = f"(;SZ[9]RU[{rules}]KM[6.5];B[ba];W[aa];B[ab];W[gg];B[cc]".encode()
    tree = read_tree(head + b";PL[B];C[still Black];B[gc];W[])")
    plain, _ = read_game(head + b";B[gc];W[])")
    line = tree.line(tree.root)
    before, turned, still, played, end = (tree.position(node) for node in line[-5:])
    assert [game.to_play for game in (before, turned, still, played)] == [WHITE, BLACK, BLACK, WHITE]
    button = 1 if turned.rules.button else 0  # it goes to the side to play
    assert turned.score() == still.score() == before.score() + button
    assert (turned.board == before.board).all()
    assert (end.moves, end.captures, end.score()) == (plain.moves, (1, 0), plain.score())
    assert tree.check_moves() == []


def test_an_illegal_move_ends_its_variation() -> None:
    tree = read_tree(b"(;SZ[9];B[cc](;W[cc];B[dd])(;W[ee];B[ff]))")
    assert tree.problems == []
    (problem,) = tree.check_moves()
    assert "occupied" in problem
    assert [node.move for node in tree.walk()] == [None, (0, 20), (1, 40), (0, 50)]
    assert tree.check_moves() == []


def random_tree(drawn: random.Random, nodes: int) -> GameTree:
    """Moves on 5x5 anywhere, many of them illegal, with stones set up here and there."""
    tree = GameTree.of_game(Game(5, "japanese"))
    for _ in range(nodes):
        parent = drawn.choice(list(tree.walk())[-8:])
        place = "".join(drawn.choices("abcde", k=2)).encode()
        name = drawn.choices(["B", "W", "AB", "AE"], [10, 10, 1, 1])[0]
        tree.add_node(parent, {name: [place]})
    return tree


def test_all_variations_are_checked_as_each_alone() -> None:
    drawn = random.Random(3)
    legal = illegal = 0
    for _ in range(30):
        tree = random_tree(drawn, 60)
        alone = {node.id: is_legal(tree, node) for node in tree.walk()}
        told = tree.check_moves()
        kept = {node.id for node in tree.walk()}
        assert kept == {node for node, fine in alone.items() if fine}
        problems = [node.problem for node in all_nodes(tree) if node.problem]
        assert [text for text in told if "set up after" not in text] == problems, "in the order of the record"
        legal, illegal = legal + len(kept), illegal + len(problems)
    assert legal > 500 and illegal > 100


def is_legal(tree: GameTree, node: GameNode) -> bool:
    try:
        tree.position(node)
    except SgfError:
        return False
    return True


MEASURED = """
import resource, sys
from tengen.sgf import read_tree
n = 4000
sides = {"comb": b"(;B[]" * n + b"(;C[x]))" * n, "fan": b";B[]" * n + b"(;C[x])" * n}
tree = read_tree(b"(;SZ[19]" + sides[sys.argv[1]] + b")")
unit = 1 if sys.platform == "darwin" else 1024
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tree.check_moves()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit >> 20)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no resource module")
@pytest.mark.parametrize("shape", ["comb", "fan"])
def test_checking_takes_little_memory_whatever_the_shape(shape: str) -> None:
    """A history for every variation took 190 MB here, and over 1 GB at the limit of the page."""
    done = subprocess.run([sys.executable, "-c", MEASURED, shape], check=True, capture_output=True, text=True)
    assert int(done.stdout) < 40


def test_stones_that_cannot_stand_are_an_error() -> None:
    with pytest.raises(SgfError, match="illegal"):
        read_tree(b"(;SZ[9]AB[aa][ab][ba]AW[ca][bb][ac]AB[ca])").check_moves()
