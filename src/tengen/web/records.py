"""Game records as games of the page: opened, named, and written with their analysis."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace

from tengen.errors import SgfError, TengenError
from tengen.game import BLACK
from tengen.handicap import fixed_handicap as usual_handicap
from tengen.handicap import max_fixed_handicap
from tengen.review.annotate import annotate
from tengen.review.game import GameReview
from tengen.sgf import GameNode, GameTree, read_tree, write_tree
from tengen.sgf.grammar import ANY_VALUE, first_tree
from tengen.web.analyses import SearchAnalysis
from tengen.web.language import _
from tengen.web.players import PEOPLE
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings

MAX_NODES = 20_000
_MAX_NAME = 180  # bytes
_VALUE = re.compile(ANY_VALUE, re.DOTALL)


def open_record(data: bytes, fixed_handicap: bool = True) -> tuple[GameSession, list[str]]:
    """A session that shows the first game of an SGF text, and messages about what it cannot show.

    Raises SgfError where the text is not a game of Go, or where the game is too large.
    """
    return open_tree(read_record_tree(data), fixed_handicap)


def read_record_tree(data: bytes) -> GameTree:
    """The first game of an SGF text. Raises SgfError where it is not a game of Go, or too large for the page."""
    _check_nodes(_VALUE.sub(b"", first_tree(data)).count(b";"))  # before the time that reading takes
    tree = read_tree(data)
    _check_nodes(len(tree))
    return tree


def _check_nodes(nodes: int) -> None:
    if nodes > MAX_NODES:
        limits = {"nodes": nodes, "limit": MAX_NODES}
        raise SgfError(_("the record has {nodes:,} nodes: {limit:,} is the limit of this page", **limits))


def open_tree(tree: GameTree, fixed_handicap: bool) -> tuple[GameSession, list[str]]:
    """A session that shows a game which was read, and messages about what it cannot show.

    Every move is checked by the rules: a variation ends before its first illegal move. Handicap stones whose points
    the record does not give are put on the usual points or, without `fixed_handicap`, left out. Stones that a
    record sets up after an empty root are shown at once. Raises SgfError where a game cannot begin like this.
    """
    notes = _set_handicap(tree, fixed_handicap)
    try:
        settings = GameSettings(tree.size, tree.rules, tree.komi, _usual_handicap(tree), PEOPLE)
    except TengenError as error:
        raise SgfError(str(error)) from error
    problems = [*tree.problems, *notes, *tree.check_moves()]
    if problems and not tree.root.variations and not tree.root.setup:
        raise SgfError(problems[0])
    hidden = {child.problem for node in tree.walk() for child in node.children if child.problem}
    follows = _("what follows is not shown, but saved")
    problems = [f"{problem}; {follows}" if problem in hidden else problem for problem in problems]
    session = GameSession(settings, tree=tree)
    session.read_info()
    session.seek(_first_shown(tree))
    return session, problems


def _first_shown(tree: GameTree) -> int:
    """The place in the main line that a record opens at: the last stones set up before the first move, or the root."""
    shown = 0
    for place, node in enumerate(tree.line(tree.root)):
        if node.move is not None:
            break
        shown = place if node.setup else shown
    return shown


def _set_handicap(tree: GameTree, fixed: bool) -> list[str]:
    """Put handicap stones whose points are unknown on the usual points, or leave them out; returns problems."""
    stones = tree.handicap_guess
    if not stones:
        return []
    tree.problems = [problem for problem in tree.problems if "handicap" not in problem]
    if fixed and stones <= max_fixed_handicap(tree.size):
        tree.root.setup = dict.fromkeys(usual_handicap(tree.size, stones), BLACK)
        return []
    tree.root.setup = {}
    return [_("the record does not say where the {n} handicap stones are: shown without them", n=stones)]


def _usual_handicap(tree: GameTree) -> int:
    """The number of handicap stones of a game whose root has stones on the usual points and nothing else."""
    setup = tree.root.setup
    usual = 2 <= len(setup) <= max_fixed_handicap(tree.size) and setup == dict.fromkeys(
        usual_handicap(tree.size, len(setup)), BLACK
    )
    return len(setup) if usual else 0


def is_analyzed(session: GameSession) -> bool:
    """Whether a position was searched for a person, and not for a move of the engine alone."""
    playing = max(player.visits or 0 for player in session.settings.players)
    found = (node.analysis for node in session.tree.walk() if isinstance(node.analysis, SearchAnalysis))
    return any(not analysis.for_move and analysis.visits > playing for analysis in found)


def annotated(session: GameSession) -> bytes:
    """The record of a game with the last review in it, as `tengen review` writes it, or with the evaluations alone.

    The game itself stays as it is.
    """
    searched = tuple(node for node in session.tree.walk() if node.analysis is not None)
    review = session.analyses.review or GameReview(session.tree, "", 0, searched, ())
    copy, number = read_tree(session.to_sgf()), session.tree.numbered()
    copy.root.setup = session.tree.root.setup  # reading adds the handicap stones that were left out

    def copied(node: GameNode) -> GameNode:
        twin = copy.get(number[node.id])
        assert twin is not None
        twin.analysis = node.analysis
        return twin

    moves = tuple(replace(move, node=copied(move.node)) for move in review.moves if move.node.id in number)
    nodes = tuple(copied(node) for node in review.nodes if node.id in number)
    annotate(replace(review, tree=copy, nodes=nodes, moves=moves))
    return write_tree(copy)


def record_file_name(session: GameSession) -> str:
    """A name for the record: the date of the game, or of today, and the players; `2026-11-24 Ann - Bo.sgf`."""
    info = session.tree.info
    text = re.sub(r"[^\w .+()-]+", "_", f"{info.date or datetime.date.today()} {' - '.join(info.players())}")
    return text.encode()[:_MAX_NAME].decode(errors="ignore").strip() + ".sgf"
