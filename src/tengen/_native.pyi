"""Tengen's native core: rules, features, playouts and search."""

from collections.abc import Mapping, Sequence
import os
from typing import Annotated

import numpy
from numpy.typing import NDArray


MAX_SIZE: int = 19

class Game:
    """A game with its whole history; tengen.game.Game is its friendly face."""

    def __init__(self, size: int, rules: str, komi: float) -> None: ...

    def setup(self, point: int, color: int) -> None:
        """A stone before the first move; color 2 removes one."""

    def set_to_play(self, color: int) -> None: ...

    def legality(self, point: int, color: int | None = None) -> str:
        """Why the move is illegal; '' if it is legal."""

    def play(self, point: int, color: int | None = None, tolerant: bool = False) -> None:
        """tolerant: also against ko, superko and the suicide of several stones."""

    def play_moves(self, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[int, str]:
        """
        Plays uint16 codes (the point, bit 15 for White) up to the first illegal one: (moves played, reason or '').
        """

    def undo(self) -> bool: ...

    def resign(self, color: int) -> None: ...

    def set_move_limit(self, moves: int, no_result: bool = False) -> None: ...

    def set_encore(self, played: bool) -> None: ...

    def copy(self) -> Game: ...

    def moves(self) -> list[tuple[int, int]]:
        """[(color, point)]"""

    def move_codes(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C')]:
        """The moves as play_moves() takes them."""

    def setup_stones(self) -> list[tuple[int, int]]:
        """[(color, point)]"""

    def legal_points(self, color: int | None = None) -> list[int]:
        """Legal moves on the board; pass is always legal too."""

    def superko_bans(self) -> list[int]: ...

    @property
    def size(self) -> int: ...

    @property
    def rules(self) -> str: ...

    @property
    def komi(self) -> float: ...

    @komi.setter
    def komi(self, arg: float, /) -> None: ...

    @property
    def to_play(self) -> int: ...

    @property
    def first_to_play(self) -> int: ...

    @property
    def passes(self) -> int: ...

    @property
    def pass_ends(self) -> bool:
        """Whether a pass of the side to play ends the game."""

    @property
    def encore(self) -> int:
        """0 before the encore, then 1 and 2."""

    @property
    def encore_from(self) -> int | None:
        """The moves before set_encore(True); None without it."""

    @property
    def button(self) -> int:
        """Who took the button; 2 for nobody."""

    @property
    def button_left(self) -> bool: ...

    @property
    def move_count(self) -> int: ...

    @property
    def is_over(self) -> bool: ...

    @property
    def is_no_result(self) -> bool: ...

    @property
    def ending(self) -> str: ...

    @property
    def move_limit(self) -> int: ...

    @property
    def declares_no_result(self) -> bool: ...

    @property
    def handicap(self) -> int: ...

    @property
    def white_bonus(self) -> float: ...

    @property
    def captures(self) -> tuple[int, int]: ...

    @property
    def hash(self) -> int: ...

    @property
    def ko(self) -> int | None: ...

    def board(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C')]: ...

    def score(self, dead: Sequence[int] = []) -> float: ...

    def owners(self, dead: Sequence[int] = []) -> Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C')]:
        """
        int8 [size, size]: 0 black, 1 white, 2 neutral, the dead stones removed.
        """

    def result(self, dead: Sequence[int] = []) -> str:
        """'B+3.5', 'W+R', '0' or 'Void'; '' while the game goes on."""

    def seki_stones(self, dead: Sequence[int] = []) -> list[int]: ...

    def dead_or_seki(self, dead: Sequence[int]) -> list[int]: ...

    def proven_seki(self, dead: Sequence[int]) -> list[int]: ...

    def whole_chains(self, stones: Sequence[int]) -> list[int]:
        """All stones of the chains that these stones belong to."""

    def pass_alive(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C')]:
        """
        int8 [size, size]: the pass-alive area of 0 black, 1 white; 2 elsewhere.
        """

    def pass_dead(self) -> list[int]:
        """Stones in the opponent's pass-alive territory."""

    def game_end(self, settle: bool = False, sure_win: bool = False, dead_stones: str = 'pass-alive') -> GameEnd | None:
        """
        How the game has ended, or None while it goes on. Beside its own rules a game under area scoring ends with `settle` when every point is pass-alive area, with `sure_win` when sure_margin() has a value. `dead_stones`: pass-alive (stones in the opponent's pass-alive territory are dead) or none (the board counts as it stands).
        """

    def sure_margin(self) -> float | None:
        """
        Black minus White in points, with komi and handicap bonus, when the leader's pass-alive area alone beats the rest of the board; None otherwise and under territory scoring.
        """

    def true_eyes(self, color: int | None = None) -> list[int]:
        """
        Empty points that are true eyes of a player (the side to play): own stones on all sides, and of the diagonals at most one of the opponent, none at the edge.
        """

    def useful_moves(self, dead_stones: str = 'pass-alive') -> list[int]:
        """
        Legal moves of the side to play that are not into an own true eye and, unless `dead_stones` is none, not inside pass-alive area of either side. Never contains pass.
        """

    def ladders(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """
        (black stones, white stones, catching moves, saving moves), the moves of the side to play.
        """

    def is_laddered(self, stone: int, nodes: int = 50000) -> bool: ...

    def ladder_captures(self, stone: int, nodes: int = 50000) -> list[int]: ...

    def ladder_escapes(self, stone: int, nodes: int = 50000) -> list[int]: ...

    def diagram(self) -> str: ...

class GameEnd:
    """How a game has ended."""

    @property
    def reason(self) -> str:
        """passes, resignation, move limit, long cycle, settled or sure win."""

    @property
    def winner(self) -> int | None:
        """0 black, 1 white, 2 draw, None without result."""

    @property
    def score(self) -> float | None:
        """
        Black minus White in points, with komi; None where the game was not counted. Of a sure win the least by which it is won.
        """

    @property
    def owners(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C')] | None:
        """
        int8 [size, size]: 0 black, 1 white, 2 neutral; None where the game was not counted.
        """

def allowed_moves(games: Sequence[Game], pass_policy: str = 'free', dead_stones: str = 'pass-alive') -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C')]:
    """
    bool [games, size * size + 1]: the moves that a pass policy allows the sides to play, pass last. free: all legal moves; no-legal-move: a pass only where nothing else is legal; no-useful-move: useful moves alone, and a pass where there is none. ValueError unless all boards are of one size.
    """

def pass_policies() -> list[str]: ...

def dead_stone_rules() -> list[str]: ...

def check_moves(size: int, rules: str, moves: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], black_setup: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], white_setup: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[int, str]:
    """
    Replays uint16 codes (the point, bit 15 for White): (legal leading moves, why the next one is illegal or '').
    """

def diagram_stones(text: str) -> tuple[int, list[int], list[int]]:
    """(size, black points, white points) of a text diagram."""

def transform(point: int, size: int, symmetry: int) -> int: ...

def rule_parts(text: str) -> tuple[str, str, bool, str, str, bool, bool]:
    """
    (ko, scoring, suicide, bonus, tax, button, friendly_pass_ok) of a rule set's name or text form.
    """

def rules_text(text: str) -> str:
    """The shortest text of these rules: the name if they have one."""

def rule_names() -> list[str]:
    """One name for each named rule set, and korean."""

def rule_aliases() -> list[str]:
    """Further names of the same rule sets."""

def processor_flags() -> list[str]:
    """
    Instructions that this processor and its system support, of avx2, fma, avx512f, avx512bw, avx512dq, avx_vnni, avx512_vnni, avx512_bf16, amx_bf16 and amx_int8; empty on other processors than x86-64.
    """

class Winograd:
    """A convolution 3x3 or 5x5 with zero padding, by Winograd's algorithm."""

    def __init__(self, weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], precision: str = 'f32', instructions: str = '') -> None:
        """
        Weights [outputs, inputs, kernel, kernel] and bias [outputs]; with precision bf16 the factors of products are rounded to bf16: the error has about 1% of the standard deviation of the results with a kernel of 3, 1.3% with one of 5. instructions is one of available(precision), the first unless given. Raises ValueError for another kernel, for an unknown precision and for other instructions.
        """

    @staticmethod
    def available(precision: str = 'f32') -> list[str]:
        """
        Instruction sets that this processor can run for a precision, the fastest first: of avx512, avx2 and plain, those of the whole build, for f32, avx512_bf16 for bf16.
        """

    @property
    def outputs(self) -> int:
        """Number of output channels."""

    def run(self, input: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')], residual: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)] | None, relu: bool, channels_last: bool = False, input_bias: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)] | None = None, input_relu: bool = False, input_mask: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        Write the result for input [N, inputs, rows, columns] into output [N, outputs, rows, columns]: plus residual and no less than 0 with relu. With channels_last the arrays are [N, rows, columns, channels]. The input is read plus input_bias [1 or N, inputs, 1, 1], no less than 0 with input_relu, and times input_mask [N, 1, rows, columns]. Runs on the calling thread, without the GIL. Raises ValueError for arrays of other shapes and for an output that overlaps another array.
        """

    def run_bf16(self, input: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None:
        """
        The same for numbers of bf16, as uint16 [N, rows, columns, channels]. Raises ValueError as run, and without products of bf16.
        """

class ConvolutionStep:
    """
    A convolution of a chain, with the numbers of the values that it reads.
    """

    def __init__(self, kernel: Winograd, input: int, relu: bool = False, input_relu: bool = False, residual: int | None = None, input_bias: int | None = None, input_mask: int | None = None) -> None:
        """What is read and computed, as in Winograd.run."""

class ConvolutionChain:
    """
    Convolutions that follow each other, as one call. The values have numbers: first the given ones, then what each step makes.
    """

    def __init__(self, given: int, steps: Sequence[ConvolutionStep], results: Sequence[int]) -> None:
        """
        `given` values, the steps in their order, and the numbers of the values that a call gives. Bias and mask are given values. Raises ValueError for a number of no value that is known before its step, for a value that is read in two ways, for a given one that no step reads and for a result that is named twice.
        """

    def run(self, given: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)]], results: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')]]) -> None:
        """
        Write the results [N, outputs, rows, columns]. Runs on the calling thread, without the GIL. Raises ValueError for arrays of other shapes and for a result that overlaps another array.
        """

def winograd_weight_gradient(input: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')], channels_last: bool = False, precision: str = 'f32') -> None:
    """
    Write the gradient of a convolution's weights [outputs, inputs, kernel, kernel], for its input [N, inputs, rows, columns] and the gradient [N, outputs, rows, columns] of its output, which are [N, rows, columns, channels] with channels_last. Runs on the calling thread, without the GIL. Raises ValueError for arrays of other shapes.
    """

def winograd_weight_gradient_bf16(input: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None:
    """
    The same for numbers of bf16, as uint16 [N, rows, columns, channels], with products of bf16.
    """

class Attention:
    """An attention layer in bf16, by vectors or matrix units (AMX)."""

    def __init__(self, heads: int, key_heads: int, query_size: int, value_size: int, instructions: str = '') -> None:
        """
        Heads that follow each other share a key head; sizes are channels of a head. `instructions` names one of available(); the fastest unless given. Raises ValueError for heads above 1024 or that are no multiple of the key heads, a query_size other than 32 and 64, a value_size that is no multiple of 16 up to 1024 and instructions that the processor has not.
        """

    @property
    def heads(self) -> int:
        """Number of heads."""

    @property
    def value_size(self) -> int:
        """Channels of a value."""

    @staticmethod
    def available() -> list[str]:
        """
        The instructions of this processor and system for it, the fastest first: amx, avx512_bf16.
        """

    def run(self, query: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], key: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None), order='C', device='cpu')], query_cosine: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None = None, query_sine: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None = None, key_cosine: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None = None, key_sine: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        Write the means of values by softmax(query . key + bias) into output [N, points, heads * value_size], for query [N, points, heads * query_size], key and value [N, points, key_heads * size] and bias [N, points] of each key. Numbers are bf16 as uint16, those of bias floats. Channels c and c + query_size / 2 of a head are turned by the angles of cosine and sine [1 or heads, points, query_size]. Runs on the calling thread, without the GIL. Raises ValueError for arrays of other shapes, RuntimeError without products of bf16.
        """

def plane_set_names() -> list[str]:
    """Names of the plane sets."""

def plane_set(name: str) -> tuple[list[str], list[str]]:
    """Names of the planes and of the scalars of a set."""

def encode_game(plane_set: str, game: Game, symmetry: int, edge: int, planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], scalars: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], mask: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], ranks: Sequence[int] = [0, 0]) -> None:
    """
    Write the position of a game for its side to move. ranks: of Black and White, -30..-1 kyu, 1..9 dan, 11..19 professional, 0 unknown.
    """

class FeatureContext:
    """
    Features of a position for plane sets written in Python, as arrays [size, size] by row and column of the board. Colors are 0 (black) and 1 (white).
    """

    def __init__(self, game: Game, own: int | None = None, ranks: Sequence[int] = [0, 0]) -> None:
        """
        A view of a copy of the game, from the side to move unless own is given.
        """

    @property
    def game(self) -> Game:
        """A copy of the game."""

    @property
    def size(self) -> int: ...

    @property
    def own(self) -> int:
        """Color of the side that the position is encoded for."""

    @property
    def other(self) -> int: ...

    @property
    def ranks(self) -> list[int]:
        """
        Ranks of Black and White: -30..-1 is 30k..1k, 1..9 is 1d..9d, 11..19 is 1p..9p, 0 is unknown.
        """

    @property
    def self_komi(self) -> float:
        """Points that the own side is given, bonus for handicap included."""

    def stones(self, color: int, back: int = 0) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C')]:
        """Stones 0 to 7 moves ago; empty where the game has fewer moves."""

    def liberties(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C')]:
        """int16: liberties of the chain at each stone, 0 on empty points."""

    def legal(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C')]:
        """int16: 1 where the own side has a legal move."""

    def captures(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C')]:
        """int16: stones that a legal move of the own side captures."""

    def liberties_after(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C')]:
        """int16: liberties of the own chain after a legal move."""

    def self_ataris(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C')]:
        """
        int16: stones of the own chain after a legal move that leaves it one liberty.
        """

    def sensible(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C')]:
        """Legal moves that fill no own true eye."""

    def true_eyes(self, color: int) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C')]:
        """
        Empty points whose neighbours all have the color, with at most one diagonal of the other, none at the edge.
        """

    def ko_bans(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C')]:
        """
        Empty points where ko or superko forbids a move that is legal without it.
        """

    def laddered(self, color: int, back: int = 0) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C')]:
        """Stones of chains caught in a ladder, 0 to 2 moves ago."""

    def ladder_captures(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C')]:
        """Moves that catch an opponent chain of two liberties in a ladder."""

    def ladder_escapes(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C')]:
        """Moves that save an own chain in atari from a ladder."""

    def pass_alive(self, color: int) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C')]:
        """Area that is pass-alive by Benson's algorithm."""

    def recent(self, back: int) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C')]:
        """
        The last move (1), the one before (2) and so on; empty for a pass or none.
        """

    def was_pass(self, back: int) -> bool: ...

    def last_played(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C')]:
        """
        int16: number of the last move at each point, 1 for the first move of the game, 0 for none.
        """

class PositionRecorder:
    """
    Stands for a plane set in one gather and keeps the positions, for plane sets written in Python. It writes one plane, the number of each point, and one scalar, the number of the position in take().
    """

    def __init__(self) -> None: ...

    def take(self) -> list[FeatureContext]:
        """
        The positions in the order of their numbers; the recorder is empty then.
        """

def row_contexts(shards: Sequence[GameColumns], shard: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ply: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], other_scoring: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], komi_shift: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[FeatureContext]:
    """
    The positions of a batch, as encode_rows() encodes them, for a plane set written in Python.
    """

class GameColumns:
    """Columns of a shard that stay the caller's memory."""

    def __init__(self, *, size: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], moves: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], black_stones: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], black_offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], white_stones: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], white_offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ownership: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], ownership_offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], rules: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], komi: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], score: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], winner: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], black_rank: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], white_rank: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], visits: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], visit_offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], visit_rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rule_sets: Sequence[str]) -> None: ...

