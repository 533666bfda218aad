"""The review of one game: what a search says of every position, and what follows for every move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tengen.engine.limits import Limits
from tengen.engine.queue import SearchQueue
from tengen.engine.result import Candidate, SearchResult
from tengen.errors import SgfError
from tengen.sgf.tree import Analysis, GameNode, GameTree

Phase = Literal["opening", "middle game", "endgame"]
PHASES: tuple[Phase, ...] = ("opening", "middle game", "endgame")
_PHASE_ENDS = (50 / 361, 150 / 361)
"""Moves a point of the board at which the opening and the middle game end: 50 and 150 moves on 19x19."""
LOSSES = (0.5, 1.5, 3.0, 6.0, 12.0)
"""The bounds in points between the classes of a move's loss."""
LINE_LENGTH = 10
_CANDIDATES = 5


@dataclass(frozen=True)
class ReviewedMove:
    """A move of the game. `loss` is in points and `winrate_loss` in 0..1, both for the side that moved.

    A loss is the difference of the search before the move and the search after it, so that it is below 0 where the
    second one found more. `loss` is None where the engine knows no score. `rank` is the place of the move among the
    candidates before it, from 1; None where the search did not try it. `best` is the best candidate, None where the
    side that moved was not the one to play.
    """

    node: GameNode
    number: int
    color: int
    point: int
    phase: Phase
    loss: float | None
    winrate_loss: float
    rank: int | None
    best: Candidate | None

    @property
    def cost(self) -> float:
        """What the move lost, 0 at least: points, or percent of winrate where the engine knows no score."""
        return max(0.0, 100 * self.winrate_loss if self.loss is None else self.loss)

    @property
    def is_best(self) -> bool:
        """Whether the engine would have played it."""
        return self.rank == 1


@dataclass(frozen=True)
class Summary:
    """The moves of one player, or of one phase: their number, mean loss (points; None without a score), and shares.

    `top5` is the share of moves among the five best candidates, `best` that of the engine's own choice, `good` that of
    moves which lost less than a point and a half (without a score: 5% of winrate).
    """

    moves: int
    mean_loss: float | None
    mean_winrate_loss: float
    top5: float
    best: float
    good: float

    @classmethod
    def of(cls, moves: Sequence[ReviewedMove]) -> Summary | None:
        """None without moves."""
        if not moves:
            return None
        losses = [max(0.0, move.loss) for move in moves if move.loss is not None]
        limit = LOSSES[1] if losses else 5.0
        return cls(
            moves=len(moves),
            mean_loss=float(np.mean(losses)) if losses else None,
            mean_winrate_loss=float(np.mean([max(0.0, move.winrate_loss) for move in moves])),
            top5=float(np.mean([move.rank is not None and move.rank <= _CANDIDATES for move in moves])),
            best=float(np.mean([move.is_best for move in moves])),
            good=float(np.mean([move.cost < limit for move in moves])),
        )


@dataclass(frozen=True)
class GameReview:
    """A reviewed game: the nodes of its main line that were searched, with `node.analysis`, and its moves."""

    tree: GameTree
    engine: str
    visits: int
    nodes: tuple[GameNode, ...]
    moves: tuple[ReviewedMove, ...]

    def of(self, color: int, phase: Phase | None = None) -> list[ReviewedMove]:
        """The moves of a color, in a phase or in all."""
        return [move for move in self.moves if move.color == color and phase in (None, move.phase)]

    def mistakes(self, color: int, count: int = 10) -> list[ReviewedMove]:
        """The moves that lost most, the worst first; none that the engine would have played or that lost nothing."""
        wrong = [move for move in self.of(color) if not move.is_best and move.cost >= LOSSES[0]]
        return sorted(wrong, key=lambda move: -move.cost)[:count]


def review(
    tree: GameTree,
    queue: SearchQueue,
    visits: int,
    on_progress: Callable[[int, int], None] = lambda done, of: None,
) -> GameReview:
    """Search every position of the main line with `visits` visits; `node.analysis` keeps what was found.

    `on_progress` gets the number of positions that are done, and that of all. Positions after the end of the game are
    left out. Raises SgfError where a move is illegal, NetworkError for a board that the network does not know.
    """
    line = tree.line(tree.root)
    games = [(node, tree.position(node)) for node in line]
    games = [(node, game) for node, game in games if not game.is_over]
    if not games:
        raise SgfError("the game has no position to review")
    tasks = [queue.start(game, Limits(visits=visits), pv_length=LINE_LENGTH) for _, game in games]
    found: dict[int, SearchResult] = {}
    try:
        for done, ((node, _), task) in enumerate(zip(games, tasks, strict=True), 1):
            found[node.id] = result = task.wait()
            node.analysis = _analysis(result)
            on_progress(done, len(tasks))
    finally:
        for task in tasks:
            task.stop()
    moves = [
        _reviewed(node, found[node.parent.id], found.get(node.id))
        for node in line
        if node.move is not None and node.parent is not None and node.parent.id in found
    ]
    return GameReview(tree, queue.evaluator.on(tree.size).name, visits, tuple(node for node, _ in games), tuple(moves))


def _analysis(result: SearchResult) -> Analysis:
    """The result for Black."""
    lead = result.score if result.lead is None else result.lead
    black = result.to_play == 0
    return Analysis(
        winrate=result.winrate if black else 1 - result.winrate,
        score_lead=lead if black or lead is None else -lead,
        visits=result.visits,
    )


def _reviewed(node: GameNode, before: SearchResult, after: SearchResult | None) -> ReviewedMove:
    """The move of a node; a game that ended with it is as good as the search before says."""
    assert node.move is not None
    color, point = node.move
    one, other = _analysis(before), _analysis(before if after is None else after)
    sign = 1 if color == 0 else -1
    known = one.score_lead is not None and other.score_lead is not None
    own = before.to_play == color
    places = {candidate.point: place for place, candidate in enumerate(before.candidates, 1) if candidate.visits}
    number = node.move_number
    return ReviewedMove(
        node=node,
        number=number,
        color=color,
        point=point,
        phase=PHASES[sum(number > end * node.tree.size**2 for end in _PHASE_ENDS)],
        loss=sign * (one.score_lead - other.score_lead) if known else None,  # type: ignore[operator]
        winrate_loss=sign * (one.winrate - other.winrate),
        rank=places.get(point) if own else None,
        best=before.candidates[0] if own and before.candidates else None,
    )
