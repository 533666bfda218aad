"""All commands: their list, ids, errors that change nothing; and the settings of the search."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from gtp_fakes import FakeEngine, ask, played, raw_fields, session_of, talk

import tengen
from tengen.coords import MAX_SIZE
from tengen.data.planes import plane_set
from tengen.engine import Engine
from tengen.engine.clock import TimeControl
from tengen.engine.levels import levels_on
from tengen.engine.params import SearchParams, playout_params
from tengen.engine.style import Style
from tengen.evaluators import BySizeEvaluator, Evaluation, InputBatch, UniformEvaluator
from tengen.game import BLACK, Game
from tengen.gtp.commands import COMMANDS
from tengen.gtp.session import GtpSession
from tengen.gtp.streams import InputQueue

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
    names = ask(session_of(), "list_commands").split("\n")
    assert sorted(names) == sorted(COMMANDS)
    assert names[0] == "protocol_version", "LizzieYzy takes an answer that begins so for the list"


WITHOUT_ARGUMENTS = """
    protocol_version name version list_commands stop quit gogui-interrupt cputime gomill-cpu_time clear_board get_komi
    showboard kata-get-rules kata-list-params kata-get-params kata-get-models clear_cache undo kata-list_time_settings
"""
WITH_ARGUMENTS = {
    "known_command": "name",
    "komi": "6.5",
    "kgs-rules": "chinese",
    "fixed_handicap": "4",
    "kata-get-param": "visits",
    "kata-set-rule": "ko SIMPLE",
    "play": "black D4",
    "genmove": "black",
    "reg_genmove": "black",
    "kata-search": "black",
    "kata-search_cancellable": "black",
    "kgs-genmove_cleanup": "black",
    "time_settings": "60 10 5",
    "time_left": "black 10 0",
    "kgs-time_settings": "byoyomi 60 10 5",
    "kata-raw-nn": "black 0 0.5",
    "kata-raw-human-nn": "black 0",
    "boardsize": "9 9",
}
"""The most arguments that a command takes."""


@pytest.mark.parametrize("command", [*WITHOUT_ARGUMENTS.split(), *WITH_ARGUMENTS])
def test_a_wrong_number_of_arguments_is_refused(command: str) -> None:
    session = session_of(size=9)
    before = state(session)
    arguments = WITH_ARGUMENTS.get(command, "")
    assert ask(session, f"{command} {arguments} further") == "? syntax error: unexpected argument further"
    if arguments:
        fewest = 1 if command in ("boardsize", "kata-raw-nn", "kata-raw-human-nn", "kgs-time_settings") else None
        needed = fewest or len(arguments.split())
        given = " ".join(arguments.split()[: needed - 1])
        words = f"{needed} argument{'s' * (needed > 1)}"
        assert ask(session, f"{command} {given}") == f"? syntax error: {words} expected, got {needed - 1}"
    assert state(session) == before and not session.finished


def test_the_version_under_katagos_name_is_that_of_its_protocol() -> None:
    """LizzieYzy asks for the ownership of each move from KataGo 1.11 on, and reads the two numbers so."""
    assert ask(session_of(), "version") == f"{tengen.__version__} (fake)"
    major, minor, *_ = ask(session_of(name="KataGo"), "version").split(".")
    assert int(major) == 1 and int(minor) > 10
    assert ask(session_of(name="KataGo", answer_version="0.17"), "version") == "0.17"


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "GENMOVE b",
        "7",
        "boardsize",
        "boardsize 1",
        f"boardsize {MAX_SIZE + 1}",
        "boardsize nine",
        "boardsize 9 13",
        "boardsize 9:13",
        "boardsize 9:",
        "boardsize 9:9:9",
        "rectangular_boardsize 9 8",
        "rectangular_boardsize",
        "set_position b",
        "set_position b D4 w",
        "set_position b D4 w D4",
        "set_position b pass",
        "set_position red D4",
        "set_position w A1 b A2 b B1",
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
        "time_settings 10 -10 1",
        "time_settings a b c",
        "time_left b 10",
        "time_left red 10 0",
        "time_left b -11 0",
        "kgs-time_settings",
        "kgs-time_settings hourglass 10",
        "kgs-time_settings absolute",
        "kgs-time_settings byoyomi 10 30",
        "kgs-time_settings byoyomi 10 -30 5",
        "kgs-time_settings byoyomi 10 30 -1",
        "kgs-time_settings canadian 10 -5 25",
        "kgs-time_settings none 1",
        "kata-time_settings fischer 10",
        "kata-time_settings fischer-capped 10 5 9 3",
        "kata-time_settings fischer-capped 10 5 9",
        "kata-search",
        "kata-search_cancellable red",
        "clear_cache all",
        "cputime 1",
        "kata-get-models 0",
        "kata-raw-nn",
        "kata-raw-nn b",
        "kata-raw-nn 8",
        "kata-raw-nn -1",
        "kata-raw-nn some",
        "kata-raw-nn 0 1.5",
        "kata-raw-nn 0 0.5 w",
        "kata-raw-nn 0 b",
        "kata-get-params c_puct",
        "kata-get-param",
        "kata-get-param delayMoveMax",
        "kata-set-param",
        "kata-set-param lagBuffer -1",
        "kata-set-param lagBuffer 3601",
        "kata-set-param maxVisits",
        "kata-set-param maxVisits 0",
        "kata-set-param maxVisit 10",
        "kata-set-param komi 6.5",
        "kata-set-param mean_loss much",
        "kata-set-param mean_loss -1",
        "kata-set-param policy_floor 2",
        "kata-set-params",
        "kata-set-params [1]",
        "kata-set-params {]",
        'kata-set-params {"maxVisits": 10, "cpuctExploration": -1}',
        'kata-set-params {"c_puct": 1, "allowResignation": "maybe"}',
        "kata-search_analyze b interval",
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
        'kata-set-rules {"color":"red"}',
        'kata-set-rules {"suicide":"maybe"}',
        "kata-set-rule ko",
        "kata-set-rule ko forever",
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
    names = ask(session, "kata-list-params").split()
    assert {"cpuctExploration", "maxVisits", "reportAnalysisWinratesAs", "c_puct"} <= set(names)
    for name in names:
        assert ask(session, f"kata-set-param {name} {ask(session, f'kata-get-param {name}')}") == ""
        assert session.engine.params == SearchParams() and session.engine.style == Style()
    values = json.loads(ask(session, "kata-get-params"))
    assert list(values) == names
    assert ask(session, "kata-set-params " + json.dumps(values)) == ""
    assert session.engine.params == SearchParams() and session.engine.style == Style()
    assert session.limits_for(BLACK).visits == 400, "no limit is none, not a large number"


def test_a_setting_changes_the_search() -> None:
    session = session_of()
    ask(session, "kata-set-param c_puct 0.7")
    ask(session, "kata-set-param prune_eyes false")
    assert session.engine.params == SearchParams(c_puct=0.7, prune_eyes=False)
    assert ask(session, "kata-get-param komi") == "? komi is no search setting: the command komi changes it"


@pytest.mark.parametrize(
    ("setting", "way"),
    [
        ("rules chinese", "the command kata-set-rules changes it"),
        ("komi 5", "the command komi changes it"),
        ("koRule SIMPLE", "the command kata-set-rule changes it"),
        ("nnMaxBatchSize 8", "it is read when the program starts"),
    ],
)
def test_what_katago_reads_from_its_configuration_is_no_search_setting(setting: str, way: str) -> None:
    name = setting.split()[0]
    assert ask(session_of(), f"kata-set-param {setting}") == f"? {name} is no search setting: {way}"


@pytest.mark.parametrize("name", ["numSearchThreads", "delayMoveMax", "cudaDeviceToUse"])
def test_a_name_that_is_accepted_without_effect_is_not_unknown(name: str) -> None:
    session = session_of()
    assert ask(session, f"kata-set-param {name} 1") == ""
    assert ask(session, f"kata-get-param {name}") == f"? KataGo's {name} has no effect in Tengen, and no value"


def test_a_setting_that_contradicts_the_network_s_advice_is_refused() -> None:
    network, other = UniformEvaluator(), UniformEvaluator()
    network.advice = {"preset": "katago"}
    engine = Engine(BySizeEvaluator(other, {9: lambda: network}))
    session = GtpSession(engine, Game(9))
    answer = ask(session, "kata-set-param playouts 1")
    assert answer.startswith("? selection puct-katago needs") and answer.endswith(": set selection=puct as well")
    assert ask(session, "kata-get-param playouts") == "0"
    assert ask(session, 'kata-set-params {"playouts": 1, "selection": "puct"}') == ""
    assert ask(session, "boardsize 13") == ask(session, "kata-set-param selection puct-leela-zero") == ""
    engine.params = SearchParams(playouts=1)
    assert ask(session, "boardsize 9").startswith("? unacceptable size: selection puct-katago needs")
    assert session.game.size == 13


def test_a_setting_may_need_what_the_network_advises_besides() -> None:
    """Playouts, without which nothing can be their share."""
    network = UniformEvaluator()
    network.advice = {"preset": "alphago", "playout_weight": 0.25}
    session = GtpSession(Engine(network), Game(9))
    assert ask(session, "kata-set-param playout_weight 1") == ""
    assert [ask(session, f"kata-get-param {name}") for name in ("playout_weight", "playouts")] == ["1.0", "1"]
    assert ask(session, "kata-set-param playout_weight 2").startswith("? playout_weight: ")
    session = GtpSession(Engine(UniformEvaluator()), Game(9))
    assert ask(session, "kata-set-param playout_weight 1").endswith("need playouts of 1 or more")


def test_katagos_names_change_search_style_limits_and_the_front_end() -> None:
    session = session_of()
    settings = {"cpuctExploration": 0.9, "maxVisits": 77, "allowResignation": False, "ponderingEnabled": True}
    assert ask(session, "kata-set-params " + json.dumps(settings | {"numSearchThreads": 2, "delayMoveMax": 1})) == ""
    assert (session.engine.params.c_puct, session.engine.style.resign) == (0.9, False)
    assert ask(session, "kata-get-param maxVisits") == "77"
    ask(session, "genmove b")
    assert session.engine.asked[0][0].visits == 77  # type: ignore[attr-defined]
    assert session.engine.pondered == 0  # type: ignore[attr-defined]  # the input had ended
    session.ponder_next = True
    session.lines = InputQueue()
    session.after_command()
    assert session.engine.pondered == 1  # type: ignore[attr-defined]


def test_the_network_and_the_cache() -> None:
    session = session_of()
    assert json.loads(ask(session, "kata-get-models"))[0]["internalName"] == "uniform"
    assert ask(session, "clear_cache") == "" and session.engine.forgotten == 1  # type: ignore[attr-defined]
    assert float(ask(session, "cputime")) > 0


def test_raw_outputs_have_katagos_form() -> None:
    session = played("D4", "E5")
    one = raw_fields(ask(session, "kata-raw-nn 3 0.5"))
    assert one["symmetry"] == ["3"] and len(one["policy"]) == len(one["whiteOwnership"]) == 81
    assert [i for i, word in enumerate(one["policy"]) if word == "NAN"] == sorted(
        [session.game.point("D4"), session.game.point("E5")]
    )
    assert float(one["whiteWin"][0]) == 0.5 and one["shorttermWinlossError"] == ["-1.000"]
    blocks = ask(session, "kata-raw-nn w all").split("symmetry ")[1:]
    assert [block.split()[0] for block in blocks] == list("01234567")


def test_raw_outputs_are_those_of_the_settings() -> None:
    """The advantage and the share of the optimistic policy, of networks that read them."""

    seen: list[tuple[float, float, float]] = []

    class Network(UniformEvaluator):
        def infer(self, batch: InputBatch) -> Evaluation:
            names = plane_set(self.plane_set).scalars
            told = batch.scalars[0, [names.index("playout_advantage"), names.index("playout_advantage_size")]]
            assert batch.optimism is not None
            seen.append((*map(float, told), round(float(batch.optimism[0]), 3)))
            return super().infer(batch)

    session = session_of(FakeEngine(evaluator=Network("katago-v7")))
    for line in (
        "kata-raw-nn 0 0.2",
        "kata-set-param playoutDoublingAdvantage 2",
        "kata-set-param rootPolicyOptimism 0.4",
        "kata-raw-nn 0",
        "kata-set-param playoutDoublingAdvantagePla WHITE",
        "kata-raw-nn b 0 0.7",
        "kata-raw-nn w 0",
    ):
        assert not ask(session, line).startswith("?"), line
    assert seen == [(0.0, 0.0, 0.2), (1.0, 1.0, 0.4), (1.0, -1.0, 0.7), (1.0, 1.0, 0.4)]


def test_playouts_have_no_raw_outputs() -> None:
    session = session_of(FakeEngine(params=playout_params()))
    assert ask(session, "kata-raw-nn 0").startswith("? there is no network")
    assert ask(session, "kata-get-models") == "[]"


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


def test_the_loss_that_a_move_gives_away_is_a_setting() -> None:
    session = session_of()
    ask(session, "kata-set-param mean_loss 2.5")
    ask(session, 'kata-set-params {"policy_floor": 0.05}')
    assert session.engine.style == Style(mean_loss=2.5, policy_floor=0.05)
    assert ask(session, "kata-get-param mean_loss") == "2.5"
    ask(session, "kata-set-param mean_loss")
    assert session.engine.style == Style(policy_floor=0.05)


def test_a_level_sets_style_and_visits_on_every_board_size() -> None:
    session = session_of(level=11)
    for size in (9, 19):
        ask(session, f"boardsize {size}")
        expected = levels_on(size)[10]
        assert session.engine.style == expected.style
        assert session.limits_for(0).visits == expected.visits


def test_what_a_setting_has_changed_outlives_the_next_game_of_a_level() -> None:
    session = session_of(FakeEngine(style=Style(resign=False)), level=3)
    ask(session, 'kata-set-params {"resignThreshold": -0.5, "resignConsecTurns": 2, "policy_floor": 0.02}')
    for line in ("boardsize 19", "clear_board"):
        ask(session, line)
        changed = {"resign": False, "resign_threshold": 0.25, "resign_moves": 2, "policy_floor": 0.02}
        assert session.engine.style == replace(levels_on(19)[2].style, **changed)
        assert session.limits_for(BLACK).visits == levels_on(19)[2].visits
    ask(session, "kata-set-param maxVisits 33")
    ask(session, "boardsize 9")
    assert session.limits_for(BLACK).visits == 33
