"""Queries: what is refused with which field, what is searched with a warning, which positions are searched."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from talk import PLAIN, Talk

from tengen.analysis.config import AnalysisSettings
from tengen.analysis.query import read_query
from tengen.analysis.server import AnalysisServer
from tengen.coords import MAX_SIZE, to_gtp
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


@pytest.mark.parametrize(
    ("stones", "expected"),
    [
        ("W A1 B A2 B B1", "B A2 B B1"),  # captured
        ("B A2 B B1 W A1", "B A2 B B1"),  # the suicide of one stone is left out
        ("W A1 B A2 B B1 W B1", "B A2 W B1"),  # captured before the stone that captured it is replaced
        ("B A3 B B2 B C1 W A2 W B1 W A1", "B A3 B B2 B C1"),  # the suicide of three removes them all
        ("B A2 W A2", "W A2"),  # the last stone of a point stays
        ("B A2 B B1 B A1 W A1", "B A2 B B1"),  # where it can
        ("B A2 B B1 W A3 W B2 W C1 W A1", "W A1 W A3 W B2 W C1"),  # captures come before suicide
        ("W A1 B B1 W B2 W C1 B A2 B A2", "W A1 W B2 W C1 B A2"),
    ],
)
def test_stones_of_the_position_are_placed_one_by_one_as_by_katago(stones: str, expected: str) -> None:
    """What KataGo 1.17 makes of these, by its policy for the position: -1 for a stone."""
    words, left = stones.split(), expected.split()
    query = {**PLAIN, "initialStones": list(zip(words[::2], words[1::2], strict=True)), "initialPlayer": "W"}
    read, _ = read_query(json.loads(json.dumps(query)), AnalysisSettings.default(), UniformEvaluator())
    game = read.turns[0].game
    found = {to_gtp(point, 5): "BW"[color] for color, point in game.setup_stones}
    assert found == dict(zip(left[1::2], left[::2], strict=True))
    assert game.to_play == 1 and game.ko is None


@pytest.mark.parametrize(("rules", "points"), [("japanese", 2), ("chinese", 0)])
def test_captured_stones_of_the_position_are_prisoners_under_territory_scoring(rules: str, points: int) -> None:
    """White takes two stones and Black none; replaced stones are no prisoners. As of KataGo 1.17, by its leads."""
    stones = [["B", "A1"], ["W", "B1"], ["B", "A2"], ["W", "B2"], ["W", "A3"], ["B", "E5"], ["W", "E5"]]
    query = {**PLAIN, "rules": rules, "komi": 6.5, "initialStones": stones, "initialPlayer": "B"}
    read, _ = read_query(query, AnalysisSettings.default(), UniformEvaluator())
    assert read.turns[0].game.komi == 6.5 + points


def test_white_begins_after_a_handicap_that_a_capture_made_of_the_stones() -> None:
    with Talk() as talk:
        (answer,) = talk.ask(initialStones=[["W", "A1"], ["B", "A2"], ["B", "B1"]])
        assert answer["rootInfo"]["currentPlayer"] == "W", "as of KataGo 1.17"


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
        (answer,) = talk.ask(overrideSettings={"humanSLRootExploreProbWeightless": 0.5, "lagBuffer": 1, **machine})
        assert answer["moveInfos"]
    texts = [record.getMessage() for record in caplog.records]
    assert [text for text in texts if "effect" in text] == [
        "without effect in Tengen: humanSLRootExploreProbWeightless",
        "without effect in Tengen: cudaUseFP16, lagBuffer, logFile, nnCacheSizePowerOfTwo, numSearchThreads",
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


def stones(talk: Talk, **query: object) -> tuple[str, str]:
    """The side to move and the position of the last turn, as the report has it."""
    (answer,) = talk.ask(maxVisits=1, **query)
    return answer["rootInfo"]["currentPlayer"], answer["rootInfo"]["thisHash"]


def test_who_begins_and_what_stands() -> None:
    with Talk() as talk:
        three = [["B", "C3"], ["b", "A5"], ["Black", "E1"]]
        assert stones(talk, initialStones=three)[0] == "W", "after a handicap White begins"
        assert stones(talk, initialStones=three[:1])[0] == "B"
        assert stones(talk, initialStones=three[:1] * 2)[0] == "B", "one stone, named twice"
        assert stones(talk, initialStones=[["B", "(2,2)"], *three[1:]]) == stones(talk, initialStones=three)
        assert stones(talk, initialStones=[*three, ["W", "D1"]])[0] == "B"
        assert stones(talk, initialStones=three, initialPlayer="B")[0] == "B"
        assert stones(talk, initialStones=three, moves=[["B", "pass"]])[0] == "W"
        played = stones(talk, moves=[["B", "C3"], ["W", "B2"]])
        assert played == stones(talk, initialStones=[["B", "C3"], ["W", "B2"]])
        assert played != stones(talk, initialStones=[["B", "C3"], ["W", "D2"]])
        assert played == stones(talk, moves=[["W", "B2"], ["B", "C3"], ["W", "pass"]]), "moves out of turn"
        assert stones(talk, moves=[["B", "pass"], ["W", "pass"]])[0] == "B", "a game that is over"


KO = [["B", "B1"], ["W", "C1"], ["B", "A2"], ["W", "D2"], ["B", "B3"], ["W", "C3"], ["B", "C2"], ["W", "B2"]]


def test_ko_and_suicide_against_the_rules_are_played_all_the_same() -> None:
    """White has just taken a ko. Programs send games of servers with other rules."""
    with Talk() as talk:
        taken = stones(talk, moves=KO, rules="chinese")
        again = stones(talk, moves=[*KO, ["B", "C2"]], rules="chinese")
        free = stones(talk, moves=[*KO, ["B", "pass"], ["W", "pass"], ["B", "C2"]], rules="chinese")
        assert again[0] == free[0] == "W" and again != taken
        corner = [["W", "A3"], ["W", "B2"], ["W", "C1"], ["B", "A2"], ["B", "B1"], ["B", "A1"]]
        before = stones(talk, moves=[*corner[:3]], rules="japanese")
        assert stones(talk, moves=[*corner, ["B", "pass"]], rules="japanese")[1] != before[1]
        emptied = stones(talk, moves=[*corner], rules="japanese")
        assert emptied == ("W", stones(talk, moves=[*corner[:3], ["B", "pass"]], rules="japanese")[1])


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


def test_komi_rules_and_handicap_reach_the_search() -> None:
    """After two passes and one more visit the score of the empty board is minus White's points."""
    with Talk() as talk:

        def white_points(**query: object) -> float:
            allow = [{"player": c, "moves": ["pass"], "untilDepth": 100} for c in "BW"]
            (answer,) = talk.ask(allowMoves=allow, maxVisits=30, overrideSettings=BLACK, **query)
            return -round(2 * answer["moveInfos"][0]["scoreLead"]) / 2

        assert white_points(komi=3.5) > white_points(komi=0.5)
        assert white_points(rules="japanese") == white_points(rules="japanese", komi=6.5)
        assert white_points(rules="chinese") == white_points(rules="chinese", komi=7.5)
        parts = {"ko": "SIMPLE", "scoring": "AREA"}
        shown = {**parts, "komi": 3.5}  # KataGo's showboard writes rules so
        assert white_points(rules=shown) == white_points(rules=parts, komi=3.5)
        assert white_points(rules=shown, komi=0.5) == white_points(rules=parts, komi=0.5)
        text = "koPOSITIONALscoreAREAtaxNONEsui1"
        assert white_points(rules=f"{text}komi3.5") == white_points(rules=text, komi=3.5)
        assert white_points(rules=f"{text}komi3.5", komi=0.5) == white_points(rules=text, komi=0.5)


