"""A game with its variations: the tree behind SGF files, the browser and analysis.

A node keeps its SGF properties as raw bytes. Typed attributes (`move`, `comment`, `setup`, `marks` ...) read them, and
write only what changes, so a record that is read and written again keeps every other value byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tengen import coords
from tengen.errors import IllegalMove, SgfError, unknown_name
from tengen.game import BLACK, WHITE, Game, checked_color
from tengen.sgf.grammar import Properties, declared_charset
from tengen.sgf.info import APPLICATION, SgfInfo, other_name, raw_text, read_info, root_properties, text_of
from tengen.sgf.main_line import (
    SgfProblem,
    board_point,
    first_player,
    leading_stones,
    move_of,
    player,
    read_setup,
    setup_points,
)
from tengen.sgf.values import Result, result

SETUP = ("AB", "AW", "AE")
MARKS = {"triangle": "TR", "square": "SQ", "circle": "CR", "cross": "MA"}


@dataclass(frozen=True)
class Analysis:
    """What a search found in a position: Black's winrate from 0 to 1, Black's lead in points (None
    where the engine does not know it), and the visits."""

    winrate: float
    score_lead: float | None
    visits: int


def _letter(color: int) -> str:
    """SGF's letter of a color. Raises ValueError for what is none."""
    return "BW"[checked_color(color)]


