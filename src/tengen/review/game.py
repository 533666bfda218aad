"""The review of one game: what a search says of every position, and what follows for every move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tengen.engine.limits import Limits
from tengen.engine.positions import resumed
from tengen.engine.queue import SearchQueue
from tengen.engine.result import Candidate, SearchResult, score_lead
from tengen.engine.symmetries import distinct_images, root_symmetries
from tengen.errors import SgfError
from tengen.game import Game
from tengen.sgf.tree import Analysis, GameNode, GameTree

GamePhase = Literal["opening", "middle game", "endgame"]
PHASES: tuple[GamePhase, ...] = ("opening", "middle game", "endgame")
_PHASE_ENDS = (50 / 361, 150 / 361)
"""Moves a point of the board at which the opening and the middle game end: 50 and 150 moves on 19x19."""
LOSSES = (0.5, 1.5, 3.0, 6.0, 12.0)
"""The bounds in points between the grades of a move's loss."""
WINRATE_LOSSES = (0.02, 0.05, 0.1, 0.2, 0.4)
"""The same in winrate, where the engine knows no score."""
SMALL, DOUBTFUL, BAD = 1, 2, 3
"""The first grades that count."""
LINE_LENGTH = 10
MAX_POSITIONS = 2000
"""Positions that a review takes at most: each has a game of its own with all moves before it."""
_CANDIDATES = 5
_PATIENCE = 0.1  # seconds between two checks whether to stop


@dataclass(frozen=True)
class ReviewedMove:
    """A move of the game. `loss` is in points and `winrate_loss` in 0..1, both for the side that moved.

    A loss is the difference of the search before the move and the search after it, so that it is below 0 where the
    second one found more. `loss` is None where the engine knows no score. `rank` is the place of the move among the
    candidates before it, from 1; None where the search did not try it. A move that a symmetry of the position turns
    into another one counts as that one, since a search may try only one of the two. `best` is the best candidate, None
    where the side that moved was not the one to play, or the search tried no move.
    """

    node: GameNode
    number: int
    color: int
    point: int
    phase: GamePhase
    loss: float | None
    winrate_loss: float
    rank: int | None
    best: Candidate | None

    @property
    def cost(self) -> float:
        """What the move lost, 0 at least: points, or percent of winrate where the engine knows no score."""
        return max(0.0, 100 * self.winrate_loss if self.loss is None else self.loss)

    @property
    def grade(self) -> int:
        """The class of the loss, 0 to 5: how many of the bounds it reaches."""
        if self.loss is None:
            return sum(self.winrate_loss >= bound for bound in WINRATE_LOSSES)
        return sum(self.loss >= bound for bound in LOSSES)

    @property
    def mistake_grade(self) -> int:
        """The grade; 0 for a move that the engine would have played, whose loss only the next search has found."""
        return 0 if self.is_best else self.grade

    @property
    def is_best(self) -> bool:
        """Whether the engine would have played it."""
        return self.rank == 1


@dataclass(frozen=True)
class Summary:
    """The moves of one player, or of one phase: their number, mean loss (points; None without a score), and shares.

    `top5` is the share of moves among the five best candidates, `best` that of the engine's own choice, `good` that of
    moves whose `mistake_grade` is below `DOUBTFUL`. `bad` is the number of moves where it is `BAD` or above.
    """

    moves: int
    mean_loss: float | None
    mean_winrate_loss: float
    top5: float
    best: float
    good: float
    bad: int

    @property
    def loss_text(self) -> str:
        """The mean loss: `0.84 points`, or `3.1% of winrate` where the engine knows no score."""
        if self.mean_loss is None:
            return f"{self.mean_winrate_loss:.1%} of winrate"
        return f"{self.mean_loss:.2f} points"

    @classmethod
    def of(cls, moves: Sequence[ReviewedMove]) -> Summary | None:
        """None without moves."""
        if not moves:
            return None
        losses = [max(0.0, move.loss) for move in moves if move.loss is not None]
        return cls(
            moves=len(moves),
            mean_loss=float(np.mean(losses)) if losses else None,
            mean_winrate_loss=float(np.mean([max(0.0, move.winrate_loss) for move in moves])),
            top5=float(np.mean([move.rank is not None and move.rank <= _CANDIDATES for move in moves])),
            best=float(np.mean([move.is_best for move in moves])),
            good=float(np.mean([move.mistake_grade < DOUBTFUL for move in moves])),
            bad=sum(move.mistake_grade >= BAD for move in moves),
        )


