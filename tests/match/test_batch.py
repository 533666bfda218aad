"""Many games at once: a better player wins them, colours are fair, and each goes as it goes alone."""

from dataclasses import replace

import numpy as np
import pytest
from made_up import Checksum, Passer, play_alone

from tengen.engine.params import SearchParams, playout_params
from tengen.errors import RecipeError
from tengen.evaluators import UniformEvaluator
from tengen.match.batch import Opening, Terms, duel
from tengen.match.batch_player import Player
from tengen.statistics import Tally

SMALL = Terms(size=5, komi=0.5)
NOISY = SearchParams(noise_weight=0.25, memory=1 << 20)


def test_who_plays_beats_who_passes_with_both_colours() -> None:
    plays, passes = Player(Checksum(), never_pass=True), Player(Passer())
    won = duel(plays, passes, SMALL, games=6, opening=Opening(1))
    assert (won.black, won.white) == (Tally(wins=3), Tally(wins=3))
    lost = duel(passes, plays, SMALL, games=7, opening=Opening(1))
    assert (lost.black, lost.white) == (Tally(losses=4), Tally(losses=3))
    assert lost.tally == Tally(losses=7)


def test_two_who_pass_share_the_points_by_komi() -> None:
    passes = Player(Passer())
    result = duel(passes, passes, SMALL, games=4)
    assert (result.black, result.white) == (Tally(losses=2), Tally(wins=2))
    assert result.tally.score == 0.5
    assert result.lengths.tolist() == [2, 2, 2, 2]
    assert result.evaluations == 8
    even = duel(passes, passes, Terms(size=5, komi=0), games=4)
    assert even.tally == Tally(draws=4)
    assert {record.result for record in even.records} == {"Draw"}


@pytest.mark.parametrize(
    ("a", "b", "opening"),
    [
        (Player(Checksum("a")), Player(Checksum("b")), Opening(4)),
        (Player(Checksum("a"), temperature=1.0), Player(Checksum("b"), temperature=0.5), Opening()),
        (Player(Checksum("a"), NOISY, 12), Player(Checksum("b"), temperature=1.0), Opening(3, temperature=2.0)),
        (Player(Checksum("a"), visits=6), Player(Checksum("b"), NOISY, 9, temperature=1.0), Opening(2)),
        (Player(UniformEvaluator(), playout_params("local", "local"), 20), Player(Checksum("b")), Opening(2)),
    ],
    ids=["argmax", "temperatures", "search against policy", "searches", "playouts"],
)
def test_each_game_goes_as_it_goes_alone(a: Player, b: Player, opening: Opening) -> None:
    result = duel(a, b, SMALL, games=5, seed=3, opening=opening)
    alone = [play_alone((a, b), SMALL, 3, number, 5, opening) for number in range(5)]
    assert [record.points.tolist() for record in result.records] == alone
    assert len({tuple(moves) for moves in alone}) == 5


def test_neither_the_number_of_games_nor_how_many_go_at_once_changes_a_game() -> None:
    a, b = Player(Checksum("a"), temperature=1.0), Player(Checksum("b"), NOISY, 4)
    whole = duel(a, b, SMALL, games=9, seed=1, opening=Opening(2))
    parts = duel(a, b, SMALL, games=9, seed=1, opening=Opening(2), at_once=3)
    fewer = duel(a, b, SMALL, games=4, seed=1, opening=Opening(2), threads=2)
    moves = [record.moves.tolist() for record in whole.records]
    assert [record.moves.tolist() for record in parts.records] == moves
    assert [record.moves.tolist() for record in fewer.records] == moves[:4]
    assert parts.tally == whole.tally
    other = duel(a, b, SMALL, games=9, seed=2, opening=Opening(2))
    assert [record.moves.tolist() for record in other.records] != moves


