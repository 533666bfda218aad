"""Seki of several kinds on diagrams, counted by hand under both scorings; and what only looks like one."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tengen import _native, coords
from tengen.data.importer import ImportOptions, import_games
from tengen.data.store import Store
from tengen.game import BLACK, EMPTY, WHITE, Game


class Seki(NamedTuple):
    """A position that is played out, its dead stones and those in seki, and Black minus White without komi."""

    text: str
    dead: str
    stones: str
    area: int
    territory: int


# Neither has an eye; C9 and C8 are shared. Black's capture at one of them leaves White seven points, room for two eyes.
NO_EYES = Seki(
    """
    O X . O X . X O .
    O X . O X X X O O
    O X X O X . X O .
    O X X O X X X O O
    O O O O X X X O .
    X X X X X X X O O
    O O O O O O O O O
    . O . O . O . O .
    O O O O O O O O O
    """,
    "",
    "A9 A8 A7 A6 A5 B5 C5 D5 D6 D7 D8 D9 B9 B8 B7 B6 C7 C6",
    # Black: 6 stones in seki and 20 outside, F9 and F7. White: 12 in seki, 31 outside, J9 J7 J5 A2 C2 E2 G2 J2.
    28 - 51,
    2 - 8,
)
# The same with three shared points: either side may fill one, and then nobody may.
THREE_SHARED = Seki(
    """
    O X . O X . X O .
    O X . O X X X O O
    O X . O X . X O .
    O X X O X X X O O
    O O O O X X X O .
    X X X X X X X O O
    O O O O O O O O O
    . O . O . O . O .
    O O O O O O O O O
    """,
    "",
    "A9 A8 A7 A6 A5 B5 C5 D5 D6 D7 D8 D9 B9 B8 B7 B6 C6",
    27 - 51,
    2 - 8,
)
# A liberty of White's from outside, E6, is open: one is too few to win with three shared points.
OUTSIDE_OPEN = Seki(
    """
    O X . O X . X O .
    O X . O X X X O O
    O X . O X . X O .
    O X X O . X X O O
    O O O O X X X O .
    X X X X X X X O O
    O O O O O O O O O
    . O . O . O . O .
    O O O O O O O O O
    """,
    "",
    "A9 A8 A7 A6 A5 B5 C5 D5 D6 D7 D8 D9 B9 B8 B7 B6 C6",
    26 - 51,
    2 - 8,
)
# One eye each, A9 and E9, and C9 shared.
ONE_EYE_EACH = Seki(
    """
    . X . O . O X . X
    X X X O O O X X .
    O O O X X X X X X
    O O O O O O O O O
    . O . O . O . O .
    O O O O O O O O O
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    """,
    "",
    "B9 A8 B8 C8 D9 D8 E8 F8 F9",
    # Black: 4 + 10 stones and A9, H9, J8. White: 5 + 25 stones, E9, five eyes below and the three empty rows.
    17 - 63,
    2 - 32,
)
# White's two stones in the middle have no eye, the black groups beside them one each; C9 and E9 are shared.
A_ROW_OF_THREE = Seki(
    """
    . X . O . X . X O
    X X X O X X X X O
    O O O X O O O O O
    O . O X O . O . O
    O O O X O O O O O
    O . O X O O O O O
    O O O X X X X X X
    X X X X . X . X X
    X X X X X X X X X
    """,
    "",
    "B9 A8 B8 C8 D9 D8 F9 H9 E8 F8 G8 H8",
    # Black: 36 stones, A9, G9, E2, G2. White: 35 stones, B6, B4, F6, H6.
    40 - 39,
    2 - 4,
)
# Eyes of two points, A9 A8 and E9 F9, and C9 shared: whoever fills it is captured after a throw-in. The white stone
# that Black's eye holds is no prisoner.
DEAD_STONE_IN_THE_EYE = Seki(
    """
    O X . O . . O X .
    . X X O O O O X X
    X X O X X X X X .
    O O O O O O O X X
    O . O . O . O O O
    O O O O O O O O O
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    """,
    "A9",
    "B9 B8 C8 B7 A7 D9 D8 E8 F8 G8 G9",
    # Black: 5 + 10 stones and A9, A8, J9, J7. White: 6 + 23 stones, E9, F9, B5, D5, F5 and the three empty rows.
    19 - 61,
    2 - 30,
)
# Two kos, of which each side holds one, and D7 shared: who takes the second ko puts the other side into atari, which
# then takes back the first. B9 and E9 are in atari, and nobody gains by taking them.
DOUBLE_KO = Seki(
    """
    X O . O X . X O .
    X X O O O X X O O
    O X X . X X O O O
    O O X X X O O . O
    . O O O O O O O O
    O O O O O O O O O
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    """,
    "",
    "A9 A8 B8 B7 C7 C6 D6 E6 E7 F7 F8 G8 G9 E9 C8 D8 E8 D9 B9",
    # Black: 14 stones and F9. White: 5 stones in seki and C9, 29 outside, J9, H6, A5 and the three empty rows.
    15 - 65,
    0 - 30,
)
# G6 and F3 are shared: Black's three stones make a bent three, in which White, who has no other eye, would be killed.
# D5, D4, D3 and G1 are liberties from outside, which do not help White.
DAME_OUTSIDE = """
    . . X . X O O
    . . X X X O .
    . . X . O O X
    . . X . O X X
    . . X . O . O
    . . X X O O O
    . . . X X X .
