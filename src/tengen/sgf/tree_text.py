"""A game with its variations from SGF and to SGF, with what can be read of a damaged record."""

from __future__ import annotations

from sgfmill import sgf_grammar

from tengen.errors import SgfError
from tengen.game import WHITE
from tengen.sgf.charset import guess_charset, has_escapes
from tengen.sgf.grammar import (
    RECORD_LIMITS,
    Properties,
    declared_charset,
    first_tree,
    has_lost_names,
    parse_tree,
    without_half_brackets,
)
from tengen.sgf.info import komi_problem
from tengen.sgf.main_line import SMALL_NAMES, SgfProblem, board_size, missing_handicap
from tengen.sgf.tree import GameNode, GameTree


def read_tree(data: bytes) -> GameTree:
    """Read the first game of an SGF text with its variations. A damaged text gives what comes before the damage.

    Handicap stones that the record does not give are set up in the root. Raises SgfError unless the text is a game of
    Go on a square board of a size that this build plays.
    """
    text = first_tree(data)
    RECORD_LIMITS.check(text)
    # Where the grammar could take half of a character for a bracket, it reads the text in UTF-8.
    mended = without_half_brackets(text)
    if not has_escapes(text) and all(mended.count(mark) == text.count(mark) for mark in (b"[", b"]", b"\\")):
        mended = text  # no character of two bytes contains a bracket, so the grammar can read the original bytes
    parsed = parse_tree(mended)
    coarse = parsed.tree
    charset = guess_charset(mended, declared_charset(coarse.sequence[0]))
    # The tree, with what could not be read in its problems.
    root = _named(coarse.sequence[0])
    if mended is not text:
        root["CA"] = [b"UTF-8"]
    tree = GameTree(board_size(root), root, charset)
    if tree.root.problem:
        raise SgfError(tree.root.problem)
    tree.problems += _off_board(tree.root)
    if parsed.damage:
        tree.problems.append(f"{parsed.damage}{': what follows is lost when the record is saved' * parsed.is_cut}")
    if has_lost_names(list(sgf_grammar.main_sequence_iter(coarse))):
        tree.problems.append(SMALL_NAMES)
    _add_nodes(tree, coarse)
    tree.guess_rules()
    _add_missing_handicap(tree)
    if tree.root.variations and (problem := komi_problem(tree.info, root, charset, tree.komi)):
        tree.problems.append(problem)
    return tree


def write_tree(tree: GameTree) -> bytes:
    """Write a game with its variations as SGF, in the encoding of the tree: UTF-8 unless it was read in another one.

    The properties of a node keep their order. Lines break between properties, after at most 79 bytes where that is
    possible.
    """
    parts: list[bytes] = []
    pending: list[GameNode | None] = [tree.root]  # None closes a variation; a recursion would be as deep as the game
    while pending:
        if (node := pending.pop()) is None:
            parts.append(b")")
            continue
        if node.parent is None or len(node.parent.children) > 1:
            parts.append(b"(")
            pending.append(None)
        parts.append(b";")
        for name, values in node.properties.items():
            parts.append(b"%b[%b]" % (name.encode("ascii"), b"][".join(values)))
        pending.extend(reversed(node.children))
    return bytes(sgf_grammar.block_format([*parts, b"\n"]))


def _add_nodes(tree: GameTree, coarse: sgf_grammar.Coarse_game_tree) -> None:
    """Add sgfmill's sequences to the root, without recursion: a hostile text may nest as deep as it is long."""
    pending = [(tree.root, coarse, 1, False)]
    while pending:
        node, current, start, lost = pending.pop()
        for properties in current.sequence[start:]:
            node = tree.add_node(node, _named(properties))
            if node.problem and not lost:
                tree.problems.append(node.problem)
                lost = True
            elif not lost:
                tree.problems += _off_board(node)
        pending.extend((node, child, 0, lost) for child in reversed(current.children))


def _off_board(node: GameNode) -> list[str]:
    """What a node sets up off the board, in words: one message, however many the points are."""
    values = node.off_board
    if len(values) > 1:
        return [f"points off the board: {values[0]} and {len(values) - 1:,} more are not shown, but saved"]
    return [f"a point off the board: {value} is not shown, but saved" for value in values]


def _named(properties: Properties) -> Properties:
    """Leave out a property whose name is in small letters: sgfmill gives it without a name."""
    return {name: values for name, values in properties.items() if name}


def _add_missing_handicap(tree: GameTree) -> None:
    """Set up the handicap stones in the root that the main line does not set up before its first move."""
    first = tree.first_to_play()
    for node in tree.main_line():
        if node.setup:
            return
        if node.move is not None:
            first = node.move[0]
            break
    tree.handicap_guess = tree.info.handicap if first == WHITE and tree.info.handicap > 1 else 0
    try:
        tree.root.setup = missing_handicap(tree.info, tree.size, first)
    except SgfProblem as problem:
        tree.problems.append(str(problem))
