"""A position that is searched in place of a game counts for as much as the game that it comes from."""

from __future__ import annotations

import time

import pytest

from tengen.engine.positions import resumed, without_history
from tengen.game import BLACK, Game


def played(rules: str, moves: str) -> Game:
    game = Game(9, rules, 6.5)
    for vertex in moves.split():
        game.play(vertex)
    return game


@pytest.mark.parametrize("rules", ["chinese", "aga", "tromp-taylor"])
def test_the_bonus_for_a_handicap_is_what_it_was(rules: str) -> None:
    given = Game(9, rules, 0.5)
    given.place_handicap(3)
    assert given.restarted_here(BLACK).score() == given.score()


@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_prisoners_count_for_what_they_did(rules: str) -> None:
    game = played(rules, "A2 A1 B1 J9 H9 J8 J7 J6 H8")
    assert game.captures == (3, 0)
    assert game.restarted_here(game.to_play).score() == game.score()


def test_a_position_without_history_keeps_what_the_history_forbids() -> None:
    game = played("chinese", "B1 C1 A2 D2 B3 C3 C2")
    bare = without_history(game)
    assert (bare.moves, bare.to_play, bare.board.tolist()) == ([], game.to_play, game.board.tolist())
    taken = game.play("B2")
    assert taken.ko is not None and without_history(taken) is taken
    cycle = Game.from_diagram("XOOXX\nXXO.O\nXOOOO\nX.O.X\nXXXOO", "tromp-taylor", 0.5)
    for vertex in ("D2", "D1", "E1", "D1", "E2"):
        cycle.play(vertex)
    assert cycle.ko is None and cycle.superko_bans() and without_history(cycle) is cycle


def test_a_position_without_moves_counts_black_s_next_move_among_the_handicap() -> None:
    """KataGo does so in its search, and the game does so once the move is played."""
    game = Game(9, "chinese", 0.5)
    game.setup(black=[40], white=[], to_play=BLACK)
    searched = without_history(game)
    searched.play("C3")
    assert (searched.handicap, searched.score()) == (2, 81 - 0.5 - 2)


@pytest.mark.parametrize("rules", ["chinese", "aga"])
def test_stones_of_one_color_alone_are_no_handicap_when_there_was_none(rules: str) -> None:
    game = played(rules, "A2 pass B1 pass")
    twin = game.restarted_here(BLACK)
    assert twin.score() == game.score()
    assert twin.play("E5").score() == game.play("E5").score()


@pytest.mark.parametrize("passes", [2, 3, 4])
def test_a_game_that_goes_on_after_passes_keeps_prisoners_and_history(passes: int) -> None:
    game = played("japanese", "A2 A1 B1 J9 J1 H9 G1" + passes * " pass")
    going_on = resumed(game)
    assert not going_on.is_over
    assert (going_on.to_play, going_on.captures, going_on.score()) == (game.to_play, (1, 0), game.score())
    assert going_on.moves == game.moves[: len(going_on.moves)]
    assert game.passes == passes  # the game itself stays as it is


def test_passes_are_taken_back_in_a_time_that_grows_with_their_number() -> None:
    """Each was a replay of the game: 20,000 took seconds."""
    game = Game(7)
    for _ in range(20_000):
        game.play("pass")
    begun = time.process_time()
    assert resumed(game).moves == []
    assert time.process_time() - begun < 1


def test_a_game_that_goes_on_after_a_resignation_keeps_its_moves() -> None:
    game = played("japanese", "A2 A1 B1").resign()
    assert not resumed(game).is_over
    assert resumed(game).moves == game.moves


def test_a_game_that_its_limit_of_moves_has_ended_goes_on_with_its_moves() -> None:
    game = played("chinese", "A2 A1").limit_moves(2)
    assert not resumed(game).is_over
    assert (resumed(game).moves, resumed(game).to_play, game.is_over) == (game.moves, BLACK, True)


def test_a_long_cycle_goes_on_from_its_stones() -> None:
    game = Game.from_diagram("XOOXX\nXXO.O\nXOOOO\nX.O.X\nXXXOO", "japanese", 0.5)
    for vertex in 2 * ["D2", "D1", "E1", "D1", "E2", "E1"]:
        game.play(vertex)
    assert game.ending == "long cycle"
    going_on = resumed(game)
    assert not going_on.is_over
    assert (going_on.to_play, going_on.board.tolist()) == (game.to_play, game.board.tolist())


@pytest.mark.parametrize("rules", ["japanese", "chinese", "tromp-taylor"])
def test_passes_lift_a_ko_but_not_superko(rules: str) -> None:
    game = played(rules, "B3 B2 A2 D2 B1 C3 pass C1 C2")
    assert game.ko == game.point("B2")
    game.play("pass").play("pass")
    going_on = resumed(game)
    assert not going_on.is_over and going_on.to_play == game.to_play
    assert going_on.is_legal("B2") == game.is_legal("B2") == (rules != "tromp-taylor")
    assert going_on.score() == game.score()


def test_after_passes_out_of_turn_the_same_side_is_to_play() -> None:
    game = played("chinese", "A2 A1").play("pass", BLACK).play("pass", BLACK)
    assert (resumed(game).to_play, resumed(game).is_over) == (game.to_play, False)