"""
KINDS = {
    "no eyes": NO_EYES,
    "three shared": THREE_SHARED,
    "outside open": OUTSIDE_OPEN,
    "one eye each": ONE_EYE_EACH,
    "a row of three": A_ROW_OF_THREE,
    "dead stone in the eye": DEAD_STONE_IN_THE_EYE,
    "double ko": DOUBLE_KO,
}


def vertices(points: list[int], size: int = 9) -> set[str]:
    return {coords.to_gtp(p, size) for p in points}


@pytest.mark.parametrize("swapped", [False, True], ids=["as drawn", "colors swapped"])
@pytest.mark.parametrize("kind", KINDS)
def test_seki_is_found_and_counted(kind: str, swapped: bool) -> None:
    seki = KINDS[kind]
    text = seki.text.translate(str.maketrans("XO", "OX")) if swapped else seki.text
    sign = -1 if swapped else 1
    for rules, score in (("chinese", seki.area), ("japanese", seki.territory), ("korean", seki.territory)):
        game = Game.from_diagram(text, rules, komi=0)
        assert vertices(game.seki_stones(seki.dead.split())) == set(seki.stones.split())
        assert game.score(seki.dead.split()) == sign * score


def test_eyes_in_seki_are_owned_by_area_and_nobodys_by_territory() -> None:
    for rules, owners in (("chinese", (BLACK, WHITE)), ("japanese", (EMPTY, EMPTY))):
        game = Game.from_diagram(ONE_EYE_EACH.text, rules)
        owner = game.owners().ravel()
        assert (owner[game.point("A9")], owner[game.point("E9")]) == owners
        assert owner[game.point("C9")] == EMPTY
        assert owner[game.point("H9")] == BLACK


# Black can play C8: White's capture of the bulky five leaves one eye, which the next stone at B8 takes. White is dead.
NAKADE = """
    O X . O X . X O .
    O X . O X X X O O
    O X X O X . X O .
    O O O O X X X O O
    X X X X X X X O .
    O O O O O O O O O
    . O . O . O . O .
    O O O O O O O O O
    . . . . . . . . .
"""
# One eye against none: Black fills C9 at the end and captures.
ONE_EYE_AGAINST_NONE = """
    . X . O X X . X .
    X X X O O X X X X
    O O O X X X X X X
    O O O O O O O O O
    . O . O . O . O .
    O O O O O O O O O
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
"""
# Black's eye at A9 has two points: he fills C9, and while White throws in he takes the two stones.
LARGER_EYE = """
    . X . O . X . X O
    . X X O X X X X O
    X X O X O O O O O
    O O O X O . O . O
    O . O X O O O O O
    O O O X O O O O O
    O . O X X X X X X
    O O O X . X . X X
    X X X X X X X X X
"""
# Living groups with dame between them, some of them a chain's last liberty but one.
OPEN_DAME = """
    . X X . O O . O .
    X X . . O . O O O
    . X X O O O O . .
    X X . O . O . O .
    . X X . O O O O O
    X X . X O . O . O
    . X X X . O O O O
    X . X . X O . O .
    . X . X X . O O O
"""


# From a real game: Black's D3 E3 D2 D1 are dead. They would look like a seki if White filled the corner himself.
FILLED_CORNER = """
    . . . X O X X X X
    X X X O O O X X .
    X O X X O O O X X
    O O X . X X O O .
    O . O X X X O X .
    . O O O O X X X X
    . . O X X O O X .
    . . O X O . O X .
    . . . X . O O O X
