"""KataGo's input features, slow and obvious, by the sentences of docs/reference/planes.md."""

from __future__ import annotations

from data_pipeline.plain_positions import Position, replayed
from plain_go import Board, after_stone, border, chains, components, ko_after, liberties, neighbors
from plain_reading import benson, make_reader

from tengen.game import Game

LIMIT = 5_000  # positions of the slow ladder reader

Features = tuple[list[set[int]], list[float]]
Ladders = tuple[set[int], tuple[set[int], set[int]]]


def slow_katago_ladders(board: Board, ban: int | None) -> Ladders:
    """The stones that are caught, and by color the moves that catch a chain of two liberties. Raises TooLong."""
    reader = make_reader(LIMIT, double_ko=True)
    laddered: set[int] = set()
    captures: tuple[set[int], set[int]] = (set(), set())
    for color in (0, 1):
        for stones in chains(board, color):
            stone = min(stones)
            free = liberties(board, stone)
            if len(free) == 2:
                replies = {p: after_stone(board, p, 1 - color) for p in free - {ban}}
                works = {p for p, m in replies.items() if not m.lost and not reader.escapes(m.board, stone)}
                captures[1 - color].update(works)
                laddered |= stones if works else set()
            elif len(free) == 1 and not reader.escapes(board, stone):
                laddered |= stones
    return laddered, captures


def slow_area(board: Board, suicide: bool) -> Board:
    """Color by color, in this order: pass-alive stones and territory, then what is empty and touches one color only."""
    owner = [2] * len(board)
    for color in (0, 1):
        alive, enclosed = benson(board, color, suicide)
        for p in alive:
            owner[p] = color
        for region in components(board, {1 - color, 2}):
            open_region = all(board[p] == 2 for p in region)
            if not border(board, region, color):
                continue
            certain = region in enclosed or (open_region and border(board, region, color) <= alive)
            for p in region:
                if certain or (open_region and owner[p] == 2):
                    owner[p] = color
    return tuple(c if owner[p] == 2 else owner[p] for p, c in enumerate(board))


def independent_area(board: Board, suicide: bool) -> Board:
    """The area without the territory of groups that touch a neutral point or have a stone in atari."""
    area = slow_area(board, suicide)
    found = [2] * len(board)
    for color in (0, 1):
        for region in components(area, {color}):
            atari = any(board[p] == color and len(liberties(board, p)) == 1 for p in region)
            dame = any(board[n] == area[n] == 2 for p in region for n in neighbors(board, p))
            for p in region:
                if not (atari or dame) or board[p] == color:
                    found[p] = color
    return tuple(found)


class Past:
    """What KataGo remembers of a game: how many recent moves count, the points for placing stones, the end."""

    def __init__(self, game: Game) -> None:
        pass_point = game.size**2
        self.valid = 0
        self.white_bonus = 0.0
        self.passes = 0
        over = False
        for color, _ in [(c, p) for p, c in game.setup_stones]:
            self.white_bonus += 1 if color == 0 else -1
        for color, point in game.moves:
            self.valid = (min(self.valid, 1) if over else self.valid) + 1
            if point == pass_point:
                self.passes += 1
            else:
                self.passes = 0
                self.white_bonus += 1 if color == 0 else -1
            over = self.passes >= 2
        if over or game.is_no_result:
            self.valid = min(self.valid, 1)
        self.over = over


def wave(points: int, komi: float) -> float:
    """A triangle between the values of komi that allow a draw."""
    drawn = max(k for k in range(-2000, 2000) if k <= komi and k % 2 == points % 2)
    d = komi - drawn
    return d if d < 0.5 else 1 - d if d < 1.5 else d - 2


def ko_before(position: Position, back: int) -> int | None:
    """The point of simple ko some moves ago."""
    moves = position.game.moves[: len(position.game.moves) - back]
    if not moves or moves[-1][1] == position.game.size**2:
        return None
    before = position.boards[len(moves) - 1]
    return ko_after(before, after_stone(before, moves[-1][1], moves[-1][0]), moves[-1][0])


def v7(game: Game) -> Features:
    """The points of the 22 planes and the 19 scalars. Raises TooLong where ladders take too long."""
    position = replayed(game)
    board, own, rules = position.board, game.to_play, game.rules
    everywhere = range(len(board))
    past = Past(game)
    territory = rules.scoring == "territory"
    seen: list[int] = []
    for back, (color, point) in enumerate(reversed(game.moves[-5:])):
        if color != (1 - own if back % 2 == 0 else own) or back >= past.valid:
            break
        seen.append(point)
    maps = [
        slow_katago_ladders(position.past(back), ko_before(position, back)) for back in range(min(2, len(seen)) + 1)
    ]
    maps += [maps[-1]] * 2
    ko = ko_before(position, 0)
    area = [2] * len(board) if territory else slow_area(board, rules.suicide)
    counts = {p: len(liberties(board, p)) for p in everywhere if board[p] != 2}
    recent = [({point} - {len(board)}) for point in seen] + [set[int]()] * 5
    planes: list[set[int]] = [
        set(everywhere),
        {p for p in everywhere if board[p] == own},
        {p for p in everywhere if board[p] == 1 - own},
        *({p for p, count in counts.items() if count == n} for n in (1, 2, 3)),
        ({ko} if ko is not None else set()) | set(game.superko_bans()),
        set(),
        set(),
        *recent[:5],
        maps[0][0],
        maps[1][0],
        maps[2][0],
        maps[0][1][own],
        {p for p in everywhere if area[p] == own},
        {p for p in everywhere if area[p] == 1 - own},
        set(),
        set(),
    ]
    white = game.komi + game._native.white_bonus + (past.white_bonus if territory else 0)
    komi = white if own else -white
    passed = [float(point == len(board)) for point in seen] + [0.0] * 5
    scalars = [
        *passed[:5],
        max(-len(board) - 20, min(len(board) + 20, komi)) / 20,
        float(rules.ko != "simple"),
        {"simple": 0.0, "positional": 0.5, "situational": -0.5}[rules.ko],
        float(rules.suicide),
        float(territory),
        float(territory),
        0.0,
        0.0,
        0.0,
        float(past.passes >= 1),
        0.0,
        0.0,
        0.0,
        0.0 if territory else wave(len(board), komi),
    ]
    return planes, scalars