def test_the_games_of_a_pair_open_alike_and_pairs_differ() -> None:
    result = duel(Player(Checksum("a")), Player(Checksum("b")), SMALL, games=8, opening=Opening(3))
    starts = [tuple(record.points[:3].tolist()) for record in result.records]
    assert starts[::2] == starts[1::2]
    assert len(set(starts)) == 4
    assert not any(25 in start for start in starts)


@pytest.mark.parametrize("as_it_stands", [False, True])
def test_records_replay_and_count_as_they_say(as_it_stands: bool) -> None:
    players = [Player(Checksum(key, passing=0.1), temperature=1.0) for key in "ab"]
    result = duel(*players, replace(SMALL, as_it_stands=as_it_stands), games=40, seed=5)
    endings = set()
    for record in result.records:
        game = record.game()
        by_rule = game.is_over or len(record.moves) == 50
        endings.add(by_rule)
        assert by_rule or 2 not in game.pass_alive()
        dead = [] if as_it_stands else game.pass_dead()
        owners = (game.owners(dead) if by_rule else game.pass_alive()).ravel()
        assert record.score == np.sum(owners == 0) - np.sum(owners == 1) - 0.5
        assert record.winner == (0 if record.score > 0 else 1)
        np.testing.assert_array_equal(record.ownership, owners)
    assert endings == {True, False}
    assert result.tally.wins == sum(record.winner == i % 2 for i, record in enumerate(result.records))


def test_the_limit_of_moves_ends_a_game() -> None:
    result = duel(Player(Checksum("a", 0)), Player(Checksum("b", 0)), Terms(5, komi=0.5, most_moves=7), games=2)
    assert result.lengths.tolist() == [7, 7]
    assert all(record.score == record.game().score() for record in result.records)


def test_who_never_passes_plays_on_until_nothing_is_left() -> None:
    eager, lazy = Player(Checksum("a", passing=5.0), never_pass=True), Player(Checksum("b", passing=5.0))
    result = duel(eager, lazy, SMALL, games=2)
    assert result.tally == Tally(wins=2)
    searching = duel(Player(Checksum("a", passing=5.0), visits=4, never_pass=True), lazy, SMALL, games=2)
    assert searching.tally == Tally(wins=2)
    for record in [*result.records, *searching.records]:
        mine = record.points[record.points < 25]
        assert len(mine) >= 5


@pytest.mark.parametrize("visits", [1, 4])
def test_where_the_board_counts_as_it_stands_dead_stones_are_taken(visits: int) -> None:
    players = [Player(Checksum(key), visits=visits, never_pass=True) for key in "ab"]
    terms = replace(SMALL, settle=False, most_moves=200)
    left = {}
    for as_it_stands in (False, True):
        result = duel(*players, replace(terms, as_it_stands=as_it_stands), games=20, seed=3, opening=Opening(6))
        passed_out = [record.game() for record in result.records if record.game().is_over]
        left[as_it_stands] = sum(bool(game.pass_dead()) for game in passed_out)
        assert len(passed_out) > 10
    assert left[False] > 0
    assert left[True] == 0


@pytest.mark.parametrize(
    "wrong", [{"games": 0}, {"seed": -1}, {"at_once": 0}, {"opening": Opening(-1)}], ids=lambda wrong: next(iter(wrong))
)
def test_numbers_that_cannot_work_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"-1|\b0"):
        duel(Player(Passer()), Player(Passer()), SMALL, **{"games": 2, **wrong})  # type: ignore[arg-type]


def test_players_and_terms_that_cannot_work_are_refused() -> None:
    with pytest.raises(ValueError, match="no raw policy"):
        Player(UniformEvaluator(), playout_params("local", "local"), 1)
    with pytest.raises(ValueError, match="0 visits"):
        Player(Passer(), visits=0)
    with pytest.raises(ValueError, match="temperature -1"):
        Player(Passer(), temperature=-1)
    with pytest.raises(RecipeError, match="size"):
        duel(Player(Passer()), Player(Passer()), Terms(size=4), games=2)
