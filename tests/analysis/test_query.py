"""Queries: what is refused with which field, what is searched with a warning, which positions are searched."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from talk import PLAIN, Talk

from tengen.analysis.config import AnalysisSettings
from tengen.analysis.query import read_query
from tengen.analysis.server import AnalysisServer
from tengen.coords import MAX_SIZE, SIZES
from tengen.evaluators import UniformEvaluator


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("this is not json", "not JSON"),
        ('{"id": "a", "komi": NaN}', "NaN"),
        ("[" * 100_000, "not JSON"),
        ("[1, 2]", "object"),
        ('{"moves": []}', '"id"'),
        ('{"id": 7}', '"id"'),
        ('{"id": "a", "action": "no_such_action"}', "query_version"),
    ],
)
def test_a_line_that_is_no_query_gets_an_error_without_a_field(line: str, text: str) -> None:
    with Talk() as talk:
        talk.server.handle(line)
        assert [set(answer) for answer in talk.answers] == [{"error"}]
        assert text in talk.answers[0]["error"]
        assert talk.ask()[0]["rootInfo"]["visits"] == 20, "the server goes on"


@pytest.mark.parametrize("head", ['"action": "query_version", "x": ', '"moves": [], "komi": '])
def test_fields_of_any_depth_get_one_answer(head: str) -> None:
    """Near the limit a line can be read, but its fields are too deep to be written again."""
    lines: list[str] = []
    server = AnalysisServer(UniformEvaluator(), AnalysisSettings.default(), lines.append)
    for depth in range(850, 1000):
        server.handle(f'{{"id": "a", {head}{"[" * depth}{"]" * depth}}}')
    server.close()
    assert len(lines) == 150


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("boardXSize", 99, f"2 to {MAX_SIZE}"),
        ("boardXSize", None, "whole number"),
        ("boardYSize", 7, "square"),
        ("boardXSize", 5.0, "whole number"),
        ("boardXSize", True, "whole number"),
        ("moves", None, "pairs"),
        ("moves", "E5", "pairs"),
        ("moves", [["B", "E5", 1]], "pairs"),
        ("boardXSize", 26, f"a whole number from {SIZES} expected, not 26"),
        ("moves", [["R", "E5"]], "'R'"),
        ("moves", [["B", "J9"]], "J9"),
        ("moves", [["B", "C3"], ["W", "C3"]], "Illegal move 1: C3"),
        ("initialStones", [["B", "pass"]], "pass"),
        ("initialPlayer", "x", "'x'"),
        ("analyzeTurns", [1], "turn 1"),
        ("analyzeTurns", "1", "array"),
        ("analyzeTurns", [0.5], "array of whole numbers expected, not 0.5"),
        ("analyzeTurns", [False], "not False"),
        ("priorities", [1], "analyzeTurns"),
        ("priority", 2**62, "whole number"),
        ("priority", "high", "whole number"),
        ("rules", None, "name"),
        ("rules", "no such rules", "unknown rules"),
        ("rules", "\ud800", "unknown rules"),
        ("rules", {"ko": "NONE"}, "none"),
        ("rules", '{"ko": ', "invalid JSON"),
        ("rules", '{"ko": "NONE"}', "none"),
        ("rules", {"komi": 5.3}, "komi: a whole or half number from -400 to 400 expected, not 5.3"),
        ("rules", {"komi": True}, "not True"),
        ("rules", '{"komi": "six"}', "'six'"),
        ("rules", "koSIMPLEkomi500", "400"),
        ("komi", 6.25, "half"),
        ("komi", 401, "400"),
        ("whiteHandicapBonus", 2, "2"),
        ("overrideSettings", [], "object"),
        ("overrideSettings", {"cpuctExploration": -1}, "cpuctExploration"),
        ("overrideSettings", {"reportAnalysisWinratesAs": "RED"}, "RED"),
        ("maxVisits", 0, "whole number"),
        ("analysisPVLen", 1001, "1000"),
        ("rootFpuReductionMax", 3, "2"),
        ("rootPolicyTemperature", 0, "0.01"),
        ("includePolicy", 1, "true or false"),
        ("reportDuringSearchEvery", 0, "0.001"),
        ("allowMoves", {}, "array"),
        ("avoidMoves", [{"player": "B", "moves": ["C3"]}], "untilDepth"),
        ("allowMoves", 2 * [{"player": "B", "moves": ["C3"], "untilDepth": 1}], "each player"),
    ],
)
def test_a_wrong_field_costs_the_query_alone(field: str, value: object, text: str) -> None:
    with Talk() as talk:
        (answer,) = talk.ask(**{field: value})
        assert (answer["id"], answer["field"]) == ("q", field)
        assert text.lower() in answer["error"].lower()
        assert talk.ask()[0]["rootInfo"]["visits"] == 20


def test_a_network_for_another_size_refuses_the_query() -> None:
    only = UniformEvaluator()
    only.only_size = 9
    with Talk(only) as talk:
        (answer,) = talk.ask()
        assert answer["field"] == "boardXSize" and "9x9" in answer["error"]
        assert talk.ask(boardXSize=9, boardYSize=9)[0]["turnNumber"] == 0


@pytest.mark.parametrize(
    ("katago_format", "rules", "parts"),
    [
        (6, "chinese-kgs", []),  # positional superko, area, no tax
        (6, "chinese", ["koRule SIMPLE"]),
        (3, "japanese", ["koRule SIMPLE", "scoringRule TERRITORY", "taxRule SEKI"]),
        (5, "aga-button", ["hasButton true"]),
        (8, "aga-button", []),
        (8, "koSIMPLEscoreTERRITORYtaxNONEsui0button1", ["hasButton true"]),
        (0, "japanese", []),  # no network of KataGo's
    ],
)
def test_rules_that_a_network_of_katago_has_not_learned_are_warned_of(
    katago_format: int, rules: str, parts: list[str]
) -> None:
    """Where KataGo 1.17.2 says that they are not supported by the neural net."""
    evaluator = UniformEvaluator()
    evaluator.katago_format = katago_format
    with Talk(evaluator) as talk:
        *warnings, answer = talk.ask(rules=rules)
        assert [w["field"] for w in warnings] == ["rules"] * bool(parts)
        assert all(part in warnings[0]["warning"] for part in parts)
        assert answer["rootInfo"]["visits"] == 20


def test_what_the_network_cannot_do_is_a_warning_of_each_query_that_asks_for_it() -> None:
    network = UniformEvaluator()
    network.board_sizes, network.has_ownership = (9, 13), False
    moves = [["B", "C3"]]
    with Talk(network, cache=10) as talk:
        for _ in range(2):
            *warnings, first, second = talk.ask(
                moves=moves, analyzeTurns=[0, 1], includeOwnership=True, includeMovesOwnership=True
            )
            assert warnings == [
                {"id": "q", "field": "boardXSize", "warning": warnings[0]["warning"]},
                {"id": "q", "field": "includeOwnership", "warning": warnings[1]["warning"]},
            ]
            assert warnings[0]["warning"].startswith("uniform learned 9x9, 13x13, not 5x5")
            assert warnings[1]["warning"].endswith("no effect of includeOwnership, includeMovesOwnership")
            assert first["moveInfos"] and second["moveInfos"]
        assert len(talk.ask(boardXSize=9, boardYSize=9, includeOwnership=False, includePolicy=True)) == 1
    with Talk() as talk:
        assert len(talk.ask(includeOwnership=True)) == 1


def test_unknown_fields_and_settings_warn_and_the_query_proceeds() -> None:
    with Talk() as talk:
        *warnings, answer = talk.ask(colour=1, overrideSettings={"maxVisitz": 1, "maxTime": 100, "wideRootNoise": 0.1})
        assert [(w["field"], w["id"]) for w in warnings] == [("overrideSettings", "q"), ("colour", "q")]
        assert "maxVisitz" in warnings[0]["warning"] and "maxTime" not in warnings[0]["warning"]
        assert answer["rootInfo"]["visits"] == 20
    with Talk(warnUnusedFields=False) as talk:
        (answer,) = talk.ask(colour=1)
        assert answer["moveInfos"]


def test_settings_without_effect_on_the_figures_cost_no_line_of_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    """Those of threads, caches, logs and devices, as no figure depends on them. LizzieYzy's human-like player takes the
    first line with the id of its query for the answer, as KataGo sends no other about humanSL...."""
    with Talk() as talk:
        for _ in range(2):
            (answer,) = talk.ask(overrideSettings={"humanSLRootExploreProbWeightless": 0.5, "maxTime": 100})
            assert answer["moveInfos"]
        machine = {"numSearchThreads": 2, "logFile": "x", "cudaUseFP16": True, "nnCacheSizePowerOfTwo": 20}
        (answer,) = talk.ask(overrideSettings={"humanSLRootExploreProbWeightless": 0.5, "delayMoveMax": 1, **machine})
        assert answer["moveInfos"]
    texts = [record.getMessage() for record in caplog.records]
    assert [text for text in texts if "effect" in text] == [
        "without effect in Tengen: humanSLRootExploreProbWeightless",
        "without effect in Tengen: cudaUseFP16, delayMoveMax, logFile, nnCacheSizePowerOfTwo, numSearchThreads",
    ]


def test_an_advantage_is_a_warning_where_the_network_does_not_read_it() -> None:
    with Talk() as talk:
        for advantage, count in ((2, 1), (0, 0), ("0", 0)):
            *warnings, _ = talk.ask(overrideSettings={"playoutDoublingAdvantage": advantage})
            assert [w["field"] for w in warnings] == ["overrideSettings"] * count
        assert (
            "no effect of playoutDoublingAdvantage"
            in talk.ask(overrideSettings={"playoutDoublingAdvantage": 1})[0]["warning"]
        )


def test_settings_of_a_query_without_effect_that_would_change_its_figures_are_a_warning() -> None:
    with Talk() as talk:
        for _ in range(2):
            warning, answer = talk.ask(
                overrideSettings={"antiMirror": True, "komi": 5, "avoidSgfPatternUtility": 0.1, "logFile": "x"}
            )
            assert warning == {
                "id": "q",
                "field": "overrideSettings",
                "warning": "without effect in Tengen: antiMirror, avoidSgfPatternUtility, komi",
            }
            assert answer["moveInfos"]


def test_the_turns_of_a_game_share_nothing_but_the_query() -> None:
    moves = [["B", "C3"], ["W", "B3"], ["B", "B2"]]
    with Talk() as talk:
        together = sorted(talk.ask(moves=moves, analyzeTurns=[2, 0, 3]), key=lambda a: a["turnNumber"])
        alone = [talk.ask(moves=moves[:turn])[0] for turn in (0, 2, 3)]
    assert json.dumps(together) == json.dumps(alone)


def test_allowed_and_avoided_moves_hold_to_their_depth() -> None:
    with Talk() as talk:
        both = [{"player": c, "moves": ["C3", "B2", "D4"], "untilDepth": 9} for c in "BW"]
        (only,) = talk.ask(allowMoves=both, maxVisits=60, analysisPVLen=9)
        lines = [info["pv"] for info in only["moveInfos"]]
        assert {move for line in lines for move in line} == {"C3", "B2", "D4"} and max(map(len, lines)) > 1
        (never,) = talk.ask(avoidMoves=both, maxVisits=200)
        assert not {"C3", "B2", "D4"} & {move for info in never["moveInfos"] for move in info["pv"]}
        (first,) = talk.ask(avoidMoves=[{**both[0], "untilDepth": 1}], maxVisits=200)
        assert not {"C3", "B2", "D4"} & {info["move"] for info in first["moveInfos"]}
        assert {"C3", "B2", "D4"} & {move for info in first["moveInfos"] for move in info["pv"]}


def test_the_length_of_lines_is_that_of_the_query() -> None:
    settings, _ = AnalysisSettings.default().changed({"analysisPVLen": 15})
    fields = {**PLAIN, "analysisPVLen": 3, "rootPolicyTemperature": 1.5, "rootFpuReductionMax": 0.1}
    query, _ = read_query(fields, settings, UniformEvaluator())
    assert query.settings.pv_length == 3


@pytest.mark.parametrize("length", [1, 3])
def test_the_length_of_a_line_is_without_its_first_move(length: int) -> None:
    """KataGo's documentation: "maximum length of the PV to send in analysis (not including the first move)"."""
    with Talk() as talk:
        (answer,) = talk.ask(analysisPVLen=length, maxVisits=500, includePVVisits=True)
        for field in ("pv", "pvVisits"):
            assert max(len(info[field]) for info in answer["moveInfos"]) == length + 1


