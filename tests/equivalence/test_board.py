"""The native game against the slow one: thousands of random games of every size and rule set, and real games."""

from __future__ import annotations

import contextlib
import itertools
import lzma
import random
import re
from pathlib import Path

import numpy as np
import pytest
from sgfmill import boards
from slow_board import Place, SlowGame, Stones

from tengen import _native
from tengen.coords import from_rc, from_sgf, to_rc
from tengen.errors import IllegalMove
from tengen.game import Game
from tengen.rules import Rules

PARTS = list(
    itertools.product(
        ("simple", "positional", "situational"), ("area", "territory"), (False, True), ("none", "n", "n-1")
    )
)


class Pair:
    """The same game twice; every step asserts that both agree."""

    def __init__(self, size: int, parts: tuple[str, str, bool, str], stones: Stones, to_play: int) -> None:
        ko, scoring, suicide, bonus = parts
        self.slow = SlowGame(size, ko, scoring, suicide, bonus, komi=6.5)
        self.slow.start(stones, to_play)
        self.game = Game(size, Rules(ko, scoring, suicide, bonus), 6.5)  # type: ignore[arg-type]
        black, white = ([from_rc(place, size) for place, c in stones.items() if c == color] for color in (0, 1))
        self.game.setup(black, white, to_play)

    def reasons(self, color: int) -> dict[Place, str]:
        """Legality of every point for a colour, agreed."""
        size, game = self.slow.size, self.game
        reasons = {place: self.slow.reason(place, color) for place in self.slow.places}
        for place, reason in reasons.items():
            assert game._native.legality(from_rc(place, size), color) == reason, (place, color, str(game))
        legal = [from_rc(place, size) for place, reason in reasons.items() if not reason]
        assert game.legal_points(color) == legal
        if color == game.to_play:
            bans = [from_rc(place, size) for place, reason in reasons.items() if reason == "superko"]
            assert game.superko_bans() == bans
            ko = [from_rc(place, size) for place, reason in reasons.items() if reason == "ko"]
            assert ([] if game.ko is None else [game.ko]) == ko
        return reasons

    def play(self, place: Place | None, color: int) -> None:
        self.slow.play(place, color)
        self.game.play(from_rc(place, self.slow.size), color)
        self.check()

    def check(self) -> None:
        slow, game = self.slow, self.game
        board = np.full((slow.size, slow.size), 2, np.int8)
        for place, color in slow.stones.items():
            board[place] = color
        assert np.array_equal(game.board, board), str(game)
        assert game.captures == tuple(slow.captures)
        assert (game.to_play, game.passes, game.is_over) == (slow.to_play, slow.passes, slow.is_over)
        assert game.handicap == slow.handicap()

    def check_score(self, dead: set[Place]) -> None:
        assert self.game.score([from_rc(place, self.slow.size) for place in dead]) == self.slow.score(dead)


def random_stones(size: int, density: float, rng: random.Random) -> Stones:
    """A crowded board on which every chain has a liberty: captures and kos come at once."""
    game = Game(size)
    for point in rng.sample(range(size * size), int(density * size * size)):
        color = rng.randrange(2)
        with contextlib.suppress(IllegalMove):  # a stone that would leave a chain without liberties stays away
            game.setup(**{("black", "white")[color]: [point]})
    return {place: color for color, point in game.setup_stones if (place := to_rc(point, size)) is not None}


def random_game(size: int, parts: tuple[str, str, bool, str], plies: int, look: float, rng: random.Random) -> int:
    """Play at random, often beside the last move so that kos are fought; look at every point with probability `look`.

    Returns how many superko bans were seen.
    """
    pair = Pair(size, parts, random_stones(size, rng.choice((0.0, 0.5, 0.8)), rng), rng.randrange(2))
    near: list[Place] = []
    bans = 0
    for _ in range(plies):
        color = pair.game.to_play if rng.random() < 0.9 else 1 - pair.game.to_play
        if rng.random() < look:
            bans += list(pair.reasons(color).values()).count("superko")
        options = near if near and rng.random() < 0.6 else pair.slow.places
        place = next((p for p in rng.sample(options, len(options)) if not pair.slow.reason(p, color)), None)
        if rng.random() < 0.03:
            place = None
        pair.play(place, color)
        if place is not None:
            near = [
                *pair.slow.neighbors(place),
                *(n for p in pair.slow.neighbors(place) for n in pair.slow.neighbors(p)),
            ]
    pair.check_score(set())
    pair.check_score(set(rng.sample(sorted(pair.slow.stones), min(3, len(pair.slow.stones)))))
    return bans


