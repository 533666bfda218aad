"""Columns of a store that are no games: encode_rows() refuses them in words, whatever they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tengen import _native

GOOD: dict[str, Any] = {
    "size": np.array([9], np.uint8),
    "moves": np.array([40, 41 | 1 << 15, 81], np.uint16),
    "offsets": np.array([0, 3], np.int32),
    "black_stones": np.array([20], np.uint16),
    "black_offsets": np.array([0, 1], np.int32),
    "white_stones": np.array([60], np.uint16),
    "white_offsets": np.array([0, 1], np.int32),
    "ownership": np.zeros(21, np.uint8),
    "ownership_offsets": np.array([0, 21], np.int32),
    "first": np.zeros(1, np.uint8),
    "rules": np.zeros(1, np.int16),
    "komi": np.full(1, 6.5, np.float32),
    "score": np.zeros(1, np.float32),
    "weight": np.ones(1, np.float32),
    "winner": np.zeros(1, np.int8),
    "black_rank": np.full(1, 9, np.int8),
    "white_rank": np.full(1, -30, np.int8),
    "visits": np.array([40 | 3 << 16, 81 | 1 << 16, 81 | 9 << 16], np.uint32),
    "visit_offsets": np.array([0, 2, 2, 3], np.int32),
    "visit_rows": np.array([0, 3], np.int32),
}


def encode(threads: int = 1, ply: int = 3, **changed: list[Any]) -> None:
    columns = {name: np.array(changed.get(name, values), values.dtype) for name, values in GOOD.items()}
    games = _native.GameColumns(**columns, rule_sets=["chinese"])
    planes, scalars = map(len, _native.plane_set("tengen"))
    index, floats = np.zeros(1, np.int64), np.zeros(1, np.float32)
    _native.encode_rows(
        "tengen", [games], shard=index, row=index, ply=index + ply, symmetry=index,
        other_scoring=np.zeros(1, bool), komi_shift=floats, edge=9,
        planes=np.zeros((1, planes, 9, 9), np.float32), scalars=np.zeros((1, scalars), np.float32),
        mask=np.zeros((1, 9, 9), np.float32), policy=np.zeros(1, np.int64), value=floats.copy(), score=floats.copy(),
        ownership=np.zeros((1, 9, 9), np.float32), weight=floats.copy(), threads=threads,
        target=np.zeros((1, 82), np.float32), reply=np.zeros((1, 82), np.float32),
    )  # fmt: skip


def test_a_good_row_is_encoded() -> None:
    encode()
    encode(ply=2)
    encode(visits=[0], visit_offsets=[0], visit_rows=[0, 0])
    encode(komi=[np.nan], score=[np.nan], weight=[np.nan], winner=[-1])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"size": [1]}, "size"),
        ({"size": [255]}, "too small for a board of 255"),
        ({"moves": [40, 82, 81]}, "row 0 is no game: move to point 82"),
        ({"moves": [40, 40, 81]}, "row 0 is no game: move to point 40"),
        ({"moves": [40, 41, 82], "ply": 2}, "row 0 is no game: move to point 82"),
        ({"moves": [40, 41, 40], "ply": 2}, "row 0 is no game: move to point 40"),
        ({"ply": 4}, "no ply 4 in a game of 3"),
        ({"moves": [40, 20, 81]}, "row 0 is no game: move to point 20"),
        ({"black_stones": [81]}, "row 0 is no game: a stone on point 81"),
        ({"white_stones": [65535]}, "row 0 is no game: a stone on point 65535"),
        ({"white_stones": [20]}, "stone"),
        ({"first": [2]}, "row 0 is no game: color 2 to play"),
        ({"rules": [1]}, "row 0 is no game: rule set 1"),
        ({"rules": [-1]}, "row 0 is no game: rule set -1"),
        ({"komi": [np.inf]}, "komi must be a finite number"),
        ({"ownership": [0] * 20, "ownership_offsets": [0, 20]}, "ownership of 20 bytes is too short for 81 points"),
        ({"offsets": [0, 4]}, "moves: the offsets do not fit"),
        ({"offsets": [3, 0]}, "moves: the offsets do not fit"),
        ({"offsets": [-1, 3]}, "moves: the offsets do not fit"),
        ({"black_offsets": [1, 0]}, "black_stones: the offsets do not fit"),
        ({"ownership_offsets": [0]}, "ownership: the offsets do not fit"),
        ({"visits": [82 | 1 << 16] * 3, "ply": 0}, "row 0 is no game: move to point 82"),
        ({"visits": [0xFFFFFFFF] * 3, "ply": 1}, "row 0 is no game: move to point 65535"),
        ({"visits": [40, 81, 1 << 16], "ply": 0}, "row 0 is no game: no visit is counted at move 0"),
        ({"visit_offsets": [0, 2, 2, 4]}, "visits: the offsets do not fit"),
        ({"visit_offsets": [0, 2, 1, 3]}, "visits: the offsets do not fit"),
        ({"visit_offsets": []}, "visits: the offsets do not fit"),
        ({"visit_rows": [0, 4]}, "visits: the rows do not fit"),
        ({"visit_rows": [-1, 2]}, "visits: the rows do not fit"),
        ({"visit_rows": [0]}, "visits: the rows do not fit"),
        ({"visit_rows": [0, 2]}, "visits: row 0 has 2 lists for 3 moves"),
        ({"black_rank": []}, "black_rank: not as long as size"),
        ({"threads": 0}, "threads must be 1 to 1024, not 0"),
        ({"threads": 1 << 20}, "threads must be 1 to 1024, not 1048576"),
    ],
)
def test_what_is_no_game_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode(**changed)