@pytest.mark.parametrize(
    ("rules", "komi"),
    [
        ("New Zealand", 7),
        ("nz", 7),
        ({"ko": "SITUATIONAL", "friendlyPassOk": True}, 7.5),
        ("koSITUATIONALscoreAREAtaxNONEsui1fpok1", 7.5),
        ("koPOSITIONALscoreAREAtaxNONEsui1whbNkomi5.5", 5.5),
        ("koPOSITIONALscoreAREAtaxNONEsui1whbN-1komi-3", -3),
        ("koSIMPLEscoreTERRITORYkomi0", 0),
        ("aga-button", 7),
        ({"hasButton": True}, 7),
        ({"scoring": "TERRITORY"}, 6.5),
        ('{"ko":"SIMPLE","scoring":"TERRITORY","komi":5.5}', 5.5),
        (' {"score": "TERRITORY"}', 6.5),
        ('{"ko": "SITUATIONAL", "friendlyPassOk": true}', 7.5),
    ],
)
def test_rules_have_the_komi_that_they_name_or_katago_s(rules: object, komi: float) -> None:
    """As in KataGo the parts of New Zealand's rules without their name mean the 7.5 points of other area scoring."""
    query, _ = read_query({**PLAIN, "rules": rules}, AnalysisSettings.default(), UniformEvaluator())
    assert query.turns[0].game.komi == komi


def test_the_komi_of_the_rules_is_checked_beside_that_of_the_query() -> None:
    with Talk() as talk:
        (answer,) = talk.ask(rules={"komi": 5.3}, komi=7.5)
        assert (answer["field"], "5.3" in answer["error"]) == ("rules", True)


def test_whole_numbers_of_an_array_may_be_written_as_floats() -> None:
    fields = {**PLAIN, "moves": [["B", "C3"]], "analyzeTurns": [0.0, 1], "priorities": [5, -2.0]}
    query, _ = read_query(fields, AnalysisSettings.default(), UniformEvaluator())
    assert [(turn.number, turn.priority) for turn in query.turns] == [(0, 5), (1, -2)]
    assert all(type(turn.number) is type(turn.priority) is int for turn in query.turns), "reports have whole numbers"


BLACK = {"reportAnalysisWinratesAs": "BLACK"}


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