@pytest.mark.parametrize("size", range(5, 20))
def test_random_games(size: int) -> None:
    rng = random.Random(size)
    games, plies, look = (800, 60, 0.3) if size == 5 else (250, 24, 0.05)
    bans = sum(random_game(size, PARTS[number % len(PARTS)], plies, look, rng) for number in range(games))
    assert bans or size > 5, "the games are too tame to test superko"


TRIPLE_KO = """
    . X O . . . . . .
    X O . O . . . . .
    . X O . . . . . .
    . X O . . . . . .
    X . X O . . . . .
    . X O . . . . . .
    . X O . . . . . .
    X O . O . . . . .
    . X O . . . . . .
"""


@pytest.mark.parametrize("parts", PARTS)
def test_triple_ko(parts: tuple[str, str, bool, str]) -> None:
    """Three kos taken in turn: six moves lead back, a long cycle under simple ko and forbidden under superko."""
    rows = [line.split() for line in TRIPLE_KO.strip().splitlines()]
    stones = {(r, c): "XO".index(x) for r, row in enumerate(rows) for c, x in enumerate(row) if x != "."}
    pair = Pair(9, parts, stones, 0)
    cycle = [(1, 2), (4, 1), (7, 2), (1, 1), (4, 2), (7, 1)]
    for turn, place in enumerate(cycle * 2):
        color = turn % 2
        reason = pair.reasons(color)[place]
        assert reason == ("superko" if turn == 5 and parts[0] != "simple" else "")
        if reason:
            return
        pair.play(place, color)
    assert pair.game.is_no_result


def real_games(folder: Path, count: int) -> list[list[tuple[int, str]]]:
    """Colour and SGF point of every move of the first games of the validation archive."""
    with lzma.open(folder / "data" / "tygem-9d-2016-07-validation.sgf.xz") as stream:
        text = stream.read(3000 * count).decode("utf-8", "replace")
    moves = [re.findall(r";([BW])\[(\w\w)?\]", game) for game in text.split("(;")[1:-1]]
    return [[("BW".index(color), point) for color, point in game] for game in moves[:count] if len(game) > 20]


def test_real_games_against_sgfmill(shared: Path) -> None:
    """Every legal real game ends on the board that sgfmill's own rules give."""
    games = real_games(shared, 100)
    assert len(games) > 50
    for moves in games:
        board, game = boards.Board(19), Game(19)
        for color, point in moves:
            place = to_rc(from_sgf(point, 19), 19)
            if not game.is_legal(from_rc(place, 19), color):
                break
            game.play(from_rc(place, 19), color)
            if place is not None:
                board.play(*place, "bw"[color])
        expected = [[{"b": 0, "w": 1, None: 2}[board.get(row, column)] for column in range(19)] for row in range(19)]
        assert game.board.tolist() == expected


def test_real_games_against_the_slow_board(shared: Path) -> None:
    """Legality of every point in real positions, and the native fast replay beside the checked one."""
    rng = random.Random(1)
    none = np.zeros(0, np.uint16)
    for moves in real_games(shared, 20):
        pair = Pair(19, PARTS[0], {}, 0)
        played = 0
        for color, point in moves:
            place = to_rc(from_sgf(point, 19), 19)
            if place is not None and pair.slow.reason(place, color):
                break
            if rng.random() < 0.02:
                pair.reasons(color)
            pair.play(place, color)
            played += 1
        codes = np.array([from_sgf(point, 19) | color << 15 for color, point in moves], np.uint16)
        assert _native.check_moves(19, "chinese", codes, none, none)[0] == played
        assert np.array_equal(pair.game._native.move_codes(), codes[:played])
