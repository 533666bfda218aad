"""When to pass, on diagrams: dame, dead stones, seki, fights, and an opponent who has passed."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest
from known_positions import SEKI, SETTLED

from tengen import coords
from tengen.engine.count import Counter
from tengen.engine.passing import LONGEST, choose_move
from tengen.engine.result import Candidate, Count
from tengen.engine.shapes import Shapes
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, WHITE, Game

PASS = 81
COUNTER = Counter(UniformEvaluator())


def board(text: str, to_play: int = BLACK, rules: str = "chinese", komi: float = 7.5, passed: bool = False) -> Game:
    """A game at this position; with `passed` the side that is not to play has just passed."""
    if not passed:
        return Game.from_diagram(text, rules, komi, to_play)
    return Game.from_diagram(text, rules, komi, 1 - to_play).play("pass")


def turned_over(game: Game) -> Game:
    """The same position with the colors exchanged."""
    rows = [" ".join("OX."[color] for color in row) for row in game.board.tolist()]
    passed = bool(game.moves) and game.moves[-1][1] == PASS
    return board("\n".join(rows), 1 - game.to_play, game.rules.text, -game.komi, passed)


def decide(
    game: Game,
    *preferred: str,
    winrates: dict[str, float] | None = None,
    pass_winrate: float = 0.5,
    cleanup: bool = False,
) -> str:
    """The move for a search that preferred these moves, best first, with many visits each; the same for both colors."""
    rates = winrates or {}
    ranked = [
        Candidate(coords.from_gtp(name, game.size), 100 - n, rates.get(name, 0.5), 0.0, 0.1, 0.4)
        for n, name in enumerate(preferred)
    ]
    move, other = (
        choose_move(one, ranked, partial(COUNTER.count, one), lambda: pass_winrate, cleanup=cleanup)
        for one in (game, turned_over(game))
    )
    assert move == other
    return coords.to_gtp(move, game.size)


def with_text(old: str, new: str, text: str = SETTLED) -> str:
    assert text.count(old) == 1, "the change must hit one line of the diagram"
    return text.replace(old, new)


def test_a_settled_board_is_passed() -> None:
    assert decide(board(SETTLED), "pass", "D3") == "pass"
    assert decide(board(SETTLED, WHITE), "pass", "H7") == "pass"


def test_a_settled_board_is_passed_though_the_search_would_go_on_inside() -> None:
    assert decide(board(SETTLED, komi=-10.5), "D3", "pass") == "pass"
    assert decide(board(SETTLED, WHITE), "H7", "pass") == "pass"


def test_a_move_that_a_pass_would_waste_is_played_first() -> None:
    assert decide(board(SETTLED, WHITE), "H7", "pass", winrates={"H7": 0.9}, pass_winrate=0.3) == "H7"
    assert decide(board(SETTLED, WHITE), "H7", "pass", winrates={"H7": 0.9}, pass_winrate=0.85) == "pass"
    ended = board(SETTLED, WHITE, passed=True)
    assert decide(ended, "H7", "pass", winrates={"H7": 0.9}, pass_winrate=0.3) == "pass", "a pass ends the game"


@pytest.mark.parametrize("komi", [7.5, 40.5])
def test_a_defence_is_worth_a_point_of_territory(komi: float) -> None:
    """The count takes the territory for safe; the search has seen that a pass loses it."""
    game = board(SETTLED, WHITE, "japanese", komi)
    assert decide(game, "H7", "pass", winrates={"H7": 0.9}, pass_winrate=0.3) == "H7"
    assert decide(game, "H7", "pass", winrates={"H7": 0.9}, pass_winrate=0.85) == "pass"


def test_own_eyes_are_never_filled() -> None:
    assert decide(board(SETTLED), "A9", "B7", "pass") == "pass"


# As above, but D5 belongs to nobody yet.
DAME = with_text(". X . X O O O . .", ". X X . O O O . .")


def test_the_last_dame_is_played_under_area_rules() -> None:
    assert decide(board(DAME, BLACK), "pass") == "D5"
    assert decide(board(DAME, WHITE), "pass") == "D5"


def test_a_dame_is_no_reason_to_play_under_territory_rules() -> None:
    assert decide(board(DAME, WHITE, "japanese", komi=40.5), "pass") == "pass"


def test_an_opponent_who_passed_early_with_a_lost_count_is_answered_by_a_pass() -> None:
    assert decide(board(DAME, BLACK, komi=-20.5, passed=True), "D5", "pass") == "pass"


def test_a_lost_count_is_played_on_while_a_dame_is_left() -> None:
    assert decide(board(DAME, BLACK, komi=30.5, passed=True), "pass", "D5") == "D5"


def test_a_lost_count_with_nothing_left_is_accepted() -> None:
    assert decide(board(SETTLED, BLACK, komi=30.5, passed=True), "pass", "D3") == "pass"
    assert decide(board(SETTLED, BLACK, komi=30.5, passed=True), "H7", "pass", winrates={"H7": 0.01}) == "pass"


def test_a_move_that_the_search_believes_in_is_played_in_a_lost_count() -> None:
    game = board(SETTLED, BLACK, komi=30.5, passed=True)
    assert decide(game, "H7", "pass", winrates={"H7": 0.6}) == "H7"


# A white stone at D3 that Black can take at any time and White cannot save.
DEAD = with_text(". X . . X O O . O", ". X . O X O O . O")


def test_dead_stones_stay_where_the_players_agree_about_them() -> None:
    for passed in (False, True):
        assert decide(board(DEAD, BLACK, komi=0.5, passed=passed), "pass") == "pass"


def test_dead_stones_are_taken_where_the_rules_would_count_them() -> None:
    game = board(DEAD, BLACK, "tromp-taylor", komi=-8.5, passed=True)
    assert game.score() < 0 < COUNTER.count(game).score
    move = coords.from_gtp(decide(game, "pass"), 9)
    assert move in {coords.from_gtp(name, 9) for name in ("C3", "D2", "D4") if game.is_legal(name)}


def test_cleaning_up_takes_dead_stones_before_a_pass() -> None:
    assert decide(board(DEAD, BLACK, komi=0.5), "pass", cleanup=True) == "C3"
    assert decide(board(SETTLED, BLACK), "pass", cleanup=True) == "pass"


def test_a_stone_in_atari_is_settled_before_a_pass() -> None:
    # The white stone at F7 can be captured at F6, or saved there: worth a move to both.
    text = """
    X X X X X . O O O
    . X . X X O O . O
    X X X X X O O O O
    X X X . O X O . O
    . X X X O . O O O
    X X X X O O O O .
    X . X X X O . O O
    X X X X X O O O .
    . X . X X O . O O
    """
    game = board(text, BLACK)
    assert decide(game, "pass") != "pass"


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_a_seki_is_left_alone(color: int) -> None:
    assert decide(board(SEKI, color), "pass") == "pass"


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_an_open_board_is_not_passed(color: int) -> None:
    game = Game(9)
    for move in ("D4", "F6", "D6", "F4"):
        game.play(move)
    game = board(str(game).split("Black to play")[0], color)
    assert decide(game, "pass", "E5") == "E5"


def test_an_early_pass_of_the_opponent_does_not_end_the_game() -> None:
    game = Game(9).play("pass")
    assert decide(game, "E5", "pass") == "E5"


def test_an_unsettled_fight_is_not_passed_though_the_count_stands_well() -> None:
    text = with_text("X X X O O . . . .", "X X X . O . X . .")
    unsure = np.full((9, 9), 0.2, np.float32)

    def count() -> Count:
        return Count(3.5, (), unsure, game.owners())

    game = board(text, BLACK, passed=True)
    ranked = [Candidate(coords.from_gtp("H6", 9), 100, 0.5, 0.0, 0.1, 0.4)]
    assert choose_move(game, ranked, count, lambda: 0.5) == coords.from_gtp("H6", 9)


def test_a_game_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LONGEST == 3
    monkeypatch.setattr("tengen.engine.passing.LONGEST", 1)  # a random game is still open then

    def open_points(game: Game) -> list[int]:
        """Legal points that are no eye of the side to move, else a pass."""
        return [p for p in game.legal_points() if not Shapes(game).fills_own_eye(p, game.to_play)] or [25]

    generator, game = random.Random(1), Game(5, komi=0.5)
    while len(game.moves) < 25 - 1:
        game.play(generator.choice(open_points(game)))
    for longest in (False, True):
        point = open_points(game)[0]
        assert point != 25
        best = Candidate(point, 100, 0.9, 0.0, 0.1, 0.4)
        assert choose_move(game, [best], partial(COUNTER.count, game), lambda: 0.1) == (25 if longest else point)
        game.play(point)
