"""The annotations of a record: names of nodes and judgements of moves and positions."""

from __future__ import annotations

from tengen.review.game import BAD, DOUBTFUL
from tengen.sgf import GameNode
from tengen.web.language import N_, _

MAX_NAME = 200
"""Characters of a node's name that are shown."""
GOOD = 6
"""The grade of a move that the record calls good or interesting: after those of losses, 0 to 5."""

# The words for the annotations of SGF; the second ones where its value is 2.
ANNOTATIONS: dict[str, tuple[str, ...]] = {
    "TE": (N_("Good move"), N_("Very good move")),
    "IT": (N_("Interesting move"),),
    "DO": (N_("Doubtful move"),),
    "BM": (N_("Bad move"), N_("Very bad move")),
    "GB": (N_("Good for Black"), N_("Very good for Black")),
    "GW": (N_("Good for White"), N_("Very good for White")),
    "DM": (N_("Even position"),),
    "UC": (N_("Unclear position"), N_("Very unclear position")),
    "HO": (N_("Hotspot"), N_("Important hotspot")),
}
# The grades of moves that a record annotates; a move that is very bad has the next one.
MOVE_GRADES = {"TE": GOOD, "IT": GOOD, "DO": DOUBTFUL, "BM": BAD}
_NOT_OF_MOVES = ANNOTATIONS.keys() - MOVE_GRADES.keys()


def remarks(node: GameNode) -> str:
    """The name of a node (N) and its annotations in words, as one line; empty where it has neither."""
    name = " ".join(node.text("N").split())
    if len(name) > MAX_NAME:
        name = f"{name[:MAX_NAME]}\u2026"
    found = {key: words for key, words in ANNOTATIONS.items() if key in node.properties}
    said = [_(words[-1] if _is_strong(node, key) else words[0]) for key, words in found.items()]
    return " \u00b7 ".join(filter(None, (name, *said)))


def has_remark(node: GameNode) -> bool:
    """Whether a node has a comment, a name or an annotation that no color of a move shows."""
    text = b"".join([*node.properties.get("C", ()), *node.properties.get("N", ())])
    return bool(text.strip()) or not _NOT_OF_MOVES.isdisjoint(node.properties)


def annotated_grade(node: GameNode) -> int:
    """The grade of the move of a node by its annotation: a class of losses (`ReviewedMove.grade`) or `GOOD`; -1 without
    a move or an annotation of it."""
    if node.move is None or MOVE_GRADES.keys().isdisjoint(node.properties):
        return -1
    name = next(name for name in MOVE_GRADES if name in node.properties)
    return MOVE_GRADES[name] + (name == "BM" and _is_strong(node, name))


def _is_strong(node: GameNode, annotation: str) -> bool:
    return node.text(annotation).strip() == "2"
