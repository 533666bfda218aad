"""One game on one page: its tree, the shown position, the clocks and the count. It has no page code."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tengen.coords import to_gtp
from tengen.engine import Clock, SearchResult, TimeControl
from tengen.errors import IllegalMove, SgfError, TengenError
from tengen.game import BLACK, Game
from tengen.game import COLOR_NAMES as NAMES
from tengen.review.game import GameReview, ReviewedMove
from tengen.sgf import Analysis, GameNode, GameTree, SgfInfo, read_tree, write_tree
from tengen.sgf.values import result as read_result
from tengen.web.counting import check_point, explain, group_of, in_words, score_result
from tengen.web.settings import GameSettings, Mode
from tengen.web.view import BoardView

MAX_NODES = 20_000
_MAX_NAME = 100


class Phase(StrEnum):
    """The state of the shown position: moves may follow, dead stones are marked, or the result is settled."""

    PLAYING = "playing"
    COUNTING = "counting"
    OVER = "over"


@dataclass(frozen=True)
class SearchAnalysis(Analysis):
    """The analysis of a position with the whole search result, which the page shows."""

    result: SearchResult


class GameSession:
    """A game in progress, from `start` (an empty board, or with the handicap of the settings) or from a record's tree.

    Methods raise IllegalMove or TengenError, and then nothing has changed.
    """

    def __init__(self, settings: GameSettings, start: Game | None = None, tree: GameTree | None = None) -> None:
        self.settings = settings
        self.tree = tree if tree is not None else GameTree.of_game(start or new_game(settings), _players(settings))
        self.review: GameReview | None = None
        self.node = self.tree.root
        self.game = self.tree.position(self.node)
        self.names = settings.names
        self.details = settings.details
        self.clock = GameClock(settings.clock) if settings.clock else None
        self.result = ""
        self._ended_at: GameNode | None = None
        self._dead: dict[int, frozenset[int]] = {}

    # Records

    @classmethod
    def from_record(cls, data: bytes) -> tuple[GameSession, list[str]]:
        """A session that shows the first game of an SGF text, and messages about what it cannot show.

        Every move is checked by the rules: a variation ends before its first illegal move. Raises SgfError where the
        text is not a game of Go, or where the game is too large.
        """
        tree = read_tree(data)
        if len(tree) > MAX_NODES:
            raise SgfError(f"the record has {len(tree):,} nodes: {MAX_NODES:,} is the limit of this page")
        try:
            settings = GameSettings(tree.size, tree.rules, tree.komi, mode=Mode.ANALYZE)
        except TengenError as error:
            raise SgfError(str(error)) from error
        problems = [*tree.problems, *tree.check_moves()]
        if problems and not tree.root.variations and not tree.root.setup:
            raise SgfError(problems[0])
        session = cls(settings, tree=tree)
        info = tree.info
        session.names = info.black or "Black", info.white or "White"
        komi = f"komi {settings.komi:g}"
        session.details = info.black_rank, f"{info.white_rank} · {komi}" if info.white_rank else komi
        if info.result.ending != "unknown":
            session.settle(str(info.result), tree.line(tree.root)[-1])
        return session, problems

    def to_sgf(self) -> bytes:
        """The game as SGF with all variations and comments. Properties that were not changed stay as they were."""
        info = self.tree.info
        known = str(info.result) if info.result.ending != "unknown" else ""
        if self.result != known:
            self.tree.info = replace(info, result=read_result(self.result))
        return write_tree(self.tree)

    @property
    def file_name(self) -> str:
        """A name for the record: the date of the game, or of today, and the players; `2026-11-24 Ann - Bo.sgf`."""
        info = self.tree.info
        players = " - ".join(name or color for name, color in ((info.black, "Black"), (info.white, "White")))
        text = f"{info.date or datetime.date.today()} {players}"
        return re.sub(r"[^\w .+-]+", "_", text)[:_MAX_NAME].strip() + ".sgf"

    # What is shown

    @property
    def phase(self) -> Phase:
        """Whether the shown position is being played, counted, or is the one at which the game was settled."""
        if self.result and self._ended_at is self.node:
            return Phase.OVER
        return Phase.COUNTING if self.game.is_over else Phase.PLAYING

    @property
    def line(self) -> list[GameNode]:
        """The line through the shown position, from the root to its end."""
        return self.tree.line(self.node)

    @property
    def place(self) -> int:
        """The place of the shown position in its line; the root's is 0."""
        return self.node.depth

    @property
    def engine_to_move(self) -> bool:
        """Whether the engine has to move: only at the end of a line, so that going back does not make it play."""
        if self.node.variations or self.phase is not Phase.PLAYING or self.result:
            return False
        mode = self.settings.mode
        return mode is Mode.WATCH or (mode is Mode.PLAY and self.game.to_play != self.settings.human)

    @property
    def may_play(self) -> bool:
        """Whether a move may follow here. In analysis a move may follow a resignation too."""
        return self.phase is Phase.PLAYING or (self.settings.mode is Mode.ANALYZE and not self.game.is_over)

    @property
    def may_click(self) -> bool:
        """Whether a person may play a stone in the shown position."""
        if not self.may_play or self.settings.mode is Mode.WATCH:
            return False
        return self.settings.mode is Mode.ANALYZE or self.game.to_play == self.settings.human

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

    def line_analyses(self) -> list[tuple[int, Analysis]]:
        """(place in the line, analysis) of every analyzed position on the line through the shown one."""
        return [(place, node.analysis) for place, node in enumerate(self.line) if node.analysis is not None]

    def mistakes(self) -> list[ReviewedMove]:
        """The moves that lost most by the last review, of both players, in the order of the game."""
        if self.review is None:
            return []
        worst = [move for color in (0, 1) for move in self.review.mistakes(color)]
        return sorted(
            (move for move in worst if self.tree.get(move.node.id) is move.node), key=lambda move: move.number
        )

    def grades(self) -> dict[int, int]:
        """The class of the loss (`ReviewedMove.grade`) of every reviewed move, by the id of its node."""
        return {} if self.review is None else {move.node.id: move.grade for move in self.review.moves}

    def to_mistake(self, forward: bool) -> None:
        """Show the position before the next or the previous mistake, where the better move can be seen."""
        here = self.node.depth
        places = [(move.node.depth - 1, move.node.parent) for move in self.mistakes()]
        onward = [place for place in places if (place[0] > here if forward else place[0] < here)]
        if onward:
            _, node = onward[0 if forward else -1]
            assert node is not None
            self.goto(node.id)

    # Moves

    def play(self, point: int, now: float = 0.0) -> GameNode:
        """Play `point` (size * size passes) for the side to move: an existing variation or a new one."""
        if not self.may_play:
            raise IllegalMove("the game has ended: take back a move to continue")
        color = self.game.to_play
        try:
            self.game.play(point)
        except IllegalMove as error:
            raise IllegalMove(explain(error)) from None
        if self.clock:
            self.clock.moved(color, now)
        self.node = self.tree.add_move(self.node, color, point)
        self.tree.visit(self.node)
        if self.settings.mode is not Mode.ANALYZE:
            self._reopen()
        return self.node

    def click(self, point: object, now: float = 0.0) -> GameNode:
        """Play the point that a page sent. Raises IllegalMove where it is not the person's turn."""
        checked = check_point(point, self.game.size)
        if not self.may_click and self.phase is Phase.PLAYING:
            raise IllegalMove(
                "it is the engine's turn" if self.settings.mode is Mode.PLAY else "the engine plays both sides here"
            )
        return self.play(checked, now)

    def pass_turn(self, now: float = 0.0) -> GameNode:
        """Pass for the side to move."""
        return self.play(self.game.size**2, now)

    def resign(self, color: int | None = None) -> None:
        """`color` resigns, by default the person's color, else the side to move.

        The game ends at the end of the line through the shown position, and that position is shown.
        """
        if self.result:
            raise IllegalMove("the game has already ended")
        if color is None:
            color = self.settings.human if self.settings.mode is Mode.PLAY else self.game.to_play
        self._show(self.line[-1])
        self.settle(f"{'WB'[color]}+R")

    def take_back(self) -> bool:
        """Take back the last move, against the engine with its answer. False where there is no move to take back.

        A person's resignation is taken back alone. After a resignation of the engine the person's last move goes too,
        since the engine would resign again.
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
        while leaving.parent is not None and leaving is not target and not leaving.variations:
            above = leaving.parent
            self.tree.remove(leaving)
            leaving = above
        self._show(target)
        return True

    def tick(self, now: float) -> bool:
        """Run the clock of the side to move, at the end of a line only. True when its time has just run out."""
        if self.clock is None:
            return False
        if self.phase is not Phase.PLAYING or self.result or self.node.variations:
            self.clock.stop(now)
            return False
        color = self.game.to_play
        self.clock.start(color, now)
        if self.clock.flagged(color, now):
            self.clock.stop(now)
            self.settle(f"{'WB'[color]}+T")
            return True
        return False

    # Navigation

    def goto(self, node_id: object) -> bool:
        """Show the node with the id that a page sent. False where the tree has none that can be shown."""
        node = self.tree.get(node_id) if isinstance(node_id, int) else None
        if node is None or any(step.problem for step in node.path):
            return False
        self._show(node)
        return True

    def step(self, moves: int) -> None:
        """Go forward (below 0: back) by this number of moves, along the variations that were last visited."""
        node = self.node
        for _ in range(abs(moves)):
            onward = self.tree.following(node) if moves > 0 else node.parent
            if onward is None:
                break
            node = onward
        self._show(node)

    def seek(self, place: object) -> None:
        """Show the position at a place in the line through the shown one; the root is 0."""
        line = self.line
        if isinstance(place, int):
            self._show(line[max(0, min(place, len(line) - 1))])

    def sibling(self, step: int) -> None:
        """Show the next (or previous) variation at this move."""
        if self.node.parent is not None:
            siblings = self.node.parent.variations
            self._show(siblings[(siblings.index(self.node) + step) % len(siblings)])

    # Analysis and count

    def add_analysis(self, node: GameNode, result: SearchResult) -> None:
        """Keep the result of a search of the position at `node`, unless one with more visits is there."""
        if node.analysis is not None and node.analysis.visits > result.visits:
            return
        black = result.to_play == BLACK
        node.analysis = SearchAnalysis(
            winrate=result.winrate if black else 1 - result.winrate,
            score_lead=result.score if black or result.score is None else -result.score,
            visits=result.visits,
            result=result,
        )

    @property
    def search_result(self) -> SearchResult | None:
        """The search result that is known of the shown position."""
        return self.node.analysis.result if isinstance(self.node.analysis, SearchAnalysis) else None

    def begin_count(self, dead: Sequence[int]) -> None:
        """Mark these stones dead in the shown position; a person may correct them."""
        stones = self.view().stones
        self._dead[self.node.id] = frozenset(point for point in dead if stones[point] != ".")

    @property
    def counted(self) -> bool:
        """Whether the dead stones of the shown position have been determined."""
        return self.node.id in self._dead

    def toggle_dead(self, point: object) -> None:
        """Change the group on a point from alive to dead or back; an empty point changes nothing."""
        checked = check_point(point, self.game.size)
        if self.phase is not Phase.COUNTING or self.game.board.flat[checked] not in (0, 1):
            return
        group = group_of(self.game.board, checked)
        dead = self.dead
        self._dead[self.node.id] = dead - group if checked in dead else dead | group

    def agree(self) -> str:
        """End the game with the count as marked; returns the result as SGF writes it."""
        if self.phase is not Phase.COUNTING:
            raise TengenError("the game is counted after both sides have passed")
        if not self.counted:
            raise TengenError("the count is not finished yet")
        self.settle(score_result(self.score))
        return self.result

    def settle(self, result: str, at: GameNode | None = None) -> None:
        """End the game with a result as SGF writes it, at a node or the shown position."""
        self.result, self._ended_at = result, at or self.node

    def _reopen(self) -> None:
        """Continue the game after a result; without clocks where time decided it."""
        if self.result.endswith("+T"):
            self.clock = None
        self.result, self._ended_at = "", None

    @property
    def _resigned_by_person(self) -> bool:
        return self.settings.mode is Mode.PLAY and self.result == f"{'WB'[self.settings.human]}+R"

    def _turn_at(self, node: GameNode) -> int:
        return self.tree.position(node).to_play

    def _show(self, node: GameNode) -> None:
        self.game, self.node = self.tree.position(node), node
        self.tree.visit(node)


def _players(settings: GameSettings) -> SgfInfo:
    """The names of the players for the record, the engine's with its level."""
    black, white = (f"{name} ({settings.level.title})" if name == "Tengen" else name for name in settings.names)
    return SgfInfo(black=black, white=white, date=datetime.date.today())


