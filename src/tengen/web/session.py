"""The game of a page: its moves, the shown position, the clocks and the count. It has no page code."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from tengen.engine import Clock, TimeControl
from tengen.errors import IllegalMove, TengenError
from tengen.game import Game
from tengen.sgf import Analysis, EditHistory, GameNode, GameTree, SgfInfo, write_tree
from tengen.sgf.values import result as read_result
from tengen.sgf.values import score_text
from tengen.web.analyses import GameAnalyses
from tengen.web.clock import GameClock, seconds_used
from tengen.web.counting import group_of, lost_result
from tengen.web.language import _
from tengen.web.players import PlayerChoice
from tengen.web.running_review import RunningReview
from tengen.web.settings import GameSettings, Mode, player_details
from tengen.web.view import BoardView
from tengen.web.words import color_names, explain


class Phase(StrEnum):
    """The state of the shown position: moves may follow, dead stones are marked, or the result is settled; a position
    without result by the rules is over without a count."""

    PLAYING = "playing"
    COUNTING = "counting"
    OVER = "over"


@dataclass(frozen=True)
class PlayedMove:
    """A move that was played here: the clock of its player before it and the seconds that it took, None where no clock
    ran. Older files do not say what the clock was."""

    clock_before: Clock | None = None
    seconds: float | None = None


class _Replaced(NamedTuple):
    """What a new result has replaced, to which a take back returns: the result, where it was reached, whether it was
    reached here, whether the game was live, and the texts of the record (RE, KM)."""

    result: str
    ended_at: GameNode | None
    ended_here: bool
    live: bool
    texts: dict[str, str]


class _Tip(NamedTuple):
    """Where a game goes on: the node, the color to move there and whether the game is over."""

    node: GameNode
    to_play: int
    is_over: bool

    @classmethod
    def of(cls, node: GameNode, game: Game) -> _Tip:
        """A node, whose position is `game`."""
        return cls(node, game.to_play, game.is_over)


class GameSession:
    """A game that is played and shown: moves, clocks, count and result. It begins at `start` (an empty board, or with
    the handicap of the settings) or with a record's tree. `analyses` has what is known of its positions.

    live: moves go on as the settings say, at the node `tip`; otherwise a person moves both colors, and the clocks stand
    still. A result ends that, `play_on` begins it at any node. The result stays until a new one is reached; it was
    reached at the node `ended_at`, and `ended_here`, unless the record had it.

    Methods raise IllegalMove or TengenError, and then nothing has changed.
    """

    def __init__(self, settings: GameSettings, start: Game | None = None, tree: GameTree | None = None) -> None:
        self.settings = settings
        self.tree = tree if tree is not None else GameTree.of_game(start or new_game(settings), _info(settings))
        self.history = EditHistory(self.tree)
        self.analyses = GameAnalyses(self.tree)
        self.running_review: RunningReview | None = None
        """Of the session, so that it goes on while the page is loaded again."""
        self.node = self.tree.root
        self.game = self.tree.position(self.node)
        self.live = True
        self.edited_from: GameNode | None = None
        """Where a live game goes on after the editor; None where none waits for it. A removed node stays here, since an
        undo may bring it back."""
        self.record_names = settings.names if settings.mode is not Mode.ANALYZE else ("", "")
        """The names in the record, Black's first; empty for none."""
        self.record_ranks: tuple[str, str] | None = None
        """The ranks in the record, Black's first; None where its players are those of the settings."""
        self.clock = GameClock(settings.clock) if settings.clock else None
        self.result = ""
        self.others: tuple[list[bytes], list[bytes]] = [], []
        """The games of the collection before and after this one, as text."""
        self.ended_at: GameNode | None = None
        self.ended_here = False
        self.played: dict[int, PlayedMove] = {}
        """The moves that were played here and may be taken back, by the ids of their nodes; those of a record stay."""
        self._replaced: list[_Replaced] = []  # of the present result and those before it, the last one at the end
        self._dead: dict[tuple[GameNode, int], frozenset[int]] = {}  # by `GameNode.position_key`
        self._tip = _Tip.of(self.node, self.game)
        self._seconds_used: tuple[int, GameNode | None, dict[int, float]] = -1, None, {}
        """Of a line: the version of the tree, the last node, and what the record says."""
        self._fresh = self._without_result() if tree is None else None

    # Records

    def read_info(self) -> None:
        """Take the names, rules, komi and result of the record, which was opened, or in which they were edited."""
        info = self.tree.info
        if (self.tree.rules, self.tree.komi) != (self.game.rules.text, self.game.komi):
            self.settings = replace(self.settings, rules=self.tree.rules, komi=self.tree.komi)
            self.analyses.review = None
            self._replaced = [  # a score may contradict the komi
                replaced._replace(texts=replaced.texts | {"KM": self.tree.root.text("KM")})
                for replaced in self._replaced
                if read_result(replaced.result).score is None
            ]
        self.record_names = info.black, info.white
        self.record_ranks = info.black_rank, info.white_rank
        known = self._result_of_record
        if known != (str(read_result(self.result)) if self.result else ""):
            ended_at = self.ended_at if self.ended_at is not None and self.ended_at in self.tree else None
            self.settle(known, ended_at or self.tree.line(self.tree.root)[-1])
            self.ended_here = False
            self._replaced.clear()
            if not known:
                self.ended_at = None

    def to_sgf(self) -> bytes:
        """The game as SGF with all variations and comments. Properties that were not changed stay as they were."""
        return write_tree(self.tree)

    def collection(self) -> list[bytes]:
        """The texts of all games of the file that this one came from, this one as it is now."""
        before, after = self.others
        return [*before, self.to_sgf(), *after]

    # Who plays

    @property
    def tip(self) -> GameNode:
        """The node where the game goes on."""
        return self._tip.node

    @property
    def mode(self) -> Mode:
        """Who moves now: as the settings say while the game is live, else a person moves both colors."""
        return self.settings.mode if self.live else Mode.ANALYZE

    @property
    def names(self) -> tuple[str, str]:
        """The names of the players, Black's first: of those who move now, else of the record."""
        if self.mode is not Mode.ANALYZE:
            return self.settings.names
        black, white = color_names()
        return self.record_names[0] or black, self.record_names[1] or white

    @property
    def details(self) -> tuple[str, str]:
        """A line below each name."""
        return self.record_details if self.mode is Mode.ANALYZE else self.settings.details

    @property
    def record_details(self) -> tuple[str, str]:
        """A line below each name of the record."""
        return player_details(self.record_ranks or self.settings.titles, self.tree.komi)

    @property
    def control(self) -> TimeControl | None:
        """The time control of the game, None without clocks."""
        return self.settings.clock if self.clock else None

    @property
    def in_progress(self) -> bool:
        """Whether a game with the engine has begun and not ended."""
        return self.mode is not Mode.ANALYZE and self.unfinished

    @property
    def unfinished(self) -> bool:
        """Whether a game with the engine has begun and not ended, also while it is edited."""
        return self.goes_on and self.tip.parent is not None and not self._tip.is_over

    @property
    def goes_on(self) -> bool:
        """Whether a game with the engine is live, or will be after the editor."""
        return (self.live or self._waits) and self.settings.mode is not Mode.ANALYZE

    @property
    def _waits(self) -> bool:
        """Whether a live game goes on after the editor."""
        return self.edited_from is self.tip and self.ended_at is not self.tip

    def analyze(self) -> None:
        """Let a person move both colors from now on; a result stays."""
        self.live, self.edited_from = False, None

    def begin_edit(self) -> None:
        """Let a person edit the game: a live one waits until `end_edit`."""
        if self.live:
            self.edited_from = self.tip
        self.live = False

    def end_edit(self) -> None:
        """Go on with the game that waits, unless it has ended. Raises SgfError where an edit left no way to it."""
        waits = self._waits
        if self.edited_from is not None and self.edited_from in self.tree:
            self.edited_from = None
        if waits:
            self.go_on()

    def play_on(self, players: tuple[PlayerChoice, PlayerChoice]) -> None:
        """Let these players go on from the shown position, Black's first; without clocks after a result."""
        if self.game.is_over:
            raise IllegalMove(_("the game is over in this position: go back to play on from an earlier one"))
        self.record_ranks = self.record_ranks or self.settings.titles
        self.settings = replace(self.settings, players=players)
        if self.result:
            self.clock = None
        if self.ended_at is self.node:
            self.ended_at = None
        self.live, self.edited_from = True, None
        self._set_tip()

    def go_on(self) -> None:
        """Let the players go on at the tip, as it is now. Raises SgfError where an edit left no way to it."""
        self._tip = _Tip.of(self.tip, self.tree.position(self.tip))
        self.live = True

    def resume(
        self,
        settings: GameSettings,
        live: bool,
        tip: GameNode,
        shown: GameNode,
        left: Sequence[Sequence[float]],
        played: Mapping[int, PlayedMove],
    ) -> None:
        """Continue a game that was kept as a record: its settings, where it goes on, what its clocks had left, and the
        moves that were played here."""
        self.settings = settings
        self._show(tip)
        self._set_tip()
        self.live = live
        self.played = dict(played)
        self.clock = GameClock(settings.clock, left) if settings.clock else None
        self._show(shown)

    # What is shown

    @property
    def phase(self) -> Phase:
        """Whether the shown position is being played, counted, or is the one at which the game was settled."""
        if self._shows_end or self.game.is_no_result:
            return Phase.OVER
        return Phase.COUNTING if self.game.is_over else Phase.PLAYING

    @property
    def ending(self) -> str:
        """The result with which the shown position is over, as SGF writes it; empty where it is not."""
        if self._shows_end:
            return self.result
        return self.game.result() if self.game.is_no_result else ""

    @property
    def untouched(self) -> bool:
        """Whether the game is as its settings made it: nothing was played or edited, and it is no record."""
        return len(self.tree) == 1 and self._without_result() == self._fresh

    def _without_result(self) -> dict[str, list[bytes]]:
        return {name: values for name, values in self.tree.root.properties.items() if name != "RE"}

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
        """Whether the engine has to move: only where the game goes on, so that going back does not make it play."""
        if self.node is not self.tip or self.phase is not Phase.PLAYING:
            return False
        return self.live and not self.settings.players[self.game.to_play].is_person

    @property
    def may_play(self) -> bool:
        """Whether a move may follow here. In analysis a move may follow a resignation too."""
        return self.phase is Phase.PLAYING or (self.mode is Mode.ANALYZE and not self.game.is_over)

    @property
    def may_click(self) -> bool:
        """Whether a person may play a stone in the shown position."""
        return self.may_play and not (self.live and not self.settings.players[self.game.to_play].is_person)

    @property
    def dead(self) -> frozenset[int]:
        """The stones marked dead in the shown position."""
        return self._dead.get(self.node.position_key, frozenset())

    @property
    def score(self) -> float:
        """Black's points minus White's, komi included, with the marked stones dead."""
        return self.game.score(dead=sorted(self.dead))

    def view(self) -> BoardView:
        """What the board draws now."""
        return BoardView.of(self.game, self.node, self._dead.get(self.node.position_key))

    def line_analyses(self, line: Sequence[GameNode] | None = None) -> list[tuple[int, Analysis]]:
        """(place in the line, analysis) of every analyzed position on a line, by default the one through the shown
        position."""
        nodes = self.line if line is None else line
        return [(place, node.analysis) for place, node in enumerate(nodes) if node.analysis is not None]

    def line_times(self, line: Sequence[GameNode] | None = None) -> list[tuple[int, int, float]]:
        """(place in the line, color, seconds) of every move whose time is known: by the clock here, or the record. The
        line is by default the one through the shown position."""
        line = self.line if line is None else line
        version, end, _known = self._seconds_used
        if (version, end) != (self.tree.version, line[-1]):
            self._seconds_used = self.tree.version, line[-1], seconds_used(line)
        known = dict(self._seconds_used[2])
        for place, node in enumerate(line):
            if node.id in self.played and (seconds := self.played[node.id].seconds) is not None:
                known[place] = seconds
        return [(place, line[place].color or 0, seconds) for place, seconds in sorted(known.items())]

    # Moves

    def play(self, point: int, now: float = 0.0) -> GameNode:
        """Play `point` (`Game.pass_point` passes) for the side to move: an existing variation or a new one."""
        if not self.may_play:
            raise IllegalMove(_("the game has ended: take back a move to continue"))
        color = self.game.to_play
        turned = self.node.move is None and self.node.parent is not None  # perhaps: the shown game has no history then
        try:
            if turned:
                self.tree.check_move(self.node, color, point)
            self.game.play(point)
        except IllegalMove as error:
            raise IllegalMove(explain(error)) from None
        move = PlayedMove()
        if self.clock and self.live:
            move = PlayedMove(self.clock.turn(color), self.clock.moved(color, now))
        if self.untouched:  # the page may have been open for days
            self.tree.info = replace(self.tree.info, date=datetime.date.today())
            self._fresh = self._without_result()
        nodes = len(self.tree)
        self.node = self.tree.add_move(self.node, color, point)
        self.tree.visit(self.node)
        if turned:
            self.game = self.tree.position(self.node)
        if len(self.tree) > nodes:
            self.played[self.node.id] = move
            if move.seconds is not None:
                self._write_clock(color)
        if self.live:
            self._set_tip()
            if self.ended_at is self.node:  # the game goes on where an earlier one has ended
                self.ended_at = None
            if self.game.is_no_result:
                self.settle(self.game.result())
        return self.node

    def click(self, point: object, now: float = 0.0) -> GameNode:
        """Play the point that a page sent. Raises IllegalMove where it is not the person's turn."""
        checked = check_point(point, self.game.size)
        if not self.may_click and self.phase is Phase.PLAYING:
            raise IllegalMove(
                _("it is the engine's turn") if self.mode is Mode.PLAY else _("the engine plays both sides here")
            )
        return self.play(checked, now)

    def pass_turn(self, now: float = 0.0) -> GameNode:
        """Pass for the side to move."""
        return self.play(self.game.pass_point, now)

    def resign(self, color: int | None = None) -> None:
        """`color` resigns, by default the person's color, else the side to move.

        The game ends where it was played to, and that position is shown.
        """
        if not self.live:
            raise IllegalMove(_("the game has already ended"))
        if color is None:
            color = self.settings.human if self.mode is Mode.PLAY else self.game.to_play
        self._show(self.tip)
        self.settle(lost_result(color, "R"))

    def take_back(self) -> bool:
        """Take back the last move, against the engine with its answer. False where there is no move to take back.

        The clocks take back what the moves have given, not the time that was used. Moves of a record stay: the position
        before is shown. A loss on time, or a person's resignation, is taken back alone, and so is any result while a
        game with the engine goes on elsewhere. After a resignation of the engine the person's last move goes too, since
        the engine would resign again. A result that the new one has replaced stands again.
        """
        ended = self._shows_end and self.ended_here
        if ended and (self.goes_on or self._resigned_by_person or self.result.endswith("+T")):
            self._reopen()
            return True
        target = self._before_last_move(self.settings.mode if ended and self._was_live else self.mode)
        if target is None:
            return False
        edited = self.edited_from is self.tip
        if ended:
            self._reopen()
        self._remove_moves(target)
        self._show(target)
        # The game goes on here, also where an earlier one has ended.
        if self.live or self.tip not in self.tree:
            self._set_tip()
        if self.live and self.ended_at is self.node:
            self.ended_at = None
        if edited:
            self.edited_from = self.tip
        return True

    def _before_last_move(self, mode: Mode) -> GameNode | None:
        """Where a take back leads: one move back, against the engine to the person's turn; None where there is none."""
        target = self.node.parent
        if mode is Mode.PLAY:
            while target is not None and self._turn_at(target) != self.settings.human:
                target = target.parent
        return target

    def _remove_moves(self, target: GameNode) -> None:
        """Remove the moves from the shown position back to `target`, up to the first that stays, with what they gave
        the clocks."""
        leaving = self.node
        while leaving.parent is not None and leaving is not target and self.may_remove(leaving):
            above, move = leaving.parent, self.played[leaving.id]
            if self.clock and move.clock_before is not None and leaving.color is not None:
                self.clock.take_back(leaving.color, move.clock_before, move.seconds or 0.0)
            self.played[leaving.id] = replace(move, clock_before=None)  # once, where an undo brings the move back
            self.tree.remove(leaving)
            leaving = above

    def may_remove(self, node: GameNode) -> bool:
        """Whether taking back the move of a node removes it: it was played here, nothing follows, and no result was
        reached there."""
        return node.id in self.played and not node.variations and node is not self.ended_at

    def tick(self, now: float) -> bool:
        """Run the clock of the side to move where the game goes on. True when its time has just run out.

        A person's time runs on while another position is shown; the engine, which waits meanwhile, loses none.
        """
        if self.clock is None:
            return False
        turn = self._tip.to_play
        engine = not self.settings.players[turn].is_person
        if not self.live or self._tip.is_over or (engine and self.node is not self.tip):
            self.clock.stop(now)
            return False
        self.clock.start(turn, now)
        if self.clock.flagged(turn, now):
            self.clock.stop(now)
            self._show(self.tip)
            self.settle(lost_result(turn, "T"))
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
        for _step in range(abs(moves)):
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

    def to_mistake(self, forward: bool) -> None:
        """Show the position before the next or the previous mistake, where the better move can be seen."""
        here = self.node.depth
        places = [(move.node.depth - 1, move.node.parent) for move in self.analyses.mistakes()]
        onward = [place for place in places if (place[0] > here if forward else place[0] < here)]
        if onward:
            _, node = onward[0 if forward else -1]
            assert node is not None
            self.goto(node.id)

    def show_again(self, node: GameNode | None) -> None:
        """Show a node after an edit of the tree, or the place that is left of the game where it is gone."""
        wanted = node or self.node
        self._show(wanted if wanted in self.tree else self.tree.root)
        waiting = None if self.live else self.edited_from
        if waiting is not None and waiting is not self.tip and waiting in self.tree:  # an undo has brought it back
            self._tip = _Tip.of(waiting, self.tree.position(waiting))
        elif self.tip not in self.tree:
            self.live = False
            self._set_tip()

    # Count

    def begin_count(self, dead: Sequence[int], at: GameNode | None = None) -> None:
        """Mark these stones dead at a node or in the shown position, where a person may correct them."""
        node = at or self.node
        board = self.tree.position(node).board.ravel()
        self._dead[node.position_key] = frozenset(point for point in dead if board[point] in (0, 1))

    @property
    def dead_at_end(self) -> frozenset[int] | None:
        """The stones marked dead where the result was reached; None where nothing was counted there."""
        return None if self.ended_at is None else self._dead.get(self.ended_at.position_key)

    @property
    def counted(self) -> bool:
        """Whether the dead stones of the shown position have been determined."""
        return self.node.position_key in self._dead

    def toggle_dead(self, point: object) -> None:
        """Change the group on a point from alive to dead or back; an empty point changes nothing, nor does any before
        the dead stones were determined."""
        checked = check_point(point, self.game.size)
        counting = self.phase is Phase.COUNTING and self.counted
        if not counting or self.game.board.flat[checked] not in (0, 1):
            return
        group = group_of(self.game.board, checked)
        dead = self.dead
        self._dead[self.node.position_key] = dead - group if checked in dead else dead | group

    @property
    def may_agree(self) -> bool:
        """Whether the count of the shown position can end the game: in a game with an engine only where it goes on."""
        here = self.mode is Mode.ANALYZE or self.node is self.tip
        return self.phase is Phase.COUNTING and self.counted and here

    def agree(self) -> str:
        """End the game with the count as marked; returns the result as SGF writes it."""
        if self.phase is not Phase.COUNTING:
            raise TengenError(_("the game is counted after both sides have passed"))
        if not self.counted:
            raise TengenError(_("the count is not finished yet"))
        if not self.may_agree:
            raise TengenError(_("The game goes on at move {move}.", move=self.tip.move_number))
        self.settle(score_text(self.score))
        return self.result

    def settle(self, result: str, at: GameNode | None = None) -> None:
        """End the game with a result as SGF writes it, at a node or the shown position."""
        texts = {name: self.tree.root.text(name) for name in ("RE", "KM")}
        self._replaced.append(_Replaced(self.result, self.ended_at, self.ended_here, self.live, texts))
        self._set_result(result)
        self.ended_at, self.ended_here, self.live = at or self.node, True, False

    def _reopen(self) -> None:
        """Continue the game after a result; without clocks where time decided it. In an analysis that has replaced an
        earlier result nothing goes on; a game with the engine that goes on elsewhere stays there."""
        if self.result.endswith("+T"):
            self.clock = None
        elsewhere = self.goes_on
        if self._was_live and not elsewhere:
            self.live = True
            self._set_tip()
        if self._replaced:
            self.result, self.ended_at, self.ended_here, _live, texts = self._replaced.pop()
            for name, text in texts.items():
                self.tree.root.set_text(name, text)
        else:
            self._set_result("")
            self.ended_at = None
        if elsewhere and self.ended_at is self.tip:  # played on from there
            self.ended_at = None

    @property
    def _was_live(self) -> bool:
        """Whether the game goes on where its result is taken back."""
        return not self._replaced or self._replaced[-1].live or not self._replaced[-1].result

    def _set_result(self, result: str) -> None:
        """Take a result and write it into the record, which may say the same in other words."""
        self.result = result
        if result != self._result_of_record:
            self.tree.info = replace(self.tree.info, result=read_result(result))
            # The record counts in Chinese stones, or its komi was not believed beside the result that it had.
            if result != self._result_of_record or self.tree.info.komi not in (None, self.tree.komi):
                self.tree.root.set_text("KM", f"{self.tree.komi:g}")

    @property
    def _result_of_record(self) -> str:
        """The result that the record names, in SGF's usual words; empty where it names none."""
        found = self.tree.info.result
        return str(found) if found.ending != "unknown" else ""

    def _set_tip(self) -> None:
        """The game goes on at the shown node."""
        self._tip = _Tip.of(self.node, self.game)

    def _write_clock(self, color: int) -> None:
        """Write what is left on the clock (BL, WL, OB, OW) into the node of a move."""
        if self.clock:
            left = self.clock.remaining(color)
            self.node.set_text("BW"[color] + "L", f"{max(0.0, left.period if left.in_overtime else left.main):.1f}")
            if left.in_overtime:
                self.node.set_text("O" + "BW"[color], str(left.count))

    @property
    def _shows_end(self) -> bool:
        """Whether the position is shown at which the result was reached."""
        return bool(self.result) and self.ended_at is self.node

    @property
    def _resigned_by_person(self) -> bool:
        return self.settings.mode is Mode.PLAY and self.result == lost_result(self.settings.human, "R")

    def _turn_at(self, node: GameNode) -> int:
        return self.tree.position(node).to_play

    def _show(self, node: GameNode) -> None:
        self.game, self.node = self.tree.position(node), node
        self.tree.visit(node)


def _info(settings: GameSettings) -> SgfInfo:
    """Date, time control and players for the record; no players where a person moves both colors.

    The engine's name has its level.
    """
    time, overtime = settings.clock.sgf if settings.clock else ("", "")
    info = SgfInfo(date=datetime.date.today(), time=time, overtime=overtime)
    if settings.mode is Mode.ANALYZE:
        return info
    black, white = (
        f"{name} ({player.title})" if name == "Tengen" else name
        for name, player in zip(settings.names, settings.players, strict=True)
    )
    return replace(info, black=black, white=white)


def new_game(settings: GameSettings) -> Game:
    """The position before the first move under these settings."""
    game = Game(settings.size, rules=settings.rules, komi=settings.komi)
    if settings.handicap:
        game.place_handicap(settings.handicap)
    return game


def check_point(point: object, size: int) -> int:
    """A point that a page sent, as an int on the board. Raises TengenError for anything else."""
    if not isinstance(point, int) or isinstance(point, bool) or not 0 <= point < size * size:
        raise TengenError(_("{point!r} is not a point of a {size}x{size} board", point=point, size=size))
    return point
