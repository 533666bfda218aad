"""KataGo's networks against KataGo's own raw outputs (`shared/nets/golden`), from the position on."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.evaluators import load_evaluator
from tengen.evaluators.network_file import find_network
from tengen.evaluators.raw import RawOutput, raw_outputs
from tengen.game import Game

Record = dict[str, Any]
# The file of a network, and which of its records are compared: by size and symmetry, so many each.
NETWORKS: dict[str, tuple[str, dict[tuple[int, int | None], int]]] = {
    "g170-b6c96": ("g170-b6c96-s175395328-d26788732", {(19, None): 8, (7, 0): 2}),
    "b7c96h3tfrs-test5-cnorm": ("b7c96h3tfrs-test5-cnorm", {(19, None): 8, (13, 0): 3}),
    "b7c96h6kv3qk32v16tflrs-fson-bnh": ("b7c96h6kv3qk32v16tflrs-fson-bnh", {(9, 0): 4, (19, 0): 3}),
    "b10c384h6nbttflrs": ("b10c384h6nbttflrs", {(9, 0): 3}),
}
PLACES = {"whiteLead": 2e-3, "whiteScoreSelfplay": 2e-3, "varTimeLeft": 2e-3, "shorttermScoreError": 2e-3}


def records(folder: Path, wanted: dict[tuple[int, int | None], int]) -> list[Record]:
    """So many records of each size, in one symmetry; or in all eight of the first position that has them."""
    name = folder.name
    with lzma.open(folder.with_name(f"{name}.jsonl.xz"), "rt") as file:
        known: list[Record] = [json.loads(line) for line in file]
    found: list[Record] = []
    for (size, symmetry), count in wanted.items():
        of_size = [record for record in known if record["size"] == size]
        turned = [record["moves"] for record in of_size if record["symmetry"] == 7]
        if symmetry is None:
            of_size = [record for record in of_size if record["moves"] == turned[0]]
        found += [record for record in of_size if symmetry in (None, record["symmetry"])][:count]
    return found


@pytest.mark.parametrize("network", NETWORKS)
def test_raw_outputs_are_katagos(network: str, shared: Path) -> None:
    stem, wanted = NETWORKS[network]
    evaluator = load_evaluator(shared / "nets" / f"{stem}.bin.gz", precision="f32", remember=False, cache=20)
    by_game: dict[str, list[Record]] = {}
    for record in records(shared / "nets" / "golden" / network, wanted):
        by_game.setdefault(json.dumps([record[key] for key in ("size", "rules", "komi", "moves")]), []).append(record)
    assert len(by_game) > 2
    for text, expected in by_game.items():
        size, rules, komi, moves = json.loads(text)
        game = Game(size, rules, komi)
        for move in moves:
            game.play(move.split()[1])
        for record, found in zip(
            expected, raw_outputs(evaluator, game, [r["symmetry"] for r in expected]), strict=True
        ):
            compare(found, record)


def compare(found: RawOutput, record: Record) -> None:
    """Equal to the digits that KataGo prints; the issue asks for 1e-3 in probabilities and 0.05 points."""
    shown = found.as_json()
    for name in ("whiteWin", "whiteLoss", "noResult", "policyPass", "shorttermWinlossError", *PLACES):
        tolerance = PLACES.get(name, 1e-3 if name.startswith("short") else 2e-5)
        assert shown[name] == pytest.approx(record[name], abs=tolerance), name
    assert shown["whiteScoreSelfplaySq"] == pytest.approx(record["whiteScoreSelfplaySq"], abs=0.02, rel=2e-4)
    policy, expected = (np.array(one["policy"], float) for one in (shown, record))
    assert policy == pytest.approx(expected, abs=2e-5, nan_ok=True)
    assert np.array(shown["whiteOwnership"]) == pytest.approx(np.array(record["whiteOwnership"]), abs=1e-4)


def test_a_file_is_converted_once(shared: Path) -> None:
    path = shared / "nets" / f"{NETWORKS['g170-b6c96'][0]}.bin.gz"
    first = find_network(path)
    written = first.stat().st_mtime_ns
    assert find_network(str(path)) == first and first.stat().st_mtime_ns == written
