"""The encore of KataGo's rules once more, slow and obvious, by the sentences of `Game.play_encore`."""

from __future__ import annotations

from plain_game import PlainGame
from plain_go import Board, after_stone, chain, components, ko_after, liberties, neighbors
from plain_reading import slow_area

from tengen.rules import Rules

Position = tuple[int, Board, int, frozenset[int]]
"""The phase, the stones, the side to play and the blocked stones."""


class PlainEncore(PlainGame):
    """A game under territory scoring whose passes lead to the encore."""

    def __init__(self, size: int, rules: Rules, komi: float, board: Board | None = None, to_play: int = 0) -> None:
        super().__init__(size, rules, komi, board, to_play)
        self.phase = 0
        self.phase_start = 0  # moves before it
        self.blocked: frozenset[int] = frozenset()
        self.taken_kos: list[tuple[Board, int, int]] = []  # of this phase: the board before, who and where
        self.first_board: Board = self.board  # of the second phase
        self.placed = [self.board.count(0), self.board.count(1)]
        self.passed: list[tuple[int, Position]] = []  # in this phase: who, and the position before
        self.since_last_pass: list[Position] = [self.position]

    @property
    def position(self) -> Position:
        return self.phase, self.board, self.to_play, self.blocked

    def pass_for_ko(self, p: int, color: int) -> int | None:
        """The blocked stone that a move of the encore is a pass for."""
        if p == self.passing or not self.phase:
            return None
        stone = p
        if self.board[p] == 2:
            move = after_stone(self.board, p, color)
            if ko_after(self.board, move, color) is None:
                return None
            (stone,) = move.taken
        single = chain(self.board, stone) == {stone} and len(liberties(self.board, stone)) == 1
        return stone if stone in self.blocked and self.board[stone] == 1 - color and single else None

    def reason(self, p: int, color: int) -> str:
        if not self.phase or p == self.passing:
            return super().reason(p, color)
        if self.pass_for_ko(p, color) is not None:
            return ""
        if self.board[p] != 2:
            return "occupied"
        lost = after_stone(self.board, p, color).lost
        if lost and not (self.rules.suicide and len(lost) > 1):
            return "suicide"
        return "superko" if (self.board, color, p) in self.taken_kos else ""

    def bans(self) -> list[int]:
        """Where the side to play has taken a ko in this position."""
        return [p for board, color, p in self.taken_kos if (board, color) == (self.board, self.to_play)]

    def passed_here(self, color: int) -> bool:
        return (self.phase > 0 or self.rules.ko == "simple") and (color, self.position) in self.passed

    def play(self, p: int, color: int) -> None:
        before, phase = self.position, self.phase
        repeated = p == self.passing and self.passed_here(color)
        for_ko = self.pass_for_ko(p, color)
        if phase == 0:
            super().play(p, color)
        else:
            self.moves.append((color, p))
            self.passes = self.passes + 1 if p == self.passing else 0
            if for_ko is not None:
                self.blocked -= {for_ko}
            elif p != self.passing:
                move = after_stone(self.board, p, color)
                if ko_after(self.board, move, color) is not None:
                    self.blocked |= {p}
                    self.taken_kos.append((self.board, color, p))
                self.board = move.board
                self.captures[color] += len(move.taken)
                self.captures[1 - color] += len(move.lost)
                self.blocked = frozenset(q for q in self.blocked if self.board[q] != 2)
            self.to_play = 1 - color
            self.history.append((self.board, self.to_play))
        if phase < 2 and p != self.passing and for_ko is None:
            self.placed[color] += 1
        self.repeated_pass = repeated
        if p == self.passing:
            self.passed.append((color, before))
            self.since_last_pass = []
        if phase < 2 and (self.passes >= 2 or repeated):
            self.phase, self.phase_start = phase + 1, len(self.moves)
            self.passes, self.repeated_pass = 0, False
            self.blocked, self.taken_kos, self.passed = frozenset(), [], []
            self.first_board = self.board
        self.since_last_pass.append(self.position)

    @property
    def is_no_result(self) -> bool:
        if not self.phase:
            return super().is_no_result
        return self.passes == 0 and self.since_last_pass.count(self.position) >= 3

    def encore_owners(self, suicide: bool) -> Board:
        """The points of each color in the second phase.

        Area counts where it touches no neutral point and holds no stone of its own in atari; without a tax all
        territory counts; and so do the other stones of the start of the phase.
        """
        area = slow_area(self.board, suicide)
        owner = [2] * len(self.board)
        for color in (0, 1):
            for region in components(area, {color}):
                dependent = any(self.board[p] == color and len(liberties(self.board, p)) == 1 for p in region) or any(
                    self.board[n] == area[n] == 2 for p in region for n in neighbors(self.board, p)
                )
                for p in region:
                    if not dependent or (self.rules.tax == "none" and self.board[p] != color):
                        owner[p] = color
        for p, color in enumerate(self.board):
            if owner[p] == 2 and color == self.first_board[p]:
                owner[p] = color
        return tuple(owner)

    def independent_regions(self, color: int) -> int:
        """How many regions pay Tax::all."""
        area = slow_area(self.board, self.rules.suicide)
        return sum(
            not any(self.board[p] == color and len(liberties(self.board, p)) == 1 for p in region)
            and not any(self.board[n] == area[n] == 2 for p in region for n in neighbors(self.board, p))
            for region in components(area, {color})
        )

    def encore_score(self) -> float:
        """Black's points minus White's in the second phase."""
        owners = self.encore_owners(self.rules.suicide)
        points = [owners.count(color) - self.placed[color] for color in (0, 1)]
        if self.rules.tax == "all":
            points = [points[color] - 2 * self.independent_regions(color) for color in (0, 1)]
        return points[0] - points[1] - self.komi - self.bonus