def encode_rows(plane_set: str, shards: Sequence[GameColumns], *, shard: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ply: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], symmetry: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], other_scoring: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], komi_shift: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], edge: int, planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')], scalars: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], mask: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], policy: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], score: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], ownership: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int, target: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')] | None = None, reply: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')] | None = None) -> None:
    """
    Write a batch of positions and targets straight from the columns of shards.
    """

def splitmix64(values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], key: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]:
    """
    Hash every word with a key into 64 uniform bits, for the order and the split of a sampler.
    """

class SearchParams:
    """
    Settings of a search; tengen.engine.params.SearchParams is the checked model.
    """

    def __init__(self) -> None: ...

    @property
    def selection(self) -> str:
        """selection rule of a simulation"""

    @selection.setter
    def selection(self, arg: str, /) -> None: ...

    @property
    def c_puct(self) -> float:
        """exploration constant: weight of the prior in every form of PUCT"""

    @c_puct.setter
    def c_puct(self, arg: float, /) -> None: ...

    @property
    def c_puct_base(self) -> float:
        """puct: visits at which exploration begins to grow"""

    @c_puct_base.setter
    def c_puct_base(self, arg: float, /) -> None: ...

    @property
    def c_puct_factor(self) -> float:
        """puct: growth of exploration with the logarithm of the visits"""

    @c_puct_factor.setter
    def c_puct_factor(self, arg: float, /) -> None: ...

    @property
    def puct_noise(self) -> float:
        """puct-darkforest: width of the uniform noise on every score"""

    @puct_noise.setter
    def puct_noise(self, arg: float, /) -> None: ...

    @property
    def virtual_games(self) -> int:
        """
        puct-darkforest: games of random result that a move starts with (then without noise)
        """

    @virtual_games.setter
    def virtual_games(self, arg: int, /) -> None: ...

    @property
    def rave_beta(self) -> float:
        """
        puct-darkforest: k of the share sqrt(k / (N + k)) of the all-moves-as-first mean; 0 is none
        """

    @rave_beta.setter
    def rave_beta(self, arg: float, /) -> None: ...

    @property
    def c_puct_stdev_scale(self) -> float:
        """
        puct-katago: share in which exploration follows the standard deviation of the utility below a node
        """

    @c_puct_stdev_scale.setter
    def c_puct_stdev_scale(self, arg: float, /) -> None: ...

    @property
    def c_puct_stdev_prior(self) -> float:
        """
        puct-katago: prior for the standard deviation of the utility; exploration is unscaled at this value
        """

    @c_puct_stdev_prior.setter
    def c_puct_stdev_prior(self, arg: float, /) -> None: ...

    @property
    def c_puct_stdev_weight(self) -> float:
        """puct-katago: observations that c_puct_stdev_prior counts as"""

    @c_puct_stdev_weight.setter
    def c_puct_stdev_weight(self, arg: float, /) -> None: ...

    @property
    def fpu_mass_power(self) -> float:
        """
        puct-katago: untried moves count as the parent's mean with the share (prior mass that was tried) ^ this, else as its own evaluation; 0 is the mean alone
        """

    @fpu_mass_power.setter
    def fpu_mass_power(self, arg: float, /) -> None: ...

    @property
    def fpu_loss(self) -> float:
        """puct-katago: share of a loss in the value of an untried move"""

    @fpu_loss.setter
    def fpu_loss(self, arg: float, /) -> None: ...

    @property
    def root_fpu_loss(self) -> float:
        """fpu_loss at the root"""

    @root_fpu_loss.setter
    def root_fpu_loss(self, arg: float, /) -> None: ...

    @property
    def uncertainty(self) -> float:
        """
        puct-katago: weight of an evaluation is this / (expected short-term error of the utility ^ uncertainty_exponent + this / uncertainty_max_weight); 0 weighs all alike
        """

    @uncertainty.setter
    def uncertainty(self, arg: float, /) -> None: ...

    @property
    def uncertainty_exponent(self) -> float:
        """see uncertainty"""

    @uncertainty_exponent.setter
    def uncertainty_exponent(self, arg: float, /) -> None: ...

    @property
    def uncertainty_max_weight(self) -> float:
        """see uncertainty; also the weight of a finished game"""

    @uncertainty_max_weight.setter
    def uncertainty_max_weight(self, arg: float, /) -> None: ...

    @property
    def value_weight_exponent(self) -> float:
        """
        puct-katago: moves count in a mean by the power of this of the chance that they are better than it
        """

    @value_weight_exponent.setter
    def value_weight_exponent(self, arg: float, /) -> None: ...

    @property
    def noise_pruning(self) -> float:
        """
        puct-katago: utility by which a move must be worse to lose 63% of the weight that it has above twice its share by the prior; 0 is off
        """

    @noise_pruning.setter
    def noise_pruning(self, arg: float, /) -> None: ...

    @property
    def value_bias(self) -> float:
        """
        puct-katago: share of the mean error of the evaluation in the same surroundings that corrects it
        """

    @value_bias.setter
    def value_bias(self, arg: float, /) -> None: ...

    @property
    def value_bias_exponent(self) -> float:
        """puct-katago: exponent of a node's weight in the subtree value bias"""

    @value_bias_exponent.setter
    def value_bias_exponent(self, arg: float, /) -> None: ...

    @property
    def value_bias_free(self) -> float:
        """
        puct-katago: share of a node's contribution removed from the value bias when the node is freed
        """

    @value_bias_free.setter
    def value_bias_free(self, arg: float, /) -> None: ...

    @property
    def wide_root_noise(self) -> float:
        """
        puct-katago: width of a random bonus for half of the moves at each visit of the root, for wider analysis
        """

    @wide_root_noise.setter
    def wide_root_noise(self, arg: float, /) -> None: ...

    @property
    def fpu(self) -> str:
        """
        value of an untried move: the parent's mean - fpu_reduction x sqrt(prior mass that was tried), the same from the parent's own evaluation, or fpu_value
        """

    @fpu.setter
    def fpu(self, arg: str, /) -> None: ...

    @property
    def fpu_reduction(self) -> float:
        """see fpu; 0 is the parent's value itself"""

    @fpu_reduction.setter
    def fpu_reduction(self, arg: float, /) -> None: ...

    @property
    def fpu_value(self) -> float:
        """see fpu: 0 a draw, -1 a loss; above 1 tries every move once"""

    @fpu_value.setter
    def fpu_value(self, arg: float, /) -> None: ...

    @property
    def root_fpu(self) -> str:
        """fpu at the root"""

    @root_fpu.setter
    def root_fpu(self, arg: str, /) -> None: ...

    @property
    def root_fpu_reduction(self) -> float:
        """fpu_reduction at the root"""

    @root_fpu_reduction.setter
    def root_fpu_reduction(self, arg: float, /) -> None: ...

    @property
    def root_fpu_value(self) -> float:
        """fpu_value at the root"""

    @root_fpu_value.setter
    def root_fpu_value(self, arg: float, /) -> None: ...

    @property
    def gumbel_moves(self) -> int:
        """gumbel: moves that the root considers"""

    @gumbel_moves.setter
    def gumbel_moves(self, arg: int, /) -> None: ...

    @property
    def gumbel_scale(self) -> float:
        """gumbel: scale of the draws; 0 plays without chance"""

    @gumbel_scale.setter
    def gumbel_scale(self, arg: float, /) -> None: ...

    @property
    def gumbel_c_visit(self) -> float:
        """gumbel: sigma(q) = (c_visit + maximum visits) x c_scale x q, q in 0..1"""

    @gumbel_c_visit.setter
    def gumbel_c_visit(self, arg: float, /) -> None: ...

    @property
    def gumbel_c_scale(self) -> float:
        """gumbel: see gumbel_c_visit"""

    @gumbel_c_scale.setter
    def gumbel_c_scale(self, arg: float, /) -> None: ...

    @property
    def uct_exploration(self) -> float:
        """UCT's weight of sqrt(log N / n), for values in -1..1"""

    @uct_exploration.setter
    def uct_exploration(self, arg: float, /) -> None: ...

    @property
    def rave_equivalence(self) -> float:
        """visits that all-moves-as-first counts for at the maximum"""

    @rave_equivalence.setter
    def rave_equivalence(self, arg: float, /) -> None: ...

    @property
    def rave_exploration(self) -> float:
        """RAVE's weight of the prior, as c_puct is PUCT's"""

    @rave_exploration.setter
    def rave_exploration(self, arg: float, /) -> None: ...

    @property
    def virtual_loss(self) -> float:
        """losses that a pending simulation counts for"""

    @virtual_loss.setter
    def virtual_loss(self, arg: float, /) -> None: ...

    @property
    def draw_value(self) -> float:
        """value of a draw for White; playouts know 0 alone"""

    @draw_value.setter
    def draw_value(self, arg: float, /) -> None: ...

    @property
    def score_weight(self) -> float:
        """share of the score in the utility"""

    @score_weight.setter
    def score_weight(self, arg: float, /) -> None: ...

    @property
    def score_scale(self) -> float:
        """points of lead at which half of the score's share is reached"""

    @score_scale.setter
    def score_scale(self, arg: float, /) -> None: ...

    @property
    def win_utility(self) -> float:
        """puct-katago: weight of the value"""

    @win_utility.setter
    def win_utility(self, arg: float, /) -> None: ...

    @property
    def static_score_utility(self) -> float:
        """puct-katago: weight of the score around 0"""

    @static_score_utility.setter
    def static_score_utility(self, arg: float, /) -> None: ...

    @property
    def dynamic_score_utility(self) -> float:
        """puct-katago: weight of the score around that of the root"""

    @dynamic_score_utility.setter
    def dynamic_score_utility(self, arg: float, /) -> None: ...

    @property
    def score_center_pull(self) -> float:
        """puct-katago: share by which that center is pulled to 0"""

    @score_center_pull.setter
    def score_center_pull(self, arg: float, /) -> None: ...

    @property
    def score_center_scale(self) -> float:
        """puct-katago: scale of dynamic_score_utility, in board sizes"""

    @score_center_scale.setter
    def score_center_scale(self, arg: float, /) -> None: ...

    @property
    def no_result_utility(self) -> float:
        """puct-katago: utility of no result for White"""

    @no_result_utility.setter
    def no_result_utility(self, arg: float, /) -> None: ...

    @property
    def priors(self) -> str:
        """source of the priors: network, or a playout policy"""

    @priors.setter
    def priors(self, arg: str, /) -> None: ...

    @property
    def playout(self) -> str:
        """playout policy of the leaves"""

    @playout.setter
    def playout(self, arg: str, /) -> None: ...

    @property
    def playout_temperature(self) -> float:
        """
        linear playouts: moves are drawn by their weights to the power 1 / this
        """

    @playout_temperature.setter
    def playout_temperature(self, arg: float, /) -> None: ...

    @property
    def playout_weight(self) -> float:
        """share of the playouts in a leaf's value; the rest is the network's"""

    @playout_weight.setter
    def playout_weight(self, arg: float, /) -> None: ...

    @property
    def playouts(self) -> int:
        """playouts from a leaf"""

    @playouts.setter
    def playouts(self, arg: int, /) -> None: ...

    @property
    def playout_slope(self) -> float:
        """0: a playout is won or lost; above: tanh(this / 2 x score)"""

    @playout_slope.setter
    def playout_slope(self, arg: float, /) -> None: ...

    @property
    def playout_decay(self) -> float:
        """factor on the slope for every move of a playout"""

    @playout_decay.setter
    def playout_decay(self, arg: float, /) -> None: ...

    @property
    def dynamic_komi(self) -> float:
        """
        points of komi that playouts add for Black's winrate before the last move: this x (winrate - 0.5)
        """

    @dynamic_komi.setter
    def dynamic_komi(self, arg: float, /) -> None: ...

    @property
    def leaf_symmetry(self) -> str:
        """
        random: each position is evaluated under one of the eight symmetries, drawn by the seed and the position
        """

    @leaf_symmetry.setter
    def leaf_symmetry(self, arg: str, /) -> None: ...

    @property
    def root_symmetries(self) -> int:
        """
        the root is evaluated under so many different symmetries, and is worth their mean
        """

    @root_symmetries.setter
    def root_symmetries(self, arg: int, /) -> None: ...

    @property
    def expand_visits(self) -> int:
        """visits of a move before moves below it are searched"""

    @expand_visits.setter
    def expand_visits(self, arg: int, /) -> None: ...

    @property
    def policy_optimism(self) -> float:
        """share of a network's optimistic policy in the priors, where it has one"""

    @policy_optimism.setter
    def policy_optimism(self, arg: float, /) -> None: ...

    @property
    def root_policy_optimism(self) -> float:
        """policy_optimism at the root"""

    @root_policy_optimism.setter
    def root_policy_optimism(self, arg: float, /) -> None: ...

    @property
    def playout_doubling_advantage(self) -> float:
        """
        doublings of the visits that the network is told the side to move at the root has over the other
        """

    @playout_doubling_advantage.setter
    def playout_doubling_advantage(self, arg: float, /) -> None: ...

    @property
    def candidate_mass(self) -> float:
        """prior mass of the moves that a node keeps"""

    @candidate_mass.setter
    def candidate_mass(self, arg: float, /) -> None: ...

    @property
    def candidate_mass_middle(self) -> float:
        """
        candidate_mass of positions after more than 100 moves (19x19); 0 is candidate_mass
        """

    @candidate_mass_middle.setter
    def candidate_mass_middle(self, arg: float, /) -> None: ...

    @property
    def candidate_mass_late(self) -> float:
        """
        candidate_mass of positions after more than 200 moves (19x19); 0 is candidate_mass
        """

    @candidate_mass_late.setter
    def candidate_mass_late(self, arg: float, /) -> None: ...

    @property
    def candidate_max(self) -> int:
        """maximum number of moves that a node keeps; 0 is no limit"""

    @candidate_max.setter
    def candidate_max(self, arg: int, /) -> None: ...

    @property
    def candidate_share(self) -> float:
        """
        the same as a share of the points of the board, rounded down; 0 is no limit
        """

    @candidate_share.setter
    def candidate_share(self, arg: float, /) -> None: ...

    @property
    def candidate_min(self) -> int:
        """minimum number of moves that a node keeps"""

    @candidate_min.setter
    def candidate_min(self, arg: int, /) -> None: ...

    @property
    def candidate_tried(self) -> float:
        """
        share of the moves with that mass and minimum that a node keeps, the best first, rounded up
        """

    @candidate_tried.setter
    def candidate_tried(self, arg: float, /) -> None: ...

    @property
    def raw_priors(self) -> bool:
        """
        priors and candidate_mass as the policy has them: what it gives to other moves is not shared among those that a node keeps
        """

    @raw_priors.setter
    def raw_priors(self, arg: bool, /) -> None: ...

    @property
    def policy_temperature(self) -> float:
        """a network's priors to the power 1 / this, in every node"""

    @policy_temperature.setter
    def policy_temperature(self, arg: float, /) -> None: ...

    @property
    def root_temperature(self) -> float:
        """priors of the root to the power 1 / this"""

    @root_temperature.setter
    def root_temperature(self, arg: float, /) -> None: ...

    @property
    def noise_weight(self) -> float:
        """share of Dirichlet noise in the priors of the root"""

    @noise_weight.setter
    def noise_weight(self, arg: float, /) -> None: ...

    @property
    def noise_total(self) -> float:
        """sum of the noise's alphas over the moves"""

    @noise_total.setter
    def noise_total(self, arg: float, /) -> None: ...

    @property
    def noise_shaped(self) -> float:
        """
        share of noise_total that follows the log priors; the rest is the same for all moves
        """

    @noise_shaped.setter
    def noise_shaped(self, arg: float, /) -> None: ...

    @property
    def planned_visits(self) -> int:
        """simulations that a search plans when it is not told how many it has"""

    @planned_visits.setter
    def planned_visits(self, arg: int, /) -> None: ...

    @property
    def stop_futile(self) -> bool:
        """
        no visits for a root move that cannot be chosen any more, if the budget is exact (forms of PUCT)
        """

    @stop_futile.setter
    def stop_futile(self, arg: bool, /) -> None: ...

    @property
    def forced_playouts(self) -> float:
        """
        k: a tried root move has sqrt(k x prior x visits) visits or more, which the policy target leaves out (forms of PUCT; KataGo)
        """

    @forced_playouts.setter
    def forced_playouts(self, arg: float, /) -> None: ...

    @property
    def merge_symmetric(self) -> bool:
        """
        of root moves that a symmetry of the position exchanges search and report one
        """

    @merge_symmetric.setter
    def merge_symmetric(self, arg: bool, /) -> None: ...

    @property
    def transpositions(self) -> bool:
        """positions reached by different orders of moves share a node"""

    @transpositions.setter
    def transpositions(self, arg: bool, /) -> None: ...

    @property
    def catch_up(self) -> float:
        """
        puct-katago with transpositions: chance that a visit of a move, below which other moves have brought more visits, counts these instead of going on below it
        """

    @catch_up.setter
    def catch_up(self, arg: float, /) -> None: ...

    @property
    def simulate_to_end(self) -> bool:
        """
        each simulation continues to the end of the game, and every position on its way counts for the moves of its side above; with puct-alphago and a network alone
        """

    @simulate_to_end.setter
    def simulate_to_end(self, arg: bool, /) -> None: ...

    @property
    def pass_policy(self) -> str:
        """
        free; no-legal-move: pass only where nothing else is legal, in the whole tree; no-useful-move: at the root only useful moves, and pass where there is none
        """

    @pass_policy.setter
    def pass_policy(self, arg: str, /) -> None: ...

    @property
    def ending_bonus(self) -> float:
        """
        puct-katago: points that a root move loses which fills sure points of a side, or passes before dame are filled under territory scoring
        """

    @ending_bonus.setter
    def ending_bonus(self, arg: float, /) -> None: ...

    @property
    def hide_history(self) -> bool:
        """
        the network does not see the moves before the root, as in KataGo's analysis; its tree serves no other root
        """

    @hide_history.setter
    def hide_history(self, arg: bool, /) -> None: ...

    @property
    def encore(self) -> bool:
        """
        territory scoring: after the passes the tree goes on with the encore, for networks that are trained with it as those of KataGo; else the network judges the position after the passes
        """

    @encore.setter
    def encore(self, arg: bool, /) -> None: ...

    @property
    def conservative_pass(self) -> bool:
        """a pass at the root never ends the game"""

    @conservative_pass.setter
    def conservative_pass(self, arg: bool, /) -> None: ...

    @property
    def prune_eyes(self) -> bool:
        """never fill an own true eye inside own pass-alive area"""

    @prune_eyes.setter
    def prune_eyes(self, arg: bool, /) -> None: ...

    @property
    def prune_true_eyes(self) -> bool:
        """never fill an own true eye, in the whole tree"""

    @prune_true_eyes.setter
    def prune_true_eyes(self, arg: bool, /) -> None: ...

    @property
    def prune_self_atari(self) -> bool:
        """
        no self-atari that captures nothing, in the whole tree; at the root only while another move is left
        """

    @prune_self_atari.setter
    def prune_self_atari(self, arg: bool, /) -> None: ...

    @property
    def prune_pass_alive(self) -> bool:
        """
        no move inside area that is pass-alive at the root, in the whole tree (area scoring)
        """

    @prune_pass_alive.setter
    def prune_pass_alive(self, arg: bool, /) -> None: ...

    @property
    def prune_useless(self) -> bool:
        """
        no root move inside pass-alive area after four passes of the opponent in a row
        """

    @prune_useless.setter
    def prune_useless(self, arg: bool, /) -> None: ...

    @property
    def ownership(self) -> bool:
        """keep the mean ownership of the evaluated positions"""

    @ownership.setter
    def ownership(self, arg: bool, /) -> None: ...

    @property
    def node_ownership(self) -> bool:
        """
        keep the ownership of every position, for its mean and deviation below each move
        """

    @node_ownership.setter
    def node_ownership(self, arg: bool, /) -> None: ...

    @property
    def memory(self) -> int:
        """bytes that the tree may take; a full tree stops growing"""

    @memory.setter
    def memory(self, arg: int, /) -> None: ...

    @property
    def temperature(self) -> float:
        """above 0 the move is drawn by visits ^ (1 / this)"""

    @temperature.setter
    def temperature(self, arg: float, /) -> None: ...

    @property
    def diversity(self) -> float:
        """
        chance of the second most visited move where it has more than half of the maximum visits (Cazenave 2020)
        """

    @diversity.setter
    def diversity(self, arg: float, /) -> None: ...

    @property
    def lcb(self) -> bool:
        """play the best lower confidence bound, not the most visited move"""

    @lcb.setter
    def lcb(self, arg: bool, /) -> None: ...

    @property
    def lcb_deviations(self) -> float:
        """standard errors below the mean"""

    @lcb_deviations.setter
    def lcb_deviations(self, arg: float, /) -> None: ...

    @property
    def lcb_probability(self) -> float:
        """
        above 0, instead of lcb_deviations: the quantile of Student's t that is exceeded with this probability, by the visits of the move (Leela Zero: 1e-5); not for puct-katago
        """

    @lcb_probability.setter
    def lcb_probability(self, arg: float, /) -> None: ...

    @property
    def lcb_share(self) -> float:
        """share of the maximum visits that a move needs for it"""

    @lcb_share.setter
    def lcb_share(self, arg: float, /) -> None: ...

    def check(self) -> None:
        """
        Raises ValueError for a setting out of range, an unknown policy or settings that contradict each other.
        """

    @property
    def dead_stones(self) -> str:
        """
        How finished games are counted: pass-alive or none, as in Game.game_end.
        """

