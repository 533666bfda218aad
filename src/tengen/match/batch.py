"""Many games at once between two players: raw policies or searches, batched, without processes or protocol.

Whoever asks which of two networks is the stronger one asks this: gates, ratings, policy gradients.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tengen.data.record import GameRecord
from tengen.evaluators.evaluator import Evaluator
from tengen.game import BLACK, WHITE, Game
from tengen.match.batch_player import Player, RawPolicies, Searches
from tengen.match.game_end import Ending, ending_of
from tengen.match.move_choice import draw_moves, legal_moves
from tengen.rules import Rules
from tengen.statistics import Tally

_OPENING, _RAW, _SEARCH = range(3)  # what a stream of random numbers is for


@dataclass(frozen=True)
class Terms:
    """What is played: `size` 5 to 19, rules by name or parts, komi for White.

    A game ends after two passes, after `most_moves` (2 x size x size unless given) and, with `settle` under area
    scoring, when every point is pass-alive area and so belongs to its owner. Stones in the opponent's pass-alive
    territory are dead, as searches count, unless the board counts `as_it_stands`, as with simulate_to_end: then
    players that never pass take them first.
    """

    size: int = 9
    rules: str = "tromp-taylor"
    komi: float = 7.5
    most_moves: int | None = None
    settle: bool = True
    as_it_stands: bool = False

    @property
    def limit(self) -> int:
        """Moves after which a game ends."""
        return 2 * self.size**2 if self.most_moves is None else self.most_moves

    @property
    def settles(self) -> bool:
        return self.settle and Rules.parse(self.rules).scoring == "area"

    def game(self) -> Game:
        """A new game; RecipeError where one of the terms is out of range."""
        return Game(self.size, self.rules, self.komi).limit_moves(self.limit)


@dataclass(frozen=True)
class Opening:
    """How games are made to differ: the first `moves` are drawn from a raw policy, the same ones for a pair of games.

    The two games of a pair swap the colours. The policy is that of `evaluator`; without one, player A's is asked for
    Black's moves and B's for White's, and in every other pair the other way round. Moves are drawn by probability ^ (1
    / temperature), and nobody passes while there is a legal point.
    """

    moves: int = 0
    temperature: float = 1.0
    evaluator: Evaluator | None = None


@dataclass(frozen=True)
class DuelResult:
    """What came of it, game by game; A was Black in those of even number. `black`, `white`: A's result as that colour.

    A game without result (a long cycle under simple ko) counts as a draw. `evaluations` counts positions of both.
    """

    black: Tally
    white: Tally
    records: list[GameRecord] = field(repr=False)
    evaluations: int
    seconds: float

    @property
    def tally(self) -> Tally:
        """A's wins, draws and losses with both colours."""
        one, two = self.black, self.white
        return Tally(one.wins + two.wins, one.draws + two.draws, one.losses + two.losses)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Moves of each game."""
        return np.array([len(record.moves) for record in self.records], np.int64)


def duel(
    a: Player,
    b: Player,
    terms: Terms = Terms(),
    games: int = 400,
    seed: int = 0,
    *,
    opening: Opening = Opening(),
    at_once: int = 512,
    threads: int = 1,
) -> DuelResult:
    """Play `games`, of which A is Black in every other one, beginning with the first.

    All games go on side by side, `at_once` of them at a time: each player's searches or policy see one batch from all
    games in which it is to move. Game i is a function of (seed, i, players, terms, opening) alone, and goes as it would
    go alone; `threads` gather and scatter searches natively. Without opening moves, temperature or noise all games of
    a colour are the same one. Raises ValueError for numbers that cannot work, RecipeError for wrong terms.
    """
    if seed < 0 or games < 1 or at_once < 1 or opening.moves < 0:
        raise ValueError(
            f"seed {seed}, {games} games, {at_once} at once, {opening.moves} opening moves: give 0, 1, 1, 0 or more"
        )
    terms.game()
    if terms.as_it_stands:
        a, b = replace(a, to_the_end=True), replace(b, to_the_end=True)
    started = time.perf_counter()
    at_once += at_once % 2  # a pair shares its opening
    records: list[GameRecord] = []
    evaluations = 0
    for first in range(0, games, at_once):
        part = _Part((a, b), terms, opening, range(first, min(first + at_once, games)), seed, threads)
        records += part.play(f"duel {seed}")
        evaluations += part.evaluations
    return DuelResult(*_tallies(records), records, evaluations, time.perf_counter() - started)


def _tallies(records: Sequence[GameRecord]) -> tuple[Tally, Tally]:
    """A's results as Black, in the games of even number, and as White."""
    tallies = []
    for mine, part in ((BLACK, records[::2]), (WHITE, records[1::2])):
        wins = sum(record.winner == mine for record in part)
        losses = sum(record.winner == 1 - mine for record in part)
        tallies.append(Tally(wins, len(part) - wins - losses, losses))
    return tallies[0], tallies[1]


