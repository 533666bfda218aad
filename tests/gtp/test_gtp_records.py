"""Commands that read and write a game's record."""

from __future__ import annotations

from pathlib import Path

import pytest
from gtp_fakes import ask, played, session_of
from known_positions import TRIPLE_KO, TRIPLE_KO_CYCLE

from tengen import coords
from tengen.game import Game
from tengen.gtp.session import GtpSession


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


def terms(session: GtpSession) -> tuple[str, float]:
    return session.game.rules.text, session.game.komi


@pytest.mark.parametrize(
    ("facts", "rules", "komi"),
    [
        ("", "new-zealand", 5.5),
        ("KM[6.5]", "new-zealand", 6.5),
        ("RU[Japanese]", "japanese", 5.5),
        ("RU[AGA]KM[7]", "aga", 7.0),
        ("HA[2]AB[cc][gg]", "new-zealand", 5.5),
    ],
)
def test_what_a_record_does_not_say_stays_as_the_session_has_it(
    tmp_path: Path, facts: str, rules: str, komi: float
) -> None:
    path = tmp_path / "game.sgf"
    path.write_text(f"(;SZ[9]{facts};W[dd];B[ee])")
    session = session_of()
    ask(session, "kata-set-rules new-zealand")
    ask(session, "komi 5.5")
    assert ask(session, f"loadsgf {path}") == ""
    assert terms(session) == (rules, komi) and len(session.game.moves) == 2


def test_rules_of_the_session_that_forbid_a_recorded_move_give_way(tmp_path: Path) -> None:
    """A triple ko comes round: superko forbids that, the simple ko of the rules that are guessed does not."""
    game = Game.from_diagram(TRIPLE_KO, "japanese", komi=0)
    stones = "".join(f"A{'BW'[color]}[{coords.to_sgf(point, 9)}]" for color, point in game.setup_stones)
    moves = "".join(
        f";{'BW'[number % 2]}[{coords.to_sgf(game.point(vertex), 9)}]" for number, vertex in enumerate(TRIPLE_KO_CYCLE)
    )
    path = tmp_path / "game.sgf"
    path.write_text(f"(;SZ[9]{stones}PL[B]{moves})")
    session = session_of()
    ask(session, "kata-set-rules tromp-taylor")
    ask(session, "komi 5.5")
    assert ask(session, f"loadsgf {path}") == ""
    assert terms(session) == ("japanese", 5.5) and len(session.game.moves) == 6
    path.write_text(f"(;SZ[9]RU[AGA]{stones}PL[B]{moves})")
    assert "superko" in ask(session, f"loadsgf {path}"), "rules that the record names are the record's"


def test_a_suicide_is_loaded_by_rules_of_the_session_that_allow_it(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[9]AB[aa]AW[ca][ab][bb];B[ba])")
    session = session_of()
    assert ask(session, f"loadsgf {path}").startswith("? cannot load file: ")
    ask(session, "kata-set-rules new-zealand")
    assert ask(session, f"loadsgf {path}") == "" and session.game.captures == (0, 2)


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.sgf"
    path.write_text("no game at all")
    session = played("D4")
    assert ask(session, f"loadsgf {path}").startswith("? cannot load file: ")
    assert len(session.game.moves) == 1
