"""What an outcome says about a game, and the result that its record has."""

from __future__ import annotations

from typing import Any

import pytest

from tengen.game import BLACK, WHITE
from tengen.match.outcome import FAILURES, Outcome, Reason
from tengen.sgf import Result


def outcome(result: str, reason: Reason, winner: str | None = "a", **fields: Any) -> Outcome:
    return Outcome(0, 0, 0, "a", "b", winner, result, reason, 9, **fields)


@pytest.mark.parametrize(
    ("ended", "result"),
    [
        (outcome("B+3.5", "count", score=3.5), Result(BLACK, 3.5, "count")),
        (outcome("Draw", "limit", None, score=0.0), Result(2, 0.0, "draw")),
        (outcome("B+", "majority"), Result(BLACK, None, "count")),
        (outcome("W+R", "resign", "b"), Result(WHITE, None, "resign")),
        (outcome("W+T", "timeout", "b"), Result(WHITE, None, "time")),
        (outcome("B+F", "illegal"), Result(BLACK, None, "forfeit")),
        (outcome("B+F", "crash"), Result(BLACK, None, "forfeit")),
        (outcome("Void", "cycle", None), Result(2, None, "void")),
    ],
)
def test_the_result_of_a_record(ended: Outcome, result: Result) -> None:
    assert ended.sgf_result == result


def test_the_loser_is_the_other_player() -> None:
    assert outcome("B+R", "resign").loser == "b" and outcome("W+R", "resign", "b").loser == "a"
    assert outcome("Void", "cycle", None).loser is None


def test_counts_differ_by_the_players_and_by_playouts_where_one_player_counts() -> None:
    assert outcome("B+5", "count", score=5.0, counts={"b": 1.0, "playouts": 5.0}).counts_differ
    assert not outcome("B+5", "count", score=5.0, counts={"b": 5.0, "playouts": 5.0}).counts_differ
    assert not outcome("B+5", "count", score=5.0, counts={"playouts": 5.0}).counts_differ
    assert not outcome("B+1", "count", score=1.0, counts={"a": 1.0, "b": 1.0, "playouts": 5.0}).counts_differ
    assert outcome("B+1", "count", score=1.0, counts={"a": 1.0, "b": 5.0, "playouts": 1.0}).counts_differ


def test_a_clock_that_runs_out_is_no_failure_of_a_program() -> None:
    assert {"crash", "timeout"} <= FAILURES and not {"time", "illegal", "resign"} & FAILURES
