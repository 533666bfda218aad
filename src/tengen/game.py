"""A game of Go for people and programs: checked moves, readable errors, a board as an array.

Points are ints, row by row from the top-left corner, `size * size` is pass; wherever a point is asked for, a GTP vertex
such as "D4", "pass" or None (pass) will do. Colours are BLACK 0 and WHITE 1.
"""

import operator
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tengen import _native, coords
from tengen.errors import IllegalMove, RecipeError
from tengen.handicap import free_handicap
from tengen.rules import Rules

BLACK, WHITE, EMPTY = 0, 1, 2
COLOR_NAMES = ("Black", "White")

Vertex = int | str | None
T = TypeVar("T")

LADDER_NODES = 2000
"""Positions that a reading of one ladder looks at before it gives up."""


class Ladders(NamedTuple):
    """Stones that are caught in a ladder, and the moves of the side to play that catch or save."""

    black: list[int]
    white: list[int]
    captures: list[int]
    escapes: list[int]


class Game:
    """A board, its rules and komi, who plays, and the whole history.

    size: 5 to 19. rules: a Rules, a name ("chinese") or the text of its parts. komi: points for White.
    Raises RecipeError where one of them is out of range.
    """

    def __init__(self, size: int = 19, rules: str | Rules = "chinese", komi: float = 7.5) -> None:
        try:
            self._native = _native.Game(size, str(rules), komi)
        except ValueError as error:
            raise RecipeError(str(error)) from None

    @classmethod
    def from_diagram(cls, text: str, rules: str | Rules = "chinese", komi: float = 7.5, to_play: int = BLACK) -> "Game":
        """A game that starts from a text diagram such as `str(game)` prints: X black, O white, `.` and `+` empty.

        Whose turn it is and the captures below a board are not read: `to_play` says the one, the other begin at 0.
        Raises IllegalMove on a text that is no square board or has a chain without liberties.
        """
        try:
            size, black, white = _native.diagram_stones(text)
        except ValueError as error:
            raise IllegalMove(str(error)) from None
        return cls(size, rules, komi).setup(black, white, to_play)

    # What was agreed and what has happened.

    @property
    def size(self) -> int:
        return self._native.size

    @property
    def rules(self) -> Rules:
        return Rules.parse(self._native.rules)

    @property
    def komi(self) -> float:
        return self._native.komi

    @komi.setter
    def komi(self, komi: float) -> None:
        try:
            self._native.komi = komi
        except ValueError as error:
            raise RecipeError(str(error)) from None

    @property
    def to_play(self) -> int:
        return self._native.to_play

    @property
    def moves(self) -> list[tuple[int, int]]:
        """(colour, point) of every move."""
        return self._native.moves()

    @property
    def setup_stones(self) -> list[tuple[int, int]]:
        """(colour, point) of every stone that was there before the first move."""
        return self._native.setup_stones()

    @property
    def first_to_play(self) -> int:
        return self._native.first_to_play

    @property
    def handicap(self) -> int:
        """Stones that Black had before White's first, if two or more and White had none from the start; else 0."""
        return self._native.handicap

    @property
    def captures(self) -> tuple[int, int]:
        """Stones that Black took, stones that White took; a suicide counts for the other side."""
        return self._native.captures

    @property
    def passes(self) -> int:
        """Passes in a row at the end of the game."""
        return self._native.passes

    @property
    def is_over(self) -> bool:
        """Whether `ending` names one; play may go on all the same."""
        return self._native.is_over

    @property
    def ending(self) -> str:
        """How the game ended: `resignation`, `long cycle`, `passes` (two in a row), `move limit`, or "" if it goes on.

        A long cycle is, under simple ko, the same position with the same side to play a third time since the last pass.
        """
        return self._native.ending

    @property
    def is_no_result(self) -> bool:
        """Whether the game is over without winner: a long cycle, or a limit of moves that declares no result."""
        return self._native.is_no_result

    @property
    def move_limit(self) -> int:
        """With this many moves, passes included, the game is over; 0 for no limit."""
        return self._native.move_limit

    def result(self, dead: Iterable[Vertex] = ()) -> str:
        """`B+3.5`, `W+R` (Black resigned), `0` for a draw, `Void` without result; "" for a game that goes on.

        A game that ended by passes or by the limit of moves is counted as `score` does.
        """
        return self._native.result([self.point(p) for p in dead])

    # The board.

    @property
    def board(self) -> npt.NDArray[np.int8]:
        """A new int8 array [size, size], row 0 on top: 0 black, 1 white, 2 empty."""
        return self._native.board()

    @property
    def ko(self) -> int | None:
        """The point that simple ko forbids to the side to play."""
        return self._native.ko

    def is_legal(self, point: Vertex, color: int | None = None) -> bool:
        """Whether `color` (the side to play) may play there; False for anything that is no point of the board."""
        try:
            return not self._native.legality(self.point(point), color)
        except IllegalMove:
            return False

    def legal_points(self, color: int | None = None) -> list[int]:
        """All legal points on the board in increasing order; pass, which is always legal, is not among them."""
        return self._native.legal_points(color)

    def superko_bans(self) -> list[int]:
        """Points that only the superko rule forbids to the side to play."""
        return self._native.superko_bans()

    def point(self, vertex: Vertex) -> int:
        """The point of an int, a GTP vertex or None (pass). Raises IllegalMove off the board."""
        if vertex is None:
            return self.size * self.size
        if isinstance(vertex, str):
            return coords.from_gtp(vertex, self.size)
        point = operator.index(vertex)
        coords.to_rc(point, self.size)
        return point

    # Changes.

    def play(self, point: Vertex, color: int | None = None) -> "Game":
        """Play a stone or pass, in turn or for `color`, and return this game.

        Raises IllegalMove with the reason: occupied, ko, superko, suicide or off the board.
        """
        place = self.point(point)
        color = self.to_play if color is None else color
        if reason := self._native.legality(place, color):
            move = f"{COLOR_NAMES[color]} {coords.to_gtp(place, self.size)}"
            raise IllegalMove(f"move {len(self.moves) + 1}, {move}, is illegal: {reason}")
        self._native.play(place, color)
        return self

    def undo(self) -> bool:
        """Take the resignation back, else the last move; False if there is neither."""
        return self._native.undo()

    def resign(self, color: int | None = None) -> "Game":
        """Give the game up for `color` (the side to play), and return it. A further move takes that back."""
        self._native.resign(self.to_play if color is None else color)
        return self

    def limit_moves(self, moves: int, *, no_result: bool = False) -> "Game":
        """End the game with this many moves, passes included, and return it; 0 lifts the limit.

        The game is then counted, or without result if that is what is declared. Raises RecipeError below 0.
        """
        try:
            self._native.set_move_limit(moves, no_result)
        except ValueError as error:
            raise RecipeError(str(error)) from None
        return self

    def clear(self) -> None:
        """Back to an empty board with the same size, rules, komi and limit of moves."""
        limit, no_result = self._native.move_limit, self._native.declares_no_result
        self._native = _native.Game(self.size, self._native.rules, self.komi)
        self._native.set_move_limit(limit, no_result)

    def setup(self, black: Iterable[Vertex] = (), white: Iterable[Vertex] = (), to_play: int | None = None) -> "Game":
        """Put stones on the board before the first move, name who plays first, and return this game.

        Raises IllegalMove, with the game unchanged, after a move, on a taken point or where a chain has no liberty.
        """
        game = self._native.copy()
        try:
            for color, points in ((BLACK, black), (WHITE, white)):
                for point in points:
                    game.setup(self.point(point), color)
            if to_play is not None:
                game.set_to_play(to_play)
        except IllegalMove:
            raise
        except ValueError as error:
            raise IllegalMove(str(error)) from None
        self._native = game
        return self

    def place_handicap(self, stones: int) -> list[int]:
        """Set up handicap stones at good points and let White play first; the points. Raises IllegalMove."""
        points = free_handicap(self.size, stones)
        self.setup(black=points, to_play=WHITE)
        return points

    def copy(self) -> "Game":
        """An independent game with the same history."""
        twin = Game.__new__(type(self))
        twin._native = self._native.copy()
        return twin

    # Counting.

    def score(self, dead: Iterable[Vertex] = ()) -> float:
        """Black's points minus White's by the rules, komi included; `dead`: a stone or more of each dead chain."""
        return self._native.score([self.point(p) for p in dead])

    def owners(self, dead: Iterable[Vertex] = ()) -> npt.NDArray[np.int8]:
        """Who owns each point once the dead chains are gone: int8 [size, size], 0 black, 1 white, 2 neutral.

        Under territory scoring the eyes of a seki are neutral.
        """
        return self._native.owners([self.point(p) for p in dead])

    def seki_stones(self, dead: Iterable[Vertex] = ()) -> list[int]:
        """Stones that live in seki once the dead chains are gone, in a position that has been played out."""
        return self._native.seki_stones([self.point(p) for p in dead])

    def dead_or_seki(self, dead: Iterable[Vertex]) -> list[int]:
        """Of the dead stones those in seki if they and all dead ones in the same open region live after all."""
        return self._native.dead_or_seki([self.point(p) for p in dead])

    def pass_alive(self) -> npt.NDArray[np.int8]:
        """The area that lives even if its owner always passes: int8 [size, size], 0 black, 1 white, 2 neither."""
        return self._native.pass_alive()

    def pass_dead(self) -> list[int]:
        """Stones in the opponent's pass-alive territory, which are dead whatever is played."""
        return self._native.pass_dead()

    def ownership_by_playouts(self, n: int = 64, seed: int = 0) -> npt.NDArray[np.float32]:
        """Mean final owner over `n` random playouts: float32 [size, size], +1 black, -1 white."""
        return _native.ownership_by_playouts(self._native, n, seed)

    def dead_by_playouts(self, n: int = 64, seed: int = 0) -> list[int]:
        """Stones of chains that more often than not end as the opponent's in random playouts; never pass-alive ones.

        Stones in seki, of which playouts lose one side, are spared where they are not lost nearly always.
        """
        return _native.dead_by_playouts(self._native, n, seed)

    def ladders(self) -> Ladders:
        """All chains that are caught in a ladder, and the moves about them."""
        return Ladders(*self._native.ladders())

    def is_laddered(self, stone: Vertex, nodes: int = LADDER_NODES) -> bool:
        """Whether the chain of a stone is caught in a ladder.

        In atari: although its owner moves first. With two liberties: when the attacker does. With more: never. Kos
        favour the defender, and a reading of more than `nodes` positions counts as an escape. Raises IllegalMove
        where there is no stone.
        """
        return self._ask_ladder(self._native.is_laddered, stone, nodes)

    def ladder_captures(self, stone: Vertex, nodes: int = LADDER_NODES) -> list[int]:
        """The attacker's first moves that catch the chain of a stone: of one in atari the capture, else of a ladder.

        Raises IllegalMove where there is no stone.
        """
        return self._ask_ladder(self._native.ladder_captures, stone, nodes)

    def ladder_escapes(self, stone: Vertex, nodes: int = LADDER_NODES) -> list[int]:
        """The owner's moves that save the chain of a stone in atari from the ladder.

        Raises IllegalMove where there is no stone, or one that is not in atari.
        """
        return self._ask_ladder(self._native.ladder_escapes, stone, nodes)

    def _ask_ladder(self, question: Callable[[int, int], T], stone: Vertex, nodes: int) -> T:
        try:
            return question(self.point(stone), nodes)
        except ValueError as error:
            raise IllegalMove(str(error)) from None

    # Text.

    def __str__(self) -> str:
        by_black, by_white = self.captures
        state = "The game is over" if self.is_over else f"{COLOR_NAMES[self.to_play]} to play"
        return f"{self._native.diagram()}{state}. Captures: Black {by_black}, White {by_white}"

    def __repr__(self) -> str:
        text = f"{self.size}x{self.size}, {self._native.rules}, komi {self.komi:g}, {self._native.move_count} moves"
        return f"<Game {text}, {COLOR_NAMES[self.to_play]} to play>"
