"""Openings: the same for both games of a pair, drawn by a seed or from a list that fits the board."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from match.test_game import Scripted

from tengen.errors import TengenError
from tengen.game import Game
from tengen.match.conditions import Conditions
from tengen.match.openings import Listed, open_openings
from tengen.match.player import Player
from tengen.sgf import write_game

NOBODY: list[Player] = []


def drawn(conditions: Conditions, players: list[Player], number: int = 0) -> list[int]:
    return open_openings(conditions).moves(number, players)


def test_the_opening_is_shared_by_a_pair_and_varies_between_pairs() -> None:
    conditions = Conditions(size=9, opening=4, seed=3)
    openings = [drawn(conditions, [Scripted([])], number) for number in range(20)]
    assert openings == [drawn(conditions, [Scripted([])], number) for number in range(20)]
    assert len({tuple(moves) for moves in openings}) > 15
    rows, cols = np.divmod([p for moves in openings for p in moves], 9)
    assert min(rows.min(), cols.min()) >= 2 and max(rows.max(), cols.max()) <= 6


def test_the_opening_follows_a_policy_where_there_is_one() -> None:
    players: list[Player] = [Scripted([]), Scripted([], weights={12: 1.0, 7: 1.0})]
    assert set(drawn(Conditions(size=5, opening=2), players)) == {7, 12}
    assert set(drawn(Conditions(size=5, opening=2, openings="random", seed=4), players)) != {7, 12}
    assert len(drawn(Conditions(size=5), players)) == 4


def test_a_network_may_open_for_all() -> None:
    conditions = Conditions(size=9, openings="policy:default")
    players: list[Player] = [Scripted([], weights={12: 1.0, 7: 1.0})]
    assert drawn(conditions, players) == drawn(conditions, NOBODY)
    with pytest.raises(TengenError, match="no-such-network"):
        open_openings(Conditions(openings="policy:no-such-network"))


def test_a_list_is_dealt_in_a_seeded_order_and_comes_again(tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_text("# of a tournament\nD4 Q16 Q4\n\nQ16 D4  # two\nK10\nd4 q16 q4\n")
    dealt = {}
    for seed in range(8):
        openings = open_openings(Conditions(openings=str(path), seed=seed))
        assert isinstance(openings, Listed) and len(openings) == 3
        dealt[seed] = [openings.moves(number, NOBODY) for number in range(6)]
        assert dealt[seed][:3] == dealt[seed][3:]
    game = Game(19)
    expected = [[game.point(word) for word in line.split()] for line in ("D4 Q16 Q4", "Q16 D4", "K10")]
    assert all(sorted(moves[:3]) == sorted(expected) for moves in dealt.values())
    assert len({str(moves) for moves in dealt.values()}) > 1
    shorter = open_openings(Conditions(openings=str(path), opening=1))
    assert sorted(shorter.moves(number, NOBODY)[0] for number in range(3)) == sorted(line[0] for line in expected)


def test_a_folder_of_records_is_a_list(tmp_path: Path) -> None:
    for i, line in enumerate(["C3 G7 G3", "E5 C7"]):
        game = Game(9)
        for word in line.split():
            game.play(word)
        (tmp_path / f"{i}.sgf").write_bytes(write_game(game))
    openings = open_openings(Conditions(size=9, openings=str(tmp_path)))
    assert {len(openings.moves(number, NOBODY)) for number in (0, 1)} == {2, 3}
    both = tmp_path / "both.sgf"
    both.write_bytes((tmp_path / "0.sgf").read_bytes() + (tmp_path / "1.sgf").read_bytes())
    assert open_openings(Conditions(size=9, openings=str(both))).moves(0, NOBODY)
    with pytest.raises(TengenError, match=r"game 1 is of 9x9, the match of 13x13"):
        open_openings(Conditions(size=13, openings=str(tmp_path)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("D4 Q16\nD4 D4\n", "line 2: move 2, White D4, is illegal: occupied"),
        ("D4 Z9\n", "line 1: 'Z9' is not a vertex"),
        ("pass pass\n", "line 1: the game ends in its opening"),
        ("# nothing\n", "holds no opening"),
    ],
)
def test_an_opening_that_cannot_be_is_named(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_text(text)
    with pytest.raises(TengenError, match=says):
        open_openings(Conditions(openings=str(path)))


def test_a_record_with_handicap_is_no_opening(tmp_path: Path) -> None:
    path = tmp_path / "handicap.sgf"
    game = Game(19)
    game.place_handicap(2)
    path.write_bytes(write_game(game.play("K10")))
    with pytest.raises(TengenError, match="handicap stones"):
        open_openings(Conditions(openings=str(path)))


def test_a_list_that_is_not_there() -> None:
    with pytest.raises(TengenError, match=r"'nowhere.txt' are not there: give policy"):
        open_openings(Conditions(openings="nowhere.txt"))