"""


@pytest.mark.parametrize(
    "text", [NAKADE, ONE_EYE_AGAINST_NONE, LARGER_EYE, OPEN_DAME], ids=["nakade", "one eye", "larger eye", "dame"]
)
def test_what_is_no_seki(text: str) -> None:
    assert Game.from_diagram(text).seki_stones() == []
    assert Game.from_diagram(text.translate(str.maketrans("XO", "OX"))).seki_stones() == []


@pytest.mark.parametrize("swapped", [False, True], ids=["as drawn", "colors swapped"])
def test_a_seki_is_found_while_outside_dame_are_open(swapped: bool) -> None:
    text = DAME_OUTSIDE.translate(str.maketrans("XO", "OX")) if swapped else DAME_OUTSIDE
    black, white = "G5 G4 F4", "E5 F5 F6 F7 G7 E4 E3 E2 F2 G2 G3"
    for game in (Game.from_diagram(text), Game.from_diagram(text).play("D3"), Game.from_diagram(text).play("G1")):
        assert vertices(game.seki_stones(), 7) >= {*black.split(), *white.split()}
        assert not {game.point(v) for v in f"{black} {white}".split()} & set(game.dead_by_playouts(128))


@pytest.mark.parametrize("swapped", [False, True], ids=["as drawn", "colors swapped"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if not KINDS[kind].dead and kind != "double ko"])
def test_reading_proves_that_neither_side_of_a_seki_can_be_captured(kind: str, swapped: bool) -> None:
    seki = KINDS[kind]
    game = Game.from_diagram(seki.text.translate(str.maketrans("XO", "OX")) if swapped else seki.text)
    for color in (BLACK, WHITE):
        side = {p for p in map(game.point, seki.stones.split()) if game.board.ravel()[p] == color}
        assert set(game.proven_seki(side)) == side
    assert not set(game.dead_by_playouts(128)) & set(map(game.point, seki.stones.split()))


def test_playouts_keep_the_stones_in_a_double_ko() -> None:
    """They lose B9 or E9, which are in atari. Reading proves nothing of the chains: to it every ko is a capture."""
    for text in (DOUBLE_KO.text, DOUBLE_KO.text.translate(str.maketrans("XO", "OX"))):
        game = Game.from_diagram(text)
        assert game.dead_by_playouts(128) == []
        for stone in ("B9", "E9"):
            assert vertices(game.dead_or_seki([stone])) == vertices(game.proven_seki([stone])) == {stone}


def test_reading_proves_nothing_about_the_dead() -> None:
    for text, dead in (
        (NAKADE, "A9 A8 A7 A6 B6 C6 D6 D7 D8 D9"),
        (ONE_EYE_AGAINST_NONE, "D9 D8 E8"),
        (LARGER_EYE, "D9 D8"),
        (FILLED_CORNER, "D3 E3 D2 D1"),
    ):
        game = Game.from_diagram(text)
        assert game.proven_seki(dead.split()) == []
        assert vertices(game.dead_by_playouts(128)) >= set(dead.split())


def test_an_open_board_has_no_seki() -> None:
    assert Game(9).seki_stones() == []
    assert Game(19).play("D4").play("Q16").play("D16").seki_stones() == []


def test_the_dead_that_may_be_in_seki_are_named() -> None:
    game = Game.from_diagram(NO_EYES.text)
    black = "B9 B8 B7 B6 C7 C6"
    assert vertices(game.dead_or_seki(black.split())) == set(black.split())
    assert game.seki_stones(black.split()) == [], "once one side is gone the other lives"
    assert Game.from_diagram(ONE_EYE_AGAINST_NONE).dead_or_seki(["D9", "D8", "E8"]) == []


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> list[Game]:
    """The counted games that the tests ship, played to their ends."""
    archive, path = Path(__file__).parent.parent / "data" / "tygem-300.sgf.xz", tmp_path_factory.mktemp("counted")
    import_games([archive], path / "store", ImportOptions(workers=1))
    store = Store.open(path / "store")
    return [row.game() for row in (store.row(i) for i in range(len(store))) if row.score is not None]


def test_seki_is_rare_in_counted_games(counted: list[Game]) -> None:
    """Open dame of real games make no seki: few of the counted ones that the tests ship (4 of 78) have any."""
    found = [bool(game.seki_stones(game.dead_by_playouts(64))) for game in counted]
    assert len(found) > 40
    assert 0 < np.mean(found) < 0.1


@pytest.mark.parametrize("symmetry", [1, 2, 4, 7])
def test_seki_is_the_same_when_the_board_is_turned_and_the_colors_are_exchanged(
    counted: list[Game], symmetry: int
) -> None:
    differing = 0
    for game in counted:
        size, board, dead = game.size, game.board.ravel(), game.dead_by_playouts(64)

        def turned(points: list[int], size: int = size) -> list[int]:
            return sorted(_native.transform(point, size, symmetry) for point in points)

        other = Game(size)
        other.setup(*(turned(np.flatnonzero(board == 1 - color).tolist()) for color in (BLACK, WHITE)), BLACK)
        assert turned(game.seki_stones(dead)) == sorted(other.seki_stones(turned(dead)))
        found = sorted(game.dead_or_seki(dead)), turned(game.seki_stones([]))
        assert (turned(found[0]), found[1]) == (sorted(other.dead_or_seki(turned(dead))), sorted(other.seki_stones([])))
        differing += bool(found[0] or found[1])
    assert differing > 3, "hardly any game has something that looks like a seki"