class _Part:
    """The games of some numbers, side by side; here they are counted from 0."""

    def __init__(
        self, players: tuple[Player, Player], terms: Terms, opening: Opening, numbers: range, seed: int, threads: int
    ) -> None:
        self.terms, self.opening, self.numbers, self.seed = terms, opening, numbers, seed
        self.players = players
        self.games = [terms.game() for _ in numbers]
        self.ends: list[Ending | None] = [None for _ in numbers]
        self.sides = [self._side(place, threads) for place in (0, 1)]
        self.opening_evaluations = 0

    @property
    def evaluations(self) -> int:
        return self.opening_evaluations + sum(side.evaluations for side in self.sides)

    def play(self, source: str) -> list[GameRecord]:
        """Play all games to their ends."""
        if self.opening.moves:
            self._open()
        while playing := [i for i, end in enumerate(self.ends) if end is None]:
            by_side = [[i for i in playing if self._to_move(i) == place] for place in (0, 1)]
            for side, mine in zip(self.sides, by_side, strict=True):
                if mine:
                    self._make_moves(mine, side.moves([self.games[i] for i in mine], mine))
        return [
            end.record(game._native, f"{source}, game {number}")
            for game, end, number in zip(self.games, self.ends, self.numbers, strict=True)
            if end is not None
        ]

    def _side(self, place: int, threads: int) -> RawPolicies | Searches:
        player, first, stop = self.players[place], self.numbers.start, self.numbers.stop
        if player.visits > 1:
            seeds = _random(self.seed, _SEARCH, place).integers(0, 1 << 62, stop)[first:]
            return Searches(player, seeds.tolist(), threads)
        plies = self.terms.limit if player.temperature > 0 else 0
        return RawPolicies(player, _random(self.seed, _RAW, place).random((stop, plies))[first:])

    def _to_move(self, i: int) -> int:
        """0 where A is to move, 1 where B is; an even game has an even number in every part."""
        return (i + self.games[i].to_play) % 2

    def _make_moves(self, chosen: Sequence[int], points: Sequence[int]) -> None:
        for i, point in zip(chosen, points, strict=True):
            game = self.games[i].play(point)
            self.ends[i] = ending_of(game._native, self.terms.settles, self.terms.as_it_stands)

    def _open(self) -> None:
        """Draw the opening of each pair in its first game and play it in both."""
        pairs = range(0, len(self.games), 2)
        uniform = _random(self.seed, _OPENING, 0).random((self.numbers.stop // 2 + 1, self.opening.moves))
        uniform = uniform[self.numbers.start // 2 :]
        for ply in range(self.opening.moves):
            playing = [i for i in pairs if self.ends[i] is None]
            by_opener = [[i for i in playing if self._opener(i) == place] for place in (0, 1)]
            for place, mine in enumerate(by_opener):
                if mine:
                    self._make_moves(mine, self._opening_moves(mine, place, uniform[[i // 2 for i in mine], ply]))
        for i in pairs:
            if i + 1 < len(self.games):
                self.games[i + 1] = self.games[i].copy()
                self.ends[i + 1] = self.ends[i]

    def _opener(self, i: int) -> int:
        """Whose policy makes the opening move: A's (0) for Black in even pairs and for White in odd ones, else B's."""
        return ((self.numbers.start + i) // 2 + self.games[i].to_play) % 2

    def _opening_moves(self, chosen: Sequence[int], place: int, uniform: NDArray[np.float64]) -> list[int]:
        games = [self.games[i]._native for i in chosen]
        policy = (self.opening.evaluator or self.players[place].evaluator).evaluate(games).policy
        self.opening_evaluations += len(games)
        allowed = legal_moves(games)
        allowed[:, -1] = ~allowed[:, :-1].any(axis=1)
        return list(map(int, draw_moves(policy, allowed, self.opening.temperature, uniform)))


def _random(seed: int, purpose: int, place: int) -> np.random.Generator:
    return np.random.default_rng([seed, purpose, place])
