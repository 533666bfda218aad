"""KataGo's input features, slow and obvious, by the sentences of docs/reference/planes.md."""

from __future__ import annotations

from data_pipeline.plain_positions import Position, replayed
from plain_encore import PlainEncore
from plain_go import Board, after_stone, chains, components, ko_after, liberties, neighbors
from plain_reading import make_reader, slow_area

from tengen.game import Game

LIMIT = 1_000  # positions of the slow ladder reader

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
    """What KataGo remembers of a game: how many recent moves count, points beside komi, passes, the end."""

    def __init__(self, game: Game) -> None:
        rules, pass_point = game.rules, game.size**2
        self.valid, self.passes = 0, 0
        self.button = rules.button
        self.white_bonus = 0.0
        self.over = False
        position = replayed(game)
        passed: set[tuple[int, Board]] = set()
        territory = rules.scoring == "territory"
        for _, color in game.setup_stones:
            self.white_bonus += (1 - 2 * color) * territory
        for (color, point), board in zip(game.moves, position.boards, strict=False):
            self.valid = (min(self.valid, 1) if self.over else self.valid) + 1
            repeated = False
            if point != pass_point:
                self.passes = 0
                self.white_bonus += (1 - 2 * color) * territory
            elif self.button:
                self.button, self.passes = False, 0
                self.white_bonus += 0.5 if color else -0.5
            else:
                self.passes += 1
                repeated = rules.ko == "simple" and (color, board) in passed
                passed.add((color, board))
            self.over = self.passes >= 2 or repeated
        self.ends = not self.button and (
            self.passes >= 1 or (rules.ko == "simple" and (game.to_play, position.board) in passed)
        )
        self.over = self.over or game.is_no_result
        if self.over:
            self.valid = min(self.valid, 1)
        self.hidden = rules.friendly_pass_ok and not territory and self.ends and self.passes == 1


def replayed_encore(game: Game) -> PlainEncore | None:
    """The game by the slow rules if it has come to its encore."""
    if not game.encore:
        return None
    board = [2] * game.size**2
    for color, point in game.setup_stones:
        board[point] = color
    encore = PlainEncore(game.size, game.rules, game.komi, tuple(board), game.first_to_play)
    for color, point in game.moves:
        encore.play(point, color)
    return encore


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


def area_planes(board: Board, game: Game, name: str, second: PlainEncore | None) -> Board:
    rules = game.rules
    suicide = rules.suicide or name == "katago-v7-suicide"
    if name == "katago-v4":
        return slow_area(board, suicide, safe_only=True)
    if name == "katago-v3":
        return slow_area(board, suicide, safe_only=rules.scoring == "territory")
    if rules.scoring == "territory":
        return second.encore_owners(suicide) if second else (2,) * len(board)
    return slow_area(board, suicide) if rules.tax == "none" else independent_area(board, suicide)


def features(game: Game, name: str) -> Features:
    """The points of each plane and the scalars of a plane set. Raises TooLong where ladders take too long."""
    version = int(name[8])
    position, past, encore = replayed(game), Past(game), replayed_encore(game)
    most = 5
    if encore:  # history begins with the phase
        position = position._replace(boards=[board for board, _ in encore.history])
        past.over, most = encore.is_over, len(game.moves) - encore.phase_start
        past.valid = min(most, 1) if past.over else most
        past.ends = encore.passes > 0 or encore.passed_here(game.to_play)
        past.white_bonus = encore.placed[0] - encore.placed[1]
    board, own, rules = position.board, game.to_play, game.rules
    everywhere = range(len(board))
    limit = past.valid if version >= 6 else 0 if past.over else most
    seen: list[int] = []
    for back, (color, point) in enumerate(reversed(game.moves[-5:])):
        if color != (1 - own if back % 2 == 0 else own) or back >= limit or past.hidden:
            break
        seen.append(point)
    second = encore if encore and encore.phase == 2 else None
    ko = None if encore else ko_before(position, 0)
    area = area_planes(board, game, name, second)
    counts = {p: len(liberties(board, p)) for p in everywhere if board[p] != 2}
    stones = [{p for p in everywhere if board[p] == color} for color in (own, 1 - own)]
    bans = set(encore.bans()) if encore else ({ko} if ko is not None else set[int]()) | set(game.superko_bans())
    blocked = set(encore.blocked if encore else ())
    first = second.first_board if second else (2,) * len(board)
    starts = [{p for p in everywhere if first[p] == color} for color in (own, 1 - own)]
    recent = [*({point} - {len(board)} for point in seen), *(set[int]() for _ in range(5))][:5]
    none = set[int]()
    planes = [set(everywhere), *stones]
    if version == 5:
        planes += [bans, blocked, none, *recent, *starts]
    else:
        maps = [
            slow_katago_ladders(position.past(back), None if encore else ko_before(position, back))
            for back in range(min(2, len(seen)) + 1)
        ]
        maps += [maps[-1]] * 2
        planes += [{p for p, count in counts.items() if count == n} for n in (1, 2, 3)]
        planes += [bans, blocked, none, *recent, maps[0][0], maps[1][0], maps[2][0], maps[0][1][own]]
        planes += [{p for p in everywhere if area[p] == color} for color in (own, 1 - own)]
        planes += starts
    handicap = {"none": 0, "n": game.handicap, "n-1": max(game.handicap - 1, 0)}[rules.bonus]
    white = game.komi + handicap + past.white_bonus
    most = len(board) + (20 if version == 7 else 1)
    komi = max(-most, min(most, white if own else -white))
    territory = rules.scoring == "territory"
    scalars = [*(float(point == len(board)) for point in seen), *[0.0] * 5][:5]
    scalars += [
        komi / (20 if version >= 6 else 15),
        float(rules.ko != "simple"),
        {"simple": 0.0, "positional": 0.5, "situational": -0.5}[rules.ko],
        float(rules.suicide),
        float(territory),
    ]
    if version >= 6:
        scalars += [float(rules.tax != "none"), float(rules.tax == "all")]
    scalars += [float(encore is not None), float(second is not None)]
    ends = past.ends and not past.hidden and not (version < 6 and past.over)
    parity = 0.0 if territory and not second else wave(len(board), komi)
    if version == 7:
        scalars += [float(ends), 0.0, 0.0, float(past.button), parity]
    elif version != 5:
        scalars += [float(ends), parity]
    return planes, scalars
