"""Commands that load and print game records."""

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


def test_a_finished_game_is_printed_with_its_result() -> None:
    session = played("A1")
    assert "RE[" not in ask(session, "printsgf")
    ask(session, "play w pass")
    ask(session, "play b pass")
    assert f"RE[{ask(session, 'final_score')}]" in ask(session, "printsgf") == ask(session, "printsgf -")


def test_a_game_without_result_has_no_winner() -> None:
    """A long cycle under simple ko. As in KataGo the score is 0."""
    session = session_of()
    session.game = Game.from_diagram(TRIPLE_KO, "japanese")
    for vertex in TRIPLE_KO_CYCLE * 2:
        session.game.play(vertex)
    assert ask(session, "final_score") == "0"
    assert "RE[Void]" in ask(session, "printsgf")


def test_the_file_of_a_dash_is_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = played("D4")
    assert ask(session, "printsgf -") == ask(session, "printsgf")
    assert not list(tmp_path.iterdir())


def test_a_record_is_loaded_up_to_a_move(tmp_path: Path) -> None:
    session = played("D4", "E5", "F6")
    path = tmp_path / "game.sgf"
    ask(session, f"printsgf {path}")
    for number, moves in ((1, 0), (2, 1), (3, 2), (4, 3), (50, 3)):
        other = session_of()
        ask(other, f"loadsgf {path} {number}")
        assert len(other.game.moves) == moves
    assert ask(session_of(), f"loadsgf {path} -3").endswith(": -3 is not a number of moves from 0 up")
    damaged = tmp_path / "damaged.sgf"
    damaged.write_text("(;SZ[9]RU[chinese];B[ee];W[gg];W[ee];B[cc])")  # the third move is on a stone
    other = session_of()
    assert ask(other, f"loadsgf {damaged} 3") == "" and len(other.game.moves) == 2
    assert "move 3" in ask(other, f"loadsgf {damaged} 4")


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
def test_missing_rules_and_komi_are_those_of_the_session(tmp_path: Path, facts: str, rules: str, komi: float) -> None:
    path = tmp_path / "game.sgf"
    path.write_text(f"(;SZ[9]{facts};W[dd];B[ee])")
    session = session_of()
    ask(session, "kata-set-rules new-zealand")
    ask(session, "komi 5.5")
    assert ask(session, f"loadsgf {path}") == ""
    assert terms(session) == (rules, komi) and len(session.game.moves) == 2


def test_unknown_rules_of_a_record_are_named_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, session = tmp_path / "game.sgf", session_of()
    for facts in ("RU[Martian]", "RU[Japanese]", "RU[]", ""):
        path.write_text(f"(;SZ[9]{facts};B[dd])")
        ask(session, "kata-set-rules new-zealand")
        assert ask(session, f"loadsgf {path}") == ""
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "loadsgf: the rules RU[Martian] are unknown; used: new-zealand"
    ]


def test_rules_that_forbid_a_recorded_move_are_replaced(tmp_path: Path) -> None:
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
    assert ask(session, f"loadsgf {path}") == "" and len(session.game.moves) == 6
    assert terms(session) == ("aga", 5.5), "rules that the record names are the record's"


def test_a_game_with_a_ko_taken_back_at_once_is_loaded_as_it_was_played(tmp_path: Path) -> None:
    session, path = session_of(), tmp_path / "game.sgf"
    for move in ("b D4", "w E4", "b E5", "w F5", "b E3", "w F3", "b A1", "w G4", "b F4", "w E4"):
        assert ask(session, f"play {move}") == ""
    assert ask(session, f"printsgf {path}") == ""
    other = session_of()
    assert ask(other, f"loadsgf {path}") == "" and other.game.moves == session.game.moves
    assert (other.game.board == session.game.board).all() and terms(other) == terms(session)
    found = Path(__file__).parents[1] / "data" / "fox-illegal-ko.sgf"
    assert ask(other, f"loadsgf {found}") == "" and len(other.game.moves) > 282


@pytest.mark.parametrize("rules", ["new-zealand", "chinese-ogs"])
def test_a_suicide_of_several_stones_is_loaded(tmp_path: Path, rules: str) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[9]AB[aa]AW[ca][ab][bb];B[ba])")
    session = session_of()
    ask(session, f"kata-set-rules {rules}")
    assert ask(session, f"loadsgf {path}") == "" and session.game.captures == (0, 2)
    assert session.game.rules.text == rules
    path.write_text("(;SZ[9]AW[ab][ba];B[aa])")
    assert ask(session, f"loadsgf {path}").endswith("move 1, Black A9, is illegal: suicide")


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.sgf"
    path.write_text("no game at all")
    session = played("D4")
    assert ask(session, f"loadsgf {path}").startswith(f"? cannot load file {path}: ")
    assert ask(session, f"loadsgf {path} -1").startswith(f"? cannot load file {path} -1: "), "a name may end so"
    assert len(session.game.moves) == 1
