"""Positions that rules were written for, as diagrams with the answer of each named rule set.

What each rule set is here, and so what it answers, is in the table of `tengen.rules`:

- `tromp-taylor`: positional superko, area, suicide of two or more stones.
- `ing`: the same, but dead stones are agreed on.
- `chinese-ogs`: positional superko, area, no suicide.
- `new-zealand`: situational superko, area, suicide of two or more stones.
- `aga`: situational superko, area, no suicide. (`aga-button` adds the button; test_button_and_tax.py has it.)
- `chinese`: simple ko, area, no suicide; a long cycle is no result, as in play without a referee.
- `stone-scoring`: the same, two points less for each group.
- `japanese`, `korean`: simple ko, territory, no suicide; a long cycle is no result.
- `ancient-territory`: the same, two points less for each group.

Rules say what is legal and how a count goes; which stones are dead is said by the players, a count or playouts. Where
rule sets publish other answers from that (bent four), the test gives the dead stones that they name.
"""

from __future__ import annotations

import pytest
from known_positions import TRIPLE_KO, TRIPLE_KO_CYCLE

from tengen import coords
from tengen.errors import IllegalMove
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.rules import RULE_NAMES, Rules

# Simple ko: repetition is allowed and ends the game.
NO_RESULT = ("chinese", "japanese", "korean", "stone-scoring", "ancient-territory")
POSITIONAL = ("tromp-taylor", "chinese-ogs", "ing")
SITUATIONAL = ("aga", "new-zealand")
NAMES = (*NO_RESULT, *POSITIONAL, *SITUATIONAL)
SUICIDE = ("tromp-taylor", "new-zealand", "ing")
GROUP_TAX = ("stone-scoring", "ancient-territory")


def play(game: Game, moves: str) -> Game:
    for vertex in moves.split():
        game.play(vertex)
    return game


def refused(game: Game, vertex: str) -> str:
    """Why the next move is illegal; fails if it is not."""
    with pytest.raises(IllegalMove) as error:
        game.play(vertex)
    return str(error.value).rpartition(": ")[2]


def test_every_named_rule_set_is_meant() -> None:
    assert set(RULE_NAMES) == {*NAMES, "aga-button"}


@pytest.mark.parametrize("rules", NAMES)
def test_triple_ko(rules: str) -> None:
    """Simple ko: no result once the position has come a third time. Superko: the move that restores it is illegal."""
    game = Game.from_diagram(TRIPLE_KO, rules)
    if rules in NO_RESULT:
        play(game, " ".join(TRIPLE_KO_CYCLE))
        assert not game.is_over, "the second time is allowed"
        play(game, " ".join(TRIPLE_KO_CYCLE))
        assert (game.ending, game.result(), game.is_no_result) == ("long cycle", "Void", True)
    else:
        play(game, " ".join(TRIPLE_KO_CYCLE[:-1]))
        assert refused(game, "B2") == "superko"
        assert not game.is_over


# White throws in at A5 and gives up two stones; Black's capture at C5 takes them, and White takes one back.
SEND_TWO_RETURN_ONE = """
    . O . O .
    X X O O .
    . X X O .
    . . X O O
    . . X . .
"""


@pytest.mark.parametrize("rules", NAMES)
def test_sending_two_returning_one(rules: str) -> None:
    """The board is as it was, with the other side to play.

    Positional superko forbids the recapture at once. Situational superko allows it, and forbids White the next sending,
    which would bring a board with the same side to play. Under simple ko the cycle has three moves and a pass, and a
    pass begins the count of a long cycle anew: Black's second pass with these stones ends the game. It is counted:
    each round has cost White two stones for one.
    """
    game = play(Game.from_diagram(SEND_TWO_RETURN_ONE, rules, to_play=WHITE), "A5 C5")
    assert game.captures == (2, 0)
    if rules in POSITIONAL:
        assert refused(game, "B5") == "superko"
        return
    play(game, "B5 pass")
    assert game.captures == (2, 1)
    if rules in SITUATIONAL:
        assert refused(game, "A5") == "superko"
    else:
        play(game, "A5 C5 B5")
        assert not game.is_over
        game.play("pass")
        assert (game.captures, game.passes, game.ending) == ((4, 2), 1, "passes")


