"""What is known of the positions of a page's game: search results and the last review. It has no page code."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tengen.engine import SearchResult
from tengen.review.game import GameReview, ReviewedMove, analysis_of
from tengen.sgf import Analysis, GameNode, GameTree


@dataclass(frozen=True)
class SearchAnalysis(Analysis):
    """The analysis of a position with the search result, which the page shows: of its candidates the best one and those
    that were visited. `for_move`: an engine that plays found it for its move, and nobody asked for it."""

    result: SearchResult
    for_move: bool = False


def search_result(node: GameNode) -> SearchResult | None:
    """The search result that is known of the position at a node."""
    return node.analysis.result if isinstance(node.analysis, SearchAnalysis) else None


class GameAnalyses:
    """The search results of a game's positions, each in `analysis` of its node, and the last `review`."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.review: GameReview | None = None
        self._forgotten = 0  # number of calls of `forget`
        self._worst: tuple[GameReview | None, list[ReviewedMove]] = None, []

    def search_key(self, node: GameNode) -> tuple[int, int]:
        """Differs between searches before and after an edit of the position or `forget`."""
        return node.edits, self._forgotten

    def add(
        self, node: GameNode, result: SearchResult, key: tuple[int, int] | None = None, for_move: bool = False
    ) -> None:
        """Keep the result of a search of the position at `node`, unless one with more visits is there, or `key`, the
        `search_key` when the search began, is that of an earlier position or network."""
        if key is not None and key != self.search_key(node):
            return
        if node.analysis is not None and node.analysis.visits > result.visits:
            return
        # Nothing shows the network's own evaluation, and the moves that were not tried, which are most of them.
        tried = tuple(move for place, move in enumerate(result.candidates) if move.visits or place == 0)
        result = replace(result, candidates=tried, raw=None)
        node.analysis = SearchAnalysis(**vars(analysis_of(result)), result=result, for_move=for_move)

    def forget(self) -> None:
        """Drop all that was searched, the review too."""
        self.review = None
        self._forgotten += 1
        for node in self.tree.walk():
            node.analysis = None

    def mistakes(self) -> list[ReviewedMove]:
        """The moves that lost most by the last review, of both players, in the order of the game."""
        if self.review is None:
            return []
        if self._worst[0] is not self.review:
            worst = [move for color in (0, 1) for move in self.review.mistakes(color)]
            self._worst = self.review, sorted(worst, key=lambda move: move.number)
        return [move for move in self._worst[1] if move.node in self.tree]

    def grades(self) -> dict[int, int]:
        """The class of the mistake (`ReviewedMove.mistake_grade`) of every reviewed move, by the id of its node."""
        return {} if self.review is None else {move.node.id: move.mistake_grade for move in self.review.moves}
