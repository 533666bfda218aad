"""The encore against its plain twin, on games of kos and passes, and a game counted by hand."""

from __future__ import annotations

import pickle
import random
from collections import Counter

import pytest
from played_games import TERRITORY, EncorePair

from tengen.game import Game


@pytest.mark.slow
def test_random_encores() -> None:
    tally = Counter[str]()
    for seed in range(90):
        rng = random.Random(seed)
        pair = EncorePair(rng.choice((4, 5, 6)), TERRITORY[seed % len(TERRITORY)], rng)
        if rng.random() < 0.5:
            pair.play(pair.plain.passing, pair.plain.to_play)
            pair.play(pair.plain.passing, pair.plain.to_play)
        for _ in range(80):
            pair.move(rng)
            pair.check_encore()
            if pair.plain.is_over:
                pair.tally["endings", pair.game.ending] += 1
                break
        copy, game = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(pair.game)))), pair.game
        pair.agree("a copy", (copy.encore, copy.result(), copy.moves), (game.encore, game.result(), game.moves))
        while len(game.moves) > pair.plain.phase_start + 1:
            game.undo()
        pair.agree("phase after undo", pair.game.encore, pair.plain.phase)
        tally += pair.tally
    for what in ("phase 1", "phase 2", "blocked", "barred kos", "passes for ko", ("endings", "passes")):
        assert tally[what] >= 10, (what, tally)


def test_dead_stones_are_captured_for_nothing() -> None:
    """Counted by hand: Black has 4 eyes, 9 points with a dead stone in them and the stone; White has 7 points.

    The encore comes to the same where Black takes the stone in its second phase. Where he does not, it lives, the 9
    points are nobody's, and so his other eyes are those of a seki.
    """
    diagram = """
        . X . X O . .
        X X X X O O O
        . . . X O . .
        . O . X O O O
        . . . X O . O
        X X X X O O .
        . X . X O . O
    """
    left = Game.from_diagram(diagram, "japanese", 0.5)
    assert left.score(["B4"]) == (4 + 9 + 1) - 7 - 0.5
    left.play_encore().play("pass").play("pass")
    assert (left.encore, left.is_over, left.captures) == (1, False, (0, 0))
    left.play("pass").play("pass")
    taken = left.copy()
    for black in ("B5", "B3", "A4", "C4"):
        taken.play(black).play("pass")
    assert (taken.encore, taken.captures) == (2, (1, 0))
    for game, points in ((taken, (4 + 9 + 1) - 7 - 0.5), (left, 0 - 7 - 0.5)):
        game.play("pass").play("pass")
        assert (game.is_over, game.ending, game.score()) == (True, "passes", points)


# White sends two stones at A5 and gets one back, as Black does in the other corner.
SEND_TWO = """
    . O . O . . . . . .
    X X O O . . . . . .
    . X X O . . . . . .
    . . X O O . . . . .
    . . X . . . . . . .
    . . . . . . . O . .
    . . . . . X X O . .
    . . . . . . X O O .
    . . . . . . X X O O
    . . . . . . X . X .
"""


@pytest.mark.parametrize("ko", ["simple", "positional"])
def test_cycles_in_the_encore_are_without_result(ko: str) -> None:
    """Whatever the ko rule, a position may come three times, and a pass begins the count anew."""
    game = Game.from_diagram(SEND_TWO, f"ko={ko},scoring=territory", to_play=1).play_encore()
    for move in ["pass", "pass"] + ["A10", "C10", "B10", "K1", "H1", "J1"] * 2:
        assert not game.is_over
        game.play(move)
    assert (game.encore, game.ending, game.result()) == (1, "long cycle", "Void")
    for _ in range(6):
        game.undo()
    for move in ["pass", "A10", "C10", "B10"]:
        game.play(move, 1 if move in ("A10", "B10") else 0)
    assert not game.is_over


def test_an_encore_that_begins_later() -> None:
    """Passes before it end the game as ever, also when moves are taken back or the game is copied."""
    game = Game(5, "japanese").play("pass").play("pass")
    assert game.is_over
    game.play("C3").play_encore().play_encore()
    twin = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(game))))
    for one in (game, twin):
        assert one.play("pass").play("pass").encore == 1
        assert one.undo() and (one.encore, one.is_over) == (0, False)
        assert one.undo() and one.undo() and one.is_over and one.undo() and one.undo()
        assert one.play("pass").play("pass").encore == 1


def test_no_limit_of_moves_holds_in_an_encore() -> None:
    game = Game(5, "japanese").limit_moves(2, no_result=True).play_encore()
    assert game.play("C3").play("pass").ending == "move limit"
    game = Game(5, "japanese").limit_moves(2, no_result=True).play_encore()
    assert (game.play("pass").play("pass").encore, game.is_over) == (1, False)
    assert not game.play("C3").is_over


@pytest.mark.parametrize("scoring", ["japanese", "chinese"])
def test_only_territory_has_an_encore(scoring: str) -> None:
    game = Game(5, scoring).play_encore().play("pass").play("pass")
    assert (game.encore, game.is_over) == ((1, False) if scoring == "japanese" else (0, True))
    game.clear()
    assert game.play("pass").play("pass").encore == (scoring == "japanese")