def search_param_table() -> list:
    """
    A dict for each setting: name, type, default, description, choices, min, max, min_excluded.
    """

def root_symmetries(game: Game, restrictions: Sequence[tuple[int, Sequence[int], int, bool]]) -> list[int]:
    """
    The symmetries, but for the identity, by which a search with these restrictions (Search.set_root) merges the moves of the game's position.
    """

class Search:
    """One tree search; tengen.engine.search.TreeSearch drives it."""

    def __init__(self, params: SearchParams, seed: int) -> None: ...

    def scatter(self, policy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], score: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, ownership: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None, n: int, optional: Mapping[str, Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]] = {}) -> None:
        """
        Results for the n positions of the last gather: policy float32 [n, E * E + 1], or [n, E * E] without pass, value [n], score [n] or None, ownership [n, E, E] or None; `optional` has no_result, lead, score_stdev, value_error, score_error and time_left [n], those that the network predicts.
        """

    def set_root(self, game: Game, restrictions: Sequence[tuple[int, Sequence[int], int, bool]] = []) -> None:
        """
        Search this position from now on; what the tree knows of it already stays. A restriction is (player, points, until_depth, allow): until that depth (the root has depth 0) the player may only make these moves, or none of them.
        """

    def restart(self, seed: int) -> None:
        """As if newly made with this seed: without a tree and without a root."""

    def gather(self, plane_set: str | PositionRecorder, planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')], scalars: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], mask: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], limit: int) -> int:
        """
        Run up to `limit` simulations and write the positions that need an evaluation; returns their number, 0 when all simulations ended in finished games or in a full tree, which count at once.
        """

    def run(self, simulations: int, threads: int = 1, seconds: float = 1000000000.0) -> int:
        """
        Search on by playouts alone, for so many simulations or seconds; how many counted.
        """

    def plan(self, simulations: int) -> None:
        """
        How many simulations are meant to follow; 0 stands for params.planned_visits, as after every set_root.
        """

    def policy_target(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]:
        """
        float32 [size * size + 1]: the policy target. RuntimeError before a move has a visit.
        """

    def forget_waiting(self) -> None:
        """
        Drop the positions of the last gather, for example because their evaluation failed.
        """

    def choose(self, temperature: float | None = None) -> int:
        """The move to play, or -1 if no move has a visit."""

    def root_stats(self) -> dict:
        """
        Arrays over the allowed moves, most visits first, for the side to move.
        """

    def root_moments(self) -> dict:
        """
        Statistics of the root, for the side to move: value, score, utility, weight, lead, score_stdev and no_result, None where not known. Means of params.selection puct-katago weigh the moves as they would be explored now.
        """

    def root_visits(self) -> int: ...

    def root_value(self) -> float: ...

    def root_score(self) -> float: ...

    def root_ownership(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C')] | None:
        """float32 [size, size] for the side to move, or None if it is not kept."""

    def pv(self, point: int, n: int = 20) -> list[tuple[int, int, int]]:
        """
        [(point, visits, visits of the position after it)]: the most visited line that begins with this move.
        """

    def ownership_below(self, move: int = -1) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C')]] | None:
        """
        (mean, standard deviation) of the ownership below a root move, or -1 for the root, float32 [size, size] for the side to move at the root; None where params.node_ownership did not keep it.
        """

    def root_waits(self) -> int:
        """Rows of the last gather, its first ones, that are the root."""

    def has_score(self) -> bool:
        """Whether the results so far had a score."""

    def root_evaluation(self) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')], float, Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C')] | None, dict] | None:
        """
        Raw network output at the root, for the side to move: (policy [size * size + 1], value, ownership [size, size] or None, {name: output}); None where the root was kept from an earlier search or waits.
        """

    def is_full(self) -> bool:
        """Whether the memory is used up, so that the tree grows no more."""

    def node_count(self) -> int: ...

    def bytes(self) -> int:
        """Bytes of nodes and edges."""

    def held_bytes(self) -> int:
        """Bytes taken from the system, never more than params.memory."""

    def text(self, depth: int = 2, min_visits: int = 1) -> str:
        """The tree, a line a move: visits, value for its player, prior."""

