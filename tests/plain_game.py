"""The rules of Go once more, slow and obvious: whole boards are compared, and every position is remembered.

The ko is the answer that restores the board before the last move; superko looks the new board up among all before.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable

from plain_go import Board, after_stone, border, chain, components, empty_board, put

from tengen.game import Game
from tengen.rules import Rules


class PlainGame:
    """A game as the native one tells it: points are ints, `size * size` is pass, colors 0 black and 1 white.

    play() trusts that reason() found nothing.
    """

    def __init__(self, size: int, rules: Rules, komi: float, board: Board | None = None, to_play: int = 0) -> None:
        self.rules, self.komi = rules, komi
        self.start = self.board = empty_board(size) if board is None else board
        self.to_play = to_play
        self.passing = size * size
        self.captures = [0, 0]
        self.passes = 0
        self.moves: list[tuple[int, int]] = []
        self.history = [(self.board, to_play)]  # every position, with the side to play
        self.boards = {self.board}
        self.since_pass = 0  # the first entry of the history that a long cycle may count
        self.since_button = 0  # the first entry of the history that superko forbids
        self.button: int | None = None  # the color that took it
        self.repeated_pass = False

    def reason(self, p: int, color: int) -> str:
        """Why the move is illegal, or the empty text."""
        if p == self.passing:
            return ""
        if self.board[p] != 2:
            return "occupied"
        after = after_stone(self.board, p, color)
        answers_a_stone = self.moves and self.moves[-1][0] != color and self.moves[-1][1] != self.passing
        if answers_a_stone and after.board == self.history[-2][0]:
            return "ko"
        if after.lost and not (self.rules.suicide and len(after.lost) > 1):
            return "suicide"
        if self.rules.ko == "simple" or after.board not in self.boards:
            return ""
        past = self.history[self.since_button :]
        players = (color, 1 - color) if self.rules.ko == "positional" else (1 - color,)
        if any((after.board, player) in past for player in players):
            return "superko"
        return ""

    def reasons(self, color: int) -> list[str]:
        """reason() of every point of the board."""
        return [self.reason(p, color) for p in range(self.passing)]

    @property
    def button_left(self) -> bool:
        return self.rules.button and self.button is None

    def passed_here(self, color: int) -> bool:
        """Whether the color passed in this position before, since the button went, under simple ko."""
        if self.rules.ko != "simple":
            return False
        before = zip(self.moves, self.history, strict=False)
        return (color, self.passing) in [
            move for move, at in list(before)[self.since_button :] if at == self.history[-1]
        ]

    def play(self, p: int, color: int) -> None:
        takes_button = p == self.passing and self.button_left
        self.repeated_pass = p == self.passing and not takes_button and self.passed_here(color)
        self.moves.append((color, p))
        self.to_play = 1 - color
        if p == self.passing:
            self.passes = 0 if takes_button else self.passes + 1
            self.since_pass = len(self.history)
            if takes_button:
                self.button, self.since_button = color, self.since_pass
        else:
            self.passes = 0
            self.board, taken, lost = after_stone(self.board, p, color)
            self.captures[color] += len(taken)
            self.captures[1 - color] += len(lost)
        self.history.append((self.board, self.to_play))
        self.boards.add(self.board)

    @property
    def is_no_result(self) -> bool:
        """Under simple ko: the position for the third time since the last pass."""
        return (
            self.rules.ko == "simple"
            and self.passes == 0
            and self.history[self.since_pass :].count(self.history[-1]) >= 3
        )

    @property
    def is_over(self) -> bool:
        return self.passes >= 2 or self.repeated_pass or self.is_no_result

    @property
    def handicap(self) -> int:
        """Black's stones before White's first, if two or more and White has none from the start.

        Moves do not count where White then moves twice: a position was set up one color after the other.
        """
        if 1 in self.start:
            return 0
        firsts = 0
        while firsts < len(self.moves) and self.moves[firsts][0] == 0 and self.moves[firsts][1] != self.passing:
            firsts += 1
        if [color for color, _ in self.moves[firsts : firsts + 2]] == [1, 1]:
            firsts = 0
        stones = self.start.count(0) + firsts
        return stones if stones >= 2 else 0

    @property
    def bonus(self) -> float:
        """White's points for the handicap and the button."""
        button = 0 if self.button is None else self.button - 0.5
        return button + {"none": 0, "n": self.handicap, "n-1": max(self.handicap - 1, 0)}[self.rules.bonus]

    def without(self, dead: Iterable[int]) -> Board:
        """Return the board without the dead chains; `dead` holds a stone or more of each."""
        return put(self.board, frozenset().union(*(chain(self.board, p) for p in dead if self.board[p] != 2)), 2)

    def owners(self, dead: Iterable[int] = (), seki: Collection[int] = ()) -> Board:
        """Who owns each point: stones their owner's, empty regions his whose stones alone surround them, else 2.

        With a tax the regions beside the stones in `seki` are nobody's.
        """
        left = owners = self.without(dead)
        for region in components(left, {2}):
            around = [color for color in (0, 1) if border(left, region, color)]
            if len(around) == 1 and not border(left, region, around[0]) & self.without_eyes(seki):
                owners = put(owners, region, around[0])
        return owners

    def without_eyes(self, seki: Collection[int]) -> set[int]:
        """The stones whose eyes count nothing: those in `seki`, with a tax."""
        return set() if self.rules.tax == "none" else set(seki)

    def free_stones(self, color: int, dead: list[int], seki: Collection[int]) -> int:
        """The color's stones of resumed play whose points belong to the same side without what was played since.

        Where play is resumed from a position, that is of two passes in a row after the button has gone, the points are
        counted on the board of now without the stones that were played since.
        """
        free, now = 0, self.owners(dead, seki)
        gone = [p for p, c in enumerate(self.board) if c != 2 and self.without(dead)[p] == 2]
        stops = [
            i
            for i in range(self.since_button + 2, len(self.moves))
            if self.moves[i - 1][1] == self.moves[i - 2][1] == self.passing != self.moves[i][1] and not self.button_left
        ]
        for start, end in itertools.pairwise([*stops, len(self.moves)]):
            before = PlainGame(math.isqrt(self.passing), self.rules, 0)
            before.board = put(self.board, frozenset(p for _, p in self.moves[start:] if p != self.passing), 2)
            was = before.owners(gone, self.seki_of(before.board, gone) if self.rules.tax != "none" else ())
            free += sum(
                mover == color and p != self.passing and now[p] == was[p] != 2 for mover, p in self.moves[start:end]
            )
        return free

    @staticmethod
    def seki_of(board: Board, dead: list[int]) -> list[int]:
        """The stones in seki, by the native code: they are tested on diagrams."""
        black, white = ([p for p, c in enumerate(board) if c == color] for color in (0, 1))
        game = Game(math.isqrt(len(board)), "japanese").setup(black, white)
        return game.seki_stones([p for p in dead if board[p] != 2])

    def group_tax(self, color: int, dead: Iterable[int], seki: Collection[int]) -> int:
        """Two points of each group, a connected region of stones and points, as far as it has points outside seki."""
        if self.rules.tax != "all":
            return 0
        owners, taxed, left = self.owners(dead), self.owners(dead, seki), self.without(dead)
        return sum(
            min(2, sum(left[p] == 2 and taxed[p] == color for p in group)) for group in components(owners, {color})
        )

    def score(self, dead: Iterable[int] = (), seki: Collection[int] = ()) -> float:
        """Black's points minus White's."""
        dead = list(dead)
        owners, left = self.owners(dead, seki), self.without(dead)
        points = [owners.count(0), owners.count(1)]
        if self.rules.scoring == "territory":
            for color in (0, 1):
                taken = [p for p, c in enumerate(self.board) if c == 1 - color and left[p] == 2]
                eyes = [p for p in taken if owners[p] == 2 and self.owners(dead)[p] != 2]  # of a seki
                points[color] += len(taken) - len(eyes) + self.captures[color] - left.count(color)
                points[color] += self.free_stones(color, dead, seki)
        for color in (0, 1):
            points[color] -= self.group_tax(color, dead, seki)
        last_button = self.to_play - 0.5 if self.button_left else 0
        return points[0] - points[1] - self.komi - self.bonus - last_button
