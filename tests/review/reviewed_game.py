"""A game of seven moves, and the review of any game."""

from tengen.engine import SearchQueue
from tengen.review.game import GameReview, positions_of, review
from tengen.sgf import GameTree

# Black's third move and White's last one are on the first line.
RECORD = (
    b"(;GM[1]SZ[7]KM[9]RU[chinese]PB[Ann]PW[Bo]RE[B+3]XX[kept\\]]C[A game];B[dd];W[de];B[ga];W[ee]C[hm]"
    b"(;B[cd];W[ag]BM[2];B[ed])(;B[ce]))"
)
VISITS = 20
"""Of each position, in the review of this game."""


def reviewed(tree: GameTree, queue: SearchQueue, visits: int) -> GameReview:
    found = review(tree, positions_of(tree), queue, visits)
    assert found is not None
    return found
