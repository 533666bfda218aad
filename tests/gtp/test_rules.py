"""Commands about the rules of the game."""

from __future__ import annotations

import json

from gtp_fakes import ask, session_of

from tengen.game import BLACK, EMPTY, WHITE, Game


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
    assert session.game.rules.text == "chinese-ogs" and len(session.game.moves) == 2


def test_rules_may_forbid_a_move_of_the_game() -> None:
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
    before = session.game.board
    assert ask(session, "kgs-rules chinese") == "" and session.game.rules.text == "chinese-ogs"
    assert (session.game.board == before).all() and session.game.board[0, 0] == EMPTY


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
