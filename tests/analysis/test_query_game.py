"""The games of queries: rules, komi, the stones at the start, who begins, and moves against the rules."""

from __future__ import annotations

import json

import pytest
from talk import PLAIN, Talk

from tengen.analysis.config import AnalysisSettings
from tengen.analysis.query import read_query
from tengen.coords import to_gtp
from tengen.evaluators import UniformEvaluator

BLACK = {"reportAnalysisWinratesAs": "BLACK"}


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
