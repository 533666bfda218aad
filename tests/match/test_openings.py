"""Openings: the same for both games of a pair, drawn by a seed or from a list that fits the board."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from match.test_game import Scripted

from tengen.errors import TengenError
from tengen.game import Game
from tengen.match.conditions import Conditions
from tengen.match.openings import GamePair, Listed, Openings, open_openings
from tengen.match.player import Player
from tengen.match.players import open_player
from tengen.sgf import write_game

NO_POLICY = (Scripted([]), Scripted([]))


def openings_of(conditions: Conditions) -> Openings:
    return open_openings(conditions, open_player)


def drawn(conditions: Conditions, players: Sequence[Player], number: int = 0) -> list[int]:
    return openings_of(conditions).moves([GamePair(number, (players[0], players[-1]))])[0]


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


def test_openings_of_a_network() -> None:
    conditions = Conditions(size=9, openings="policy:default")
    players: list[Player] = [Scripted([], weights={12: 1.0, 7: 1.0})]
    assert drawn(conditions, players) == drawn(conditions, NO_POLICY)
    with pytest.raises(TengenError, match="no-such-network"):
        openings_of(Conditions(openings="policy:no-such-network"))


def test_a_list_is_dealt_in_a_seeded_order_and_comes_again(tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_text("# of a tournament\nD4 Q16 Q4\n\nQ16 D4  # two\nK10\nd4 q16 q4\n")
    dealt = {}
    for seed in range(8):
        openings = openings_of(Conditions(openings=str(path), seed=seed))
        assert isinstance(openings, Listed) and len(openings) == 3
        dealt[seed] = [openings.moves([GamePair(number, NO_POLICY)])[0] for number in range(6)]
        assert dealt[seed][:3] == dealt[seed][3:]
    game = Game(19)
    expected = [[game.point(word) for word in line.split()] for line in ("D4 Q16 Q4", "Q16 D4", "K10")]
    assert all(sorted(moves[:3]) == sorted(expected) for moves in dealt.values())
    assert len({str(moves) for moves in dealt.values()}) > 1
    shorter = openings_of(Conditions(openings=str(path), opening=1))
    assert sorted(shorter.moves([GamePair(number, NO_POLICY)])[0][0] for number in range(3)) == sorted(
        line[0] for line in expected
    )


def test_a_folder_of_records_is_a_list(tmp_path: Path) -> None:
    for i, line in enumerate(["C3 G7 G3", "E5 C7"]):
        game = Game(9)
        for word in line.split():
            game.play(word)
        (tmp_path / f"{i}.{('sgf', 'SGFS')[i]}").write_bytes(write_game(game))
    openings = openings_of(Conditions(size=9, openings=str(tmp_path)))
    assert {len(openings.moves([GamePair(number, NO_POLICY)])[0]) for number in (0, 1)} == {2, 3}
    both = tmp_path / "both.sgf"
    both.write_bytes((tmp_path / "0.sgf").read_bytes() + (tmp_path / "1.SGFS").read_bytes())
    assert openings_of(Conditions(size=9, openings=str(both))).moves([GamePair(0, NO_POLICY)])[0]
    with pytest.raises(TengenError, match=r"game 1 is of 9x9, the match of 13x13"):
        openings_of(Conditions(size=13, openings=str(tmp_path)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("D4 Q16\nD4 D4\n", "line 2: move 2, White D4, is illegal: occupied"),
        ("D4 Z9\n", "line 1: 'Z9' is not a vertex"),
        ("pass pass\n", "line 1: the game ends in its opening"),
        ("# nothing\n", "holds no opening"),
    ],
)
def test_bad_openings_are_named(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_text(text)
    with pytest.raises(TengenError, match=says):
        openings_of(Conditions(openings=str(path)))


def test_a_file_of_game_records_of_katago_is_a_list(tmp_path: Path) -> None:
    (tmp_path / "a.SGFS").write_bytes(b"(;SZ[9];B[aa];W[bb])\n(;SZ[9];B[cc];W[dd])\n")
    assert len(Listed(Conditions(size=9, openings=str(tmp_path / "a.SGFS"), opening=2))) == 2


def test_a_record_with_handicap_is_no_opening(tmp_path: Path) -> None:
    path = tmp_path / "handicap.sgf"
    game = Game(19)
    game.place_handicap(2)
    path.write_bytes(write_game(game.play("K10")))
    with pytest.raises(TengenError, match="handicap stones"):
        openings_of(Conditions(openings=str(path)))


def test_a_record_with_the_handicap_of_the_match_is_an_opening(tmp_path: Path) -> None:
    path = tmp_path / "handicap.sgf"
    game = Game(9)
    game.place_handicap(2)
    path.write_bytes(write_game(game.play("E5").play("D4")))
    conditions = Conditions(size=9, handicap=2, openings=str(path))
    assert drawn(conditions, NO_POLICY) == [game.point("E5"), game.point("D4")]
    for other in (3, None):
        with pytest.raises(TengenError, match=r"has (other )?handicap stones or moves out of turn"):
            openings_of(conditions.model_copy(update={"handicap": other}))


def test_openings_of_handicap_games_begin_with_white() -> None:
    first, second = (Scripted([], weights={point: 1.0, 24 - point: 1.0}) for point in (7, 9))
    conditions = Conditions(size=5, openings="players", opening=2, handicap=2)
    found = openings_of(conditions).moves([GamePair(number, (first, second)) for number in range(8)])
    assert {(white in (9, 15), black in (7, 17)) for white, black in found[::2]} == {(True, True)}
    assert {(white in (7, 17), black in (9, 15)) for white, black in found[1::2]} == {(True, True)}


def test_a_missing_list() -> None:
    with pytest.raises(TengenError, match=r"'nowhere.txt' do not exist: give policy"):
        openings_of(Conditions(openings="nowhere.txt"))


def test_players_open_in_turn() -> None:
    """Black's moves are the first player's in even rounds and the second one's in odd ones."""
    first, second = (Scripted([], weights={point: 1.0, 24 - point: 1.0}) for point in (6, 8))
    conditions = Conditions(size=5, openings="players", opening=2)
    pairs = [GamePair(number, (first, second)) for number in range(8)]
    found = openings_of(conditions).moves(pairs)
    assert {(black in (6, 18), white in (8, 16)) for black, white in found[::2]} == {(True, True)}
    assert {(black in (8, 16), white in (6, 18)) for black, white in found[1::2]} == {(True, True)}
    assert found == [openings_of(conditions).moves([pair])[0] for pair in pairs], "one at a time they are the same"


def test_the_temperature_of_an_opening_sharpens_or_flattens_the_policy() -> None:
    player = Scripted([], weights={6: 0.8, 8: 0.2})
    share = {}
    for temperature in (0.5, 1.0, 2.0):
        conditions = Conditions(size=5, opening=1, opening_temperature=temperature)
        found = openings_of(conditions).moves([GamePair(number, (player, player)) for number in range(1000)])
        share[temperature] = sum(move == [6] for move in found) / 1000
    # 0.8 ** (1 / t) / (0.8 ** (1 / t) + 0.2 ** (1 / t)), within four standard deviations.
    for temperature, expected in ((0.5, 0.941), (1.0, 0.8), (2.0, 0.667)):
        assert abs(share[temperature] - expected) < 0.06
