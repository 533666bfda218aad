"""Edits of a record on the page: stones, marks, the order of variations, comments; all can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from itertools import count, islice, product
from string import ascii_uppercase

from tengen.errors import SgfError, TengenError
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.rules import Rules
from tengen.sgf import GameNode, GameTree
from tengen.sgf.info import OTHER_NAMES, other_name
from tengen.sgf.tree import MARKS
from tengen.sgf.values import MAX_FOREIGN_KOMI
from tengen.sgf.values import result as read_result
from tengen.web.language import _
from tengen.web.session import GameSession, check_point


class Tool(StrEnum):
    """What a tap on the board does: set up a stone, or draw a mark or a label, or take it away."""

    BLACK = "black"
    WHITE = "white"
    TRIANGLE = "triangle"
    SQUARE = "square"
    CIRCLE = "circle"
    CROSS = "cross"
    LETTER = "letter"
    NUMBER = "number"


class Editor:
    """Edits the shown position of a session. Methods raise TengenError, and then nothing has changed."""

    def __init__(self, session: GameSession) -> None:
        self._session = session

    def apply(self, tool: Tool, point: object) -> None:
        """Use a tool on a point that a page sent; what is there already is taken away."""
        checked = check_point(point, self._session.game.size)
        if tool in (Tool.BLACK, Tool.WHITE):
            self._set_up({checked: BLACK if tool is Tool.BLACK else WHITE})
        elif tool in (Tool.LETTER, Tool.NUMBER):
            self._label(checked, tool)
        else:
            self._mark(checked, tool)

    def swap_turn(self) -> None:
        """Let the other color play next."""
        self._set_up({}, 1 - self._session.game.to_play)

    def comment(self, text: str, node: GameNode | None = None) -> None:
        """Change the comment on a position, by default the shown one; what is typed at one place is one edit."""
        node = node or self._session.node
        with self._session.history.edit(node, key=("comment", node.id)):
            node.comment = text

    def remove(self) -> None:
        """Remove the shown node and all that follows it."""
        node, parent = self._session.node, self._session.node.parent
        if parent is None:
            raise TengenError(_("the first position cannot be removed"))
        with self._session.history.edit(*dict.fromkeys((parent, self._session.tree.root))):
            self._session.tree.remove(node)
        self._session.show_again(parent)

    def promote(self) -> None:
        """Make the line through the shown node the main line."""
        node = self._session.node
        with self._session.history.edit(*node.ancestors):
            self._session.tree.make_main(node)
        self._session.show_again(node)

    def describe(self, texts: Mapping[str, str], rules: str, komi: float) -> None:
        """Change the game information: texts of the root by their properties, and what the positions are judged by.

        Raises TengenError for a result that cannot be read, a komi that contradicts it, and rules under which a move
        of the game is illegal.
        """
        session, tree = self._session, self._session.tree
        replace(session.settings, rules=rules, komi=komi)  # checks the komi
        after = _described(tree, texts, rules, komi)
        if (rules, komi) != (tree.rules, tree.komi) and not tree.allows(rules, komi):
            raise TengenError(_("a move of the game is illegal under these rules"))
        with session.history.edit(*dict.fromkeys((session.node, tree.root))):
            for name in (*texts, *OTHER_NAMES.values(), "RU", "KM", "RE"):
                tree.root.set_text(name, after.text(name))
        session.read_info()
        session.show_again(session.node)

    def undo(self) -> None:
        """Undo the last edit and show its place."""
        self._undone(self._session.history.undo)

    def redo(self) -> None:
        """Make the last undone edit again and show its place."""
        self._undone(self._session.history.redo)

    def _undone(self, move: Callable[[], GameNode | None]) -> None:
        before = self._session.tree.info
        with self._stale_review_dropped():
            try:
                node = move()
            except SgfError as error:
                raise TengenError(_("a move that follows would be illegal: remove it first")) from error
        if self._session.tree.info != before:
            self._session.read_info()
        self._session.show_again(node)

    @contextmanager
    def _stale_review_dropped(self) -> Iterator[None]:
        """Drop the review where the block changes a position of it."""
        review = self._session.analyses.review
        reviewed = () if review is None else review.nodes
        before = [node.edits for node in reviewed]
        yield
        if [node.edits for node in reviewed] != before:
            self._session.analyses.review = None

    def _set_up(self, stones: Mapping[int, int], to_play: int | None = None) -> None:
        """Set up stones here, in a node of their own where the shown one has a move. A handicap that the record names
        follows. What would make a move that follows illegal is refused."""
        session = self._session
        info = session.tree.info
        with self._stale_review_dropped(), session.history.edit(session.node):
            node = session.node
            if node.move is not None:
                node = session.tree.add_node(node, {})
                before = session.game
            else:
                before = self._before(node)
            board, setup = before.board.ravel(), dict(node.setup)
            for point, color in stones.items():
                now = setup.get(point, int(board[point]))
                setup[point] = EMPTY if now == color else color
                if setup[point] == board[point]:
                    del setup[point]
            node.setup = setup
            if to_play is not None:
                node.to_play = to_play
            try:
                game = session.tree.position(node)
            except SgfError as error:
                raise TengenError(_("a group would be left without a liberty")) from error
            if stones and node.parent is None and node.text("HA"):
                # 0 and not removed: a stone that is put elsewhere next is one of the handicap again.
                node.set_text("HA", str(game.handicap))
            if node.children and not session.tree.allows(session.tree.rules, session.tree.komi):
                raise TengenError(_("a move that follows would be illegal: remove it first"))
        if session.tree.info != info:  # the komi may be guessed from the handicap
            session.read_info()
        session.show_again(node)

    def _before(self, node: GameNode) -> Game:
        """The position before what a node sets up."""
        size = node.tree.size
        return Game(size) if node.parent is None else node.tree.position(node.parent)

    def _mark(self, point: int, tool: Tool) -> None:
        node = self._session.node
        marks = node.marks
        with self._session.history.edit(node):
            if marks.pop(point, None) != tool:
                assert tool in MARKS
                marks[point] = str(tool)
            node.marks = marks

    def _label(self, point: int, tool: Tool) -> None:
        node = self._session.node
        labels = node.labels
        with self._session.history.edit(node):
            if labels.pop(point, None) is None:
                names: Iterator[str] = map(str, count(1)) if tool is Tool.NUMBER else _letters()
                labels[point] = next(name for name in names if name not in labels.values())
            node.labels = labels


def _described(tree: GameTree, texts: Mapping[str, str], rules: str, komi: float) -> GameNode:
    """The root of a tree with other game information, apart from it: see `Editor.describe`."""
    after = GameTree(tree.size, dict(tree.root.properties), tree.charset)
    root, result = after.root, str(tree.info.result)
    node = root
    for step in islice(tree.main_line(), 1, None):  # up to White's first move: in records of Fox they tell the handicap
        node = after.add_node(node, dict(step.properties))
        if node.color == WHITE:
            break
    for name, text in texts.items():
        root.set_text(name, text)
        if not text and (other := other_name(root.properties, name, after.charset)):
            root.set_text(other, "")
    if "RE" in texts:
        read = read_result(texts["RE"])
        result = str(read)
        if texts["RE"] and read.ending == "unknown" and texts["RE"] != result:
            wrong = _("the result {text!r} cannot be read", text=texts["RE"][:40])
            raise TengenError(wrong + ": " + _("write it as B+3.5, W+R, W+T, Draw or Void"))
    after.read_rules()
    judged = Rules.parse(rules)  # names that mean the same, such as korean and japanese, change nothing
    changed = (judged, komi) != (Rules.parse(tree.rules), tree.komi)
    if changed and (Rules.parse(after.rules) != judged or not root.text("RU")):  # else it is guessed from the komi
        root.set_text("RU", rules)
    if changed or ("RE" in texts and root.text("KM")):
        root.set_text("KM", f"{komi:g}")
    if str(after.info.result) != result:  # the record counted in Chinese stones
        root.set_text("RE", result)
    after.read_rules()
    if (changed or "RE" in texts) and (after.komi != komi or (root.text("KM") and after.info.komi is None)):
        wrong = _("komi {komi:g} is not possible", komi=komi)
        score = after.info.result.score
        if score is not None and not (score - komi).is_integer():
            why = _("the result is {result}", result=result)
        elif abs(komi) > MAX_FOREIGN_KOMI:
            why = _("choose a whole or half number up to {limit:g}", limit=MAX_FOREIGN_KOMI)
        else:
            why = _("the record is of the Fox server, where 0 in an even game stands for an unknown komi")
        raise TengenError(f"{wrong}: {why}")
    return root


def _letters() -> Iterator[str]:
    """A to Z, then AA, AB ..."""
    yield from ascii_uppercase
    yield from map("".join, product(ascii_uppercase, repeat=2))