def new_game(settings: GameSettings) -> Game:
    """The position before the first move under these settings."""
    game = Game(settings.size, rules=settings.rules, komi=settings.komi)
    if settings.handicap:
        game.place_handicap(settings.handicap)
    return game


class GameClock:
    """The clocks of both players; at most one runs. All times `now` are seconds of one steady timer of the caller."""

    def __init__(self, control: TimeControl) -> None:
        self._clocks = [control.start(), control.start()]
        self._spent = [0.0, 0.0]  # seconds of the move in progress
        self._running: int | None = None
        self._since = 0.0

    def start(self, color: int, now: float) -> None:
        """Start the clock of `color` and stop the other."""
        if self._running != color:
            self.stop(now)
            self._running, self._since = color, now

    def stop(self, now: float) -> None:
        """Stop both clocks."""
        self._tick(now)
        self._running = None

    def moved(self, color: int, now: float) -> None:
        """`color` has played: its time is spent, the increment added, the byo-yomi period renewed."""
        self._tick(now)
        self._clocks[color] = self._clocks[color].spend(self._spent[color])
        self._spent[color] = 0.0
        if self._running == color:
            self._running = None

    def flagged(self, color: int, now: float) -> bool:
        """Whether the time of `color` has run out."""
        self._tick(now)
        return self.seconds(color) <= 0

    def seconds(self, color: int) -> float:
        """Seconds that `color` may still spend on this move, byo-yomi periods included, as of the last call."""
        return self.remaining(color).max_seconds

    def text(self, color: int) -> str:
        """What the clock shows: `12:07`, in byo-yomi `0:24 (3)`, below ten seconds with tenths."""
        left = self.remaining(color)
        seconds = left.period if left.in_overtime else max(0.0, left.main)
        text = f"{seconds:.1f}" if seconds < 10 else f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
        return f"{text} ({left.count})" if left.in_overtime else text

    def remaining(self, color: int) -> Clock:
        """The clock of `color` during its move, as of the last call."""
        return self._clocks[color].running(self._spent[color])

    def _tick(self, now: float) -> None:
        if self._running is not None:
            self._spent[self._running] += max(0.0, now - self._since)
            self._since = now
