"""KataGo's networks against KataGo's own raw outputs (`shared/nets/golden`), from the position on."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.evaluators import load_evaluator
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.raw import RawOutput, raw_outputs
from tengen.game import Game

Record = dict[str, Any]
NETWORKS = {
    "g170-b6c96": "g170-b6c96-s175395328-d26788732",
    "b7c96h3tfrs-test5-cnorm": "b7c96h3tfrs-test5-cnorm",
    "b7c96h6kv3qk32v16tflrs-fson-bnh": "b7c96h6kv3qk32v16tflrs-fson-bnh",
    "b10c384h6nbttflrs": "b10c384h6nbttflrs",
}
PLACES = {"whiteLead": 2e-3, "whiteScoreSelfplay": 2e-3, "varTimeLeft": 2e-3, "shorttermScoreError": 2e-3}


@pytest.mark.parametrize(
    "network", [n if n == "g170-b6c96" else pytest.param(n, marks=pytest.mark.slow) for n in NETWORKS]
)
def test_raw_outputs_are_katagos(network: str, shared: Path) -> None:
    nets = shared / "nets"
    evaluator = load_evaluator(nets / f"{NETWORKS[network]}.bin.gz", precision="f32", remember=False, cache=20)
    with lzma.open(nets / "golden" / f"{network}.jsonl.xz", "rt") as file:
        records: list[Record] = [json.loads(line) for line in file]
    by_game: dict[str, list[Record]] = {}
    for record in records:
        by_game.setdefault(json.dumps([record[key] for key in ("size", "rules", "komi", "moves")]), []).append(record)
    assert len(by_game) == 80
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
    """Equal to the digits that KataGo prints, far within the goal of 1e-3 in probabilities and 0.05 points."""
    shown = found.as_json()
    for name in ("whiteWin", "whiteLoss", "noResult", "policyPass", "shorttermWinlossError", *PLACES):
        tolerance = PLACES.get(name, 1e-3 if name.startswith("short") else 2e-5)
        assert shown[name] == pytest.approx(record[name], abs=tolerance), name
    assert shown["whiteScoreSelfplaySq"] == pytest.approx(record["whiteScoreSelfplaySq"], abs=0.02, rel=2e-4)
    policy, expected = (np.array(one["policy"], float) for one in (shown, record))
    assert policy == pytest.approx(expected, abs=2e-5, nan_ok=True)
    assert np.array(shown["whiteOwnership"]) == pytest.approx(np.array(record["whiteOwnership"]), abs=1e-4)


def test_a_file_is_converted_once(shared: Path) -> None:
    path = shared / "nets" / f"{NETWORKS['g170-b6c96']}.bin.gz"
    first = find_network(path)
    written = first.stat().st_mtime_ns
    assert find_network(str(path)) == first and first.stat().st_mtime_ns == written