class SearchPool:
    """Many searches at once; tengen.engine.pool.SearchPool drives them."""

    def __init__(self, params: SearchParams, seeds: Sequence[int], threads: int) -> None: ...

    def scatter(self, policy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], score: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, ownership: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None, n: int, optional: Mapping[str, Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]] = {}) -> None:
        """
        Results for the n positions of the last gather: policy float32 [n, E * E + 1], or [n, E * E] without pass, value [n], score [n] or None, ownership [n, E, E] or None; `optional` has no_result, lead, score_stdev, value_error, score_error and time_left [n], those that the network predicts.
        """

    def search(self, game: int) -> Search:
        """One of the searches, to be given roots and asked."""

    def gather(self, plane_set: str | PositionRecorder, planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')], scalars: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], mask: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], limits: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """
        Run up to limits[i] simulations of game i and write the positions that need an evaluation, game after game; returns their number.
        """

    def forget_waiting(self) -> None:
        """
        Give up the positions of the last gather, as when their evaluation failed.
        """

    def root_visits(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]:
        """int64 [games]"""

    def root_waits(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]:
        """
        int64 [games]: rows of the last gather, the first ones of the game, that are its root.
        """

    def waiting(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]:
        """int64 [games]: positions of the last gather."""

class PlayParams:
    """
    How games of self-play are played; tengen.selfplay.config.SearchConfig explains most of it.
    """

    def __init__(self) -> None: ...

    @property
    def full(self) -> SearchParams: ...

    @full.setter
    def full(self, arg: SearchParams, /) -> None: ...

    @property
    def cheap(self) -> SearchParams: ...

    @cheap.setter
    def cheap(self, arg: SearchParams, /) -> None: ...

    @property
    def visits(self) -> int: ...

    @visits.setter
    def visits(self, arg: int, /) -> None: ...

    @property
    def cheap_visits(self) -> int: ...

    @cheap_visits.setter
    def cheap_visits(self, arg: int, /) -> None: ...

    @property
    def cheap_share(self) -> float: ...

    @cheap_share.setter
    def cheap_share(self, arg: float, /) -> None: ...

    @property
    def decided_cheap_share(self) -> float: ...

    @decided_cheap_share.setter
    def decided_cheap_share(self, arg: float, /) -> None: ...

    @property
    def decided_winrate(self) -> float: ...

    @decided_winrate.setter
    def decided_winrate(self, arg: float, /) -> None: ...

    @property
    def decided_turns(self) -> int: ...

    @decided_turns.setter
    def decided_turns(self, arg: int, /) -> None: ...

    @property
    def temperature(self) -> float: ...

    @temperature.setter
    def temperature(self, arg: float, /) -> None: ...

    @property
    def temperature_late(self) -> float: ...

    @temperature_late.setter
    def temperature_late(self, arg: float, /) -> None: ...

    @property
    def temperature_halflife(self) -> float: ...

    @temperature_halflife.setter
    def temperature_halflife(self, arg: float, /) -> None: ...

    @property
    def opening_temperature(self) -> float: ...

    @opening_temperature.setter
    def opening_temperature(self, arg: float, /) -> None: ...

    @property
    def reuse(self) -> bool: ...

    @reuse.setter
    def reuse(self, arg: bool, /) -> None: ...

    @property
    def resign_winrate(self) -> float: ...

    @resign_winrate.setter
    def resign_winrate(self, arg: float, /) -> None: ...

    @property
    def resign_turns(self) -> int: ...

    @resign_turns.setter
    def resign_turns(self, arg: int, /) -> None: ...

    @property
    def settle(self) -> bool: ...

    @settle.setter
    def settle(self, arg: bool, /) -> None: ...

    @property
    def pass_policy(self) -> str: ...

    @pass_policy.setter
    def pass_policy(self, arg: str, /) -> None: ...

    @property
    def max_moves(self) -> int: ...

    @max_moves.setter
    def max_moves(self, arg: int, /) -> None: ...

class PlayedGame:
    """
    A finished game of self-play. Arrays have an entry for each move, those of the start included; every access makes a new one.
    """

    @property
    def index(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def given(self) -> int:
        """Moves of the start."""

    @property
    def moves(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C')]:
        """uint16: the point, bit 15 set where White played."""

    @property
    def targets(self) -> list[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]]:
        """
        uint32 arrays: point in the low 16 bits, weight above (visits, or improved policy x 10000); empty where no full search was made.
        """

    @property
    def root_values(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]:
        """float32, -1 to 1 for the side to move; NaN where nothing was searched."""

    @property
    def surprises(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]:
        """
        float32, nats: KL divergence of the target from the raw policy; NaN without a target.
        """

    @property
    def score(self) -> float:
        """Black minus White with komi; NaN where the game was not counted."""

    @property
    def winner(self) -> int:
        """0 black, 1 white, 2 draw, -1 no result."""

    @property
    def ending(self) -> str:
        """passes, resignation, move limit, long cycle or settled."""

    @property
    def ownership(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')]:
        """
        uint8 by point: 0 black, 1 white, 2 neutral; empty where the game was not counted.
        """

    @property
    def evaluations(self) -> int:
        """Network evaluations."""

class SelfPlay:
    """Many games of self-play at once; tengen.selfplay.generate drives it."""

    def __init__(self, params: PlayParams, slots: int, threads: int = 1) -> None: ...

    def scatter(self, policy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], score: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, ownership: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None, n: int, optional: Mapping[str, Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]] = {}) -> None:
        """
        Results for the n positions of the last gather: policy float32 [n, E * E + 1], or [n, E * E] without pass, value [n], score [n] or None, ownership [n, E, E] or None; `optional` has no_result, lead, score_stdev, value_error, score_error and time_left [n], those that the network predicts.
        """

    def add(self, index: int, seed: int, size: int, rules: str, komi: float, start: Sequence[int] = [], opening_moves: int = 0, may_resign: bool = False) -> None:
        """
        Queue a game; it depends on these values, the params and the evaluations alone.
        """

    def gather(self, plane_set: str | PositionRecorder, planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')], scalars: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], mask: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]) -> int:
        """
        Search and play on until every game has a position to be evaluated, and write these into arrays of a row for each slot; returns their number, 0 when all games are over.
        """

    def forget_waiting(self) -> None:
        """
        Give up the positions of the last gather; the next one finds them again.
        """

    def take(self) -> list[PlayedGame]:
        """Games that are over since the last call, by their index."""

    def playing(self) -> int:
        """Games that are played now."""

    def queued(self) -> int:
        """Games that wait for a slot."""

    def waiting(self) -> int:
        """Positions that wait for their results."""

    def slots(self) -> int: ...

    def bytes(self) -> int:
        """Memory of all slots in bytes, approximately."""

def ownership_by_playouts(game: Game, playouts: int, seed: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C')]:
    """
    Mean owner of each point when the playouts end: float32 [size, size], +1 black, -1 white.
    """

def dead_by_playouts(game: Game, playouts: int, seed: int) -> list[int]: ...

def final_ownership(game: Game, playouts: int, seed: int) -> Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C')]:
    """
    int8 [size, size]: 0 black, 1 white, 2 neutral, once the stones that playouts find dead are removed.
    """

def playout_policies() -> list[str]:
    """The names of the playout policies."""

def run_playouts(game: Game, playouts: int, seed: int, policy: str = 'uniform', threads: int = 1) -> int:
    """
    Plays them to measure their speed, shared out evenly among threads; the moves that they took in all.
    """

def bakago_scores(game: Game, published: bool = False) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C')]:
    """
    BakaGo's score of every point for its playouts: float32 [size, size], 0 on stones. Published: with the queue of recent moves read from its oldest end.
    """

LINEAR_FEATURES: int = 580916

LINEAR_SCALE: int = 16

def set_linear_path(path: str | os.PathLike) -> None:
    """The weights that the playout policy `linear` uses."""

def read_linear_weights(path: str | os.PathLike) -> Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C')]:
    """The weights of a file, int8; ValueError where it is none or damaged."""

def write_linear_weights(path: str | os.PathLike, card: bytes, steps: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

def linear_groups() -> list[tuple[str, int, int]]:
    """Name, first index and size of each group of features."""

def linear_features(game: Game) -> list[tuple[int, list[int]]]:
    """
    The features of each move that the linear policy may make: (point, features).
    """

def playout_weights(game: Game, policy: str) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]:
    """
    Weight of each point and pass by a playout policy: float32 [size * size + 1], of any scale.
    """

class LinearTrainer:
    """Learns the weights of the linear playout policy from games."""

    def __init__(self) -> None: ...

    def learn(self, size: int, black_stones: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], white_stones: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], moves: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], rate: float, player: int = 2) -> tuple[int, float, float, float]:
        """
        Learn from a game, or from the moves of one player, 0 Black or 1 White: (positions, top-1 hits, top-5 hits, sum of losses).
        """

    def judge(self, size: int, black_stones: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], white_stones: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], moves: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], ply: int) -> tuple[int, float, float, float]:
        """Predict one move of a game, as learn() counts it."""

    def weights(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]: ...

    def squares(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]: ...

    def restore(self, weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], squares: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def steps(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C')]:
        """The weights as a file holds them: int8."""
