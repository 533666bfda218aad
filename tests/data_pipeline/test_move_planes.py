"""Planes about moves in the sets of BakaGo and AlphaGo, on diagrams that were counted by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
from plain_reading import slow_ladders

from tengen import coords
from tengen.data.planes import encode_game, plane_set
from tengen.game import BLACK, WHITE, Game


def shown(name: str, game: Game) -> dict[str, set[str]]:
    """The vertices of every plane that is not empty."""
    planes = encode_game(name, game)[0]
    named = zip(plane_set(name).planes, planes, strict=True)
    points = {plane_name: np.flatnonzero(plane).tolist() for plane_name, plane in named}
    return {plane: {coords.to_gtp(p, game.size) for p in found} for plane, found in points.items() if found}


CORNERS = """
    . X O O . . .
    X X O X . . .
    O O X X . . .
    . . . . . . .
    . . . . . . .
    . . . . . O .
    . . . . . O X
"""


def test_effects_of_moves() -> None:
    black, white = (Game.from_diagram(CORNERS, to_play=color) for color in (BLACK, WHITE))
    found = shown("alphago48", black)
    assert found["captures_3"] == {"E7"} and not {"captures_1", "captures_2", "captures_4"} & set(found)
    assert "E7" in found["liberties_after_3"], "a captured stone leaves a liberty"
    assert found["self_atari_2"] == {"G2"} and found["liberties_after_1"] == {"G2"}
    assert "A7" not in found["captures_0"] | found["sensible"], "a suicide is no move"
    assert found["turns_since_8"] == found["own_stones"] | found["opponent_stones"], "setup stones are old"
    assert found["ones"] > found["sensible"] and "zeros" not in found
    found = shown("alphago49", white)
    assert found["captures_3"] == {"A7"} and found["captures_1"] == {"G2"} and "black_to_move" not in found
    assert "black_to_move" in shown("alphago49", black)


def test_bakago_speaks_of_chains_and_its_corrected_set_of_moves() -> None:
    game = Game.from_diagram(CORNERS, to_play=BLACK)
    chains, moves = shown("bakago39", game), shown("bakago39-moves", game)
    assert chains["opponent_in_atari_3"] == {"C7", "D7", "C6"} and chains["own_true_eyes"] == {"A7"}
    assert chains["own_in_atari_3"] == {"B7", "A6", "B6"} and chains["own_in_atari_1"] == {"G1"}
    assert moves["captures_3"] == {"E7"} and moves["self_atari_2"] == {"G2"}
    assert "A7" not in moves["sensible"] and {"E7", "G2"} < moves["sensible"]
    same = set(chains) & set(moves)
    assert len(same) > 10 and all(chains[name] == moves[name] for name in same)


def test_bakago_marks_where_recent_moves_were_played() -> None:
    game = Game(5).setup(black=["C5", "B4"], to_play=WHITE)
    game.play("B5").play("A5")  # takes B5
    game.play("pass").play("E1")
    found = shown("bakago39", game)
    assert found["turns_since_1"] == {"E1"} and found["turns_since_3"] == {"A5"} and found["turns_since_4"] == {"B5"}
    assert "turns_since_2" not in found and "B5" in found["empty"], "a pass is a turn"
    assert found["turns_since_more"] == {"C5", "B4"}
    faulty = shown("bakago39-bug", game)
    assert not any(f"turns_since_{n}" in faulty for n in range(1, 8)) and len(faulty["turns_since_more"]) == 25
    assert all(faulty.get(name) == found.get(name) for name in plane_set("bakago39").planes if "turns" not in name)


def ladder(row: int, column: int) -> Game:
    """A white stone that Black may chase up to the right, or down to the left across the board."""
    black = [(row - 1, column), (row, column - 1), (row + 1, column + 1)]
    return Game(19).setup(black=[r * 19 + c for r, c in black], white=[row * 19 + column], to_play=BLACK)


def test_a_ladder_of_more_than_50_moves_is_an_escape() -> None:
    game = ladder(2, 15)
    assert shown("tengen", game)["ladder_capture"] == {"Q16", "R17"}
    assert shown("alphago48", game)["ladder_capture"] == {"Q16"}, "only up to the near edge"


def test_the_limit_is_that_of_the_slow_reader() -> None:
    counts = []
    for row, column in product(range(2, 6), range(5, 16, 2)):
        game = ladder(row, column)
        expected = slow_ladders(tuple(game.board.ravel().tolist()), BLACK, moves=50)
        found = shown("alphago48", game)["ladder_capture"]
        assert found == {coords.to_gtp(p, 19) for p in expected.captures}
        counts.append(len(found))
    assert set(counts) == {1, 2}
