"""The review written into the record: evaluations, losses, marks of mistakes, and better lines as variations."""

from __future__ import annotations

from tengen.coords import to_gtp
from tengen.game import COLOR_NAMES
from tengen.review.game import BAD, DOUBTFUL, SMALL, GameReview, ReviewedMove
from tengen.sgf.tree import Analysis, GameNode


def annotate(review: GameReview, source: str = "") -> None:
    """Add the review to its game tree, and `source` (see `report.write_review`) as the property REVIEWED of the root.

    Every searched node gets a line in its comment, below what is there, and Black's lead as its value (V) where it has
    none. A move of the `mistake_grade` `DOUBTFUL` is marked as such (DO), one of `BAD` or above as bad (BM), unless the
    record has a mark of this kind; the better line becomes a variation beside it. Nothing else is changed.
    """
    if source:
        review.tree.root.set_text("REVIEWED", f"Tengen {source}")
    losses = {move.node.id: move for move in review.moves}
    for node in review.nodes:
        assert node.analysis is not None
        move = losses.get(node.id)
        _comment(node, "\n".join([evaluation(node.analysis), *([_verdict(move)] if move else [])]))
        lead = node.analysis.score_lead
        if lead is not None and not node.properties.get("V"):
            node.set_text("V", f"{lead:.1f}")
    for move in review.moves:
        if move.mistake_grade >= DOUBTFUL:
            if not any(name in move.node.properties for name in ("BM", "DO", "IT", "TE")):
                if move.mistake_grade >= BAD:
                    move.node.set_text("BM", "1")
                else:
                    move.node.set_flag("DO")
            _add_line(review, move)


def evaluation(analysis: Analysis) -> str:
    """`Black 54.2%, Black +1.5`."""
    lead = analysis.score_lead
    return f"Black {100 * analysis.winrate:.1f}%" + ("" if lead is None else f", {leader(lead)}")


def leader(lead: float) -> str:
    """`Black +1.5` for Black's lead in points."""
    return f"{COLOR_NAMES[lead < 0]} +{abs(lead):.1f}"


def cost_text(move: ReviewedMove) -> str:
    """`3.2 points`, or `8.1% of winrate` where the engine knows no score."""
    return f"{move.cost:.1f}" + ("% of winrate" if move.loss is None else " points")


def line_text(move: ReviewedMove) -> str:
    """The better line in GTP points, such as `Q16 D4 C3`."""
    assert move.best is not None
    return " ".join(to_gtp(point, move.node.tree.size) for point in move.best.pv)


def _verdict(move: ReviewedMove) -> str:
    if move.is_best:
        return "The engine's choice."
    if move.grade < SMALL:
        return "Lost little or nothing."
    better = "" if move.best is None else f" Better: {line_text(move)}"
    return f"Lost {cost_text(move)}.{better}"


def _comment(node: GameNode, text: str) -> None:
    node.comment = f"{node.comment}\n\n{text}" if node.comment else text


def _add_line(review: GameReview, move: ReviewedMove) -> None:
    """The better line beside the move, unless a variation begins with it already."""
    parent, best = move.node.parent, move.best
    if parent is None or best is None or any(child.point == best.point for child in parent.children):
        return
    node, color = parent, move.color
    for point in best.pv:
        node = review.tree.add_move(node, color, point)
        color = 1 - color
    _comment(parent.children[-1], f"Better than {to_gtp(move.point, review.tree.size)} by {cost_text(move)}.")
