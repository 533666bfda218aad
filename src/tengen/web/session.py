"""One game on one page: its tree, the position shown, whose turn it is, the clocks and the count. No page code here."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from tengen.coords import to_gtp
from tengen.errors import IllegalMove, TengenError
from tengen.game import BLACK, Game
from tengen.game import COLOR_NAMES as NAMES
from tengen.sgf import SgfInfo
from tengen.web.clock import GameClock
from tengen.web.counting import check_point, explain, group_of, in_words, score_result
from tengen.web.settings import GameSettings, Mode
from tengen.web.tree import GameTree, Node, Report
from tengen.web.view import BoardView

if TYPE_CHECKING:
    from tengen.engine import SearchResult


class Phase(StrEnum):
    """Where the shown position stands: moves may follow, dead stones are being marked, or the result is settled."""

    PLAYING = "playing"
    COUNTING = "counting"
    OVER = "over"


class Session:
    """A game in progress; `start` is the position before the first move.

    Methods raise IllegalMove or TengenError, and then nothing has changed.
    """

    def __init__(self, settings: GameSettings, start: Game | None = None, tree: GameTree | None = None) -> None:
        self.settings = settings
        self.start = start if start is not None else new_game(settings)
        self.tree = tree if tree is not None else GameTree()
        self.node = self.tree.root
        self.game = self.start.copy()
        self.names = settings.names
        self.abouts = settings.abouts
        self.clock = GameClock(settings.clock) if settings.clock else None
        self.info: SgfInfo | None = None
        self.result = ""
        self._ended_at: Node | None = None
        self._dead: dict[int, frozenset[int]] = {}

    # What is shown

    @property
    def phase(self) -> Phase:
        """Whether the shown position is being played, counted, or is the one at which the game was settled."""
        if self.result and self._ended_at is self.node:
            return Phase.OVER
        return Phase.COUNTING if self.game.is_over else Phase.PLAYING

    @property
    def ply(self) -> int:
        """Moves played before the shown position."""
        return self.node.ply

    @property
    def engine_to_move(self) -> bool:
        """Whether the engine owes a move: only where a line ends, so that looking back never sets it off."""
        if self.node.children or self.phase is not Phase.PLAYING or self.result:
            return False
        mode = self.settings.mode
        return mode is Mode.WATCH or (mode is Mode.PLAY and self.game.to_play != self.settings.human)

    @property
    def may_play(self) -> bool:
        """Whether a move may follow here. In analysis that is so after a resignation too."""
        return self.phase is Phase.PLAYING or (self.settings.mode is Mode.ANALYSE and not self.game.is_over)

    @property
    def may_click(self) -> bool:
        """Whether a person may play a stone in the shown position."""
        if not self.may_play or self.settings.mode is Mode.WATCH:
            return False
        return self.settings.mode is Mode.ANALYSE or self.game.to_play == self.settings.human

    @property
    def dead(self) -> frozenset[int]:
        """The stones marked dead in the shown position."""
        return self._dead.get(self.node.id, frozenset())

    @property
    def score(self) -> float:
        """Black's points minus White's, komi included, with the marked stones dead."""
        return self.game.score(dead=sorted(self.dead))

    def view(self) -> BoardView:
        """What the board draws now."""
        return BoardView.of(self.game, self.node, self._dead.get(self.node.id))

    def status(self) -> str:
        """One line for people: whose turn it is, or how the game ended."""
        if self.phase is Phase.OVER:
            return in_words(self.result)
        if self.phase is Phase.COUNTING and not self.counted:
            return "Counting …"
        if self.phase is Phase.COUNTING:
            return f"{in_words(score_result(self.score))} as counted"
        return f"{NAMES[self.game.to_play]} to play"

    def last_move(self) -> str:
        """The move that led to the shown position, for people; empty before the first."""
        if self.node.point is None or self.node.color is None:
            return ""
        move = to_gtp(self.node.point, self.game.size)
        return f"{NAMES[self.node.color]} {'passed' if move.lower() == 'pass' else f'played {move}'}"

    def line_reports(self) -> list[tuple[int, Report]]:
        """(ply, report) of every judged position on the line through the shown one."""
        nodes = [self.tree.root, *self.tree.line(self.node)]
        return [(ply, node.report) for ply, node in enumerate(nodes) if node.report is not None]

    # Moves

    def play(self, point: int, now: float = 0.0) -> Node:
        """Play `point` (size * size passes) for the side to move: a move that the tree knows, or a new branch of it."""
        if not self.may_play:
            raise IllegalMove("the game has ended: take moves back, or go back to play on")
        color = self.game.to_play
        try:
            self.game.play(point)
        except IllegalMove as error:
            raise IllegalMove(explain(error)) from None
        if self.clock:
            self.clock.moved(color, now)
        self.node = self.tree.add(self.node, color, point)
        self.tree.visit(self.node)
        if self.settings.mode is not Mode.ANALYSE:
            self._reopen()
        return self.node

    def click(self, point: object, now: float = 0.0) -> Node:
        """Play the point that a page sent; raises where a person may not move now."""
        checked = check_point(point, self.game.size)
        if not self.may_click and self.phase is Phase.PLAYING:
            raise IllegalMove(
                "it is the engine's turn" if self.settings.mode is Mode.PLAY else "the engine plays both sides here"
            )
        return self.play(checked, now)

    def pass_turn(self, now: float = 0.0) -> Node:
        """Pass for the side to move."""
        return self.play(self.game.size**2, now)

    def resign(self, color: int | None = None) -> None:
        """The game is lost for `color`, by default the person's colour, else the side to move.

        It ends at the end of the line through the shown position, which is shown then.
        """
        if self.result:
            raise IllegalMove("the game has ended already")
        if color is None:
            color = self.settings.human if self.settings.mode is Mode.PLAY else self.game.to_play
        self._show([self.tree.root, *self.tree.line(self.node)][-1])
        self.settle(f"{'WB'[color]}+R")

    def undo(self) -> bool:
        """Take the last move back; against the engine, its answer with it. False where there is none to take back.

        A person's resignation is taken back alone; the engine would resign again, and loses its move with it.
        """
        if self.phase is Phase.OVER and self._resigned_by_person:
            self._reopen()
            return True
        target = self.node.parent
        if self.settings.mode is Mode.PLAY:
            while target is not None and self._turn_at(target) != self.settings.human:
                target = target.parent
        if target is None:
            return False
        if self._ended_at is self.node:
            self._reopen()
        leaving = self.node
        while leaving.parent is not None and leaving is not target and not leaving.children:
            above = leaving.parent
            self.tree.remove(leaving)
            leaving = above
        self._show(target)
        return True

    def tick(self, now: float) -> bool:
        """Run the clock of the side to move, at the end of a line only; True when a flag has just fallen."""
        if self.clock is None:
            return False
        if self.phase is not Phase.PLAYING or self.result or self.node.children:
            self.clock.stop(now)
            return False
        color = self.game.to_play
        self.clock.start(color, now)
        if self.clock.flagged(color, now):
            self.clock.stop(now)
            self.settle(f"{'WB'[color]}+T")
            return True
        return False

    # Looking around

    def goto(self, node_id: object) -> bool:
        """Show the node that a page named; False if the tree has none of that id."""
        node = self.tree.get(node_id) if isinstance(node_id, int) else None
        if node is None:
            return False
        self._show(node)
        return True

    def step(self, moves: int) -> None:
        """Go forward (or, below 0, back) by so many moves along the line that was last seen, as far as it reaches."""
        node = self.node
        for _ in range(abs(moves)):
            onward = self.tree.following(node) if moves > 0 else node.parent
            if onward is None:
                break
            node = onward
        self._show(node)

    def seek(self, ply: object) -> None:
        """Show the position after `ply` moves of the line through the shown one."""
        line = [self.tree.root, *self.tree.line(self.node)]
        if isinstance(ply, int):
            self._show(line[max(0, min(ply, len(line) - 1))])

    def sibling(self, step: int) -> None:
        """Show the next (or previous) variation at this move."""
        if self.node.parent is not None:
            siblings = self.node.parent.children
            self._show(siblings[(siblings.index(self.node) + step) % len(siblings)])

    def position(self, node: Node) -> Game:
        """The game as it stands at `node`, its history included."""
        game = self.start.copy()
        for step in node.path():
            game.play(step.point, color=step.color)
        return game

    # Judgement and count

    def note(self, node: Node, result: SearchResult) -> None:
        """Keep what a search found in the position of `node`, unless more is known already."""
        if node.report is not None and node.report.visits > result.visits:
            return
        black = result.to_play == BLACK
        node.report = Report(
            winrate=result.winrate if black else 1 - result.winrate,
            score=result.score if black else -result.score,
            visits=result.visits,
            result=result,
        )

    def begin_count(self, dead: Sequence[int]) -> None:
        """Mark these stones dead in the shown position, to be corrected by a person."""
        stones = self.view().stones
        self._dead[self.node.id] = frozenset(point for point in dead if stones[point] != ".")

    @property
    def counted(self) -> bool:
        """Whether dead stones have been looked for in the shown position."""
        return self.node.id in self._dead

    def toggle_dead(self, point: object) -> None:
        """Turn the group on a point from living to dead or back; an empty point changes nothing."""
        checked = check_point(point, self.game.size)
        if self.phase is not Phase.COUNTING or self.game.board.flat[checked] not in (0, 1):
            return
        group = group_of(self.game.board, checked)
        dead = self.dead
        self._dead[self.node.id] = dead - group if checked in dead else dead | group

    def agree(self) -> str:
        """Settle the game by the count as marked; returns the result as records write it."""
        if self.phase is not Phase.COUNTING:
            raise TengenError("there is nothing to count before both sides have passed")
        if not self.counted:
            raise TengenError("the dead stones are not counted yet")
        self.settle(score_result(self.score))
        return self.result

    def settle(self, result: str, at: Node | None = None) -> None:
        """End the game with a result as records write it, at a node or the shown position."""
        self.result, self._ended_at = result, at or self.node

    def _reopen(self) -> None:
        """Play goes on after a result; where time decided the game, without clocks."""
        if self.result.endswith("+T"):
            self.clock = None
        self.result, self._ended_at = "", None

    @property
    def _resigned_by_person(self) -> bool:
        return self.settings.mode is Mode.PLAY and self.result == f"{'WB'[self.settings.human]}+R"

    def _turn_at(self, node: Node) -> int:
        return self.start.to_play if node.color is None else 1 - node.color

    def _show(self, node: Node) -> None:
        self.game, self.node = self.position(node), node
        self.tree.visit(node)


def new_game(settings: GameSettings) -> Game:
    """The position before the first move under these settings."""
    game = Game(settings.size, rules=settings.rules, komi=settings.komi)
    if settings.handicap:
        game.place_handicap(settings.handicap)
    return game
