"""Recorded conversations with KataGo: the same requests get answers of the same form, and the same raw evaluations."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from other_programs import give_up
from talk import Talk

from tengen import _native
from tengen.coords import from_gtp, to_gtp
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.symmetric import inverse_transform

Fields = dict[str, Any]
RAW = ("rawWinrate", "rawLead", "rawScoreSelfplay", "rawScoreSelfplayStdev", "rawNoResultProb", "rawStWrError",
       "rawStScoreError", "rawVarTimeLeft")  # fmt: skip


@pytest.fixture(scope="module")
def conversation() -> list[tuple[str, Fields | str]]:
    """("query" or "katago", line) in the order in which the lines were sent; a line that is no JSON stays text."""
    path = Path(__file__).parent.parent / "data" / "katago-analysis.jsonl.xz"  # of KataGo 1.17.2

    def read(line: str) -> Fields | str:
        try:
            return json.loads(line)  # type: ignore[no-any-return]
        except ValueError:
            return line

    with lzma.open(path, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [(line["from"], read(line["line"])) for line in lines]


def key(answer: Fields) -> tuple[Any, ...]:
    """What an answer is about: answers of one key have the same form."""
    return tuple(str(answer.get(name)) for name in ("id", "turnNumber", "isDuringSearch", "field", "action"))


def form(value: object) -> object:
    """Keys and types; of the fields of a move those that all moves have."""
    if isinstance(value, dict):
        differs = ("isSymmetryOf", "version", "models")
        return {name: form(one) for name, one in value.items() if name not in differs}
    if isinstance(value, list):
        return [form(one) for one in value[:1]]
    return type(value).__name__


def test_every_request_of_the_conversations_gets_an_answer_of_the_same_form(
    conversation: list[tuple[str, Fields | str]],
) -> None:
    with Talk(reportAnalysisWinratesAs="BLACK") as talk:
        expected: list[Fields] = []
        for speaker, line in conversation:
            if speaker == "katago":
                assert isinstance(line, dict)
                expected.append(line)
            else:
                talk.server.handle(line if isinstance(line, str) else json.dumps(line))
                if not (isinstance(line, dict) and "reportDuringSearchEvery" in line):
                    talk.server.finish()
        talk.server.finish()
    # Partial reports depend on the speed; all others come once.
    finals = [answer for answer in talk.answers if answer.get("isDuringSearch") is not True]
    wanted = [answer for answer in expected if answer.get("isDuringSearch") is not True]
    assert sorted(map(key, finals)) == sorted(map(key, wanted))
    for answer in wanted:
        ours = next(one for one in finals if key(one) == key(answer))
        assert form(ours) == form(answer)
        if "error" in answer or "warning" in answer:
            continue
        for name in ("move", "visits", "order"):
            values = [info[name] for info in ours.get("moveInfos", [])]
            assert len(set(values)) == len(values) if name != "visits" else all(values)
        assert [info["order"] for info in ours.get("moveInfos", [])] == list(range(len(ours.get("moveInfos", []))))
        if "rootInfo" in answer:
            for name in ("visits", "currentPlayer"):
                assert ours["rootInfo"][name] == answer["rootInfo"][name] or answer["id"] == "during"
        for name in ("ownership", "policy"):
            assert len(ours.get(name, ())) == len(answer.get(name, ()))
    limits = next(one for one in finals if one.get("id") == "limits")
    assert {info["move"] for info in limits["moveInfos"]} == {"C3", "G7"}
    avoid = next(one for one in finals if one.get("id") == "avoid")
    assert "C3" not in {info["move"] for info in avoid["moveInfos"]}
    assert max(len(info["pv"]) for info in avoid["moveInfos"]) <= 3


def turned(query: Fields, symmetry: int) -> Fields:
    """The query for the board under a symmetry."""
    size = query["boardXSize"]

    def vertex(text: str) -> str:
        return to_gtp(_native.transform(from_gtp(text, size), size, symmetry), size)

    stones = {
        name: [[color, vertex(text)] for color, text in query[name]]
        for name in ("moves", "initialStones")
        if name in query
    }
    return {k: v for k, v in query.items() if k != "allowMoves"} | stones


def agrees(ours: Fields, theirs: Fields, symmetry: int) -> bool:
    """Whether the network's own outputs are the same, to a thousandth in a rate and 0.05 in points."""
    for name in RAW:
        tolerance = 0.05 if "Score" in name or "Lead" in name else 1e-3
        if abs(ours["rootInfo"][name] - theirs["rootInfo"][name]) > tolerance:
            return False
    if "policy" not in theirs:
        return True
    size = round((len(theirs["policy"]) - 1) ** 0.5)
    board = inverse_transform(np.array(ours["policy"][:-1]).reshape(size, size), symmetry)
    return np.allclose(board.ravel(), theirs["policy"][:-1], atol=1e-3)


def test_the_network_says_of_each_position_what_it_says_in_katago(
    conversation: list[tuple[str, Fields | str]], shared: Path
) -> None:
    """KataGo evaluates each position under one symmetry, drawn at random: one of the eight must agree in everything."""
    network = next((shared / "nets").glob("g170-b6c96*.bin.gz"), None)
    if network is None:
        give_up("shared", f"no g170 network in {shared / 'nets'}")
    lines = [(speaker, line) for speaker, line in conversation if isinstance(line, dict)]
    expected = {key(line): line for speaker, line in lines if speaker == "katago" and "rootInfo" in line}
    evaluator = load_evaluator(network, threads=1, precision="f32")
    agreeing = set()
    with Talk(evaluator, reportAnalysisWinratesAs="BLACK", nnRandomize=False) as talk:
        for speaker, query in lines:
            wanted = {k for k in expected if k[0] == query.get("id") != "during"}
            if speaker == "katago" or not wanted:
                continue
            for symmetry in range(8):
                before = len(talk.answers)
                talk.server.handle(json.dumps({**turned(query, symmetry), "maxVisits": 1, "includePolicy": True}))
                talk.server.finish()
                for ours in (answer for answer in talk.answers[before:] if key(answer) in wanted):
                    theirs = expected[key(ours)]
                    assert ours["rootInfo"]["currentPlayer"] == theirs["rootInfo"]["currentPlayer"]
                    if agrees(ours, theirs, symmetry):
                        agreeing.add(key(ours))
                if wanted <= agreeing:
                    break
    assert agreeing == {k for k in expected if k[0] != "during"}
