"""Game trees with variations: SGF text to nodes and back, nothing lost on the way; thin over sgfmill's trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sgfmill import sgf_grammar

from tengen import coords
from tengen.sgf.grammar import Properties, declared_charset, first_tree, read_line, without_half_brackets
from tengen.sgf.info import FACTS, SgfInfo, raw_text, read_info, root_properties, text_of
from tengen.sgf.record import SgfProblem, board_size, missing_handicap, move_of, player, setup_points
from tengen.sgf.values import guess_charset

_SETUP = ("AB", "AW", "AE")
_READ = frozenset({"B", "W", "C", "PL", *_SETUP})
_COLOR_LETTERS = (b"B", b"W")


@dataclass(eq=False)
class SgfNode:
    """A position in a tree: what happens there, and what may follow; `children[0]` is the main line.

    move: (colour, point), a pass being `size * size`, or None. black_stones, white_stones, emptied: points that setup
    changes. to_play: the colour that setup names. other: properties that we do not read, raw and in UTF-8.
    """

    move: tuple[int, int] | None = None
    comment: str = ""
    black_stones: list[int] = field(default_factory=list)
    white_stones: list[int] = field(default_factory=list)
    emptied: list[int] = field(default_factory=list)
    to_play: int | None = None
    other: Properties = field(default_factory=dict)
    children: list[SgfNode] = field(default_factory=list)

    @property
    def has_setup(self) -> bool:
        """Whether stones change here without being played."""
        return bool(self.black_stones or self.white_stones or self.emptied)

    def __repr__(self) -> str:
        return f"<SgfNode {self.move or 'without a move'}, {len(self.children)} children>"


@dataclass(eq=False)
class SgfTree:
    """A game with its variations; nothing in it is checked by the rules.

    Setup that stands in a node of its own between the root and the first move is in the root. `problems` says what
    could not be read: such a node is left out with all that follows it.
    """

    size: int
    info: SgfInfo
    root: SgfNode
    problems: list[str] = field(default_factory=list)

    def walk(self) -> Iterator[SgfNode]:
        """All nodes, parents before children, main lines first; any depth."""
        pending = [self.root]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))


def read_tree(data: bytes) -> SgfTree:
    """Read the first game of an SGF text with its variations; a damaged text gives the main line as far as it goes.

    Raises SgfError where it is no game of Go on a board from 5x5 to 19x19.
    """
    data = without_half_brackets(first_tree(data))
    problems: list[str] = []
    try:
        coarse = sgf_grammar.parse_sgf_game(data)
        charset = guess_charset(data, declared_charset(coarse.sequence[0]))
    except ValueError:
        line = read_line(data)
        coarse, charset = sgf_grammar.Coarse_game_tree(), line.charset
        coarse.sequence = line.nodes
        problems.append(line.damage)
    facts = coarse.sequence[0]
    size = board_size(facts)
    tree = SgfTree(size, read_info(facts, charset), SgfNode(), problems)
    _Builder(tree, charset).build(coarse)
    _join_setup(tree.root)
    first = tree.root.children[0].move if tree.root.children else None
    if first and not tree.root.has_setup:
        try:
            tree.root.black_stones = sorted(missing_handicap(tree.info, size, first[0]))
        except SgfProblem as problem:
            problems.append(str(problem))
    return tree


def write_tree(tree: SgfTree) -> bytes:
    """Write a game with its variations as SGF in UTF-8."""
    root = tree.root

    def properties(node: SgfNode) -> Properties:
        facts = root_properties(tree.info, tree.size) if node is root else {}
        return {**facts, **_written(node, tree.size)}

    coarse = sgf_grammar.make_coarse_game_tree(root, lambda node: node.children, properties)
    return bytes(sgf_grammar.serialise_game_tree(coarse))


class _Builder:
    """Turns sgfmill's sequences into nodes, without recursion: a hostile text may nest as deep as it is long."""

    def __init__(self, tree: SgfTree, charset: str) -> None:
        self.tree = tree
        self.charset = charset

    def build(self, coarse: sgf_grammar.Coarse_game_tree) -> None:
        """Fill the tree's root and what follows it."""
        self._fill(self.tree.root, coarse.sequence[0], is_root=True)
        pending = [(self.tree.root, coarse, 1)]
        while pending:
            node, current, start = pending.pop()
            try:
                for properties in current.sequence[start:]:
                    child = SgfNode()
                    self._fill(child, properties)
                    node.children.append(child)
                    node = child
            except SgfProblem as problem:
                self.tree.problems.append(str(problem))
                continue
            pending.extend((node, child_tree, 0) for child_tree in reversed(current.children))

    def _fill(self, node: SgfNode, properties: Properties, is_root: bool = False) -> None:
        size = self.tree.size
        node.move = move_of(properties, size)
        node.black_stones, node.white_stones, node.emptied = (setup_points(properties, name, size) for name in _SETUP)
        node.to_play = player(properties)
        node.comment = text_of(properties, "C", self.charset)
        skipped = _READ | FACTS if is_root else _READ
        for name, values in properties.items():
            if name and name not in skipped:  # a name in small letters comes without any, and could not be read again
                node.other[name] = [value.decode(self.charset, "replace").encode() for value in values]


def _join_setup(root: SgfNode) -> None:
    """Move setup that stands alone after the root into the root."""
    while root.move is None and len(root.children) == 1:
        child = root.children[0]
        if child.move is not None or not child.has_setup:
            return
        gone = {*child.emptied, *child.black_stones, *child.white_stones}
        root.black_stones = [p for p in root.black_stones if p not in gone] + child.black_stones
        root.white_stones = [p for p in root.white_stones if p not in gone] + child.white_stones
        root.to_play = root.to_play if child.to_play is None else child.to_play
        root.comment = "\n".join(filter(None, (root.comment, child.comment)))
        root.other |= child.other
        root.children = child.children


def _written(node: SgfNode, size: int) -> Properties:
    properties = dict(node.other)
    if node.move is not None:
        color, point = node.move
        properties["BW"[color]] = [coords.to_sgf(point, size).encode()]
    for name, points in zip(_SETUP, (node.black_stones, node.white_stones, node.emptied), strict=True):
        if points:
            properties[name] = [coords.to_sgf(point, size).encode() for point in points]
    if node.to_play is not None:
        properties["PL"] = [_COLOR_LETTERS[node.to_play]]
    if node.comment:
        properties["C"] = [raw_text(node.comment)]
    return properties
