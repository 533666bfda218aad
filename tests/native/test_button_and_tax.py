"""The button, the tax on seki and groups, and ko rules, on positions that KataGo's own tests have too.

The scores and banned moves were noted from KataGo 1.17.2 (its rules tests) and are counted by hand where they differ
from one tax to the next.
"""

from __future__ import annotations

import pytest
from test_endings import play

from tengen import _native
from tengen.engine.params import SearchParams
from tengen.errors import IllegalMove
from tengen.game import BLACK, WHITE, Game
from tengen.rules import Rules


def banned(game: Game) -> list[str]:
    """The empty points that ko and superko forbid the side to play."""
    found = []
    for point in range(game.size * game.size):
        try:
            game.copy().play(point)
        except IllegalMove as error:
            if str(error).endswith(("ko", "superko")):
                found.append(f"{'ABCDEFGHJ'[point % game.size]}{game.size - point // game.size}")
    return found


# The button.

BOUNDARY = """
    . . X . X O .
    . . X X O O .
    . . . X O . .
    . . X X O . .
    . . X . O . .
    . . X X O . .
    . . . X O . .
"""


@pytest.mark.parametrize(
    ("button", "scores"),
    [(False, [5.5, 6.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5]), (True, [6, 6, 3, 2, 3, 3, 3, 3, 3])],
)
def test_the_button_goes_to_the_first_who_passes(button: bool, scores: list[float]) -> None:
    """Until then the score gives it to the side to play."""
    rules = Rules("simple", "area", False, "none", "none", button)
    game = Game.from_diagram(BOUNDARY, rules, komi=2.5)
    found = [game.score()]
    for vertex in ["D3", "D7", "B5", "E7", "pass", "G5", "pass", "pass"]:
        found.append(game.play(vertex).score())
    assert found == scores
    assert game.is_over and game.button == (BLACK if button else None)


def test_the_pass_that_takes_the_button_ends_nothing() -> None:
    game = Game(9, "aga-button", komi=7)
    assert (game.play("pass").passes, game.button, game.score()) == (0, BLACK, -6.5)
    assert (game.play("pass").passes, game.is_over) == (1, False)
    assert game.play("pass").is_over and game.result() == "W+6.5"
    assert game.undo() and game.undo() and game.undo() and game.button is None
    assert game.play("E5").play("pass").button == WHITE


# Black sends two stones (F3 next to F2), White takes them at F1, and Black takes one back at F2. D4 is a dame.
SEND_TWO = """
    . . . . . .
    . . . X X X
    X X X . O O
    X X O O O .
    X X O . O X
    X X O X X .
"""
CYCLE = "F3 F1 F2 pass"


@pytest.mark.parametrize(
    ("button", "before", "rounds", "score"),
    [(False, "D4 pass", 1, 17), (True, "D4 pass", 2, 16.5), (False, "D4 C5", 2, 17), (True, "D4 C5", 3, 16.5)],
)
def test_sending_two_returning_one_ends_with_the_second_pass(
    button: bool, before: str, rounds: int, score: float
) -> None:
    """It ends when White passes again with these stones; the pass that takes the button is none."""
    rules = Rules("simple", "area", False, "none", "seki", button)
    game = play(Game.from_diagram(SEND_TWO, rules, komi=0), before)
    for number in range(rounds):
        assert not game.is_over, number
        play(game, CYCLE)
    assert (game.ending, game.score([] if before == "D4 pass" else ["C5"])) == ("passes", score)


@pytest.mark.parametrize(("button", "before", "rounds"), [(False, "", 1), (True, "", 2), (True, "D4 pass", 1)])
def test_situational_superko_and_the_button(button: bool, before: str, rounds: int) -> None:
    """Taking the button makes all positions new, so that Black may send two once more."""
    rules = Rules("situational", "area", False, "none", "seki", button)
    diagram = SEND_TWO if before else SEND_TWO.replace("X X X . O O", "X X X X O O")
    game = play(Game.from_diagram(diagram, rules, komi=0.5), before)
    for _ in range(rounds - 1):
        assert banned(play(game, CYCLE)) == []
    assert banned(play(game, CYCLE)) == ["F3"]


# The tax. Black and White share the points of two sekis at the top, and White lives in the middle of the left.
TAXED = """
    . X . X O . O . X
    . . . X O O O X .
    . X X X X X X O O
    X O O O O O X O .
    X O . O . O X O O
    X O O O O O X X X
    X X X O X X X O O
    . X X X O O O O .
    . X . X O . O . O
"""


