"""The teacher: warns of a move that loses points, with the better move and the refutation, and gives hints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tengen.engine import Limits, SearchResult
from tengen.game import Game
from tengen.review.game import reviewed_move
from tengen.sgf import GameNode
from tengen.web.analyses import search_result
from tengen.web.language import _
from tengen.web.session import GameSession, Phase
from tengen.web.settings import Mode
from tengen.web.words import vertex

TEACHING_VISITS = 60
"""Visits of the positions before and after a person's move."""
THRESHOLDS = (1.0, 2.0, 3.0, 5.0, 10.0)
"""The losses in points from which a person can be warned."""
DEFAULT_THRESHOLD = 3.0
REFUTATION_MOVES = 8

Think = Callable[[Game, Limits], Awaitable[SearchResult | None]]


@dataclass(frozen=True)
class MoveWarning:
    """A move of the person that lost `loss` points; `best` is the better move, `refutation` the line that follows."""

    node: GameNode
    loss: float
    best: int
    refutation: tuple[int, ...]

    def text(self, size: int) -> str:
        """The warning as a sentence."""
        played = vertex(self.node.move[1], size) if self.node.move else ""
        values = {"move": played, "loss": self.loss, "better": vertex(self.best, size)}
        return _("{move} loses about {loss:.1f} points. {better} was better.", **values)


class TeachingMode:
    """Judges the person's moves of a game against the engine while it is `on`.

    `threshold` is the loss in points from which a move is warned of. `warning` holds the engine back until the person
    takes the move back or keeps it.
    """

    def __init__(self, think: Think) -> None:
        self._think = think
        self.on = False
        self.threshold = DEFAULT_THRESHOLD
        self.warning: MoveWarning | None = None
        self._hint: tuple[tuple[GameNode, int], int] | None = None  # the position by its key, the point
        self._wants_hint = False
        self._judged: set[int] = set()  # nodes whose move is no mistake, or is kept

    def keep(self) -> None:
        """The person keeps the move: go on."""
        if self.warning is not None:
            self._judged.add(self.warning.node.id)
            self.warning = None

    def ask_hint(self) -> None:
        """The best move of the shown position is wanted."""
        self._hint, self._wants_hint = None, True

    def forget(self) -> None:
        """Another game is shown."""
        self.warning, self._hint, self._wants_hint = None, None, False
        self._judged.clear()

    def hint_at(self, node: GameNode) -> int | None:
        """The point of the hint for this position, `Game.pass_point` for a pass; None without one."""
        return self._hint[1] if self._hint is not None and self._hint[0] == node.position_key else None

    async def answer_hint(self, session: GameSession) -> bool:
        """Search the best move where it is wanted; False where it is not, or no move may follow."""
        wanted, self._wants_hint = self._wants_hint, False
        if not wanted or session.game.is_over:
            return False
        position = session.node.position_key
        found = await self._search(session, session.node)
        if found is not None and found.candidates:
            self._hint = position, found.candidates[0].point
        elif found is None:  # it was stopped: wanted still where the position is the same
            self._wants_hint = session.node.position_key == position
        return True

    async def step(self, session: GameSession) -> bool | None:
        """Judge the person's move: None where nothing is due, else whether the engine may go on at once."""
        node = session.node
        plays = session.phase is Phase.PLAYING and session.mode is Mode.PLAY
        if self.warning is not None and not (plays and self.warning.node is node):
            self.warning = None
        if not plays or not self.on:
            return None
        if not session.engine_to_move:
            if node.variations or self._known(node) is not None:
                return None
            return True if await self._search(session, node) is not None else None
        if node.move is None or node.parent is None or node.id in self._judged:
            return None
        return False if self.warning is not None else await self._judge(session, node, node.parent)

    async def _judge(self, session: GameSession, node: GameNode, parent: GameNode) -> bool | None:
        """Warn of the person's last move if it lost too much; the result as that of `step`."""
        before = await self._search(session, parent)
        after = await self._search(session, node) if before is not None else None
        if before is None or after is None or session.node is not node:
            return True
        move = reviewed_move(node, session.tree.position(parent), before, after)
        if move.best is not None and not move.is_best and move.loss is not None and move.loss >= self.threshold:
            line = after.candidates[0].pv[:REFUTATION_MOVES] if after.candidates else ()
            self.warning = MoveWarning(node, move.loss, move.best.point, tuple(line))
            return False
        self._judged.add(node.id)
        return None

    async def _search(self, session: GameSession, node: GameNode) -> SearchResult | None:
        """The result of enough visits of a position of the session; None where the search was stopped."""
        if (known := self._known(node)) is not None:
            return known
        key = session.analyses.search_key(node)
        found = await self._think(session.tree.position(node), Limits(visits=TEACHING_VISITS))
        if found is None or not found.visits:
            return None
        session.analyses.add(node, found, key)
        return self._known(node)

    def _known(self, node: GameNode) -> SearchResult | None:
        """The result of an earlier search that is deep enough."""
        found = search_result(node)
        # A search may end early when no other move can overtake the best one.
        return found if found is not None and found.visits >= TEACHING_VISITS // 2 else None
