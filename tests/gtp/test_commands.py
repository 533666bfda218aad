"""All commands: their list, ids, errors that change nothing; and the settings of the search."""

from __future__ import annotations

import pytest
from gtp_fakes import FakeEngine, ask, played, session_of, talk

from tengen.engine.clock import TimeControl
from tengen.engine.params import SearchParams
from tengen.gtp.commands import COMMANDS
from tengen.gtp.session import GtpSession

GTP_2 = """
    protocol_version name version known_command list_commands quit boardsize clear_board komi fixed_handicap
    place_free_handicap set_free_handicap play genmove undo time_settings time_left final_score final_status_list
    loadsgf reg_genmove showboard
"""


def state(session: GtpSession) -> tuple[object, ...]:
    """All that a wrong command must leave alone."""
    game, engine = session.game, session.engine
    assert isinstance(engine, FakeEngine)
    clocks = (session.control, dict(session.clocks))
    return (
        str(game),
        game.size,
        game.komi,
        game.rules,
        game.moves,
        game.handicap,
        clocks,
        engine.script[:],
        engine.asked,
    )


def test_all_commands_of_gtp_2_are_known() -> None:
    assert set(GTP_2.split()) <= set(COMMANDS)
    assert ask(session_of(), "list_commands").split("\n") == sorted(COMMANDS)


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "GENMOVE b",
        "7",
        "boardsize",
        "boardsize 4",
        "boardsize 20",
        "boardsize nine",
        "boardsize 9 9",
        "boardsize 999999999999999999999",
        "boardsize -9",
        "komi",
        "komi much",
        "komi nan",
        "komi 7.3",
        "komi 1000",
        "komi 7.5 b",
        "play b",
        "play D4 b",
        "play b Z4",
        "play b D10",
        "play b I4",
        "play b D5",
        "play b C4 now",
        "play red C4",
        "genmove",
        "genmove red",
        "genmove b w",
        "reg_genmove",
        "kgs-genmove_cleanup",
        "undo 2",
        "fixed_handicap 2",
        "fixed_handicap x",
        "place_free_handicap 2",
        "set_free_handicap C3 G7",
        "time_settings 10 10",
        "time_settings -1 10 1",
        "time_settings 10 10 1.5",
        "time_settings a b c",
        "time_left b 10",
        "time_left red 10 0",
        "time_left b -1 0",
        "kgs-time_settings",
        "kgs-time_settings hourglass 10",
        "kgs-time_settings absolute",
        "kgs-time_settings byoyomi 10 30",
        "kgs-time_settings byoyomi 10 30 0",
        "kgs-time_settings canadian 10 0 25",
        "kgs-time_settings none 1",
        "final_score b",
        "final_status_list",
        "final_status_list sleeping",
        "loadsgf",
        "loadsgf /no/such/file.sgf",
        "printsgf /no/such/folder/file.sgf",
        "kgs-rules",
        "kgs-rules ing",
        "kata-set-rules",
        "kata-set-rules house",
        "kata-set-rules {",
        'kata-set-rules {"ko":"SPIGHT"}',
        'kata-set-rules {"hasButton":true}',
        'kata-set-rules {"color":"red"}',
        'kata-set-rules {"suicide":"maybe"}',
        "kata-set-rule ko",
        "kata-set-rule ko forever",
        "kata-set-rule tax SEKI",
        "kata-set-rule size 9",
        "kata-get-rules 1",
        "known_command",
        "list_commands all",
        "protocol_version 2",
        "quit now",
        "stop it",
        "showboard all",
        "get_komi 1",
        "lz-analyze often",
        "lz-analyze b interval",
        "lz-analyze b 50 minmoves x",
        "lz-analyze b -5",
        "kata-analyze b 50 ownership perhaps",
        "kata-analyze allow b",
        "kata-analyze allow b Z9 1",
        "kata-analyze w avoid red C3 1",
        "kata-analyze color b",
        "kata-genmove_analyze b 50 maxmoves -1",
        "lz-genmove_analyze b b",
    ],
)
def test_a_wrong_command_is_refused_and_changes_nothing(line: str) -> None:
    session = played("D5", "E5")
    session.set_time(TimeControl.absolute(60))
    before = state(session)
    answer = ask(session, line)
    assert answer.startswith("?"), answer
    assert len(answer) > 5 and "Traceback" not in answer and "internal" not in answer
    assert state(session) == before
    assert not session.finished


def test_ids_are_repeated_in_answers() -> None:
    assert talk(session_of(), "007 name", "8 \t nonsense # really", "\r", "quit\r") == (
        "=007 Tengen\n\n?8 unknown command\n\n= \n\n"
    )


def test_nothing_after_quit_is_answered() -> None:
    assert talk(session_of(), "quit", "name") == "= \n\n"


def test_known_command() -> None:
    assert ask(session_of(), "known_command genmove") == "true"
    assert ask(session_of(), "known_command genmov") == "false"


def test_every_setting_can_be_read_and_set_again() -> None:
    session = session_of()
    for name in ask(session, "kata-list-params").split():
        assert ask(session, f"kata-set-param {name} {ask(session, f'kata-get-param {name}')}") == ""
        assert session.engine.params == SearchParams()


def test_a_setting_changes_the_search() -> None:
    session = session_of()
    ask(session, "kata-set-param c_puct 0.7")
    ask(session, "kata-set-param prune_eyes false")
    assert session.engine.params == SearchParams(c_puct=0.7, prune_eyes=False)
    assert ask(session, "kata-get-param komi").startswith("? unknown search setting 'komi'")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("c_pukt 1", "did you mean c_puct"),
        ("c_puct one", "found 'one'"),
        ("c_puct -1", "greater than or equal to 0"),
        ("selection best", "'puct'"),
        ("playout_weight 0.5", "need playouts"),
        ("playouts 1000001", "less than or equal to 1000"),
        ("memory 99999999999999999999999", "less than"),
        ("rave_equivalence 1e50", "less than or equal to 1000000000"),
        ("priors other", "choose uniform, local"),
    ],
)
def test_a_bad_setting_is_an_error_and_changes_nothing(words: str, reason: str) -> None:
    session = session_of()
    answer = ask(session, f"kata-set-param {words}")
    assert answer.startswith("? ") and reason in answer and answer.count("found") <= 1
    assert session.engine.params == SearchParams()
