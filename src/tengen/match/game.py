"""One game between two players under the referee: every way it can end is an outcome with a reason."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tengen.engine.clock import Clock, TimeControl
from tengen.errors import IllegalMove
from tengen.game import BLACK, WHITE, Game
from tengen.gtp.client import ProgramError
from tengen.match import referee
from tengen.match.conditions import Conditions
from tengen.match.openings import Drawn, Openings
from tengen.match.outcome import Outcome, Reason
from tengen.match.player import Choice, Player
from tengen.match.schedule import Fixture


@dataclass
class Contest:
    """A game in progress, with what each player spent and said.

    `players` go by the names of the fixture, `controls` are the times of those who are held to one. `openings` are
    drawn by the conditions unless they are given.
    """

    conditions: Conditions
    fixture: Fixture
    players: dict[str, Player]
    controls: Mapping[str, TimeControl] = field(default_factory=dict)
    openings: Openings | None = None
    game: Game = field(init=False)
    comments: list[str] = field(default_factory=list)  # one a move
    _seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])  # by colour
    _visits: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))

    def __post_init__(self) -> None:
        self.game = self.conditions.new_game()
        self.clocks: list[Clock | None] = [
            self.controls[name].start() if name in self.controls else None for name in self.names
        ]

    @property
    def names(self) -> tuple[str, str]:
        """Black's and White's."""
        return self.fixture.black, self.fixture.white

    @property
    def to_move(self) -> str:
        """Whose turn it is."""
        return self.names[self.game.to_play]

    def play(self) -> Outcome:
        """Play to the end."""
        outcome = self.begin() or self.ended()
        while outcome is None:
            outcome = self.turn() or self.ended()
        return outcome

    def begin(self) -> Outcome | None:
        """Tell the players of the game and play its opening; the outcome if one of them cannot play."""
        for name in self.fixture.pairing:
            try:
                self.players[name].begin(self.game, seed=self.conditions.player_seed(self.fixture))
            except ProgramError as error:
                return self._forfeit(self.names.index(name), error)
        openings = self.openings or Drawn(self.conditions)
        for point in openings.moves(self.fixture.round, [self.players[name] for name in self.fixture.pairing]):
            self.game.play(point)
            self.comments.append("opening")
        return None

    def ended(self) -> Outcome | None:
        """The outcome if the game is over, or too long, or decided for good; None while it goes on."""
        if self.conditions.turns:
            return self._scored(self.game.score(), "limit") if self._is_longest() else None
        if self.game.is_over or self._is_longest():
            return self._count()
        if (margin := referee.sure_margin(self.game)) is not None:
            detail = f"unconditionally alive points alone win by {abs(margin):g}"
            return self._won(BLACK if margin > 0 else WHITE, "", "sure", detail=detail)
        return None

    def _is_longest(self) -> bool:
        return len(self.game.moves) >= self.conditions.longest

    def turn(self) -> Outcome | None:
        """Ask the player to move; the outcome if that ended the game."""
        color = self.game.to_play
        start = time.perf_counter()
        try:
            choice = self.players[self.names[color]].choose(self.game, self.clocks[color])
        except ProgramError as error:
            self._seconds[color] += time.perf_counter() - start
            return self._forfeit(color, error)
        return self.answer(choice, time.perf_counter() - start)

    def answer(self, choice: Choice, seconds: float) -> Outcome | None:
        """Take the choice of the player to move, who thought for so long; the outcome if that ended the game."""
        color = self.game.to_play
        self._seconds[color] += seconds
        if choice.visits:
            self._visits[color].append(choice.visits)
        if self._is_late(color, seconds):
            detail = f"{self.names[color]} took {seconds:.2f} s for a move, more than its clock had"
            return self._won(1 - color, "T", "time", detail=detail)
        if choice.resign:
            return self._won(1 - color, "R", "resign")
        try:
            self.game.play(choice.point)
        except IllegalMove as error:
            return self._won(1 - color, "F", "illegal", detail=f"{self.names[color]}: {error}")
        self.comments.append(choice.comment)
        return None

    def _is_late(self, color: int, seconds: float) -> bool:
        """Charge the clock of a player, if it has one, for a move; whether its time is up."""
        clock = self.clocks[color]
        if clock is None:
            return False
        after = self.clocks[color] = clock.spend(max(0.0, seconds - self.conditions.lag))
        return after.flagged

    def _count(self) -> Outcome:
        if self.game.is_no_result:
            return self._outcome(None, "Void", "cycle", detail="the same moves over and over")
        opinions: dict[str, referee.Opinion] = {}
        for name in self.fixture.pairing:
            try:
                dead = self.players[name].dead(self.game)
                opinions[name] = self.players[name].score(self.game) if dead is None else dead
            except ProgramError as error:
                opinions[name] = None
                self.comments[-1] += f" {name} cannot count: {error.detail}"
        verdict = referee.count(self.game, opinions)
        reason: Reason = "count" if self.game.is_over else "limit"
        return self._scored(verdict.score, reason, counts=verdict.counts, disputed=verdict.disputed)

    def _scored(self, score: float, reason: Reason, **more: Any) -> Outcome:
        if score == 0:
            return self._outcome(None, "Draw", reason, score=score, **more)
        return self._won(BLACK if score > 0 else WHITE, f"{abs(score):g}", reason, score=score, **more)

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
            moves=len(self.game.moves),
            seconds={name: round(seconds, 3) for name, seconds in zip(self.names, self._seconds, strict=True)},
            visits={
                name: round(float(np.mean(visits)), 1)
                for name, visits in zip(self.names, self._visits, strict=True)
                if visits
            },
            **more,
        )
