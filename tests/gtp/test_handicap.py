"""Commands that place handicap stones."""

from __future__ import annotations

import pytest
from gtp_fakes import ask, session_of

from tengen.game import WHITE


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
