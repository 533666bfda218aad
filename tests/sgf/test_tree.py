"""The game tree: how it is walked and changed, and what the rules say of it."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tengen.errors import SgfError
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.sgf import GameNode, GameTree, read_game, read_tree, write_tree

GAMES = Path(__file__).parents[1] / "data"


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


# Ways through the tree.


def test_paths_lines_and_move_numbers() -> None:
    tree = grown()
    last = tree.line(tree.root)[-1]
    assert [node.point for node in last.path] == [None, 10, 11, 12, 13]
    assert (last.depth, last.move_number, tree.root.depth, tree.root.path) == (4, 4, 0, [tree.root])
    note = tree.add_node(last, {"C": [b"a word"]})
    assert (note.depth, note.move_number, note.comment, note.move) == (5, 4, "a word", None)
    assert tree.add_move(note, 0, 81).is_pass and not note.is_pass and not last.is_pass


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


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda part: pickle.loads(pickle.dumps(part))])
def test_a_long_tree_is_copied_with_all_it_knows(copied: Callable[[object], tuple[GameTree, GameNode]]) -> None:
    tree = GameTree.of_game(Game(9))
    node = branch = tree.root
    for ply in range(5000):
        parent, node = node, tree.add_move(node, ply % 2, ply % 80)
        branch = tree.add_move(parent, ply % 2, 80)
    tree.visit(branch)
    tree.remove(tree.root.children[1])
    copy_of_tree, copy_of_branch = copied((tree, branch))
    assert write_tree(copy_of_tree) == write_tree(tree) and copy_of_tree.version == tree.version
    assert copy_of_branch in copy_of_tree and copy_of_branch not in tree and copy_of_branch.path[0] is copy_of_tree.root
    before, after = all_nodes(tree), all_nodes(copy_of_tree)
    assert [(a.id, a.move, a.properties) for a in after] == [(b.id, b.move, b.properties) for b in before]
    assert [n.id for n in copy_of_tree.line(copy_of_tree.root)] == [n.id for n in tree.line(tree.root)]
    assert copy_of_tree.add_move(copy_of_branch, 0, 40).id == tree.add_move(branch, 0, 40).id


def test_a_removed_node_cannot_be_copied_alone() -> None:
    tree = grown()
    gone = tree.root.children[0]
    tree.remove(gone)
    with pytest.raises(ValueError, match="was removed from its tree"):
        copy.deepcopy(gone)
