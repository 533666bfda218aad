"""When to pass, on diagrams: dame, dead stones, seki, fights, and an opponent who has passed."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest
from known_positions import SEKI, SETTLED

from tengen import coords
from tengen.engine.count import PositionCounter
from tengen.engine.passing import LONGEST, choose_move
from tengen.engine.result import Candidate, Count
from tengen.engine.shapes import Shapes
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, EMPTY, WHITE, Game

PASS = 81
COUNTER = PositionCounter(UniformEvaluator())


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


@pytest.mark.parametrize("passed", [False, True])
@pytest.mark.parametrize(
    ("rules", "komi", "expected"),
    [("tromp-taylor", -8.5, "C3"), ("tromp-taylor", 0.5, "pass"), ("chinese", -8.5, "pass")],
)
def test_sure_dead_stones_are_taken_only_where_that_wins(rules: str, komi: float, expected: str, passed: bool) -> None:
    """Nothing is unsettled: the count wins with the dead stone taken or agreed, and loses with it on the board."""
    game = board(DEAD, BLACK, rules, komi, passed)
    dead = [coords.from_gtp("D3", 9)]
    owners = game.owners(dead)
    count = Count(game.score(dead), tuple(dead), (1 - 2.0 * owners).astype(np.float32), owners)
    assert set(np.unique(owners)) == {BLACK, WHITE}
    assert coords.to_gtp(choose_move(game, [], lambda: count, lambda: 0.5), 9) == expected
    if game.rules.dead_are_agreed and passed:  # the lead is that of the count
        hope = Candidate(coords.from_gtp("H7", 9), 100, 0.9, 0.0, 0.1, 0.4)
        assert choose_move(game, [hope], lambda: count, lambda: 0.5) == PASS


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


def test_a_handicap_that_takes_the_whole_board_is_no_reason_to_pass() -> None:
    game = Game(9)
    game.place_handicap(9)
    game = board(str(game).split("White to play")[0], WHITE)
    assert decide(game, "pass", "B2") == "B2"
    assert decide(game.play("pass"), "pass", "B2") == "pass"  # Black, who is ahead, after a pass


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


WALLS = 7 * ". . X X O . .\n"
TWO_DAME = WALLS.replace(". . X X O . .\n", ". . X . O . .\n", 2)
ATARI = WALLS.replace(". . X X O . .\n" * 3, "X X X X O . .\n. O X X O . .\nX X X X O . .\n", 1)


def judged(
    text: str = WALLS,
    rules: str = "chinese",
    margin: float = 5.5,
    best: str = "pass",
    unsure: dict[str, float] | None = None,
    *,
    neutral: str = "",
    dead: str = "",
    passed: bool = False,
    visits: int = 100,
    winrate: float = 0.5,
    pass_winrate: float = 0.5,
    cleanup: bool = False,
) -> str:
    """Black's move where the count leads by `margin` and is sure of every point but those of `unsure` and `neutral`."""
    game = board(text, BLACK, rules, 0, passed)
    stones = [coords.from_gtp(name, game.size) for name in dead.split()]
    owners = game.owners(stones).copy()
    if neutral:
        owners.ravel()[game.point(neutral)] = EMPTY
    ownership = np.select([owners == BLACK, owners == WHITE], [0.9, -0.9], 0.0).astype(np.float32)
    for name, value in (unsure or {}).items():
        ownership.ravel()[game.point(name)] = value
    # The margin by the count is that by the stones of the board, where the rules do not agree about dead ones.
    game = board(text, BLACK, rules, game.score() - margin, passed)
    count = Count(margin, tuple(stones), ownership, owners)
    ranked = [Candidate(coords.from_gtp(best, game.size), visits, winrate, 0.0, 0.1, 0.4)]
    return coords.to_gtp(choose_move(game, ranked, lambda: count, lambda: pass_winrate, cleanup=cleanup), game.size)


def test_what_is_unsettled_is_played_before_a_pass() -> None:
    assert judged() == judged(rules="japanese") == "pass"
    # Own points under area rules, those of the opponent always.
    assert judged(unsure={"B4": 0.5}) == "B4" and judged(unsure={"B4": 0.5}, rules="japanese") == "pass"
    assert judged(unsure={"F4": -0.5}) == judged(unsure={"F4": -0.5}, rules="japanese") == "F4"
    # Neutral points under area rules; else only where the stones beside them are not settled, or all of one color.
    assert judged(TWO_DAME) == "D7" and judged(TWO_DAME, "japanese") == "pass"
    assert judged(TWO_DAME, "japanese", unsure={"C7": 0.5}) == "D7"
    assert judged(rules="japanese", neutral="B4") == "B4"


def test_the_last_liberty_of_a_living_chain_is_taken_before_a_pass() -> None:
    for rules in ("chinese", "japanese"):
        assert judged(ATARI, rules) == "A6"
        assert judged(ATARI, rules, dead="B6") == "pass"
        assert judged(ATARI, rules, dead="B6", cleanup=True) == "A6"


def test_a_pass_of_the_opponent_is_answered_by_what_the_lead_bears() -> None:
    assert judged(TWO_DAME, margin=0.5, passed=True) == "pass"
    assert judged(TWO_DAME, margin=0, passed=True) == "D7", "a draw is no lead"
    assert judged(TWO_DAME, margin=0.5, unsure={"C4": 0.3}, passed=True) == "pass", "so the search says too"
    # A stone that may be lost is two points.
    for margin, expected in ((2, "F4"), (2.5, "pass")):
        assert judged(margin=margin, best="F4", unsure={"C4": 0.3, "F4": -0.5}, passed=True) == expected


def test_a_move_that_changes_nothing_by_the_count_is_the_search_s_until_the_opponent_has_passed() -> None:
    assert judged(TWO_DAME, margin=-5.5, best="A1", winrate=0.1) == "A1"
    assert judged(TWO_DAME, margin=-5.5, best="A1", winrate=0.1, passed=True) == "D7"


def test_a_move_inside_is_believed_in_with_enough_visits_and_winrate() -> None:
    # Behind by the count: any hope is better than a pass. By territory such a move costs a point.
    for visits, winrate, expected in ((8, 0.2, "A1"), (7, 0.2, "pass"), (8, 0.19, "pass")):
        assert judged(margin=-5.5, best="A1", visits=visits, winrate=winrate) == expected
    assert judged(margin=0, best="A1", winrate=0.3) == "A1"
    assert judged(margin=-5.5, best="A1", winrate=0.5, rules="japanese") == "pass"
    # In the lead, or by territory: only a move that is better than a pass.
    for rules in ("chinese", "japanese"):
        for winrate, expected in ((0.9, "A1"), (0.55, "pass")):
            assert judged(margin=0.5, best="A1", winrate=winrate, rules=rules) == expected
    for visits, expected in ((8, "A1"), (7, "pass")):
        assert judged(best="A1", visits=visits, winrate=0.9, rules="japanese") == expected
    # A pass that ends the game in the lead is as good as any move.
    assert judged(margin=1.5, best="A1", winrate=0.9, unsure={"C4": 0.3}, passed=True) == "pass"


def test_dead_stones_of_an_open_board_are_taken_only_when_cleaning_up() -> None:
    text = ". . X O . . .\n. X X X . . .\n" + 5 * ". . . . . . .\n"
    assert judged(text, dead="D7", best="F3") == "F3"
    assert judged(text, dead="D7", best="F3", cleanup=True) == "E7"
