"""The score estimate: on finished boards it is the count of the rules, and its parts add up."""

from __future__ import annotations

import numpy as np
import pytest
from known_positions import SETTLED

from tengen.engine import Count
from tengen.game import Game
from tengen.web.counting import territory
from tengen.web.estimate import CERTAIN, ScoreEstimate


def counted(game: Game, dead: list[int]) -> Count:
    """The count of a board on which these stones are dead, each point as certain as it can be."""
    owners = game.owners(dead)
    ownership = np.where(owners == 0, 1.0, np.where(owners == 1, -1.0, 0.0)).astype(np.float32)
    return Count(game.score(dead), tuple(dead), ownership, owners)


@pytest.mark.parametrize("rules", ["chinese", "japanese"])
@pytest.mark.parametrize("komi", [0.0, 6.5])
def test_a_finished_board_is_counted_as_by_the_rules(rules: str, komi: float) -> None:
    game = Game.from_diagram(SETTLED, rules=rules, komi=komi)
    dead = sorted(game.dead_by_playouts(128, 1))
    estimate = ScoreEstimate.of(game, counted(game, dead))
    assert estimate.score == game.score(dead)
    assert estimate.open == 0
    assert estimate.owners == territory(game, dead)


@pytest.mark.parametrize(("rules", "bonus"), [("chinese", 4), ("aga", 3), ("japanese", 0)])
def test_the_points_of_white_for_a_handicap_count(rules: str, bonus: int) -> None:
    game = Game(9, rules, 0.5)
    game.place_handicap(4)
    estimate = ScoreEstimate.of(game, counted(game, []))
    assert estimate.score == game.score() == (81 if rules != "japanese" else 77) - 0.5 - bonus
    assert estimate.lines()[-1].endswith(f"komi 0.5 + bonus {bonus} = {bonus + 0.5}" if bonus else "komi 0.5 = 0.5")


def test_the_button_counts_for_who_took_it() -> None:
    game = Game(9, "chinese,button=true", 7.0).play("E5").play("pass").play("pass")
    assert ScoreEstimate.of(game, counted(game, [])).score == game.score() == 81 - 7 - 0.5


def test_prisoners_are_captured_and_lost_stones() -> None:
    """Black captures A9's stone; a white stone at E5 is lost in Black's area."""
    game = Game(9, "japanese", 6.5)
    for vertex in ("A8", "A9", "B9", "E5"):
        game.play(vertex)
    ownership = np.ones((9, 9), np.float32)
    estimate = ScoreEstimate.of(game, Count(0.0, (), ownership, game.owners([])))
    assert estimate.prisoners == (2, 0)
    assert estimate.territory == (81 - 2, 0)
    assert estimate.lines() == [
        "Certain: Black leads by 74.5",
        "Black: territory 79 + prisoners 2 = 81",
        "White: territory 0 + prisoners 0 + komi 6.5 = 6.5",
    ]


@pytest.mark.parametrize(
    ("rules", "komi", "white"),
    [
        ("japanese", 0, "territory 0 + prisoners 0 = 0"),
        ("japanese", -5, "territory 0 + prisoners 0 \u2212 komi 5 = \u22125"),
        ("chinese,button=true", 7, "stones 0 + territory 0 + komi 7 \u2212 bonus 0.5 = 6.5"),
    ],
)
def test_the_sums_are_written_as_those_of_a_count(rules: str, komi: float, white: str) -> None:
    game = Game(9, rules, komi).play("pass")  # which takes the button
    ownership = np.ones((9, 9), np.float32)
    lines = ScoreEstimate.of(game, Count(0.0, (), ownership, game.owners([]))).lines()
    assert lines[-1] == f"White: {white}"


def test_uncertain_points_are_open_and_uncertain_stones_live() -> None:
    game = Game(9, "chinese", 7.0).play("E5")
    ownership = np.full((9, 9), -CERTAIN / 2, np.float32)
    estimate = ScoreEstimate.of(game, Count(0.0, (), ownership, game.owners([])))
    assert (estimate.stones, estimate.territory, estimate.open) == ((1, 0), (0, 0), 80)
    assert estimate.owners == "." * 81
    assert estimate.lines()[-1] == "Open: 80 points"
    assert "Black: stones 1 + territory 0 = 1" in estimate.lines()
    assert estimate.lines(-3.25)[0] == "Expected: White leads by 3.2"
