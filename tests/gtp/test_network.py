"""`kata-raw-nn` with a network of KataGo: the same numbers as KataGo's own answer to the same commands."""

from __future__ import annotations

import gzip
import json
import lzma
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import katago_twin
import pytest
from gtp_fakes import FakeEngine, ask, raw_fields, session_of, talk
from other_programs import SHARED, give_up

from tengen.analysis.config import AnalysisSettings
from tengen.analysis.server import AnalysisServer
from tengen.engine import Engine, Limits
from tengen.evaluators import Evaluator
from tengen.evaluators.human import HumanNetwork
from tengen.evaluators.load import load_evaluator
from tengen.game import WHITE, Game
from tengen.gtp.streams import InputQueue

NETS = SHARED / "nets"
NETWORK, GOLDEN = NETS / "g170-b6c96-s175395328-d26788732.bin.gz", NETS / "golden" / "g170-b6c96.jsonl.xz"


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    if not NETWORK.exists():
        give_up("shared", f"no {NETWORK}")
    return load_evaluator(str(NETWORK), "onnxruntime", threads=1)


def positions() -> list[dict[str, Any]]:
    """One position of each size and rule set but those of 19x19, and one there."""
    with lzma.open(GOLDEN, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    small = {(row["size"], row["rules"]): row for row in rows if row["size"] < 19}
    return [*small.values(), rows[0]]


def test_the_answer_is_katagos(evaluator: Evaluator) -> None:
    found = positions()
    assert len(found) > 8
    for row in found:
        session = session_of(FakeEngine(evaluator=evaluator), size=row["size"])
        lines = [f"kata-set-rules {row['rules']}", f"komi {row['komi']}", *(f"play {move}" for move in row["moves"])]
        for line in lines:
            assert ask(session, line) == "", line
        answer = raw_fields(ask(session, f"kata-raw-nn {row['symmetry']}"))
        assert answer["symmetry"] == [str(row["symmetry"])]
        for name in ("whiteWin", "whiteLoss", "noResult"):
            assert float(answer[name][0]) == pytest.approx(row[name], abs=1e-3), (name, row["size"], row["rules"])
        assert float(answer["whiteLead"][0]) == pytest.approx(row["whiteLead"], abs=0.05)
        assert float(answer["policyPass"][0]) == pytest.approx(row["policyPass"], abs=1e-3)
        theirs = [p for line in row["policy"] for p in line]
        for mine, other in zip(answer["policy"], theirs, strict=True):
            assert (mine == "NAN") == (other is None)
            assert other is None or float(mine) == pytest.approx(other, abs=1e-3)


def test_an_analysis_has_all_fields_of_katago(evaluator: Evaluator) -> None:
    """A network of KataGo is searched as KataGo searches, with its own score deviation, weights and ownership."""
    session = session_of(limits=Limits(visits=24))
    session.engine = Engine(evaluator, batch=4)
    assert ask(session, "kata-get-param useUncertainty") == "true"
    keys = ["rootInfo", "noResultValue", "pvVisits"]
    keys += ["ownership", "ownershipStdev", "movesOwnership", "movesOwnershipStdev"]
    line = talk(session, "kata-search_analyze b maxmoves 2 " + " ".join(f"{key} true" for key in keys)).split("\n")[-4]
    names = "utility winrate scoreMean scoreStdev scoreLead scoreSelfplay noResultValue prior lcb utilityLcb weight"
    move = line.split(" pv ")[0].split()
    assert move[7:-2:2] == names.split() and all(float(word) == float(word) for word in move[8:-2:2])
    boards = {name: [] for name in keys if "wnership" in name}  # type: ignore[var-annotated]
    for name, values in re.findall(r"(\w*wnership\w*)((?: -?[0-9.]+)+)", line):
        boards[name].append([float(value) for value in values.split()])
    assert [len(found) for found in boards.values()] == [1, 1, 2, 2]
    for name, found in boards.items():
        low = 0 if "Stdev" in name else -1
        assert all(len(board) == 81 and low <= min(board) and max(board) <= 1 for board in found)
    assert max(boards["ownershipStdev"][0]) > 0.01
    assert " rawStWrError -1 " in line  # format 8 does not predict it
    session.lines = InputQueue()
    assert session.engine.params.wide_root_noise == 0
    talk(session, "kata-analyze b 10")  # the end of the input ends it after its first batch
    assert session.engine.params.wide_root_noise == pytest.approx(0.04)


def test_the_raw_outputs_of_a_human_style_network(tmp_path: Path) -> None:
    session = session_of(size=5)
    refused = "? Cannot run kata-raw-human-nn, "
    assert ask(session, "kata-raw-human-nn 0") == refused + "-human-model was not provided"
    assert "needs a human-style network" in ask(session, "kata-set-param humanSLProfile rank_5k")
    session.human = HumanNetwork(katago_twin.written(tmp_path / "human.txt", metadata=True), "onnxruntime")
    assert ask(session, "kata-raw-human-nn 0") == refused + "humanSLProfile parameter was not set"
    assert ask(session, "kata-set-param humanSLProfile rank_40k").startswith("? no profile 'rank_40k'")
    assert ask(session, "kata-set-param humanSLProfile rank_5k") == ""
    assert ask(session, "kata-get-param humanSLProfile") == "rank_5k"
    answer = ask(session, "kata-raw-human-nn w 3")
    names = "symmetry whiteWin whiteLoss noResult whiteScore whiteScoreSq shorttermWinlossError shorttermScoreError"
    assert re.findall(r"^([a-z]\w+)", answer, re.M) == [*names.split(), "policy", "policyPass", "whiteOwnership"]
    (raw,) = session.human.outputs(Game(5).setup(to_play=WHITE), "rank_5k", [3])
    found = raw_fields(answer)
    assert float(found["whiteWin"][0]) == pytest.approx(raw.white_win, abs=1e-6)
    assert float(found["whiteScore"][0]) == pytest.approx(raw.white_score, abs=1e-3)
    assert ask(session, "kata-raw-human-nn all").count("symmetry") == 8
    assert ask(session, "kata-raw-human-nn 1 0.5") == "? syntax error: [COLOR] SYMMETRY expected"
    assert [model["usesHumanSLProfile"] for model in json.loads(ask(session, "kata-get-models"))] == [False, True]


def test_a_network_is_described_as_in_the_json_protocol(evaluator: Evaluator) -> None:
    session = session_of(FakeEngine(evaluator=evaluator), net=str(NETWORK), batch=4)
    lines: list[str] = []
    settings = replace(AnalysisSettings.default(), at_once=1)
    server = AnalysisServer(evaluator, settings, lines.append, net=str(NETWORK), batch=4)
    server.handle('{"id": "a", "action": "query_models"}')
    server.close()
    (model,) = json.loads(ask(session, "kata-get-models"))
    assert [model] == json.loads(lines[0])["models"]
    # GTP_Extensions.md of KataGo promises these keys; the format is the first number in the file.
    assert set(model) == {"name", "internalName", "maxBatchSize", "usesHumanSLProfile", "version", "usingFP16"}
    with gzip.open(NETWORK) as file:
        name, version = file.readline().split()[0].decode(), int(file.readline())
    assert (model["internalName"], model["version"], model["maxBatchSize"]) == (name, version, 4)
