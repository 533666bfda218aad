"""The plane sets of BakaGo and AlphaGo by slow definitions, written from docs/reference/planes.md."""

from __future__ import annotations

from collections.abc import Callable, Collection

from data_pipeline.plain_positions import Planes, Position, border, gaussian, ko_plane, stones
from plain_game import PlainGame
from plain_go import Board, after_stone, chain, liberties, neighbors
from plain_reading import TooLong, slow_ladders

LADDER_MOVES = 50


def marks(at: Position, points: Collection[int]) -> list[float]:
    inside = set(points)
    return [float(p in inside) for p in range(len(at.board))]


def one_hot(at: Position, name: str, numbers: dict[int, int], first: int, last: int) -> Planes:
    """Planes of the points with each number from first to last; the last stands for more, too."""
    return {
        f"{name}_{n}": marks(at, [p for p, number in numbers.items() if min(number, last) == n])
        for n in range(first, last + 1)
    }


def is_true_eye(board: Board, p: int, color: int) -> bool:
    size = round(len(board) ** 0.5)
    row, column = divmod(p, size)
    corners = [(row + down, column + right) for down in (-1, 1) for right in (-1, 1)]
    diagonals = [board[r * size + c] for r, c in corners if 0 <= r < size and 0 <= c < size]
    surrounded = board[p] == 2 and all(board[n] == color for n in neighbors(board, p))
    return surrounded and diagonals.count(1 - color) <= (1 if len(diagonals) == 4 else 0)


def why_illegal(at: Position) -> list[str]:
    """The reason why each point is illegal for the side to move, or the empty text."""
    game = PlainGame(at.game.size, at.game.rules, at.game.komi, at.boards[0], at.game.first_to_play)
    for color, p in at.game.moves:
        game.play(p, color)
    return game.reasons(at.own)


def effects(at: Position, reasons: list[str]) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
    """By legal move: stones taken; liberties of its chain afterwards; stones of that chain where it is in atari."""
    captured, free, size = {}, {}, {}
    for p in (p for p, why in enumerate(reasons) if not why):
        move = after_stone(at.board, p, at.own)
        captured[p] = len(move.taken)
        if p not in move.lost:
            free[p] = len(liberties(move.board, p))
            if free[p] == 1:
                size[p] = len(chain(move.board, p))
    return captured, free, size


def sensible(at: Position, legal: Collection[int]) -> list[float]:
    return marks(at, [p for p in legal if not is_true_eye(at.board, p, at.own)])


def in_atari(at: Position, color: int) -> dict[int, int]:
    """Stones of chains in atari, with the size of their chain."""
    atari = [p for p, c in enumerate(at.board) if c == color and len(liberties(at.board, p)) == 1]
    return {p: len(chain(at.board, p)) for p in atari}


def bakago39(at: Position, bug: bool = False, of_moves: bool = False) -> Planes:
    everywhere, board, own, other = range(len(at.board)), at.board, at.own, 1 - at.own
    occupied = {p for p in everywhere if board[p] != 2}
    recent = [p for _, p in at.game.moves[:-8:-1]] + [-1] * 7
    planes: Planes = {"own_stones": stones(board, own), "opponent_stones": stones(board, other)}
    planes["empty"] = stones(board, 2)
    planes |= {f"turns_since_{n}": marks(at, [] if bug else recent[n - 1 : n]) for n in range(1, 8)}
    planes["turns_since_more"] = marks(at, everywhere if bug else occupied - set(recent[:7]))
    for who, color in (("own", own), ("opponent", other)):
        free = {p: len(liberties(board, p)) for p in occupied if board[p] == color}
        planes |= one_hot(at, f"{who}_liberties", free, 1, 4)
    if of_moves:
        captured, _, self_atari = effects(at, why_illegal(at))
        planes |= one_hot(at, "captures", captured, 1, 8) | one_hot(at, "self_atari", self_atari, 1, 8)
        planes["sensible"] = sensible(at, captured)
    else:
        planes |= one_hot(at, "opponent_in_atari", in_atari(at, other), 1, 8)
        planes |= one_hot(at, "own_in_atari", in_atari(at, own), 1, 8)
        planes["own_true_eyes"] = marks(at, [p for p in everywhere if is_true_eye(board, p, own)])
    return planes | {"ko": ko_plane(at, own_only=True), "border": border(at), "position": gaussian(at)}


def ladder_moves(at: Position, reasons: list[str]) -> Planes:
    try:
        ladders = slow_ladders(at.board, at.own, limit=2_000, moves=LADDER_MOVES)
    except (TooLong, RecursionError):
        return {"ladder_capture": None, "ladder_escape": None}
    bans = {p for p, why in enumerate(reasons) if why in ("ko", "superko")}
    escapes = marks(at, set(ladders.escapes) - bans)
    return {"ladder_capture": marks(at, set(ladders.captures) - bans), "ladder_escape": escapes}


def alphago48(at: Position) -> Planes:
    board, own = at.board, at.own
    last = {p: number for number, (_, p) in enumerate(at.game.moves, 1)}
    occupied = [p for p, c in enumerate(board) if c != 2]
    reasons = why_illegal(at)
    captured, free_after, self_atari = effects(at, reasons)
    planes: Planes = {"own_stones": stones(board, own), "opponent_stones": stones(board, 1 - own)}
    planes |= {"empty": stones(board, 2), "ones": at.everywhere(1)}
    planes |= one_hot(at, "turns_since", {p: len(at.game.moves) + 1 - last.get(p, -8) for p in occupied}, 1, 8)
    planes |= one_hot(at, "liberties", {p: len(liberties(board, p)) for p in occupied}, 1, 8)
    planes |= one_hot(at, "captures", captured, 0, 7)
    planes |= one_hot(at, "self_atari", self_atari, 1, 8)
    planes |= one_hot(at, "liberties_after", free_after, 1, 8)
    return planes | ladder_moves(at, reasons) | {"sensible": sensible(at, captured), "zeros": at.everywhere(0)}


MOVE_SETS: dict[str, Callable[[Position], Planes]] = {
    "bakago39": bakago39,
    "bakago39-bug": lambda at: bakago39(at, bug=True),
    "bakago39-moves": lambda at: bakago39(at, of_moves=True),
    "alphago48": alphago48,
}