def test_where_no_move_is_left_the_position_alone_is_evaluated() -> None:
    with Talk() as talk:
        (answer,) = talk.ask(allowMoves=[{"player": "B", "moves": [], "untilDepth": 1}], includePolicy=True)
        assert answer["moveInfos"] == [] and len(answer["policy"]) == 26
        assert answer["rootInfo"]["winrate"] == answer["rootInfo"]["rawWinrate"]


def test_whole_numbers_of_an_array_may_be_written_as_floats() -> None:
    fields = {**PLAIN, "moves": [["B", "C3"]], "analyzeTurns": [0.0, 1], "priorities": [5, -2.0]}
    query, _ = read_query(fields, AnalysisSettings.default(), UniformEvaluator())
    assert [(turn.number, turn.priority) for turn in query.turns] == [(0, 5), (1, -2)]
    assert all(type(turn.number) is type(turn.priority) is int for turn in query.turns), "reports have whole numbers"


@pytest.mark.parametrize(
    ("plane_set", "asked", "field", "hides"),
    [
        ("katago-v7", None, None, True),
        ("tengen", None, None, False),
        ("katago-v7", False, None, False),
        ("tengen", True, None, True),
        ("katago-v7", True, False, False),
        ("tengen", False, True, True),
    ],
)
def test_who_does_not_see_the_moves_before(plane_set: str, asked: bool | None, field: bool | None, hides: bool) -> None:
    """Networks of KataGo, unless `--set hide_history` or, before that, the query says otherwise."""
    settings = AnalysisSettings.default()
    if asked is not None:
        settings = replace(settings, params=settings.params.model_copy(update={"hide_history": asked}))
    query = PLAIN | ({} if field is None else {"overrideSettings": {"ignorePreRootHistory": field}})
    found, _ = read_query(query, settings, UniformEvaluator(plane_set))
    assert found.settings.params.hide_history == hides
