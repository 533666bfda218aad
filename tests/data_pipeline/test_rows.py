"""The filters of an import."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

from tengen.coords import MAX_SIZE
from tengen.data.record import GameRecord, pack_moves
from tengen.data.rows import Filters, RowOptions, final_owners, to_row
from tengen.errors import SgfError

GAME = GameRecord(
    size=19,
    moves=pack_moves(np.arange(50) % 2, np.arange(50)),
    komi=6.5,
    handicap=2,
    ending="resign",
    black_rank="3d",
    white_rank="1p",
    date=datetime.date(2015, 5, 5),
)


@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        (Filters(), ""),
        (Filters(sizes=(9, 13)), "board size"),
        (Filters(sizes=(9, 19)), ""),
        (Filters(min_rank="3d"), ""),
        (Filters(min_rank="4d"), "rank"),
        (Filters(players=("someone",)), "player"),
        (Filters(since=datetime.date(2015, 5, 5), until=datetime.date(2015, 5, 5)), ""),
        (Filters(since=datetime.date(2015, 5, 6)), "date"),
        (Filters(until=datetime.date(2015, 5, 4)), "date"),
        (Filters(endings=("count", "resign")), ""),
        (Filters(endings=("count",)), "result"),
        (Filters(max_handicap=2), ""),
        (Filters(max_handicap=1), "handicap"),
        (Filters(komi=(6.5, 7.5)), ""),
        (Filters(komi=(7.5,)), "komi"),
        (Filters(min_moves=50), ""),
        (Filters(min_moves=51), "fewer than 51 moves"),
        (Filters(max_moves=50), ""),
        (Filters(max_moves=49), "more than 49 moves"),
    ],
)
def test_each_filter_on_its_edge(filters: Filters, reason: str) -> None:
    assert filters.refuse(GAME) == reason


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"min_moves": -5}, "min_moves must be 0 or more, not -5"),
        ({"min_part": -1}, "min_part must be 0 or more"),
        ({"max_handicap": -1}, "0 keeps even games"),
        ({"min_moves": 20, "max_moves": 19}, "no game has"),
        ({"sizes": (1,)}, "no board size"),
        ({"sizes": (9, MAX_SIZE + 1)}, f"{MAX_SIZE + 1} is no board size"),
        ({"endings": ("won",)}, "'won' is no ending"),
        ({"since": datetime.date(2015, 5, 6), "until": datetime.date(2015, 5, 5)}, "no day is from 2015-05-06"),
    ],
)
def test_filters_that_no_game_passes_are_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(SgfError, match=why):
        Filters(**wrong)


def test_filters_at_their_bounds_are_taken() -> None:
    for bounds in ({"min_moves": 0, "max_moves": 0, "min_part": 0}, {"max_handicap": 0}, {"sizes": (2, MAX_SIZE)}):
        Filters(**bounds)  # type: ignore[arg-type]
    even = GameRecord(size=19, moves=GAME.moves, date=datetime.date(2015, 5, 5))
    assert [Filters(max_handicap=0).refuse(game) for game in (even, GAME)] == ["", "handicap"]
    assert Filters(until=datetime.date(2100, 1, 1)).refuse(GameRecord(size=19, moves=GAME.moves)) == "date"


def test_unknown_values_fail_the_filters_that_ask_for_them() -> None:
    unknown = GameRecord(size=19, moves=GAME.moves)
    assert Filters(min_rank="30k").refuse(unknown) == "rank"
    assert Filters(since=datetime.date(1900, 1, 1)).refuse(unknown) == "date"
    assert Filters(komi=(0.0,)).refuse(unknown) == "komi"
    assert Filters(endings=("unknown",)).refuse(unknown) == ""


@pytest.mark.parametrize(
    ("asked", "player"), [(["ANN"], 0), (["bob "], 1), (["bob", "ann"], 2), (["cyd"], None), (["an", ""], None)]
)
def test_a_game_is_known_by_the_color_of_the_player_that_is_asked_for(asked: list[str], player: int | None) -> None:
    """Names are compared whole, in any case of the letters."""
    if "" in asked:
        with pytest.raises(SgfError, match="a player's name is empty"):
            Filters(players=tuple(asked))
        asked.remove("")
    record = b"(;SZ[9]PB[Ann]PW[Bob];B[aa];W[bb];B[cc])"
    filters = Filters(players=tuple(asked), min_moves=1)
    row, _ = to_row(record, "here", RowOptions(filters))
    assert row.player == player and filters.refuse(row) == ("player" if player is None else "")
    unnamed, _ = to_row(b"(;SZ[9];B[aa])", "here", RowOptions(filters))
    assert filters.refuse(unnamed) == "player"


@pytest.mark.parametrize(
    ("rules", "result", "agrees"),
    [("Chinese", "B+6.5", True), ("Chinese", "B+8.5", False), ("AGA", "B+7.5", True), ("Japanese", "B+7.5", True)],
)
def test_the_score_of_a_handicap_game_has_the_bonus_of_its_rules(rules: str, result: str, agrees: bool) -> None:
    """Five columns are Black's, 45 points of area, and four White's, 36; a stone lies in Black's own territory."""
    black = [f"B[e{row}]" for row in "acdfgi"] + ["B[ee]", "B[cc]"]
    white = [f"W[f{row}]" for row in "abcdefghi"]
    moves = "".join(f";{w};{b}" for w, b in zip(white, [*black, "B[]"], strict=True))
    record = f"(;SZ[9]KM[0.5]HA[2]RU[{rules}]AB[eb][eh]RE[{result}]{moves};W[])"
    row, _ = to_row(record.encode(), "here", RowOptions(Filters(min_moves=1)))
    assert (final_owners(row, RowOptions.playouts).ownership is not None) == agrees
    if row.ownership is not None:
        assert row.ownership.reshape(9, 9).tolist() == [[0] * 5 + [1] * 4] * 9


@pytest.mark.parametrize("wrong", [{"min_rank": "10x"}, {"sizes": (1,)}, {"endings": ("resigned",)}])
def test_filters_that_make_no_sense(wrong: dict) -> None:
    with pytest.raises(SgfError, match=r"1 is no|10x|resigned"):
        Filters(**wrong)
