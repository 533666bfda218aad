"""Undo and redo of edits of a game tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType

from tengen.errors import SgfError
from tengen.sgf.tree import SETUP, GameNode, GameTree

_LIMIT = 500
_POSITION = (*SETUP, "PL")
_RULES = ("RU", "KM", "HA", "RE", "AP", "KO", "HD")  # what `GameTree` takes rules and komi from


@dataclass(frozen=True)
class _NodeState:
    properties: dict[str, list[bytes]]
    children: tuple[GameNode, ...]

    @classmethod
    def of(cls, node: GameNode) -> _NodeState:
        return cls(dict(node.properties), tuple(node.children))


@dataclass(frozen=True)
class _Edit:
    shown: GameNode
    charset: str
    key: object
    states: list[tuple[GameNode, _NodeState, _NodeState]]  # node, before, after
    revealed: dict[GameNode, frozenset[GameNode]]
    """The nodes whose moves it made legal, each with all that followed: the edit back hides them."""


class EditHistory:
    """The last 500 edits of a tree. Moves and nodes that were added or removed otherwise in between stay so.

    An edit that changed the encoding of the tree, or was made before that, cannot be undone. An edit of a node that was
    removed otherwise is dropped. Every edit of a position, undone and redone ones too, drops its analysis, and
    one of rules or komi drops them all.
    """

    def __init__(self, tree: GameTree) -> None:
        self._tree = tree
        self._done: list[_Edit] = []
        self._undone: list[_Edit] = []

    @contextmanager
    def edit(self, *nodes: GameNode, key: object = None) -> Iterator[None]:
        """Record the changes that the block makes to the properties and children of these nodes; `nodes[0]` is shown.

        An edit with the same `key` as the one before continues it, unless its nodes have changed in between. A block
        that raises is undone.
        """
        before, charset = [(node, _NodeState.of(node)) for node in nodes], self._tree.charset
        turn = self._tree.first_to_play()
        try:
            yield
        except BaseException:
            self._restore(before)
            self._tree.read_rules()
            raise
        states = [(node, old, new) for node, old in before if (new := _NodeState.of(node)) != old]
        revealed = self._follow(states, turn)
        if not states or charset != self._tree.charset:
            return
        last = self._done[-1] if self._done else None
        if last is not None and key is not None and last.key == key and not self._undone:
            left, found = ([state[::2] for state in last.states], [state[:2] for state in states])
            if left == found:
                states = [(node, old, new) for (node, old, _), (_, _, new) in zip(last.states, states, strict=True)]
                revealed = last.revealed | revealed
                self._done.pop()
        self._done.append(_Edit(nodes[0], charset, key, states, revealed))
        del self._done[:-_LIMIT], self._undone[:]

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return self._usable(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit to redo."""
        return self._usable(self._undone)

    def undo(self) -> GameNode | None:
        """Undo the last edit; returns the node to show, None where there is none.

        Raises SgfError, and changes nothing, where a move that was made since would be illegal.
        """
        return self._move(self._done, self._undone, back=True)

    def redo(self) -> GameNode | None:
        """Make the last undone edit again; returns the node to show and raises SgfError as `undo` does."""
        return self._move(self._undone, self._done, back=False)

    def _usable(self, edits: list[_Edit]) -> bool:
        while edits and not all(node in self._tree for node, _, _ in edits[-1].states):
            edits.pop()
        return bool(edits) and edits[-1].charset == self._tree.charset

    def _move(self, source: list[_Edit], target: list[_Edit], back: bool) -> GameNode | None:
        if not self._usable(source):
            return None
        edit = source[-1]
        turn, now = self._tree.first_to_play(), [(node, _NodeState.of(node)) for node, _, _ in edit.states]
        self._apply(edit.states, back)
        moved = any(_changed(*state[1:]).intersection(_POSITION) for state in edit.states)
        if moved and not self._is_legal(edit.revealed):
            self._restore(now)
            raise SgfError("a move that follows would be illegal: remove it first")
        source.pop()
        target.append(replace(edit, revealed=self._follow(edit.states, turn, edit.revealed)))
        changes = ((before, after)[:: -1 if back else 1] for _, before, after in edit.states)
        added = [child for old, new in changes for child in _without(new.children, old.children)]
        shown = edit.shown if edit.shown in self._tree else edit.states[0][0]
        return added[0] if added else shown

    def _follow(
        self,
        states: list[tuple[GameNode, _NodeState, _NodeState]],
        turn: int,
        revealed: Mapping[GameNode, frozenset[GameNode]] = MappingProxyType({}),
    ) -> dict[GameNode, frozenset[GameNode]]:
        """Drop what these changes made wrong, and show what they made legal; `turn` was that of the root before them.

        `revealed` is that of the edit which comes undone by them; returns that of these changes.
        """
        hidden, moved = self._tree.hidden, False
        for node, before, after in states:
            changed = _changed(before, after)
            if node is self._tree.root and self._tree.first_to_play() == turn:
                changed.discard("PL")  # which says what the main line said
            if changed.intersection(_POSITION):
                self._tree.position_changed(node)
                moved = True
            if node is self._tree.root and changed.intersection(_RULES):
                self._tree.read_rules()
        if moved and (hidden or revealed):
            self._tree.check_again()
        return {node: frozenset(self._tree.walk(node)) for node in hidden if not node.problem}

    def _is_legal(self, revealed: Mapping[GameNode, frozenset[GameNode]]) -> bool:
        """Whether all moves of the tree that can be shown are legal, but for what an edit has `revealed`, which may be
        hidden again unless moves were made there since."""
        hidden = {node for node, known in revealed.items() if known.issuperset(self._tree.walk(node))}
        try:
            return self._tree.allows(self._tree.rules, self._tree.komi, hidden)
        except SgfError:  # of the position at the root
            return False

    def _restore(self, states: list[tuple[GameNode, _NodeState]]) -> None:
        """Give the nodes the states that they had."""
        self._apply([(node, old, _NodeState.of(node)) for node, old in states], back=True)

    def _apply(self, states: list[tuple[GameNode, _NodeState, _NodeState]], back: bool) -> None:
        for node, before, after in states:
            old, new = (after, before) if back else (before, after)
            for name in _changed(old, new):
                node._set(name, new.properties.get(name, []))
            order = [*new.properties, *node.properties]  # what comes back takes its old place
            node.properties = {name: node.properties[name] for name in order if name in node.properties}
            if old.children != new.children:
                gone = _without(old.children, node.children)
                added = _without(node.children, {*new.children, *old.children})
                self._tree.set_children(node, [*_without(new.children, gone), *added])


def _without(nodes: Iterable[GameNode], others: Iterable[GameNode]) -> list[GameNode]:
    """The nodes that are not among the others, in linear time: a node may have thousands of children."""
    left_out = set(others)
    return [node for node in nodes if node not in left_out]


def _changed(before: _NodeState, after: _NodeState) -> set[str]:
    """The names of the properties in which two states of a node differ."""
    names = {*before.properties, *after.properties}
    return {name for name in names if before.properties.get(name) != after.properties.get(name)}
