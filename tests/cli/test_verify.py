"""`tengen verify`: what it says of stores, runs and matches, and its exit status."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from training.small_run import write_store

from tengen.checksums import seal
from tengen.cli import app
from tengen.match.folder import MatchFolder, PlayedRecord
from tengen.match.outcome import Outcome

NETWORK = Path(__file__).parents[2] / "src" / "tengen" / "nets" / "zero-7x7.onnx"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run with a store, a network and a match of two games."""
    folder = tmp_path / "run"
    write_store(folder / "games", games=3)
    (folder / "nets").mkdir()
    shutil.copyfile(NETWORK, folder / "nets" / "cycle-00000.onnx")
    shutil.copyfile(NETWORK, folder / "nets" / "cycle-00001.onnx")
    seal(folder / "nets" / "cycle-00001.onnx")
    with MatchFolder(folder / "matches" / "gate") as match:
        conditions = {"size": 5, "rules": "chinese", "komi": 7.5}
        players = [{"name": "a"}, {"name": "b"}]
        match.begin({"schedule": {"kind": "round-robin"}, "players": players, "conditions": conditions, "games": 2})
        outcomes = [Outcome(i, i, 0, "a", "b", "a", "B+R", "resign", 4) for i in range(2)]
        match.add(PlayedRecord(outcome, b"(;B[aa])") for outcome in outcomes)
    (folder / "log.jsonl").write_text('{"event": "cycle", "step": 1}\n{"event": "cyc')
    return folder


def verify(capsys: pytest.CaptureFixture[str], *paths: Path | str) -> tuple[int, dict[str, str], str]:
    """Exit status, what it says by file, and the last line."""
    status = app.main(["verify", *map(str, paths)])
    *lines, last = capsys.readouterr().out.splitlines()
    return status, {Path(line[20:]).name: line[:20].strip() for line in lines}, last


def test_a_whole_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found, last = verify(capsys, run)
    assert status == 0
    records, networks = ("00000.sgf", "00001.sgf"), ("cycle-00000.onnx", "cycle-00001.onnx")
    assert found == {
        **dict.fromkeys(("manifest.json", "shard-00000.arrow", *records, *networks), "intact"),
        **dict.fromkeys(("log.jsonl", "games.jsonl", "match.json"), "without a checksum"),
    }
    assert last == "6 intact, 0 altered, 0 missing, 3 without a checksum"


def test_what_is_altered_or_missing(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = run / "matches" / "gate"
    (match / "games" / "00000.sgf").write_bytes(b"(;B[ab])")
    lines = (match / "games.jsonl").read_bytes()
    (match / "games.jsonl").write_bytes(lines.replace(b'"index": 1, "round": 1', b'"index": 1, "round": 7'))
    (run / "games" / "shard-00000.arrow").unlink()
    (run / "log.jsonl").write_text('{"event": "cycle", "st\n{"event": "cycle", "step": 2}\n')
    network = run / "nets" / "cycle-00001.onnx"
    network.write_bytes(network.read_bytes().replace(b"zero-7x7", b"zero-9x9"))
    status, found, last = verify(capsys, run)
    assert status == 1
    assert [name for name, state in found.items() if state == "altered"] == [
        *("log.jsonl", "00000.sgf", "00001.sgf", "cycle-00001.onnx")
    ]
    assert found["shard-00000.arrow"] == "missing"
    assert last == "2 intact, 4 altered, 1 missing, 2 without a checksum"


@pytest.mark.parametrize("length", [0, 1000, 100_000])
def test_a_network_or_checkpoint_that_was_cut_short_is_altered(
    length: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its checksum would be at the end. A whole file of an earlier version has none either, and is no damage."""
    with zipfile.ZipFile(tmp_path / "whole.ckpt", "w") as archive:
        archive.writestr("data", bytes(200_000))
    unsealed = NETWORK.read_bytes()[:-83]  # the property with the checksum, and its digest
    (tmp_path / "whole.onnx").write_bytes(unsealed)
    for whole in (tmp_path / "whole.ckpt", tmp_path / "whole.onnx"):
        whole.with_stem("cut").write_bytes(whole.read_bytes()[:length])
    status, found, _ = verify(capsys, tmp_path)
    assert status == 1
    assert found == {
        **dict.fromkeys(("cut.ckpt", "cut.onnx"), "altered"),
        **dict.fromkeys(("whole.ckpt", "whole.onnx"), "without a checksum"),
    }


def test_a_match_is_verified_and_read_as_before(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with MatchFolder(run / "matches" / "gate") as match:
        assert [outcome.index for outcome in match.outcomes.values()] == [0, 1]
    (run / "matches" / "gate" / "games" / "00001.sgf").unlink()
    assert verify(capsys, run / "matches" / "gate")[1]["00001.sgf"] == "missing"


def test_a_file_a_name_and_nothing(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found, _ = verify(capsys, run / "nets" / "cycle-00001.onnx", "zero-7x7")
    assert (status, found) == (0, {"cycle-00001.onnx": "intact", "zero-7x7.onnx": "intact"})
    status, found, last = verify(capsys, "default", "linear-tygem")
    assert status == 0 and set(found.values()) == {"intact"} and last.startswith("8 intact")
    shutil.copyfile(run / "nets" / "cycle-00001.onnx", run / "nets" / "cycle-00001.int8.onnx")
    (run / "nets" / "cycle-00001.int8.onnx").open("r+b").write(b"x")
    status, found, _ = verify(capsys, run / "nets" / "cycle-00001.onnx")
    assert (status, found) == (1, {"cycle-00001.onnx": "intact", "cycle-00001.int8.onnx": "altered"})
    for part in ("games/shard-00000.arrow", "matches/gate/games", "matches/gate/games/00000.sgf"):
        assert app.main(["verify", str(run / part)]) == 2
        folder = run / ("games" if part.startswith("games") else "matches/gate")
        assert f"{run / part} is a part of {folder}, where its checksum stands" in capsys.readouterr().err
    assert app.main(["verify", str(run / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err
