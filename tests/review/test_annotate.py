"""What a review writes into a record."""

import re

import pytest

from tengen.review.annotate import annotate
from tengen.review.game import GameReview, ReviewedMove, Summary
from tengen.sgf import read_tree, write_tree
from tengen.sgf.tree import Analysis


def test_the_record_keeps_what_it_had(found: GameReview) -> None:
    annotate(found)
    text = write_tree(found.tree)
    again = read_tree(text)
    line = again.line(again.root)
    assert b"XX[kept\\]]" in text and b"BM[2]" in text and b";B[ce]" in text
    assert line[0].comment.startswith("A game\n\nBlack ") and line[4].comment.startswith("hm\n\nBlack ")
    assert [node.move for node in line] == [node.move for node in found.nodes]
    assert line[3].text("BM") == "1" and "Better: " in line[3].comment
    move = found.moves[2]
    assert move.best is not None
    [better] = [child for child in line[2].children if child.point == move.best.point]
    assert [node.point for node in [better, *again.line(better)[4:]]][: len(move.best.pv)] == list(move.best.pv)
    lead = line[5].analysis or found.nodes[5].analysis
    assert lead is not None and lead.score_lead is not None and line[5].text("V") == f"{lead.score_lead:.1f}"


@pytest.mark.parametrize(("loss", "marks"), [(1.4, []), (1.5, [b"DO[]"]), (2.9, [b"DO[]"]), (3.0, [b"BM[1]"])])
def test_a_mistake_is_marked_by_its_grade(loss: float, marks: list[bytes]) -> None:
    tree = read_tree(b"(;SZ[7];B[dd];W[de])")
    node = tree.root.children[0]
    move = ReviewedMove(node, 1, 0, 24, "opening", loss, 0.0, None, None)
    annotate(GameReview(tree, "made", 1, (), (move,)))
    assert re.findall(rb"(?:DO|BM)\[.*?\]", write_tree(tree)) == marks
    annotate(GameReview(tree, "made", 1, (), (move,)))
    assert len(re.findall(rb"DO|BM", write_tree(tree))) == len(marks), "a record keeps its mark"


@pytest.mark.parametrize(
    ("winrate_loss", "grade"), [(-0.1, 0), (0.019, 0), (0.02, 1), (0.05, 2), (0.099, 2), (0.1, 3), (0.2, 4), (0.4, 5)]
)
def test_a_move_without_a_score_is_judged_by_its_winrate(winrate_loss: float, grade: int) -> None:
    tree = read_tree(b"(;SZ[7];B[dd]V[9];W[de])")
    nodes = tree.line(tree.root)
    for node in nodes[:2]:
        node.analysis = Analysis(winrate=0.5, score_lead=None, visits=1)
    nodes[2].analysis = Analysis(winrate=0.25, score_lead=-2.5, visits=1)
    move = ReviewedMove(nodes[1], 1, 0, 24, "opening", None, winrate_loss, 2, None)
    assert (move.grade, move.cost) == (grade, pytest.approx(max(0, 100 * winrate_loss)))
    summary = Summary.of([move, move])
    assert summary is not None and summary.loss_text == f"{max(0, winrate_loss):.1%} of winrate"
    best = ReviewedMove(nodes[2], 2, 1, 31, "opening", 3.5, 0.5, 1, None)
    annotate(GameReview(tree, "made", 1, tuple(nodes), (move, best)), "x")
    lost = f"Lost {100 * winrate_loss:.1f}% of winrate." if grade else "Lost little or nothing."
    assert [node.comment for node in nodes] == [
        "Black 50.0%",
        f"Black 50.0%\n{lost}",
        "Black 25.0%, White +2.5\nThe engine's choice.",
    ]
    assert [node.text("V") for node in nodes] == ["", "9", "-2.5"], "a value of the record stays"
    assert not {"BM", "DO"} & set(nodes[2].properties), "what the engine would play is no mistake"
    assert tree.root.text("REVIEWED") == "Tengen x"
