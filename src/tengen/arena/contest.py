"""One game between two players under the referee: every way it can end is an outcome with a reason."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tengen.arena import referee
from tengen.arena.gtp_client import ProgramError
from tengen.arena.players import Choice, Player
from tengen.errors import IllegalMove
from tengen.game import BLACK, WHITE, Game

Side = Literal["A", "B"]
Reason = Literal[
    "count", "sure", "resign", "cycle", "limit", "illegal", "died", "timeout", "refused", "nonsense", "not found"
]
_EDGE = 2  # a random opening keeps off the two outermost lines of a large board


@dataclass(frozen=True)
class Conditions:
    """What holds for every game of a match. The games of a pair (0 and 1, 2 and 3, ...) share their opening.

    With `turns` above 0 a game ends when each side has had so many turns, passes included, and not before; then the
    board is counted as it stands. With `numbered` the players' seed is 1 in the first pair, 2 in the second and so on;
    else it is made of `seed` and the number of the game.
    """

    size: int = 19
    komi: float = 7.5
    rules: str = "chinese"
    opening: int = 4  # moves drawn before the players take over
    seed: int = 1
    turns: int = 0
    numbered: bool = False

    @property
    def longest(self) -> int:
        """Moves after which a game is stopped and counted."""
        return 2 * self.turns or 3 * self.size**2

    def new_game(self) -> Game:
        return Game(self.size, self.rules, self.komi)

    def black(self, index: int) -> Side:
        """Who has Black in this game."""
        return "A" if index % 2 == 0 else "B"

    def player_seed(self, index: int) -> int:
        """What the players of this game draw by."""
        return index // 2 + 1 if self.numbered else self.seed * 1_000_003 + index


@dataclass(frozen=True)
class Outcome:
    """How a game ended. `winner` is None for a draw; `result` is as SGF writes it (B+3.5, W+R, Draw, Void)."""

    index: int
    black: Side
    winner: Side | None
    result: str
    reason: Reason
    moves: int
    score: float | None = None  # Black minus White, komi included; None when not counted
    counts: dict[str, float] = field(default_factory=dict)
    disputed: bool = False
    detail: str = ""
    last_words: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)  # spent by each player in all
    visits: dict[str, float] = field(default_factory=dict)  # of each player's search, mean a move


@dataclass
class Contest:
    """A game in progress, with what each player spent and said."""

    conditions: Conditions
    index: int
    players: dict[Side, Player]
    game: Game = field(init=False)
    comments: list[str] = field(default_factory=list)  # one a move
    _seconds: dict[str, float] = field(default_factory=lambda: {"A": 0.0, "B": 0.0})
    _visits: dict[str, list[int]] = field(default_factory=lambda: {"A": [], "B": []})

    def __post_init__(self) -> None:
        self.game = self.conditions.new_game()

    def side(self, color: int) -> Side:
        black = self.conditions.black(self.index)
        return black if color == BLACK else other(black)

    @property
    def to_move(self) -> Side:
        """Whose turn it is."""
        return self.side(self.game.to_play)

    def play(self) -> Outcome:
        """Play to the end."""
        outcome = self.begin() or self.ended()
        while outcome is None:
            outcome = self.turn() or self.ended()
        return outcome

    def begin(self) -> Outcome | None:
        """Tell the players of the game and play its opening; the outcome if one of them cannot play."""
        for side, player in self.players.items():
            try:
                player.begin(self.game, seed=self.conditions.player_seed(self.index))
            except ProgramError as error:
                return self._forfeit(side, error)
        for point in opening(self.conditions, self.index // 2, list(self.players.values())):
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
        side = self.to_move
        start = time.perf_counter()
        try:
            choice = self.players[side].choose(self.game)
        except ProgramError as error:
            self._seconds[side] += time.perf_counter() - start
            return self._forfeit(side, error)
        return self.answer(choice, time.perf_counter() - start)

    def answer(self, choice: Choice, seconds: float) -> Outcome | None:
        """Take the choice of the player to move, who thought for so long; the outcome if that ended the game."""
        color, side = self.game.to_play, self.to_move
        self._seconds[side] += seconds
        if choice.visits:
            self._visits[side].append(choice.visits)
        if choice.resign:
            return self._won(1 - color, "R", "resign")
        try:
            self.game.play(choice.point)
        except IllegalMove as error:
            return self._won(1 - color, "F", "illegal", detail=f"{self.players[side].name}: {error}")
        self.comments.append(choice.comment)
        return None

    def _count(self) -> Outcome:
        if self.game.is_no_result:
            return self._outcome(None, "Void", "cycle", detail="the same moves over and over")
        opinions: dict[str, frozenset[int] | None] = {}
        for side, player in self.players.items():
            try:
                opinions[side] = player.dead(self.game)
            except ProgramError as error:
                opinions[side] = None
                self.comments[-1] += f" {player.name} cannot count: {error.detail}"
        verdict = referee.count(self.game, opinions)
        reason: Reason = "count" if self.game.is_over else "limit"
        return self._scored(verdict.score, reason, counts=verdict.counts, disputed=verdict.disputed)

    def _scored(self, score: float, reason: Reason, **more: Any) -> Outcome:
        if score == 0:
            return self._outcome(None, "Draw", reason, score=score, **more)
        return self._won(BLACK if score > 0 else WHITE, f"{abs(score):g}", reason, score=score, **more)

    def _forfeit(self, side: Side, error: ProgramError) -> Outcome:
        color = BLACK if self.side(BLACK) == side else WHITE
        how = "T" if error.reason == "timeout" else "F"
        return self._won(1 - color, how, error.reason, detail=str(error), last_words=error.last_words)

    def _won(self, color: int, how: str, reason: Reason, **more: Any) -> Outcome:
        return self._outcome(self.side(color), f"{'BW'[color]}+{how}", reason, **more)

    def _outcome(self, winner: Side | None, result: str, reason: Reason, **more: Any) -> Outcome:
        return Outcome(
            index=self.index,
            black=self.conditions.black(self.index),
            winner=winner,
            result=result,
            reason=reason,
            moves=len(self.game.moves),
            seconds={side: round(seconds, 3) for side, seconds in self._seconds.items()},
            visits={side: round(float(np.mean(visits)), 1) for side, visits in self._visits.items() if visits},
            **more,
        )


def other(side: Side) -> Side:
    return "B" if side == "A" else "A"


def opening(conditions: Conditions, pair: int, players: Sequence[Player]) -> list[int]:
    """The first moves of both games of a pair, drawn from the first player's policy that has one, by the match's seed.

    Without such a player they are random points off the edge. The same pair always has the same opening.
    """
    rng = np.random.default_rng((conditions.seed, pair))
    game = conditions.new_game()
    for _ in range(conditions.opening):
        policies = (player.policy(game) for player in players)
        policy = next((p for p in policies if p is not None), None)
        weights = _inner(game) if policy is None else policy.astype(np.float64)
        legal = np.array(game.legal_points())
        share = weights[legal]
        game.play(int(rng.choice(legal, p=share / share.sum())))
    return [point for _, point in game.moves]


def _inner(game: Game) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Equal weights [size * size + 1] for the points that lie off the edge, none for pass."""
    edge = _EDGE if game.size >= 9 else 0
    board = np.zeros((game.size, game.size))
    board[edge : game.size - edge, edge : game.size - edge] = 1
    return np.append(board.ravel(), 0.0)