@dataclass(frozen=True)
class GameReview:
    """A reviewed game: the nodes of its main line that were searched, with `node.analysis`, and its moves."""

    tree: GameTree
    engine: str
    visits: int
    nodes: tuple[GameNode, ...]
    moves: tuple[ReviewedMove, ...]

    def of(self, color: int, phase: GamePhase | None = None) -> list[ReviewedMove]:
        """The moves of a color, in a phase or in all."""
        return [move for move in self.moves if move.color == color and phase in (None, move.phase)]

    def mistakes(self, color: int, count: int = 10) -> list[ReviewedMove]:
        """The moves that lost most, the worst first; none that the engine would have played or that lost nothing."""
        wrong = [move for move in self.of(color) if move.mistake_grade >= SMALL]
        return sorted(wrong, key=lambda move: -move.cost)[:count]


def positions_of(tree: GameTree, line: Sequence[GameNode] | None = None) -> list[tuple[GameNode, Game]]:
    """The positions to review: those of the main line, or another line from the root, up to the end of the game.

    A game begins with the last stones that are set up before its first move: what is before them is no position of it.
    An end after which stones were played was none, and its position is that of the resumed game. Raises SgfError where
    a move is illegal, and for more than `MAX_POSITIONS` positions.
    """
    nodes = tree.line(tree.root) if line is None else line
    first_move = next((place for place, node in enumerate(nodes) if node.move is not None), 0)
    begin = max((place for place, node in enumerate(nodes[:first_move]) if node.setup), default=0)
    if (number := len(nodes) - begin) > MAX_POSITIONS:
        raise SgfError(f"the line has {number:,} positions: {MAX_POSITIONS:,} is the limit of a review")
    last_stone = max((place for place, node in enumerate(nodes) if node.move and not node.is_pass), default=0)
    return [
        (node, resumed(game) if game.is_over else game.copy())
        for place, (node, game) in enumerate(zip(nodes, tree.positions(nodes), strict=True))
        if place >= begin and (not game.is_over or place < last_stone)
    ]


def keep_analysis(node: GameNode, result: SearchResult) -> None:
    """Keep what a search found in `node.analysis`."""
    node.analysis = analysis_of(result)


def review(
    tree: GameTree,
    positions: Sequence[tuple[GameNode, Game]],
    queue: SearchQueue,
    visits: int,
    on_result: Callable[[GameNode, SearchResult], None] = keep_analysis,
    until: Callable[[], bool] = lambda: False,
) -> GameReview | None:
    """Search the positions, many at once, each with `visits` visits; None where `until` ended it.

    `on_result` gets every result in the order of the line, and must set `node.analysis`. Raises NetworkError for a
    board that the network does not know.
    """
    nodes = [node for node, _ in positions]
    # The move that ended the game, which has no position after it. The game may go on while it is reviewed.
    last = [child for node in nodes[-1:] for child in node.children if child.move and tree.following(node) is child]
    tasks = [queue.start(game, Limits(visits=visits), pv_length=LINE_LENGTH) for _, game in positions]
    found: dict[int, SearchResult] = {}
    try:
        for (node, _), task in zip(positions, tasks, strict=True):
            while not task.done:
                with suppress(TimeoutError):
                    task.wait(_PATIENCE)
                if until():
                    break
            if until():
                return None
            found[node.id] = result = task.wait()
            on_result(node, result)
    finally:
        for task in tasks:
            task.stop()
    games = {node.id: game for node, game in positions}
    moves = [
        reviewed_move(node, games[node.parent.id], found[node.parent.id], found.get(node.id))
        for node in (*nodes, *last)
        if node.move is not None and node.parent is not None and node.parent.id in found
    ]
    return GameReview(tree, queue.evaluator.on(tree.size).name, visits, tuple(nodes), tuple(moves))


def analysis_of(result: SearchResult) -> Analysis:
    """The result for Black."""
    lead = score_lead(result)
    black = result.to_play == 0
    return Analysis(
        winrate=result.winrate if black else 1 - result.winrate,
        score_lead=lead if black or lead is None else -lead,
        visits=result.visits,
    )


def reviewed_move(node: GameNode, game: Game, before: SearchResult, after: SearchResult | None) -> ReviewedMove:
    """The move of a node, by the searches of the position before it, `game`, and of the one after it.

    A game that ended with the move is as good as the search before says.
    """
    assert node.move is not None
    color, point = node.move
    one, other = analysis_of(before), analysis_of(before if after is None else after)
    sign = 1 if color == 0 else -1
    loss = None
    if one.score_lead is not None and other.score_lead is not None:
        loss = sign * (one.score_lead - other.score_lead)
    own = before.to_play == color
    places = {candidate.point: place for place, candidate in enumerate(before.candidates, 1) if candidate.visits}
    images = distinct_images(point, game.size, root_symmetries(game, ()))
    number = node.move_number
    return ReviewedMove(
        node=node,
        number=number,
        color=color,
        point=point,
        phase=PHASES[sum(number > end * node.tree.size**2 for end in _PHASE_ENDS)],
        loss=loss,
        winrate_loss=sign * (one.winrate - other.winrate),
        rank=min((places[image] for image in images if image in places), default=None) if own else None,
        best=before.candidates[0] if own and places else None,
    )
