"""A game of Go with checked moves, readable errors and the board as an array.

A point is an int, row by row from the top-left corner; `size * size` is pass (`Game.pass_point`). Methods that take a
point also take a GTP vertex such as "D4" or "pass", and None for pass. Colors are BLACK (0) and WHITE (1).
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tengen import _native, coords
from tengen.errors import IllegalMove, RecipeError
from tengen.handicap import free_handicap
from tengen.rules import Rules

BLACK, WHITE, EMPTY = 0, 1, 2
COLOR_NAMES = ("Black", "White")

Vertex = int | str | None
DeadStones = Literal["pass-alive", "none"]
"""Which stones are dead when a game is counted, as the native core names it: stones in the opponent's pass-alive
territory, or none."""
T = TypeVar("T")

MAX_KOMI = 1 << 20
"""The highest komi of either side. A game keeps its komi as float32, which has every half point up to it."""
LADDER_NODES = 50000
"""Limit of positions in the reading of one ladder."""


class Ladders(NamedTuple):
    """Stones in working ladders by color, and the points where the side to play captures or escapes."""

    black: list[int]
    white: list[int]
    captures: list[int]
    escapes: list[int]


class Game:
    """A game: board, rules, komi, the side to play and the whole history.

    Args:
        size: Board size, 2 to `coords.MAX_SIZE` (19, unless built for more).
        rules: A `Rules` object, a name such as "chinese", or parts such as "ko=simple,scoring=area".
        komi: Points for White, a whole or half number; unless given the usual one of the rules (`Rules.usual_komi`).

    Raises:
        RecipeError: A value is out of range.

    Example:
        >>> game = Game(9, rules="japanese", komi=6.5)
        >>> game.play("E5").play("C3").moves
        [(0, 40), (1, 56)]
        >>> game.is_legal("E5")
        False
    """

    def __init__(self, size: int = 19, rules: str | Rules = "chinese", komi: float | None = None) -> None:
        if komi is None:
            komi = Rules.parse(str(rules)).usual_komi
        try:
            self._native = _native.Game(size, str(rules), _checked_komi(komi))
        except ValueError as error:
            raise RecipeError(str(error)) from None

    @classmethod
    def from_diagram(
        cls, text: str, rules: str | Rules = "chinese", komi: float | None = None, to_play: int = BLACK
    ) -> "Game":
        """Start a game from a text diagram as `str(game)` prints it: X black, O white, `.` and `+` empty.

        The lines below the board are not read: `to_play` is the side to play, and captures start at 0. Raises
        IllegalMove where the text is no square board or a chain has no liberties.
        """
        try:
            size, black, white = _native.diagram_stones(text)
        except ValueError as error:
            raise IllegalMove(str(error)) from None
        return cls(size, rules, komi).setup(black, white, to_play)

    # Settings and state.

    @property
    def size(self) -> int:
        """Board size, 2 to `coords.MAX_SIZE`."""
        return self._native.size

    @property
    def pass_point(self) -> int:
        """The point that stands for a pass, `size * size`."""
        return coords.pass_point(self.size)

    @property
    def rules(self) -> Rules:
        """The rule set."""
        return Rules.parse(self._native.rules)

    @property
    def komi(self) -> float:
        """Points for White. Assign to change it; raises RecipeError for a value that is no whole or half number."""
        return self._native.komi

    @komi.setter
    def komi(self, komi: float) -> None:
        try:
            self._native.komi = _checked_komi(komi)
        except ValueError as error:
            raise RecipeError(str(error)) from None

    @property
    def to_play(self) -> int:
        """The color to play: 0 black, 1 white."""
        return self._native.to_play

    @property
    def moves(self) -> list[tuple[int, int]]:
        """(color, point) of every move; a pass has `pass_point`."""
        return self._native.moves()

    def move_codes(self) -> npt.NDArray[np.uint16]:
        """The moves as a `GameRecord` has them: uint16 [moves], the point with bit 15 set for White."""
        return self._native.move_codes()

    @property
    def last_was_pass(self) -> bool:
        """Whether the last move was a pass; False before the first move."""
        moves = self.moves
        return bool(moves) and moves[-1][1] == self.pass_point

    @property
    def move_count(self) -> int:
        """Moves made, passes included. `move_number` also counts stones set up, and leaves out those of a handicap."""
        return self._native.move_count

    @property
    def setup_stones(self) -> list[tuple[int, int]]:
        """(color, point) of every stone set up before the first move."""
        return self._native.setup_stones()

    @property
    def move_number(self) -> int:
        """How far the game has come: moves made and stones set up, but for those of a handicap."""
        return self.move_count + len(self.setup_stones) - self.handicap

    @property
    def first_to_play(self) -> int:
        """The color that plays the first move."""
        return self._native.first_to_play

    @property
    def handicap(self) -> int:
        """Black's handicap stones: 2 or more that Black had before White's first move, else 0."""
        return self._native.handicap

    @property
    def white_bonus(self) -> float:
        """Points that the rules give White in addition to komi: for the handicap, and half a point for a button.

        The half is subtracted where Black took the button.
        """
        return self._native.white_bonus

    @property
    def captures(self) -> tuple[int, int]:
        """Stones captured by Black and by White; a suicide counts for the opponent."""
        return self._native.captures

    @property
    def passes(self) -> int:
        """Consecutive passes at the end of the game so far; the one that took the button does not count."""
        return self._native.passes

    @property
    def button(self) -> int | None:
        """The color that took the button, None where the rules have none or nobody has taken it (`rules.button`)."""
        return None if self._native.button == EMPTY else self._native.button

    @property
    def is_over(self) -> bool:
        """Whether the game has ended; see `ending`. Further moves are still possible."""
        return self._native.is_over

    @property
    def ending(self) -> str:
        """How the game ended: `resignation`, `long cycle`, `passes`, `move limit`, or "" if it has not.

        Two passes in a row end a game, and under simple ko the pass of a player who passed before with the same stones
        on the board.
        A long cycle exists under simple ko: the same position with the same side to play occurs a third time since the
        last pass.
        """
        return self._native.ending

    @property
    def is_no_result(self) -> bool:
        """Whether the game ended without a result: by a long cycle, or by a move limit that declares no result."""
        return self._native.is_no_result

    @property
    def move_limit(self) -> int:
        """The number of moves, passes included, after which the game ends; 0 for no limit."""
        return self._native.move_limit

    @property
    def encore(self) -> int:
        """The phase of the encore (see `play_encore`), 1 or 2; 0 before it and in games without one."""
        return self._native.encore

    def result(self, dead: Iterable[Vertex] = ()) -> str:
        """The result: `B+3.5`, `W+R` (Black resigned), `0` (draw), `Void` (no result), or "" while the game goes on.

        A game that ended by passes or by the move limit is counted like `score`, with these dead stones.
        """
        return self._native.result([self.point(p) for p in dead])

    # The board.

    @property
    def board(self) -> npt.NDArray[np.int8]:
        """A new int8 array [size, size], row 0 at the top: 0 black, 1 white, 2 empty."""
        return self._native.board()

    @property
    def ko(self) -> int | None:
        """The point that the simple ko rule forbids to the side to play, None if there is none."""
        return self._native.ko

    def is_legal(self, point: Vertex, color: int | None = None) -> bool:
        """Whether `color` (default: the side to play) may play at the point. False for a point off the board."""
        try:
            return not self._native.legality(self.point(point), self._mover(color))
        except IllegalMove:
            return False

    def legal_points(self, color: int | None = None) -> list[int]:
        """All legal points for `color` (default: the side to play) in increasing order; pass is not included."""
        return self._native.legal_points(self._mover(color))

    def superko_bans(self) -> list[int]:
        """Points that are illegal for the side to play by the superko rule alone."""
        return self._native.superko_bans()

    def point(self, vertex: Vertex) -> int:
        """The point of an int, a GTP vertex or None (pass). Raises IllegalMove off the board."""
        if vertex is None:
            return self.pass_point
        if isinstance(vertex, str):
            return coords.from_gtp(vertex, self.size)
        point = operator.index(vertex)
        coords.to_rc(point, self.size)
        return point

    def _mover(self, color: int | None) -> int:
        return self.to_play if color is None else checked_color(color)

    # Changes.

    def play(self, point: Vertex, color: int | None = None, *, tolerant: bool = False) -> "Game":
        """Play a move for `color` (default: the side to play) and return this game.

        `tolerant` accepts moves against ko and superko and suicides of several stones, of a game under other rules.
        Raises IllegalMove with the reason: occupied, ko, superko, suicide or off the board. The game is then unchanged.
        """
        place, color = self.point(point), self._mover(color)
        reason = self._native.legality(place, color)
        try:
            self._native.play(place, color, tolerant)
        except ValueError:
            move = f"{COLOR_NAMES[color]} {coords.to_gtp(place, self.size)}"
            raise IllegalMove(f"move {len(self.moves) + 1}, {move}, is illegal: {reason}") from None
        return self

    def undo(self) -> bool:
        """Take back the resignation, else the last move. False if there is neither."""
        return self._native.undo()

    def resign(self, color: int | None = None) -> "Game":
        """Resign for `color` (default: the side to play) and return this game. A further move revokes it."""
        self._native.resign(self._mover(color))
        return self

    def limit_moves(self, moves: int, *, no_result: bool = False) -> "Game":
        """End the game after this number of moves, passes included, and return this game; 0 removes the limit.

        At the limit the game is counted, or has no result with `no_result`. Raises RecipeError below 0.
        """
        try:
            self._native.set_move_limit(moves, no_result)
        except ValueError as error:
            raise RecipeError(str(error)) from None
        return self

    def play_encore(self) -> "Game":
        """From here on play out territory scoring as KataGo's networks do, and return this game.

        The passes that would end the game begin the first of two phases, in which dead stones are captured, and the
        next ones the second, which ends the game. `score` then counts areas, less a point for each stone placed before
        the second phase; stones placed in it do not count, and nothing is agreed to be dead. A stone that takes a ko
        may be retaken after a pass for ko: a move at that stone or at the ko, which changes no stone. The same capture
        of a ko in the same position is allowed once a phase. A limit of moves does not hold there. Games under area
        scoring are as before.
        Source: KataGo's rules (docs/rules.html), `boardhistory.cpp`.
        """
        self._native.set_encore(True)
        return self

    def clear(self) -> None:
        """Start again on an empty board with the same size, rules, komi and move limit, and encore or none."""
        limit, no_result = self._native.move_limit, self._native.declares_no_result
        encore = self._native.encore_from is not None
        self._native = _native.Game(self.size, self._native.rules, self.komi)
        self._native.set_move_limit(limit, no_result)
        self._native.set_encore(encore)

    def setup(self, black: Iterable[Vertex] = (), white: Iterable[Vertex] = (), to_play: int | None = None) -> "Game":
        """Set up stones and the color to play before the first move, and return this game.

        Raises IllegalMove after a move, on an occupied point, or where a chain has no liberty. The game is then
        unchanged.
        """
        game, points_of_board = self._native.copy(), range(self.pass_point)
        try:
            for color, points in ((BLACK, black), (WHITE, white)):
                for vertex in points:
                    # Records set up thousands of full boards: `point` would take most of the time.
                    point = vertex if type(vertex) is int and vertex in points_of_board else self.point(vertex)
                    try:
                        game.setup(point, color)
                    except ValueError as error:
                        raise IllegalMove(f"{coords.to_gtp(point, self.size)}: {error}") from None
            if to_play is not None:
                game.set_to_play(checked_color(to_play))
        except IllegalMove:
            raise
        except ValueError as error:
            raise IllegalMove(str(error)) from None
        self._native = game
        return self

    def place_handicap(self, stones: int) -> list[int]:
        """Set up handicap stones with White to play, and return their points (see `free_handicap`).

        Raises IllegalMove for an impossible number of stones, or where `setup` does.
        """
        points = free_handicap(self.size, stones)
        self.setup(black=points, to_play=WHITE)
        return points

    def restarted(self, black: Iterable[Vertex], white: Iterable[Vertex], to_play: int) -> "Game":
        """A new game under these rules that begins with other stones: no history, no ko, no prisoners.

        White's bonus and a button that was taken are kept in the komi, and the rules give no bonus for the stones that
        Black has now. Raises IllegalMove as `setup` does.
        """
        rules = replace(self.rules, bonus="none", button=self._native.button_left)
        return Game(self.size, rules, self.komi + self.white_bonus).setup(black, white, to_play)

    def restarted_here(self, to_play: int) -> "Game":
        """This position as a new game with this color to play: `restarted` with the stones of this board.

        The prisoners under territory rules are kept in the komi too, so that the score is the same.
        """
        board = self.board.ravel()
        black, white = (np.flatnonzero(board == color).tolist() for color in (BLACK, WHITE))
        fresh = self.restarted(black, white, to_play)
        if self.rules.scoring == "territory":
            by_black, by_white = self.captures
            fresh.komi += by_white - by_black
        return fresh

    def copy(self) -> "Game":
        """An independent game with the same history."""
        twin = Game.__new__(type(self))
        twin._native = self._native.copy()
        return twin

    def without_last(self, moves: int) -> "Game":
        """A copy without the resignation and the last moves, of which there must be as many. It is one replay, where
        `undo` is one for each move."""
        state = self.__getstate__()
        *start, played, encore_from, limit, _ = state["_native"]
        kept = played[: len(played) - moves]
        encore_from = None if encore_from is None else min(encore_from, len(kept))
        twin = Game.__new__(type(self))
        twin.__setstate__({**state, "_native": (*start, kept, encore_from, limit, None)})
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """For `copy` and `pickle`: what the game is made of, which `__setstate__` plays again."""
        native, resigned = self._native, None
        if self.ending == "resignation":
            resigned = WHITE if self.result() == "B+R" else BLACK
        settings = self.size, native.rules, self.komi
        limit = native.move_limit, native.declares_no_result
        played = self.setup_stones, self.first_to_play, self.moves, native.encore_from
        return {**vars(self), "_native": (settings, *played, limit, resigned)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        settings, stones, first, moves, encore_from, limit, resigned = state["_native"]
        native = Game(*settings)._native
        for color, point in stones:
            native.setup(point, color)
        native.set_to_play(first)
        for number, (color, point) in enumerate(moves):
            if number == encore_from:
                native.set_encore(True)
            native.play(point, color, True)  # the game may have moves that its rules forbid
        if encore_from == len(moves):
            native.set_encore(True)
        native.set_move_limit(*limit)
        if resigned is not None:
            native.resign(resigned)
        vars(self).update({**state, "_native": native})

    # Counting.

    def score(self, dead: Iterable[Vertex] = ()) -> float:
        """Black's points minus White's by the rules, komi and button included.

        `dead`: a stone or more of each dead chain. A button that nobody took goes to the side to play.
        """
        return self._native.score([self.point(p) for p in dead])

    def owners(self, dead: Iterable[Vertex] = ()) -> npt.NDArray[np.int8]:
        """The owner of each point after the dead chains are removed: int8 [size, size], 0 black, 1 white, 2 neutral.

        Where the rules have a tax, eyes in seki are neutral.
        """
        return self._native.owners([self.point(p) for p in dead])

    def seki_stones(self, dead: Iterable[Vertex] = ()) -> list[int]:
        """Stones that live in seki after the dead chains are removed, in a finished position."""
        return self._native.seki_stones([self.point(p) for p in dead])

    def dead_or_seki(self, dead: Iterable[Vertex]) -> list[int]:
        """Those of the dead stones that are in seki if they, and all dead stones in the same region, are alive."""
        return self._native.dead_or_seki([self.point(p) for p in dead])

    def proven_seki(self, dead: Iterable[Vertex]) -> list[int]:
        """Those of the dead stones that are in seki and cannot be captured with profit, by reading the local fight."""
        return self._native.proven_seki([self.point(p) for p in dead])

    def pass_alive(self) -> npt.NDArray[np.int8]:
        """Benson's pass-alive area: int8 [size, size], 0 black, 1 white, 2 neither."""
        return self._native.pass_alive()

    def pass_dead(self) -> list[int]:
        """Stones in the opponent's pass-alive territory, which are unconditionally dead."""
        return self._native.pass_dead()

    def true_eyes(self, color: int | None = None) -> list[int]:
        """Empty points that are true eyes of `color` (default: the side to play).

        All neighbors are own stones, and of the diagonal points the opponent holds at most one in the middle of the
        board, none at the edge.
        """
        return self._native.true_eyes(self._mover(color))

    def sure_margin(self) -> float | None:
        """Black's points minus White's where one side's pass-alive area alone beats the rest of the board, else None.

        All other points count for the other side. Always None under territory scoring.
        """
        return self._native.sure_margin()

    def end_by_rules(self, settle: bool = False, *, dead_stones: DeadStones = "pass-alive") -> _native.GameEnd | None:
        """How the game has ended and its count, without an agreement on dead stones; None while it goes on.

        With `settle` a game under area scoring has also ended when every point is pass-alive area. `dead_stones`:
        `pass-alive` removes the stones in the opponent's pass-alive territory, `none` counts the board as it stands.
        """
        return self._native.game_end(settle, dead_stones=dead_stones)

    def ownership_by_playouts(self, n: int = 64, seed: int = 0) -> npt.NDArray[np.float32]:
        """Mean final owner over `n` random playouts: float32 [size, size], from -1 (white) to +1 (black)."""
        return _native.ownership_by_playouts(self._native, n, seed)

    def dead_by_playouts(self, n: int = 64, seed: int = 0) -> list[int]:
        """Stones of chains that end as the opponent's in more than half of `n` random playouts; no pass-alive chains.

        Random playouts kill one side of a seki. Stones in seki count as dead only where nearly all playouts lose them.
        """
        return _native.dead_by_playouts(self._native, n, seed)

    def ladders(self) -> Ladders:
        """All chains in working ladders, and the moves that capture or escape."""
        return Ladders(*self._native.ladders())

    def is_laddered(self, stone: Vertex, nodes: int = LADDER_NODES) -> bool:
        """Whether the chain of a stone is caught in a ladder.

        A chain in atari: with its owner to move. With two liberties: with the attacker to move. With more: never. A ko
        favours the defender, and a reading of more than `nodes` positions counts as an escape. Raises IllegalMove on an
        empty point.
        """
        return self._ask_ladder(self._native.is_laddered, stone, nodes)

    def ladder_captures(self, stone: Vertex, nodes: int = LADDER_NODES) -> list[int]:
        """The attacker's moves that capture the chain of a stone: directly if it is in atari, else by a ladder.

        Raises IllegalMove on an empty point.
        """
        return self._ask_ladder(self._native.ladder_captures, stone, nodes)

    def ladder_escapes(self, stone: Vertex, nodes: int = LADDER_NODES) -> list[int]:
        """The owner's moves with which a chain in atari escapes from the ladder.

        Raises IllegalMove on an empty point or where the chain is not in atari.
        """
        return self._ask_ladder(self._native.ladder_escapes, stone, nodes)

    def _ask_ladder(self, question: Callable[[int, int], T], stone: Vertex, nodes: int) -> T:
        try:
            return question(self.point(stone), nodes)
        except ValueError as error:
            raise IllegalMove(str(error)) from None

    # For native code.

    def native(self) -> _native.Game:
        """The native game itself, no copy, for functions of native code; `clear` and `setup` replace it by another."""
        return self._native

    # Text.

    def __str__(self) -> str:
        by_black, by_white = self.captures
        state = "The game is over" if self.is_over else f"{COLOR_NAMES[self.to_play]} to play"
        return f"{self._native.diagram()}{state}. Captures: Black {by_black}, White {by_white}"

    def __repr__(self) -> str:
        moves = f"{self.move_count} move{'' if self.move_count == 1 else 's'}"
        about = f"{self.size}x{self.size}, {self._native.rules}, komi {self.komi:g}, {moves}"
        return f"<Game {about}, {COLOR_NAMES[self.to_play]} to play>"


AnyGame: TypeAlias = Game | _native.Game


def native_game(game: AnyGame) -> _native.Game:
    """The native game of either kind of game."""
    return game.native() if isinstance(game, Game) else game


def checked_color(color: int) -> int:
    """A color of stones. Raises ValueError for what is none."""
    if color not in (BLACK, WHITE):
        raise ValueError(f"a color is 0 (black) or 1 (white), not {color!r}")
    return color


def _checked_komi(komi: float) -> float:
    if not isinstance(komi, (int, float, np.integer, np.floating)):
        raise TypeError(f"komi must be a number, not {komi!r}")
    if not (2 * float(komi)).is_integer():  # a small type of numpy cannot hold twice its value
        raise ValueError(f"komi must be a whole or half number, not {komi:g}")
    if abs(komi) > MAX_KOMI:
        raise ValueError(f"komi must be a number from -{MAX_KOMI} to {MAX_KOMI}, not {komi}")
    return komi
