"""Sessions from game records and back, with their variations, comments and whatever else a record says."""

from __future__ import annotations

import datetime
from dataclasses import replace

from tengen.errors import IllegalMove, SgfError, TengenError
from tengen.game import Game
from tengen.sgf import SgfInfo, SgfNode, SgfTree, read_tree, write_tree
from tengen.sgf.values import result as read_result
from tengen.web.session import Session
from tengen.web.settings import GameSettings, Mode
from tengen.web.tree import GameTree, Node

MAX_NODES = 20_000


def load(data: bytes) -> tuple[Session, list[str]]:
    """A session for looking through the first game of an SGF text, and what of it had to be left out, in words.

    Every move is checked by the rules: a variation ends before its first illegal one. Raises SgfError for what is no
    game of Go, or is one that is too large.
    """
    record = read_tree(data)
    problems = list(record.problems)
    settings = _settings(record)
    start = Game(settings.size, rules=settings.rules, komi=settings.komi)
    try:
        start.setup(record.root.black_stones, record.root.white_stones, _first_to_play(record.root))
    except IllegalMove as error:
        raise SgfError(f"the stones that it sets up cannot stand so: {error}") from error
    tree = GameTree()
    _grow(tree, start, record.root, problems)
    if problems and len(tree) == 1 and not record.root.has_setup:
        raise SgfError(problems[0])
    session = Session(settings, start, tree)
    _name(session, record.info)
    return session, problems


def save(session: Session) -> bytes:
    """The session as SGF in UTF-8, with all variations and comments."""
    settings, start = session.settings, session.start
    info = replace(
        session.info or SgfInfo(black=_player(session, 0), white=_player(session, 1), date=datetime.date.today()),
        komi=settings.komi,
        rules=settings.rules,
        handicap=start.handicap,
        application="Tengen",
        result=read_result(session.result),
    )
    root = SgfNode()
    for color, point in start.setup_stones:
        (root.white_stones if color else root.black_stones).append(point)
    if root.has_setup or start.first_to_play:
        root.to_play = start.first_to_play
    pending = [(session.tree.root, root)]
    while pending:
        node, written = pending.pop()
        written.comment, written.other = node.comment, dict(node.other)
        for child in node.children:
            move = (child.color, child.point) if child.color is not None and child.point is not None else None
            written.children.append(SgfNode(move=move))
            pending.append((child, written.children[-1]))
    return write_tree(SgfTree(settings.size, info, root))


def _settings(record: SgfTree) -> GameSettings:
    komi = round(record.info.komi_or_guess * 2) / 2
    try:
        return GameSettings(record.size, record.info.rules_or_guess, komi, mode=Mode.ANALYSE)
    except TengenError as error:
        raise SgfError(str(error)) from error


def _first_to_play(root: SgfNode) -> int | None:
    """Whose turn it is at the start: what the record says, or the colour of the main line's first move.

    Handicap games seldom say it; with them it is White's.
    """
    node = root
    while node.to_play is None and node.move is None and node.children:
        node = node.children[0]
    return node.to_play if node.move is None else node.move[0]


def _grow(tree: GameTree, start: Game, root: SgfNode, problems: list[str]) -> None:
    """Play all lines of a record into the tree. A node without a move gives what it says to the move before it."""
    pending = [(root, tree.root, start)]
    while pending:
        written, parent, before = pending.pop()
        node, game = parent, before
        if written.move is not None:
            color, point = written.move
            try:
                game = before.copy().play(point, color=color)
            except IllegalMove as error:
                problems.append(str(error))
                continue
            node = tree.add(parent, color, point)
        elif written is not root and written.has_setup:
            problems.append(f"stones are set up after move {len(before.moves)}: only played moves can follow here")
            continue
        _annotate(node, written)
        if len(tree) > MAX_NODES:
            raise SgfError(f"it has more than {MAX_NODES:,} moves in all: too large for this page")
        pending.extend((child, node, game) for child in reversed(written.children))


def _annotate(node: Node, written: SgfNode) -> None:
    node.comment = "\n".join(text for text in (node.comment, written.comment) if text)
    node.other |= written.other


def _name(session: Session, info: SgfInfo) -> None:
    session.info = info
    session.names = info.black or "Black", info.white or "White"
    komi = f"komi {session.settings.komi:g}"
    session.abouts = info.black_rank, f"{info.white_rank} · {komi}" if info.white_rank else komi
    if info.result.ending != "unknown":
        session.settle(str(info.result), [session.tree.root, *session.tree.line(session.tree.root)][-1])


def _player(session: Session, color: int) -> str:
    name, strength = session.names[color], session.settings.level.title
    return f"{name} ({strength})" if name == "Tengen" else name
