"""Commands that read and write a game's record."""

from __future__ import annotations

from pathlib import Path

from gtp_fakes import ask, played, session_of


def test_a_game_survives_printing_and_loading(tmp_path: Path) -> None:
    session = session_of()
    ask(session, "komi 6.5")
    ask(session, "fixed_handicap 3")
    for line in ("play w E5", "play b D4", "play w pass", "play b F6"):
        ask(session, line)
    path = tmp_path / "a game.sgf"
    assert ask(session, f"printsgf {path}") == ""
    assert ask(session, "printsgf").startswith("(;")
    other = session_of(size=19)
    assert ask(other, f"loadsgf {path}") == ""
    assert other.game.moves == session.game.moves and (other.game.board == session.game.board).all()
    assert (other.game.size, other.game.komi, other.game.handicap) == (9, 6.5, 3)


def test_a_record_is_loaded_up_to_a_move(tmp_path: Path) -> None:
    session = played("D4", "E5", "F6")
    path = tmp_path / "game.sgf"
    ask(session, f"printsgf {path}")
    for number, moves in ((1, 0), (2, 1), (3, 2), (4, 3), (50, 3)):
        other = session_of()
        ask(other, f"loadsgf {path} {number}")
        assert len(other.game.moves) == moves


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.sgf"
    path.write_text("no game at all")
    session = played("D4")
    assert ask(session, f"loadsgf {path}").startswith("? cannot load file: ")
    assert len(session.game.moves) == 1