class GameNode:
    """A position in a game tree. `GameTree.add_move` and `add_node` create nodes.

    id: unique in the tree; the root's is 0. children: all that may follow; `children[0]` is the main line. properties:
    raw SGF values by name, in the encoding of the tree. move: (color, point), or None; see `is_pass`.
    problem: why the node cannot be shown; normally empty. analysis: the result of a search of the position. edits: how
    often the position was changed.
    """

    def __init__(self, tree: GameTree, node_id: int, parent: GameNode | None, properties: Properties) -> None:
        self.tree = tree
        self.id = node_id
        self.parent = parent
        self.children: list[GameNode] = []
        self.properties = properties
        self.analysis: Analysis | None = None
        self.edits = 0
        self.move: tuple[int, int] | None = None
        self.problem = ""
        try:
            self.move = move_of(properties, tree.size)
            _ = self.setup
        except SgfProblem as problem:
            self.problem = str(problem)

    def __reduce__(self) -> tuple[Any, ...]:
        if self not in self.tree:
            raise ValueError(f"{self!r} was removed from its tree and cannot be copied: copy the tree, or put it back")
        return _node_of, (self.tree, self.id)

    def __repr__(self) -> str:
        return f"<GameNode {self.id}: {self.move or 'no move'}, {len(self.children)} children>"

    # Place in the tree.

    @property
    def variations(self) -> list[GameNode]:
        """The children that can be shown."""
        return [child for child in self.children if not child.problem]

    @property
    def ancestors(self) -> Iterator[GameNode]:
        """The parents up to the root, the nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def path(self) -> list[GameNode]:
        """The nodes from the root to this one, both included."""
        return [self, *self.ancestors][::-1]

    @property
    def depth(self) -> int:
        """Nodes between the root and this one, itself included; 0 for the root."""
        return sum(1 for _ in self.ancestors)

    @property
    def move_number(self) -> int:
        """Moves from the root to here."""
        return sum(node.move is not None for node in (self, *self.ancestors))

    @property
    def position_key(self) -> tuple[GameNode, int]:
        """Identifies the position: after an edit that changes it, the node has another key."""
        return self, self.edits

    # What the node says.

    @property
    def color(self) -> int | None:
        """The color of the move, None without one."""
        return None if self.move is None else self.move[0]

    @property
    def point(self) -> int | None:
        """The point of the move, `coords.pass_point` for a pass; None without one."""
        return None if self.move is None else self.move[1]

    @property
    def is_pass(self) -> bool:
        """Whether the move is a pass; False without one."""
        return self.point == coords.pass_point(self.tree.size)

    @property
    def comment(self) -> str:
        """The comment (C)."""
        return self.text("C")

    @comment.setter
    def comment(self, text: str) -> None:
        self.set_text("C", text)

    @property
    def setup(self) -> dict[int, int]:
        """Points that change without a move (AB, AW, AE): 0 black, 1 white, 2 empty; those `off_board` are left out.
        Raises SgfProblem, and ValueError where another color is set."""
        return {point: color for color, name in enumerate(SETUP) for point in self._points(name)}

    @setup.setter
    def setup(self, stones: Mapping[int, int]) -> None:
        if others := set(stones.values()) - set(range(len(SETUP))):
            raise ValueError(f"a point is set up as 0 (black), 1 (white) or 2 (empty), not {others.pop()!r}")
        for color, name in enumerate(SETUP):
            self._set_points(name, [point for point, new in stones.items() if new == color])

    @property
    def off_board(self) -> list[str]:
        """The values of a setup that are off the board, such as `AB[zz]`; they stay in the record."""
        values: list[str] = []
        for name in SETUP:
            setup_points(self.properties, name, self.tree.size, values)
        return values

    @property
    def to_play(self) -> int | None:
        """The color to play that the node names (PL); None where it names none."""
        return player(self.properties)

    @to_play.setter
    def to_play(self, color: int | None) -> None:
        if color != self.to_play:
            self._set("PL", [] if color is None else [_letter(color).encode()])

    @property
    def marks(self) -> dict[int, str]:
        """Marks by point: `triangle`, `square`, `circle` or `cross`; ValueError where another one is set. Points off
        the board are left out."""
        return {point: mark for mark, name in MARKS.items() for point in self._points_on_board(name)}

    @marks.setter
    def marks(self, marks: Mapping[int, str]) -> None:
        if others := set(marks.values()) - set(MARKS):
            raise ValueError(unknown_name("mark", others.pop(), MARKS))
        for mark, name in MARKS.items():
            self._set_points(name, [point for point, new in marks.items() if new == mark])

    @property
    def lines(self) -> list[tuple[int, int]]:
        """Lines between two points (LN). Invalid and repeated values are left out."""
        return self._pairs("LN")

    @property
    def arrows(self) -> list[tuple[int, int]]:
        """Arrows from a point to another (AR). Invalid and repeated values are left out."""
        return self._pairs("AR")

    @property
    def dimmed(self) -> list[int]:
        """Points that are drawn dim (DD), here and in the nodes below up to one with its own; `DD[]` ends it."""
        named = next((node for node in (self, *self.ancestors) if "DD" in node.properties), self)
        return named._points_on_board("DD")

    @property
    def territory(self) -> dict[int, int]:
        """Points that are marked as territory (TB, TW): 0 Black's, 1 White's. Points off the board are left out."""
        return {point: color for color, name in enumerate(("TB", "TW")) for point in self._points_on_board(name)}

    @property
    def labels(self) -> dict[int, str]:
        """Texts on points (LB). Values that are none are left out."""
        labels: dict[int, bytes] = {}
        for value in self.properties.get("LB", ()):
            place, colon, text = value.partition(b":")
            point = board_point(place, self.tree.size)
            if colon and point is not None:
                labels[point] = text
        return {point: text_of({"LB": [text]}, "LB", self.tree.charset) for point, text in labels.items()}

    @labels.setter
    def labels(self, labels: Mapping[int, str]) -> None:
        if labels != self.labels:
            self.tree._prepare_for("".join(labels.values()))
            places = {coords.to_sgf(point, self.tree.size).encode(): text for point, text in labels.items()}
            self._set("LB", [place + b":" + raw_text(text) for place, text in places.items()])

    def text(self, name: str) -> str:
        """The text of any property; empty where the node has none."""
        return text_of(self.properties, name, self.tree.charset)

    def set_text(self, name: str, text: str) -> None:
        """Change the text of any property; an empty text removes it. The same text again changes no byte."""
        if text != self.text(name):
            self.tree._prepare_for(text)
            self._set(name, [raw_text(text)] if text else [])

    def set_flag(self, name: str) -> None:
        """Give the node a property without a value, such as DO; one that it has stays as it is."""
        if name not in self.properties:
            self._set(name, [b""])

    def _pairs(self, name: str) -> list[tuple[int, int]]:
        pairs = []
        for value in dict.fromkeys(self.properties.get(name, ())):
            first, _, last = value.partition(b":")
            start, end = board_point(first, self.tree.size), board_point(last, self.tree.size)
            if start is not None and end is not None and start != end:
                pairs.append((start, end))
        return pairs

    def _points(self, name: str) -> list[int]:
        return setup_points(self.properties, name, self.tree.size, off_board=[])

    def _points_on_board(self, name: str) -> list[int]:
        try:
            return self._points(name)
        except SgfProblem:
            return []

    def _set_points(self, name: str, points: Sequence[int]) -> None:
        if sorted(points) != sorted(self._points_on_board(name)):
            self._set(name, [coords.to_sgf(point, self.tree.size).encode() for point in points])

    def _set(self, name: str, values: list[bytes]) -> None:
        self.tree.version += 1
        if values:
            self.properties[name] = values
        else:
            self.properties.pop(name, None)


_LINKS = ("tree", "parent", "children")
_STAND_IN = "ko=simple,scoring=area,suicide=true,bonus=none"  # forbids the least


class GameTree:
    """A game with its variations. `read_tree` reads one from SGF, `GameTree.of_game` makes one from a game.

    size: 2 to `coords.MAX_SIZE`. rules, komi: of the positions; from the record, or guessed where it names none. Rules
    that it names but Tengen does not know are a problem, and rules that allow nearly every move stand in for them.
    charset: the encoding of the raw properties. problems: what could not be read, or is read otherwise, in words.
    version: grows with every change.
    handicap_guess: how many handicap stones the record names without their points, when White plays first: `read_tree`
    puts up to four on the corner points.

    A node with a `problem` stays in the tree and is written again, but `variations`, `walk` and `line` skip it with all
    that follows. The tree remembers for each node which variation was last visited; `line` and `following` go that way.
    """

    def __init__(self, size: int, root: Properties, charset: str = "utf-8") -> None:
        info = read_info(root, charset)
        self.size = size
        self.version = 0
        self.handicap_guess = 0
        self.problems: list[str] = []
        if info.unknown_rules:
            self.problems.append(f"the rules RU[{info.unknown_rules[:40]}] are unknown: shown by {_STAND_IN}")
        self.rules, self.komi = _rules_and_komi(info)
        self.charset = charset
        self._nodes: dict[int, GameNode] = {}
        self._illegal: list[GameNode] = []  # whose problem `check_moves` has found
        self._next_id = 0
        self._visited: dict[int, GameNode] = {}
        self.root = self._new_node(None, root)

    def __len__(self) -> int:
        """Nodes in all, the root included."""
        return len(self._nodes)

    def __getstate__(self) -> dict[str, Any]:
        # Flat, by ids: nodes within nodes are a recursion as deep as the game. Parents come before their children.
        nodes = [
            (None if node.parent is None else node.parent.id, {k: v for k, v in vars(node).items() if k not in _LINKS})
            for node in _with_all_below(self.root)
        ]
        visited = {place: node.id for place, node in self._visited.items()}
        illegal = [node.id for node in self.hidden]
        return {**vars(self), "root": None, "_nodes": nodes, "_visited": visited, "_illegal": illegal}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._nodes = {}
        for parent_id, attributes in state["_nodes"]:
            node = GameNode.__new__(GameNode)
            parent = None if parent_id is None else self._nodes[parent_id]
            vars(node).update(attributes, tree=self, parent=parent, children=[])
            self._nodes[node.id] = node
            if parent is None:
                self.root = node
            else:
                parent.children.append(node)
        self._visited = {place: self._nodes[node_id] for place, node_id in state["_visited"].items()}
        self._illegal = [self._nodes[node_id] for node_id in state["_illegal"]]

    def __contains__(self, node: GameNode) -> bool:
        """Whether the tree still holds a node."""
        return self._nodes.get(node.id) is node

    @classmethod
    def of_game(cls, game: Game, info: SgfInfo | None = None, *, moves: bool = True) -> GameTree:
        """The tree of a played game, a single line; its root alone without `moves`.

        Komi, rules and handicap come from the game where `info` has none. So does the result of a game that ended by
        resignation or without result. The result of a counted game depends on the dead stones, which a game does not
        contain, and comes from `info` alone.
        """
        info = info or SgfInfo()
        certain = game.ending == "resignation" or game.is_no_result
        info = replace(
            info,
            komi=game.komi if info.komi is None else info.komi,
            rules=info.rules or game.rules.text,
            handicap=info.handicap or game.handicap,
            result=result(game.result()) if certain and info.result == Result() else info.result,
            application=info.application or APPLICATION,
        )
        tree = cls(game.size, root_properties(info, game.size))
        tree.rules, tree.komi = game.rules.text, game.komi
        tree.root.setup = {point: color for color, point in game.setup_stones}
        if game.setup_stones or game.first_to_play:
            tree.root.to_play = game.first_to_play
        node = tree.root
        for color, point in game.moves if moves else ():
            node = tree.add_move(node, color, point)
        return tree

    @property
    def info(self) -> SgfInfo:
        """The game information of the root. Assign a changed copy: only what differs is written."""
        moves = (node.move for node in self.main_line() if node.move is not None)
        return read_info(self.root.properties, self.charset, leading_stones(moves, self.size))

    @info.setter
    def info(self, info: SgfInfo) -> None:
        old, new = root_properties(self.info, self.size), root_properties(info, self.size)
        for name in old | new:
            if old.get(name) != new.get(name):
                values = new.get(name, [])
                self._prepare_for("".join(value.decode() for value in values))
                self.root._set(name, values)
                if other := other_name(self.root.properties, name, self.charset):
                    self.root._set(other, [])

    # Nodes.

    def get(self, node_id: int) -> GameNode | None:
        """The node with this id, if the tree still holds it."""
        return self._nodes.get(node_id)

    def add_move(self, parent: GameNode, color: int, point: int) -> GameNode:
        """The child of `parent` with this move: the existing one, else a new last one. The rules are not checked.

        Raises ValueError for a color other than 0 (black) and 1 (white).
        """
        for child in parent.variations:
            if child.move == (color, point):
                return child
        return self.add_node(parent, {_letter(color): [coords.to_sgf(point, self.size).encode()]})

    def add_node(self, parent: GameNode, properties: Properties) -> GameNode:
        """A new last child of `parent` with these raw properties, in the encoding of the tree."""
        self.version += 1
        node = self._new_node(parent, properties)
        parent.children.append(node)
        return node

    def remove(self, node: GameNode) -> None:
        """Remove a node and all that follows. Raises ValueError for the root.

        Whose turn it is at the root stays: the root says it (PL) where the main line no longer does.
        """
        if node.parent is None:
            raise ValueError("the root of a game tree cannot be removed")
        with self._same_turn():
            self.set_children(node.parent, [child for child in node.parent.children if child is not node])

    def make_main(self, node: GameNode) -> None:
        """Make the line through `node` the main line: it and its ancestors become first children.

        Whose turn it is at the root stays, as with `remove`. Raises ValueError for a node that the tree does not hold.
        """
        if node not in self:
            raise ValueError("the node is not in this tree: it was removed, or is of another one")
        with self._same_turn():
            for step in node.path[1:]:
                assert step.parent is not None
                self.set_children(step.parent, [step, *(child for child in step.parent.children if child is not step)])

    @contextmanager
    def _same_turn(self) -> Iterator[None]:
        """Keep the turn at the root over a change of the main line, from which it is read where the root is silent."""
        before = self.first_to_play()
        yield
        if self.first_to_play() != before:
            self.root.to_play = before

    def set_children(self, parent: GameNode, children: Sequence[GameNode]) -> None:
        """Order, remove and put back the children of a node, each with all that follows it."""
        self.version += 1
        before, after = set(parent.children), set(children)
        for gone in before - after:
            for node in _with_all_below(gone):
                del self._nodes[node.id]
                self._visited.pop(node.id, None)
            if self._visited.get(parent.id) is gone:
                del self._visited[parent.id]
        for back in after - before:
            self._nodes.update((node.id, node) for node in _with_all_below(back))
        parent.children = list(children)

    def walk(self, start: GameNode | None = None) -> Iterator[GameNode]:
        """`start` (the root) and all that follows it, parents before children, main lines first; any depth."""
        return _subtree(start or self.root, lambda node: node.variations)

    def numbered(self) -> dict[int, int]:
        """The number of every node, by id, in the order of the text; as ids in a tree that is read from it."""
        return {node.id: number for number, node in enumerate(_with_all_below(self.root))}

    def _new_node(self, parent: GameNode | None, properties: Properties) -> GameNode:
        node = GameNode(self, self._next_id, parent, properties)
        self._nodes[node.id] = node
        self._next_id += 1
        return node

    # Lines.

    def main_line(self) -> Iterator[GameNode]:
        """The root and the first children that can be shown, one after the other."""
        node: GameNode | None = self.root
        while node is not None:
            yield node
            node = next(iter(node.variations), None)

    def visit(self, node: GameNode) -> None:
        """Remember the way to `node`, so that `line` and `following` go along it."""
        for step in node.path[1:]:
            assert step.parent is not None
            self._visited[step.parent.id] = step

    def following(self, node: GameNode) -> GameNode | None:
        """The child that was last visited, else the main line's; None at the end of a line."""
        return self._visited.get(node.id) or next(iter(node.variations), None)

    def line(self, node: GameNode) -> list[GameNode]:
        """The line through `node`: its path from the root, then `following` to the end."""
        line = node.path
        following = self.following(node)
        while following is not None:
            line.append(following)
            following = self.following(following)
        return line

    # Positions.

    def position(self, node: GameNode) -> Game:
        """The game at `node`, with its history.

        Stones set up after a move start a new history: earlier captures and positions do not count, a bonus for the
        handicap does. A turn alone that changes after a move (PL) keeps the history for the moves that follow; until
        the next one the game is that of `Game.restarted_here`. Raises SgfError where a move on the way is illegal.
        """
        *_, game = self.positions(node.path)
        return game

    def positions(self, line: Sequence[GameNode]) -> Iterator[Game]:
        """The game at each node of a line from the root: one object that goes on, so copy what is kept.

        Raises SgfError where a move is illegal.
        """
        for game, turn in self._games(line):
            yield game if turn == game.to_play else game.restarted_here(turn)

    def first_to_play(self) -> int:
        """Whose turn it is at the root: what the record says, the color of the main line's first move, or White's after
        a handicap."""
        setups = []
        for node in self.main_line():
            if node.move is not None:
                return node.move[0]
            if node.to_play is not None:
                return node.to_play
            setups.append(node.properties)
        return first_player(read_setup(setups, self.size, off_board=[])[0], None)

    def _games(self, line: Sequence[GameNode]) -> Iterator[tuple[Game, int]]:
        """The games of `positions` with their history, and whose turn it is, which may be another than theirs."""
        game = self._root_position(self.rules, self.komi)
        turn = game.to_play
        for step in line:
            if step.problem:
                raise SgfError(step.problem)
            if step is not self.root:
                try:
                    game, turn = _advance(game, turn, step)
                except IllegalMove as error:
                    raise SgfError(str(error)) from error
            yield game, turn

    def _root_position(self, rules: str, komi: float) -> Game:
        game = Game(self.size, rules, komi).setup(to_play=self.first_to_play())
        try:
            return _advance(game, game.to_play, self.root)[0]
        except IllegalMove as error:
            raise SgfError(f"the position at the root is illegal: {error}") from error

    def position_changed(self, node: GameNode) -> None:
        """The stones or the turn at `node` were changed: drop the analyses of it and of all that follows."""
        for changed in self.walk(node):
            changed.analysis = None
            changed.edits += 1

    # Rules.

    def check_move(self, node: GameNode, color: int, point: int) -> None:
        """Raise IllegalMove where this move may not follow `node`, by the history that it has in the tree.

        The position of a turn that changed after a move (PL) does not have this history, and allows more.
        """
        *_, (game, _) = self._games(node.path)
        game.copy().play(point, color=color)

    def check_moves(self) -> list[str]:
        """Check all variations by the rules; returns what is wrong, in words.

        A node with an illegal move gets a `problem`, so that its variation ends before it. Raises SgfError where the
        position at the root is illegal.
        """
        nodes, found = list(self.walk()), {}
        for node, problem, illegal in self._problems(self.rules, self.komi):
            found[node.id] = problem
            if illegal:
                node.problem = problem
                self._illegal.append(node)
        return [found[node.id] for node in nodes if node.id in found]

    def allows(self, rules: str, komi: float, but: Container[GameNode] = ()) -> bool:
        """Whether all moves that can be shown, `but` these and what follows them, are legal under these rules. Nothing
        changes."""
        return not any(illegal and node not in but for node, _problem, illegal in self._problems(rules, komi))

    @property
    def hidden(self) -> list[GameNode]:
        """The nodes that cannot be shown because `check_moves` has found their moves illegal."""
        return [node for node in self._illegal if node in self]

    def check_again(self) -> None:
        """Check all moves again, after a change of a position or of the rules: what was illegal may be legal now."""
        # A node that an edit has removed keeps its problem: it is checked the next time, should it come back.
        hidden, self._illegal = self._illegal, []
        for node in hidden:
            node.problem = "" if node in self else node.problem
        self.check_moves()
        self._illegal += [node for node in hidden if node not in self]
        self._visited = {place: node for place, node in self._visited.items() if not node.problem}

    def guess_rules(self) -> None:
        """Take rules and komi from the root and the main line, when the tree is read."""
        self.rules, self.komi = _rules_and_komi(self.info)

    def read_rules(self) -> None:
        """Take rules and komi from the root again, after an edit of it. Where they differ, moves are checked by the new
        rules and all analyses are dropped."""
        if (read := _rules_and_komi(self.info)) != (self.rules, self.komi):
            self.rules, self.komi = read
            self.check_again()
            self.position_changed(self.root)

    def _problems(self, rules: str, komi: float) -> Iterator[tuple[GameNode, str, bool]]:
        """(node, what is wrong in words, whether the move is illegal) of all variations by these rules, in any order.
        What follows an illegal move is left out."""
        nodes = list(self.walk())
        size = dict.fromkeys((node.id for node in nodes), 1)
        for node in reversed(nodes):
            if node.parent is not None:
                size[node.parent.id] += size[node.id]
        # The largest branch comes last and takes the game of its parent, the others copy it: no more than log2(nodes)
        # games exist at a time, each with its history, whatever the shape of the tree.
        root = self._root_position(rules, komi)
        pending = [(self.root, root, root.to_play, True)]
        while pending:
            node, game, turn, last = pending.pop()
            if node.parent is not None:
                game, moves = game if last else game.copy(), game.move_count
                try:
                    game, turn = _advance(game, turn, node)
                except IllegalMove as error:
                    yield node, str(error), True
                    continue
                if moves and node.setup:
                    yield node, f"stones are set up after move {moves}: earlier captures are not counted", False
            branches = sorted(node.variations, key=lambda child: -size[child.id])
            pending.extend((child, game, turn, place == 0) for place, child in enumerate(branches))

    # Encoding.

    def _prepare_for(self, text: str) -> None:
        """Convert the tree to UTF-8 unless its encoding can surely hold a text."""
        if text.isascii():
            return
        if self.charset != "utf-8":
            for node in self._nodes.values():
                for name, values in node.properties.items():
                    texts = [value.decode(self.charset, "replace") for value in values]
                    node.properties[name] = [text.encode("utf-8", "replace") for text in texts]
            self.charset = "utf-8"
        if declared_charset(self.root.properties).lower() != "utf-8":
            root = self.root.properties
            if "CA" not in root:  # before the texts, which old programs read by it
                order = (*(name for name in root if name in ("FF", "GM", "SZ")), "CA", *root)
                root = self.root.properties = {name: root.get(name, []) for name in order}
            root["CA"] = [b"UTF-8"]