@pytest.mark.parametrize(
    ("scoring", "tax", "score"),
    [
        ("area", "none", -1.5),
        ("area", "seki", 0.5),
        ("area", "all", 2.5),
        ("territory", "none", 1.5),
        ("territory", "seki", 3.5),
        ("territory", "all", 5.5),
    ],
)
def test_tax(scoring: str, tax: str, score: float) -> None:
    game = Game.from_diagram(TAXED, f"ko=positional,suicide=false,scoring={scoring},tax={tax}", komi=0.5)
    assert play(game, "pass pass").score() == score


# Repetition.

ETERNAL_LIFE = """
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    O O O O O O . .
    X X X X X O . .
    X O O O X X O O
    . O . X . O X .
"""


def test_eternal_life_is_no_result_under_simple_ko() -> None:
    game = Game.from_diagram(ETERNAL_LIFE, "chinese", komi=0.5)
    play(game, "C1 E1 D1 F1 C1 E1 D1")
    assert not game.is_over
    assert play(game, "F1").ending == "long cycle" and game.result() == "Void"


@pytest.mark.parametrize("ko", ["positional", "situational"])
def test_eternal_life_is_forbidden_by_superko(ko: str) -> None:
    game = Game.from_diagram(ETERNAL_LIFE, f"ko={ko},suicide=false", komi=0.5)
    assert banned(play(game, "C1 E1 D1")) == ["F1"]


# Black may kill himself at the top right, White at the top left.
SUICIDES = """
    . O X O . X
    O X X O O O
    X X . . . .
    . . . . . .
    . . . . . .
    . . . . . .
"""


@pytest.mark.parametrize(("ko", "after_suicide"), [("positional", ["F6"]), ("situational", [])])
def test_suicide_and_superko(ko: str, after_suicide: list[str]) -> None:
    """After Black's suicide a stone at F6 makes the first board again, with the other side to play."""
    game = play(Game.from_diagram(SUICIDES, f"ko={ko}"), "E6 pass")
    assert (game.captures, banned(game)) == ((0, 2), after_suicide)
    assert banned(play(game, "E6 A6 F6 B6 pass")) == ["A5"]
    assert banned(play(game, "A6 E6")) == ["A5"]


# A ko at F6 and F5, and two stones that White may send at the top left.
KO_AND_SENDING = """
    . O . X X O
    O X X X O .
    O . X . O O
    X X . O O .
    O O O O . O
    O O O O O O
"""


def test_simple_ko_forbids_one_move_and_ends_cycles_with_passes() -> None:
    game = Game.from_diagram(KO_AND_SENDING, "ko=simple,scoring=territory,suicide=false")
    expected = {"F5": ["F6"], "F6": ["F5"]}
    for vertex in ["F5", "pass", "C3", "F6", "D4", "C6", "A6", "B6", "pass", "C6", "A6", "B6"]:
        assert banned(game.play(vertex)) == expected.get(vertex, []), vertex
        assert not game.is_over
    assert game.play("pass").ending == "passes"


@pytest.mark.parametrize(
    ("ko", "bans"),
    [
        ("positional", {"A6": ["B6"], "C6, again": ["A6", "F5"]}),
        ("situational", {"C6, again": ["A6"]}),
    ],
)
def test_superko_and_passes(ko: str, bans: dict[str, list[str]]) -> None:
    """Passes lift the simple ko and no superko."""
    game = Game.from_diagram(KO_AND_SENDING, f"ko={ko},scoring=territory,suicide=false")
    expected = {"F5": ["F6"], "F6": ["F5"], "B6": ["F5"], **bans}
    for number, vertex in enumerate(["F5", "pass", "D4", "C6", "A6", "F6", "pass", "B6", "pass", "C6"]):
        name = "C6, again" if number == 9 else vertex
        assert sorted(banned(game.play(vertex))) == expected.get(name, []), name
        assert not game.is_over


@pytest.mark.parametrize(
    ("rules", "black"), [("stone-scoring", 5), ("ancient-territory", 2), ("chinese", 7), ("japanese", 4)]
)
def test_playouts_pay_the_tax_of_groups(rules: str, black: int) -> None:
    """Two black groups and a white one with four eyes each, 28 and 21 points of area, in which no playout has a move.

    The tax takes two points of each group.
    """
    rows = [". X O . O X .", "X X O O O X X"]
    game = Game.from_diagram("\n".join([*rows * 3, rows[0]]), rules, komi=0)
    params = SearchParams(memory=1 << 24, priors="uniform", playout="uniform", playouts=1, playout_weight=1)
    search = _native.Search(params.native(), 1)
    search.set_root(game.native())
    search.run(1)
    assert search.root_score() == game.score() == black
