"""Games to compare the native core with its plain twin on: wild ones, calm ones, ko fights, and real ones."""

from __future__ import annotations

import contextlib
import lzma
import random
import re
from collections import Counter
from pathlib import Path

from agreement import Pair
from plain_encore import PlainEncore
from plain_game import PlainGame
from plain_go import Board, after_stone, empty_board, neighbors, put

from tengen.coords import from_sgf
from tengen.errors import IllegalMove
from tengen.game import Game
from tengen.rules import Rules

TERRITORY = [
    Rules.parse(f"ko={ko},scoring=territory,tax={tax},suicide={suicide}")
    for ko in ("simple", "positional", "situational")
    for tax in ("none", "seki", "all")
    for suicide in ("false", "true")
]
LOOKS = 5  # how often a game on average everything is asked of a position

# Kos that Black can take in the middle of the second row, and that White can take back there.
KO = {
    0: ". X O .  X O . O  . X O .",
    1: ". X O .  X . X O  . X O .",
}


def random_game(size: int, rules: Rules, plies: int, rng: random.Random) -> Counter[str]:
    """Play at random; check the state after every move and everything now and then. Returns what was compared.

    Wild games start from a crowded board, like captures and points beside the last move, and know passes and colors
    out of turn. Calm games alternate and spare their own eyes, so that life comes about. In ko fights all take what
    they can until positions repeat.
    """
    kind = rng.choices(("wild", "calm", "kos"), (5, 5, 1))[0]
    start = empty_board(size)
    if kind == "wild":
        start = random_start(size, rng.choice((0.0, 0.5, 0.8)), rng)
    elif kind == "kos":
        start = board_of_kos(size, rng)
    pair = Pair(size, rules, rng.randrange(-20, 21) / 2, start, rng.randrange(2))
    for _ in range(plies):
        if rng.random() < LOOKS / plies:
            pair.check_everything(rng)
        color = pair.game.to_play if kind != "wild" or rng.random() < 0.9 else 1 - pair.game.to_play
        p = {"wild": wild_move, "calm": calm_move, "kos": ko_move}[kind](pair.plain, color, rng)
        if pair.plain.is_over and p == pair.plain.passing:
            break
        captures = sum(pair.plain.captures)
        pair.play(p, color)
        if sum(pair.plain.captures) > captures and rng.random() < 0.5:  # where kos and repetitions come from
            pair.check_legality(pair.plain.to_play)
    pair.check_everything(rng)
    return pair.tally


def random_start(size: int, density: float, rng: random.Random) -> Board:
    """A board on which every chain has a liberty."""
    game = Game(size)
    for point in rng.sample(range(size * size), int(density * size * size)):
        color = rng.randrange(2)
        with contextlib.suppress(IllegalMove):  # a stone that would leave a chain without liberties stays away
            game.setup(**{("black", "white")[color]: [point]})
    return tuple(game.board.ravel().tolist())


def board_of_kos(size: int, rng: random.Random) -> Board:
    """Kos side by side and below each other: two on 5x5, five or six on 9x9 at the most."""
    board = empty_board(size)
    for top in range(0, size - 2, 3):
        for left in range(0, size - 3, 4):
            for at, sign in enumerate(KO[rng.randrange(2)].split() if rng.random() < 0.8 else ""):
                row, column = divmod(at, 4)
                board = put(board, frozenset({(top + row) * size + left + column}), "XO.".index(sign))
    return board


def wild_move(game: PlainGame, color: int, rng: random.Random) -> int:
    points = [*range(game.passing)]
    if rng.random() < (0.5 if game.passes == 1 else 0.03):
        return game.passing
    if rng.random() < 0.6 and game.moves and (last := game.moves[-1][1]) != game.passing:
        near = neighbors(game.board, last)
        points = [*near, *(n for p in near for n in neighbors(game.board, p))]
    rng.shuffle(points)
    if rng.random() < 0.5:
        points[:20] = sorted(points[:20], key=lambda p: not takes(game.board, p, color))
    return first_legal(game, points, color)


def calm_move(game: PlainGame, color: int, rng: random.Random) -> int:
    board = game.board
    points = [p for p, c in enumerate(board) if c == 2 and any(board[n] != color for n in neighbors(board, p))]
    rng.shuffle(points)
    return first_legal(game, points, color)


def ko_move(game: PlainGame, color: int, rng: random.Random) -> int:
    hot = [p for p in range(game.passing) if takes(game.board, p, color)]
    rng.shuffle(hot)
    return first_legal(game, hot, color)


