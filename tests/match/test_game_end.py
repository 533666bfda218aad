"""How a game of computers is counted: as the searches that play it believe it is."""

from __future__ import annotations

import numpy as np
import pytest
from checksum import Checksum

from tengen.engine.params import SearchParams
from tengen.engine.search import TreeSearch
from tengen.game import BLACK, Game
from tengen.match.game_end import ending_of

# Black lives with two eyes, and a White stone stands in what his wall encloses; the right side is White's.
DEAD_INSIDE = """
. X . X O
X X X X O
. O X O O
X X X O .
X . X O O
"""


def ended(rules: str = "tromp-taylor", komi: float = 0.5) -> Game:
    return Game.from_diagram(DEAD_INSIDE.strip(), rules, komi=komi).play("pass").play("pass")


def test_a_stone_in_the_opponents_pass_alive_territory_is_dead() -> None:
    game = ended()
    assert game.pass_dead() == [game.point("B3")]
    counted = ending_of(game._native, settle=False)
    standing = ending_of(game._native, settle=False, as_it_stands=True)
    assert counted is not None and standing is not None and counted.owners is not None
    assert (counted.score, standing.score) == (17 - 8 - 0.5, 15 - 9 - 0.5)  # A3 touches both while B3 stands
    assert counted.owners[game.point("B3")] == BLACK
    assert np.isclose(counted.score, game.score(game.pass_dead()))


@pytest.mark.parametrize("komi", [7.5, 8.5])
def test_the_search_that_passes_and_the_count_agree(komi: float) -> None:
    """At komi 7.5 Black wins by the dead stone, at 8.5 he wins by half a point; as it stands White would."""
    game = Game.from_diagram(DEAD_INSIDE.strip(), "tromp-taylor", komi=komi).play("pass")
    search = TreeSearch(Checksum(), SearchParams(score_weight=0.0), 1)
    search.set_root(game, allow=[game.size**2])
    search.run(20)
    ending = ending_of(game.copy().play("pass")._native, settle=False)
    assert ending is not None and ending.score is not None
    assert ending.winner == BLACK
    assert search.stats().value[0] == (1 if game.to_play == BLACK else -1)