def _rules_and_komi(info: SgfInfo) -> tuple[str, float]:
    """What the positions of a record are judged by; see `GameTree`."""
    if info.unknown_rules:
        info = replace(info, rules=_STAND_IN)
    return info.rules_or_guess, info.komi_or_guess


def _advance(game: Game, turn: int, node: GameNode) -> tuple[Game, int]:
    """The game after what a node sets up and plays: the same object, or a new one after a setup; and whose turn it is.

    `turn` is whose turn it was. A game with moves keeps its own until the next one. Raises IllegalMove.
    """
    stones = node.setup
    if node.to_play is not None and node.move is None:
        turn = node.to_play
    if stones or (turn != game.to_play and not game.move_count):
        board = game.board.ravel()
        board[list(stones)] = list(stones.values())
        black, white = (np.flatnonzero(board == color).tolist() for color in (BLACK, WHITE))
        if game.move_count:
            game = game.restarted(black, white, turn)
        else:  # these stones may be the handicap
            game = Game(game.size, game.rules, game.komi).setup(black, white, turn)
    if node.move is not None:
        color, point = node.move
        game.play(point, color=color)
        turn = game.to_play
    return game, turn


def _node_of(tree: GameTree, node_id: int) -> GameNode:
    return tree._nodes[node_id]


def _with_all_below(start: GameNode) -> Iterator[GameNode]:
    """`start` and all nodes below it, also those that cannot be shown."""
    return _subtree(start, lambda node: node.children)


def _subtree(start: GameNode, below: Callable[[GameNode], list[GameNode]]) -> Iterator[GameNode]:
    """`start` and all nodes that `below` leads to from it, parents before children, without recursion."""
    pending = [start]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(below(node)))