# Black's five stones in the corner have the liberties A5 and B5.
SNAPBACK = """
    . . X O .
    X X X O .
    O O O O .
    . . . . .
    . . . . .
"""


@pytest.mark.parametrize("rules", NAMES)
def test_snapback(rules: str) -> None:
    """White throws in, is captured, and takes five stones: no ko under any rules, since the board is a new one."""
    game = play(Game.from_diagram(SNAPBACK, rules, to_play=WHITE), "B5 A5")
    assert (game.captures, game.ko, game.superko_bans()) == ((1, 0), None, [])
    assert game.play("B5").captures == (1, 5)


TWO_STONES = """
    . O X . .
    X X . . .
    . . . . .
    . . . . .
    . . . . .
"""


@pytest.mark.parametrize("rules", NAMES)
def test_suicide_of_two_stones(rules: str) -> None:
    """Legal where the rules have it; the stones then count for the other side."""
    game = Game.from_diagram(TWO_STONES, rules, to_play=WHITE)
    if rules in SUICIDE:
        game.play("A5")
        assert (game.captures, game.board[0, 0], game.board[0, 1]) == ((2, 0), EMPTY, EMPTY)
        assert game.to_play == BLACK
    else:
        assert refused(game, "A5") == "suicide"


@pytest.mark.parametrize("rules", NAMES)
def test_suicide_of_one_stone(rules: str) -> None:
    """It changes nothing on the board, so it would be a pass that repeats; never legal."""
    assert refused(Game.from_diagram(TWO_STONES.replace(". O X", ". X ."), rules, to_play=WHITE), "A5") == "suicide"


KO = """
    . X O . .
    X . X O .
    . X O . .
    . . . . .
    . . . . .
"""


@pytest.mark.parametrize("rules", NAMES)
def test_ko_and_its_threats(rules: str) -> None:
    """The ko may not be retaken at once; after a threat and its answer the board is a new one, under superko too.

    Two passes are no threat under superko: the retake would restore the board, with the same side to play even.
    """
    game = Game.from_diagram(KO, rules, to_play=WHITE).play("B4")
    assert (game.captures, refused(game, "C4")) == ((0, 1), "ko")
    assert play(game.copy(), "E1 A1 C4").captures == (1, 1)
    passed = play(game.copy(), "pass pass")
    assert passed.is_over
    if rules in NO_RESULT:
        assert passed.play("C4").captures == (1, 1)
    else:
        assert refused(passed, "C4") == "superko"


# The molasses ko (M. Hall, British Go Journal; senseis.xmp.net/?MolassesKo). Black to play. White's group at the left
# has the eye E5 E4, Black's at the right the liberties E1 and F2. Black throws in, White takes a ko, Black takes two
# stones, White takes the other ko: now the parts are exchanged and Black may play one move elsewhere.
MOLASSES = """
    . X . X X O . O .
    X X X X X O O O O
    X X X X X O O O O
    X X X O O X X O O
    X X X O . O X O O
    X X X O . O X O O
    X X X O O X X O O
    X X O O X . X O O
    . X O X . X X O .
"""


@pytest.mark.parametrize("rules", NAMES)
def test_molasses_ko(rules: str) -> None:
    """Nobody can leave it: each turn elsewhere costs both sides four moves here.

    With a pass for the move elsewhere the eighth move, D1, restores the board with the other side to play. Positional
    superko forbids it; situational superko forbids the next throw-in, after a pass of White's. Under simple ko it goes
    on, and since each round has passes it is no long cycle of moves.
    """
    game = play(Game.from_diagram(MOLASSES, rules), "E5 E1 E4 F2")
    assert game.captures == (2, 2)
    assert refused(game, "E2") == "ko"
    assert play(game.copy(), "A1 F5 E2 F4 D1 J1").is_legal("E5"), "a move elsewhere makes the board a new one"
    play(game, "pass F5 E2 F4")
    if rules in POSITIONAL:
        assert refused(game, "D1") == "superko"
        return
    play(game, "D1 pass")
    if rules in SITUATIONAL:
        assert refused(game, "E5") == "superko"
    else:
        play(game, "E5 E1 E4 F2")
        assert not game.is_over
        assert game.play("pass").ending == "passes"


