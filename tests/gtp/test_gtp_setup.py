"""Commands that set up a game: the board, komi, rules and handicap."""

from __future__ import annotations

import json

import pytest
from gtp_fakes import ask, played, session_of

from tengen.game import BLACK, WHITE, Game


def test_boardsize_begins_a_game_and_keeps_komi_and_rules() -> None:
    session = played("D4")
    ask(session, "komi 5.5")
    ask(session, "kgs-rules japanese")
    assert ask(session, "boardsize 13") == ""
    game = session.game
    assert (game.size, game.komi, game.rules.text, game.moves) == (13, 5.5, "japanese", [])


@pytest.mark.parametrize("size", ["5", "19"])
def test_the_smallest_and_the_largest_board(size: str) -> None:
    assert ask(session_of(), f"boardsize {size}") == ""


def test_komi_may_change_during_a_game() -> None:
    session = played("D4", "E5")
    assert ask(session, "komi -0.5") == "" and ask(session, "get_komi") == "-0.5"
    assert len(session.game.moves) == 2


def test_new_rules_are_checked_against_the_game() -> None:
    text = """
    . X O . .
    X O . . .
    O . . . .
    . . . . .
    . . . . .
    """
    session = session_of()
    session.game = Game.from_diagram(text, "new-zealand", to_play=BLACK)
    session.game.play("C4", color=BLACK).play("pass", color=WHITE)
    assert ask(session, "kgs-rules chinese") == ""
    assert session.game.rules.text == "chinese" and len(session.game.moves) == 2


def test_rules_that_forbid_a_move_of_the_game_are_refused() -> None:
    text = """
    . O . . .
    X O . . .
    . O . . .
    O . . . .
    . . . . .
    """
    session = session_of()
    session.game = Game.from_diagram(text, "tromp-taylor", to_play=BLACK)
    session.game.play("A5", color=BLACK).play("A3", color=BLACK)
    answer = ask(session, "kgs-rules chinese")
    assert answer.startswith("? move 2 of the game is illegal under these rules: ") and "suicide" in answer
    assert session.game.rules.text == "tromp-taylor"


def test_rules_in_katagos_form_survive_a_round_trip() -> None:
    for name in ("tromp-taylor", "chinese", "japanese", "aga", "new-zealand"):
        session = session_of()
        assert ask(session, f"kata-set-rules {name}") == ""
        text = ask(session, "kata-get-rules")
        assert set(json.loads(text)) >= {"ko", "scoring", "suicide", "tax", "hasButton", "whiteHandicapBonus"}
        other = session_of()
        ask(other, f"kata-set-rules {text}")
        assert other.game.rules == session.game.rules


def test_one_field_of_the_rules_changes() -> None:
    session = session_of()
    assert ask(session, "kata-set-rule ko SITUATIONAL") == "" and ask(session, "kata-set-rule suicide true") == ""
    assert (session.game.rules.ko, session.game.rules.suicide, session.game.rules.bonus) == ("situational", True, "n")


# Handicap.


def test_fixed_handicap_stands_where_the_protocol_says() -> None:
    session = session_of(size=19)
    assert set(ask(session, "fixed_handicap 4").split()) == {"D4", "Q16", "D16", "Q4"}
    assert session.game.to_play == WHITE and session.game.handicap == 4 and session.game.komi == 7.5


@pytest.mark.parametrize(("size", "number"), [(9, 10), (9, 1), (9, 0), (8, 5), (5, 2)])
def test_impossible_fixed_handicaps(size: int, number: int) -> None:
    assert ask(session_of(size=size), f"fixed_handicap {number}").startswith("? invalid number of stones")


def test_free_handicap_of_the_engine_and_of_the_other_side() -> None:
    session = session_of()
    vertices = ask(session, "place_free_handicap 6").split()
    assert len(vertices) == 6 and session.game.handicap == 6
    other = session_of()
    assert ask(other, "set_free_handicap " + " ".join(vertices)) == ""
    assert (other.game.board == session.game.board).all() and other.game.to_play == WHITE


@pytest.mark.parametrize("vertices", ["C3", "C3 C3", "C3 pass", "C3 Z3"])
def test_bad_vertex_lists(vertices: str) -> None:
    session = session_of()
    assert ask(session, f"set_free_handicap {vertices}").startswith("?")
    assert session.game.handicap == 0


def test_a_handicap_needs_an_empty_board_and_may_be_given_again_after_it_is_cleared() -> None:
    session = session_of()
    ask(session, "fixed_handicap 2")
    assert ask(session, "fixed_handicap 2") == "? board not empty"
    ask(session, "clear_board")
    assert session.game.handicap == 0 and not ask(session, "fixed_handicap 3").startswith("?")
