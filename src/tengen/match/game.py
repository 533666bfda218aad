"""One game of a match under the referee: conditions, clocks, the outcome and its reason, the record."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from tengen import _native
from tengen.coords import MAX_SIZE, MIN_SIZE, SIZES
from tengen.data.record import GameRecord
from tengen.engine.clock import Clock, TimeControl
from tengen.errors import IllegalMove, RecipeError
from tengen.game import BLACK, WHITE, Game
from tengen.gtp.client import FailureReason, ProgramError
from tengen.match.moves import DeadStones
from tengen.match.player import Player, Reply, Turn
from tengen.match.schedule import Fixture
from tengen.rules import Rules
from tengen.sgf import Result, SgfInfo, write_game
from tengen.sgf.values import score_text

OPENING = 4
"""Default number of moves of an opening that is drawn."""


def longest_opening(size: int) -> int:
    """The largest number of moves of an opening that is drawn: a third of the points, so that a game is left."""
    return size**2 // 3


Reason = Literal[
    "count",
    "majority",
    "settled",
    "resign",
    "cycle",
    "limit",
    "illegal",
    "time",
    FailureReason,
]
"""Why a game ended. `count`: two passes; `majority`: the pass-alive area of one side is enough to win; `settled`: every
point is pass-alive area; `cycle`: the same moves again and again; `limit`: too many moves. All after these are failures
of the player that lost; `time`: its clock ran out; `timeout`: it did not answer at all."""

FAILURES = frozenset[Reason](get_args(FailureReason))
"""Reasons for which a program is not trusted with another game: it is started afresh."""


def _possible(size: int) -> int:
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise ValueError(f"choose {SIZES}")
    return size


def _known(rules: str) -> str:
    Rules.parse(rules)
    return rules


BoardSize = Annotated[int, AfterValidator(_possible)]
"""A field for the size of a board that this build plays."""
RuleSet = Annotated[str, AfterValidator(_known)]
"""A field for the text of a rule set."""


class Conditions(BaseModel):
    """What holds for every game of a match. The games of a pair share their opening. `komi` is the usual one of the
    rules unless it is given.

    `openings` are drawn from the `policy` of a player, from those of both `players` in turn (see `openings.Drawn`) or
    from that of the network in `policy:NETWORK`, or are `random`, or come from a list: the path of SGF files or of
    lines of moves. `opening` is the number of moves: 4 where they are drawn, on tiny boards a third of their points;
    from a list all unless it is given. `opening_temperature` sharpens (below 1) or flattens the policy. `seed` decides
    the openings, their order, and the random numbers of the players.

    The first `lag` seconds of a move, which may be the machine's, are not charged to a player's clock.

    `dead_stones` says which stones are dead when a game is counted. `agreement`: those on which the players agree, else
    by playouts, and a game also ends when pass-alive area alone decides it. `pass-alive`, as in self-play: stones in
    the opponent's pass-alive territory. `none`: no stone. Without agreement a game under area scoring also ends, with
    `settle`, when all area is pass-alive. `max_moves` end a game: 3 x size x size by agreement, else 2 x size x size
    unless given.

    With `turns` above 0 a game ends when each side has had so many turns, passes included, and not before; the board is
    then counted as it stands. With `numbered` the players' seed is 1 in the first round, 2 in the second and so on;
    otherwise it is made of `seed` and the number of the game.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    size: BoardSize = 19
    rules: RuleSet = "chinese"
    komi: float = Field(None, multiple_of=0.5, ge=-400, le=400, validate_default=True)
    openings: str = "policy"
    opening: int | None = Field(None, ge=0)
    opening_temperature: float = Field(1.0, gt=0, le=100)
    seed: int = Field(1, ge=0)
    lag: float = Field(0.1, ge=0)
    dead_stones: DeadStones | Literal["agreement"] = "agreement"
    settle: bool = True
    max_moves: int | None = Field(None, ge=1, le=2**31 - 1)
    turns: int = Field(0, ge=0)
    numbered: bool = False

    @field_validator("komi", mode="before")
    @classmethod
    def _usual(cls, komi: Any, info: ValidationInfo) -> Any:
        """By default the usual one of the rules."""
        return Rules.parse(info.data.get("rules", "chinese")).usual_komi if komi is None else komi

    def check_opening(self) -> None:
        """Raise RecipeError for a drawn opening that leaves no game; those of a list may have any length."""
        is_drawn = self.openings in ("policy", "players", "random") or self.openings.startswith("policy:")
        if is_drawn and self.drawn > (limit := longest_opening(self.size)):
            board = f"{self.size}x{self.size}"
            raise RecipeError(
                f"an opening on {board} has at most {limit} moves, a third of its points, not {self.drawn}"
            )

    @property
    def limit(self) -> int:
        """Moves after which a game is stopped and counted."""
        return 2 * self.turns or self.max_moves or (3 if self.dead_stones == "agreement" else 2) * self.size**2

    @property
    def drawn(self) -> int:
        """Moves of an opening that is drawn."""
        return min(OPENING, longest_opening(self.size)) if self.opening is None else self.opening

    def new_game(self) -> Game:
        game = Game(self.size, self.rules, self.komi)
        # Searches count a game at its limit as we do, but for dead stones on which players agree.
        return game if self.dead_stones == "agreement" else game.limit_moves(self.limit)

    def player_seed(self, fixture: Fixture) -> int:
        """The seed of both players of this game."""
        return fixture.round + 1 if self.numbered else (self.seed * 1_000_003 + fixture.index) % 2**63


_Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class Outcome:
    """How a game ended: a row of games.jsonl. Players go by the names that they have in the match.

    `index` is the number of the game in the schedule, `pair` that of the two games which share an opening, `round`
    counts how often all pairings of the schedule have met before. `winner` is None for a draw or a void game; `result`
    is as SGF writes it (B+3.5, W+R, Draw, Void). `score` is Black minus White, komi included, None when not counted;
    `counts` holds the scores by each player's dead stones and, where these were not enough, by `playouts`; `disputed`:
    the players' counts name different winners. `seconds` are the total by player, `visits` the mean of a search.
    The first `opening` of the `moves` were given; 0 in folders of earlier versions.
    """

    index: _Count
    round: _Count
    pair: _Count
    black: str
    white: str
    winner: str | None
    result: str
    reason: Reason
    moves: _Count
    score: float | None = None
    counts: dict[str, float] = field(default_factory=dict)
    disputed: bool = False
    detail: str = ""
    last_words: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    visits: dict[str, float] = field(default_factory=dict)
    opening: _Count = 0

    @property
    def loser(self) -> str | None:
        """None for a draw or a void game."""
        if self.winner is None:
            return None
        return self.white if self.winner == self.black else self.black

    @property
    def counts_differ(self) -> bool:
        """Whether the opinions of the players about the dead stones lead to different scores."""
        return len({score for who, score in self.counts.items() if who != "playouts"}) > 1


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
        return Turn(self.fixture.index, self.game, self.clocks[self.game.to_play], self.conditions.lag)

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
            result=_result(outcome),
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
        return self._scored(self.end.score, _REASONS[self.end.reason])

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
        opinions: dict[str, Opinion] = {}
        for name in self.fixture.pairing:
            player, index = self.players[name], self.fixture.index
            try:
                dead = player.dead(index, self.game)
                opinions[name] = player.score(index, self.game) if dead is None else dead
            except ProgramError as error:
                opinions[name] = None
                self.comments[-1] += f" {name} cannot count: {error.detail}"
        verdict = count(self.game, opinions)
        reason: Reason = "count" if self.game.is_over else "limit"
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


# The count of a game between players who name dead stones.

Opinion = frozenset[int] | float | None
"""A player's opinion on a finished game: its dead stones or, if it cannot name them, the score; None without either."""

PLAYOUTS = 256  # from a finished position: enough that the owner of a point is not left to chance


@dataclass(frozen=True)
class Verdict:
    """A counted game. `score` is Black minus White, komi included.

    `counts` holds the score by each opinion, under the player's name, and under `playouts` where the players disagree
    or have no opinion; the playouts then decide. `disputed`: the players' counts name different winners.
    """

    score: float
    counts: dict[str, float] = field(default_factory=dict)
    disputed: bool = False


def count(game: Game, opinions: Mapping[str, Opinion]) -> Verdict:
    """Count a game that ended by two passes, by its rules.

    The score is that of the players when all opinions lead to the same one and at least one of them names dead stones,
    by which we count ourselves. Otherwise random playouts decide, which know neither player.
    """
    counts = {
        who: game.score(sorted(opinion)) if isinstance(opinion, frozenset) else float(opinion)
        for who, opinion in opinions.items()
        if opinion is not None
    }
    if len(set(counts.values())) == 1 and any(isinstance(opinion, frozenset) for opinion in opinions.values()):
        return Verdict(next(iter(counts.values())), counts)
    decided = float(game.score(game.dead_by_playouts(PLAYOUTS)))
    disputed = len({np.sign(score) for score in counts.values()}) > 1
    return Verdict(decided, {**counts, "playouts": decided}, disputed)


# The reason of an outcome by that of a GameEnd.
_REASONS: dict[str, Reason] = {"passes": "count", "move limit": "limit", "settled": "settled"}
# The ending of a record by the reason of an outcome without score; all others are forfeits.
_ENDINGS = {"resign": "resign", "time": "time", "timeout": "time", "cycle": "void", "majority": "count"}


def _result(outcome: Outcome) -> Result:
    winner = {"B": BLACK, "W": WHITE}.get(outcome.result[0], 2)
    if outcome.score is not None:
        return Result(winner, outcome.score, "draw" if winner == 2 else "count")
    return Result(winner, None, _ENDINGS.get(outcome.reason, "forfeit"))
