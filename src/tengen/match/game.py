"""One game of a match under the referee: clocks, moves, the end, the record."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from tengen import _native
from tengen.data.record import GameRecord
from tengen.engine.clock import Clock, TimeControl
from tengen.errors import IllegalMove
from tengen.game import BLACK, WHITE, DeadStones, Game
from tengen.gtp.client import ProgramError
from tengen.match.conditions import Conditions
from tengen.match.counting import Opinion, count_by_opinions
from tengen.match.outcome import REASON_OF_END, Outcome, Reason
from tengen.match.player import Player, Reply, Turn
from tengen.match.schedule import Fixture
from tengen.sgf import SgfInfo, write_game
from tengen.sgf.values import score_text


@dataclass
class MatchGame:
    """A game under way. `players` go by the names of the fixture; `controls` are the times of those that have one.

    `start`, then `turn` and `answer` in turn until there is an outcome. All three return the outcome once the game has
    one, else None.
    """

    conditions: Conditions
    fixture: Fixture
    players: Mapping[str, Player]
    controls: Mapping[str, TimeControl] = field(default_factory=dict)
    game: Game = field(init=False)
    comments: list[str] = field(default_factory=list)  # one a move
    end: _native.GameEnd | None = None  # where the rules alone ended the game
    _seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])  # by color
    _opening: int = 0
    _date: datetime.date = field(default_factory=datetime.date.today)
    _visits: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))

    def __post_init__(self) -> None:
        self.game = self.conditions.new_game()
        self.names = (self.fixture.black, self.fixture.white)
        self.clocks: list[Clock | None] = [
            self.controls[name].start() if name in self.controls else None for name in self.names
        ]

    @property
    def to_move(self) -> str:
        """The name of the player to move."""
        return self.names[self.game.to_play]

    def start(self, opening: Sequence[int] = ()) -> Outcome | None:
        """Start the game of both players and play its opening."""
        for name in self.fixture.pairing:
            try:
                seed = self.conditions.player_seed(self.fixture)
                self.players[name].start_game(self.fixture.index, self.game, seed)
            except ProgramError as error:
                return self._forfeit(self.names.index(name), error)
        for point in opening:
            self.game.play(point)
            self.comments.append("opening")
            self._opening += 1
        return self._ended()

    def turn(self) -> Turn:
        """The position for the player to move."""
        conditions, clock = self.conditions, self.clocks[self.game.to_play]
        return Turn(self.fixture.index, self.game, clock, conditions.lag, conditions.dead_for_players)

    def answer(self, reply: Reply, seconds: float) -> Outcome | None:
        """Take the reply of the player to move, which took `seconds` unless the reply says otherwise."""
        color = self.game.to_play
        if isinstance(reply, ProgramError):
            self._seconds[color] += seconds
            return self._forfeit(color, reply)
        seconds = seconds if reply.seconds is None else reply.seconds
        self._seconds[color] += seconds
        if reply.visits:
            self._visits[color].append(reply.visits)
        if self._is_late(color, seconds):
            detail = f"{self.names[color]} took {seconds:.2f} s for a move, more than its clock had"
            return self._won(1 - color, "T", "time", detail=detail)
        if reply.resign:
            return self._won(1 - color, "R", "resign")
        try:
            self.game.play(reply.point)
        except IllegalMove as error:
            return self._won(1 - color, "F", "illegal", detail=f"{self.names[color]}: {error}")
        self.comments.append(reply.comment)
        return self._ended()

    def play(self, opening: Sequence[int] = ()) -> Outcome:
        """Play the whole game, asking one player after the other."""
        outcome = self.start(opening)
        while outcome is None:
            started, name = perf_counter(), self.to_move
            (reply,) = self.players[name].choose([self.turn()])
            outcome = self.answer(reply, perf_counter() - started)
        self.close()
        return outcome

    def close(self) -> None:
        """Tell the players that the game is over."""
        for name in self.fixture.pairing:
            self.players[name].end_game(self.fixture.index)

    def record(self, source: str) -> GameRecord:
        """The game as a row of a store. `ownership` is known where the rules alone ended the game."""
        end = self.end
        winner, score = (None, None) if end is None else (end.winner, end.score)
        return GameRecord(
            size=self.game.size,
            moves=self.game.move_codes(),
            rules=self.game.rules.text,
            komi=self.game.komi,
            handicap=self.game.handicap,
            black_stones=np.array([point for _, point in self.game.setup_stones], np.uint16),  # a handicap
            first=self.game.first_to_play,
            winner=winner,
            score=score,
            ending="void" if winner is None else "draw" if winner == 2 else "count",
            source=source,
            ownership=None if end is None or end.owners is None else end.owners.astype(np.uint8).ravel(),
        )

    def sgf(self, outcome: Outcome) -> bytes:
        """The game as an SGF file."""
        remarks = [f"{outcome.result}: {outcome.reason}", outcome.detail, *outcome.last_words]
        # SGF has one time for both players.
        control, other = (self.controls.get(name) for name in self.names)
        time, overtime = control.sgf if control is not None and control == other else ("", "")
        info = SgfInfo(
            black=outcome.black,
            white=outcome.white,
            komi=self.game.komi,
            rules=self.game.rules.text,
            result=outcome.sgf_result,
            date=self._date,
            event=f"match, game {outcome.index}",
            time=time,
            overtime=overtime,
            comment="\n".join(filter(None, remarks)),
            application="Tengen",
        )
        return write_game(self.game, info, comments=self.comments)

    def _ended(self) -> Outcome | None:
        """The outcome if the game is over, has too many moves, or is decided for good."""
        conditions, game = self.conditions, self.game
        at_limit = game.move_count >= conditions.limit
        if conditions.turns:
            return self._scored(game.score(), "limit") if at_limit else None
        if conditions.dead_stones != "agreement":
            return self._ended_by_rules(conditions.dead_stones)
        if game.is_over or at_limit:
            return self._count()
        if (margin := game.sure_margin()) is not None:
            detail = f"unconditionally alive points alone win by {abs(margin):g}"
            return self._won(BLACK if margin > 0 else WHITE, "", "majority", detail=detail)
        return None

    def _ended_by_rules(self, dead_stones: DeadStones) -> Outcome | None:
        self.end = self.game.end_by_rules(self.conditions.settle, dead_stones=dead_stones)
        if self.end is None:
            return None
        if self.end.score is None:
            return self._outcome(None, "Void", "cycle", detail="the same moves again and again")
        return self._scored(self.end.score, REASON_OF_END[self.end.reason])

    def _is_late(self, color: int, seconds: float) -> bool:
        """Charge the clock of a player, if it has one, for a move; whether its time is up."""
        clock = self.clocks[color]
        if clock is None:
            return False
        after = self.clocks[color] = clock.spend(max(0.0, seconds - self.conditions.lag))
        return after.flagged

    def _count(self) -> Outcome:
        if self.game.is_no_result:
            return self._outcome(None, "Void", "cycle", detail="the same moves again and again")
        reason: Reason = "count" if self.game.is_over else "limit"
        if not self.game.rules.dead_are_agreed:
            return self._scored(self.game.score(), reason)
        opinions: dict[str, Opinion] = {}
        for name in self.fixture.pairing:
            player, index = self.players[name], self.fixture.index
            try:
                dead = player.dead(index, self.game)
                opinions[name] = player.score(index, self.game) if dead is None else dead
            except ProgramError as error:
                opinions[name] = None
                self.comments[-1] += f" {name} cannot count: {error.detail}"
        verdict = count_by_opinions(self.game, opinions)
        return self._scored(verdict.score, reason, counts=verdict.counts, disputed=verdict.disputed)

    def _scored(self, score: float, reason: Reason, **more: Any) -> Outcome:
        winner = None if score == 0 else self.names[BLACK if score > 0 else WHITE]
        return self._outcome(winner, score_text(score, "Draw"), reason, score=score, **more)

    def _forfeit(self, color: int, error: ProgramError) -> Outcome:
        how = "T" if error.reason == "timeout" else "F"
        return self._won(1 - color, how, error.reason, detail=str(error), last_words=error.last_words)

    def _won(self, color: int, how: str, reason: Reason, **more: Any) -> Outcome:
        return self._outcome(self.names[color], f"{'BW'[color]}+{how}", reason, **more)

    def _outcome(self, winner: str | None, result: str, reason: Reason, **more: Any) -> Outcome:
        return Outcome(
            index=self.fixture.index,
            round=self.fixture.round,
            pair=self.fixture.pair,
            black=self.fixture.black,
            white=self.fixture.white,
            winner=winner,
            result=result,
            reason=reason,
            moves=self.game.move_count,
            opening=self._opening,
            seconds={name: round(seconds, 3) for name, seconds in zip(self.names, self._seconds, strict=True)},
            visits={
                name: round(float(np.mean(visits)), 1)
                for name, visits in zip(self.names, self._visits, strict=True)
                if visits
            },
            **more,
        )
