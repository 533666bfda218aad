"""Commands that set up a game: board size, komi and stones."""

from __future__ import annotations

from pathlib import Path

import pytest
from gtp_fakes import ask, played, session_of

from tengen import coords
from tengen.game import BLACK, WHITE


def test_boardsize_begins_a_game_and_keeps_komi_and_rules() -> None:
    session = played("D4")
    ask(session, "komi 5.5")
    ask(session, "kgs-rules japanese")
    assert ask(session, "boardsize 13") == ""
    game = session.game
    assert (game.size, game.komi, game.rules.text, game.moves) == (13, 5.5, "japanese", [])


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_smallest_boards_can_be_played_and_counted(size: int) -> None:
    session = session_of()
    assert ask(session, f"boardsize {size}") == ""
    assert ask(session, "play b A1") == "" and ask(session, f"play w {'ABCD'[size - 1]}{size}") == ""
    assert ask(session, "genmove b").split()[0] in {coords.to_gtp(p, size) for p in range(size * size + 1)} | {"resign"}
    assert ask(session, "final_score")[0] in "BW0"


@pytest.mark.parametrize("words", ["boardsize 13 13", "boardsize 13:13", "rectangular_boardsize 13 13"])
def test_a_square_board_may_be_named_by_columns_and_rows(words: str) -> None:
    session = session_of()
    assert ask(session, words) == "" and session.game.size == 13


def test_a_rectangular_board_is_refused_with_the_reason() -> None:
    assert ask(session_of(), "rectangular_boardsize 13 9") == (
        "? unacceptable size: boards are square, 13 columns and 9 rows are not"
    )


def test_a_forced_komi_stays(tmp_path: Path) -> None:
    session, record = session_of(force_komi=True), tmp_path / "game.sgf"
    record.write_bytes(b"(;SZ[9]KM[0.5];B[ee])")
    for command in ("komi 6", f"loadsgf {record}", "boardsize 13"):
        assert ask(session, command) == "" and ask(session, "get_komi") == "7.5"
    assert ask(session, "komi 6.25").startswith("? unacceptable komi")


def test_a_size_that_the_network_cannot_play_is_refused(tmp_path: Path) -> None:
    session, record = session_of(size=19), tmp_path / "game.sgf"
    record.write_bytes(b"(;SZ[9];B[ee])")
    session.engine.evaluator.only_size = 19  # type: ignore[attr-defined]
    assert ask(session, "boardsize 9").startswith("? unacceptable size: network uniform takes 19x19 boards alone")
    assert "19x19 boards alone" in ask(session, f"loadsgf {record}") and session.game.size == 19
    assert ask(session, "boardsize 19") == ""
    session = session_of(size=9)  # as `--size 9` starts
    session.engine.evaluator.only_size = 19  # type: ignore[attr-defined]
    for command in ("lz-analyze", "kata-genmove_analyze b"):
        assert ask(session, command).startswith("? network"), "an error alone, not within an answer"


def test_a_position_is_set_up_without_history() -> None:
    session = played("D4", "E5")
    ask(session, "komi 6.5")
    assert ask(session, "set_position b A1 white A2 B C3") == ""
    game = session.game
    assert (game.moves, game.to_play, game.komi, game.size) == ([], BLACK, 6.5, 9)
    assert sorted(game.setup_stones) == sorted(
        (color, game.point(vertex)) for color, vertex in ((BLACK, "A1"), (WHITE, "A2"), (BLACK, "C3"))
    )
    assert ask(session, "undo").startswith("? cannot undo")
    assert ask(session, "set_position") == "" and not session.game.setup_stones


@pytest.mark.parametrize("size", ["5", "19"])
def test_the_smallest_and_the_largest_board(size: str) -> None:
    assert ask(session_of(), f"boardsize {size}") == ""


def test_komi_may_change_during_a_game() -> None:
    session = played("D4", "E5")
    assert ask(session, "komi -0.5") == "" and ask(session, "get_komi") == "-0.5"
    assert len(session.game.moves) == 2
