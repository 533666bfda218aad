"""The native game against its plain twin: random games of every size and rule set, ko cycles, and real games.

prove.py beside this file (`make prove`) does the same with as many games as one likes.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from agreement import ALL_RULES, Pair
from hypothesis import given, settings
from hypothesis import strategies as st
from known_positions import TRIPLE_KO, TRIPLE_KO_CYCLE
from plain_go import read_diagram
from played_games import random_game, read_real_games, real_game
from sgfmill import boards

from tengen import _native
from tengen.coords import MAX_SIZE, from_gtp, to_rc
from tengen.game import Game
from tengen.rules import Rules

HERE = Path(__file__).parent
RECORDS = HERE.parent / "data" / "tygem-300.sgf.xz"


@pytest.mark.parametrize(
    "size", [pytest.param(size, marks=[pytest.mark.slow] * (size % 4 != 3)) for size in range(2, MAX_SIZE + 1)]
)
def test_random_games(size: int) -> None:
    rng = random.Random(size)
    games, plies = (120, 60) if size == 5 else (14, 100) if size < 10 else (5, 150)
    tally = Counter[str]()
    for number in range(games):
        tally += random_game(size, ALL_RULES[(number * 7 + size) % len(ALL_RULES)], plies, rng)
    assert tally["games"] == games and (size < 5 or (tally["laddered stones"] and tally["pass-alive positions"]))
    if size == 5:
        tame = [name for name in ("ko bans", "superko bans", "suicide bans", "pass-alive points") if not tally[name]]
        assert not tame, f"the games are too tame to show {tame}"


@pytest.mark.slow
@settings(max_examples=100)
@given(
    size=st.integers(2, MAX_SIZE),
    rules=st.sampled_from(ALL_RULES),
    komi=st.integers(-800, 800).map(lambda n: n / 2),
    moves=st.lists(st.tuples(st.sampled_from([True, True, True, False]), st.integers(0, 19 * 19)), max_size=60),
    dead=st.lists(st.integers(0, 19 * 19), max_size=4),
)
def test_any_moves(size: int, rules: Rules, komi: float, moves: list[tuple[bool, int]], dead: list[int]) -> None:
    """Whatever is played where, in turn or not: both take it or refuse it for the same reason, and then count alike.

    Points are folded into the top-left 4x4 corner and pass, so that few moves make many captures; hypothesis looks for
    the shortest list of moves that disagrees.
    """
    pair = Pair(size, rules, komi)
    corner = [row * size + column for row in range(min(size, 4)) for column in range(min(size, 4))]
    for in_turn, number in moves:
        p = [*corner, size * size][number % (len(corner) + 1)]
        color = pair.game.to_play if in_turn else 1 - pair.game.to_play
        reason = pair.plain.reason(p, color)
        pair.agree(f"reason for {p}", pair.game.native().legality(p, color), reason)
        if not reason:
            pair.play(p, color)
    pair.check_everything(random.Random(size))
    pair.check_count([p for p in dead if p < size * size])


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_triple_ko(rules: Rules) -> None:
    """Three kos taken in turn: six moves lead back, a long cycle under simple ko and forbidden under superko."""
    pair = Pair(9, rules, board=read_diagram(TRIPLE_KO))
    for turn, vertex in enumerate(TRIPLE_KO_CYCLE * 2):
        p, color = from_gtp(vertex, 9), turn % 2
        reason = pair.check_legality(color)[p]
        assert reason == ("superko" if turn == 5 and rules.ko != "simple" else "")
        if reason:
            return
        pair.play(p, color)
    assert pair.game.is_no_result


def test_real_games() -> None:
    games = read_real_games(RECORDS, 6)
    tally = Counter[str]()
    for number, moves in enumerate(games):
        tally += real_game(moves, ALL_RULES[number * 7], random.Random(number))
    assert tally["games"] == 6 and tally["positions"] > 600 and tally["games cut short"] <= 1


def test_real_games_against_sgfmill() -> None:
    """Every legal real game ends on the board that sgfmill's own rules give, and check_moves() plays it as far."""
    none = np.zeros(0, np.uint16)
    games = read_real_games(RECORDS, 100)
    assert len(games) == 100
    for moves in games:
        board, game = boards.Board(19), Game(19)
        for color, p in moves:
            if not game.is_legal(p, color):
                break
            game.play(p, color)
            place = to_rc(p, 19)
            if place is not None:
                board.play(*place, "bw"[color])
        expected = [[{"b": 0, "w": 1, None: 2}[board.get(row, column)] for column in range(19)] for row in range(19)]
        assert game.board.tolist() == expected
        codes = np.array([p | color << 15 for color, p in moves], np.uint16)
        assert _native.check_moves(19, "chinese", codes, none, none)[0] == len(game.moves)
        assert np.array_equal(game.move_codes(), codes[: len(game.moves)])


def test_the_full_comparison_runs() -> None:
    """prove.py plays, says what it compared, and names the game and the way to see it again when something differs."""
    command = [sys.executable, HERE / "prove.py", "--games", "16", "--real", "1", "--records", RECORDS, "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "random: 16 games" in done.stdout and "real: 1 games" in done.stdout and "no disagreement" in done.stdout


def test_a_disagreement_is_told() -> None:
    pair = Pair(5, ALL_RULES[0])
    pair.play(12, 0)
    pair.plain.captures[1] += 1
    with pytest.raises(AssertionError, match=r"captures: native \(0, 0\), plain \(0, 1\)"):
        pair.check_state()