# White's group at the lower left holds a black nakade; Black may fill A3 or C1 when he likes and come out with a ko.
BENT_FOUR = """
    . O . O . O . O .
    O O O O O O O O O
    X X X X X X X X X
    X . X . X . X X X
    X X X X X X X X X
    O O X X X X X X X
    . O X X X X X X X
    X O O O X X X X X
    X X . O X X X X X
"""


@pytest.mark.parametrize("rules", NAMES)
def test_bent_four_in_the_corner(rules: str) -> None:
    """The Japanese and Korean rules say that White's stones are dead as they stand; by the others it is played out.

    As it stands neither side is taken off: it counts like a seki. With the white stones named dead, or once they have
    been taken, Black has the corner. Area: Black 54 and White 25 points, or 63 and 18. Territory: 3 and 5, or 19 and 5.
    """
    game = Game.from_diagram(BENT_FOUR, rules, komi=0)
    area = Rules.parse(rules).scoring == "area"
    assert game.score() == (29 if area else 3 - 5)
    assert game.score(["B2"]) == (45 if area else 19 - 5)
    white = {coords.to_gtp(p, 9) for p in game.seki_stones()}
    assert white == {"A4", "B4", "B3", "B2", "C2", "D2", "D1", "A2", "A1", "B1"}
    assert game.seki_stones(["B2"]) == []
    play(game, "A3 C1")
    assert game.captures == (0, 4)
    play(game, "A2 A1 B1")
    assert refused(game, "A1") == "ko", "White needs the first threat"


# White's three stones have no eye, Black's four have A9; C9 is shared.
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


@pytest.mark.parametrize("rules", NAMES)
def test_one_eye_against_none(rules: str) -> None:
    """The side with the eye wins: it is no seki, and Black can take the three stones whenever he likes.

    Where dead stones are agreed he need not. Tromp and Taylor count what stands, so there he must: until then the three
    are White's points and C9 is nobody's.
    """
    game = Game.from_diagram(ONE_EYE_AGAINST_NONE, rules, komi=0)
    assert game.seki_stones() == []
    before, agreed = game.score(), game.score(["D9"])
    taken = game.copy().play("C9")
    assert taken.captures == (3, 0)
    # Area: White's three points and C9 become Black's four. Territory: three prisoners and four points for Black, of
    # which he fills one if he takes them. Of a group's points the ancient rules take two: first of the group at the
    # right, and the only one of the group at the left; then of both together.
    assert agreed - before == 3 + 4 + (2 + 1 - 2 if rules in GROUP_TAX else 0)
    assert taken.score() - agreed == (0 if Rules.parse(rules).scoring == "area" else -1)


# Two kos, one held by each side; both sides live. Black to play.
DOUBLE_KO = """
    . X O . . . . . .
    X O . O . . . . .
    . X O . . . . . .
    . X O . . . . . .
    X . X O . . . . .
    . X O . . . . . .
    . X O . . . . . .
    . X O . . . . . .
    . X O . . . . . .
"""


@pytest.mark.parametrize("rules", NAMES)
def test_double_ko(rules: str) -> None:
    """Whoever takes one ko loses the other, and what he took from cannot be retaken at once: it stops by itself.

    That is why a group whose eye needs both kos is dead (double-ko death): its attacker always has the answer. With a
    pass for a threat the fourth capture, Black's at C5, comes back to the board of the start: positional
    superko forbids that, situational superko the next round, and simple ko neither: there Black's second pass with
    these stones ends the game.
    """
    game = play(Game.from_diagram(DOUBLE_KO, rules), "C8 B5")
    assert game.captures == (1, 1)
    assert refused(game, "C5") == "ko"
    play(game, "pass B8")
    if rules in POSITIONAL:
        assert refused(game, "C5") == "superko"
        return
    play(game, "C5 pass")
    assert (game.captures, game.is_over) == ((2, 2), False)
    if rules in NO_RESULT:
        play(game, "C8 B5")
        assert not game.is_over
        assert game.play("pass").ending == "passes"
    else:
        assert refused(game, "C8") == "superko"