def takes(board: Board, p: int, color: int) -> bool:
    return board[p] == 2 and bool(after_stone(board, p, color).taken)


def first_legal(game: PlainGame, points: list[int], color: int) -> int:
    return next((p for p in points if not game.reason(p, color)), game.passing)


def real_game(moves: list[tuple[int, int]], rules: Rules, rng: random.Random) -> Counter[str]:
    """Play a recorded game on 19x19 while it is legal, checked as random_game() checks."""
    pair = Pair(19, rules)
    for color, p in moves:
        if rng.random() < LOOKS / len(moves):
            pair.check_everything(rng)
        if pair.plain.reason(p, color):
            pair.tally["games cut short"] += 1
            break
        pair.play(p, color)
    pair.check_everything(rng)
    return pair.tally


def read_real_games(file: Path, count: int) -> list[list[tuple[int, int]]]:
    """Moves (color, point) of the first games with more than 20 moves of an .sgf.xz file of 19x19 games."""
    games: list[list[tuple[int, int]]] = []
    text = ""
    with lzma.open(file) as stream:
        while len(games) < count and (more := stream.read(1 << 20).decode("utf-8", "replace")):
            *records, text = (text + more).split("(;")
            games += filter(None, map(moves_of, records))
    return [*games, *filter(None, [moves_of(text)])][:count]


def moves_of(record: str) -> list[tuple[int, int]]:
    moves = re.findall(r";([BW])\[(\w\w)?\]", record)
    return [("BW".index(color), from_sgf(point, 19)) for color, point in moves] if len(moves) > 20 else []


class EncorePair(Pair):
    """A game under territory scoring that goes to its encore, with kos and passes."""

    plain: PlainEncore

    def __init__(self, size: int, rules: Rules, rng: random.Random, in_turn: bool = False) -> None:
        self.in_turn = in_turn
        self.kind = rng.choice(("wild", "kos"))
        board = random_start(size, 0.7, rng) if self.kind == "wild" else board_of_kos(size, rng)
        to_play = 0 if in_turn else rng.randrange(2)
        super().__init__(size, rules, rng.choice((6.5, 0.0)), board, to_play, PlainEncore)
        self.game.play_encore()

    def move(self, rng: random.Random) -> None:
        """Two passes in a row now and then, passes for ko and captures where there are some."""
        plain = self.plain
        color = plain.to_play if self.in_turn or rng.random() < 0.97 else 1 - plain.to_play
        for_ko = [p for p in range(plain.passing) if plain.pass_for_ko(p, color) is not None]
        if plain.passes == 1 and rng.random() < 0.25:
            return self.play(plain.passing, color)
        if for_ko and rng.random() < 0.6:
            self.tally["passes for ko"] += 1
            return self.play(rng.choice(for_ko), color)
        if rng.random() < 0.05:
            return self.play(plain.passing, color)
        hot = [p for p in range(plain.passing) if takes(plain.board, p, color) and not plain.reason(p, color)]
        if hot and rng.random() < 0.8:
            return self.play(rng.choice(hot), color)
        if self.kind == "kos" and rng.random() < 0.5:
            return self.play(plain.passing, color)
        points = [p for p in range(plain.passing) if plain.board[p] == 2 and not plain.reason(p, color)]
        return self.play(rng.choice([*points, plain.passing]), color)

    def check_encore(self) -> None:
        plain, game = self.plain, self.game
        self.agree("phase", game.encore, plain.phase)
        self.check_legality(plain.to_play) if not plain.phase else self.check_encore_legality()
        if plain.phase == 2:
            self.agree("owners", tuple(game.owners().ravel().tolist()), plain.encore_owners(plain.rules.suicide))
            self.agree("score", game.score(), plain.encore_score())
        self.tally[f"phase {plain.phase}"] += 1
        self.tally["blocked"] += len(plain.blocked)

    def check_encore_legality(self) -> None:
        for color in (0, 1):
            reasons = self.plain.reasons(color)
            self.agree("legality", [self.game.native().legality(p, color) for p in range(len(reasons))], reasons)
            self.agree("legal points", self.game.legal_points(color), [p for p, why in enumerate(reasons) if not why])
            self.tally["barred kos"] += reasons.count("superko")
        self.agree("bans", sorted(set(self.game.superko_bans())), sorted(set(self.plain.bans())))
