"""Checksums: every altered byte of a store, a network file, a checkpoint or a match is noticed."""

from __future__ import annotations

import errno
import json
import random
import shutil
import sys
from collections import Counter
from pathlib import Path

import onnx
import pytest
import torch
from training.small_run import write_store

from tengen.checksums import Integrity, seal, sealed
from tengen.data.format import MANIFEST
from tengen.data.store import Store
from tengen.errors import NetworkError, StoreError
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.network_file import CARD_KEY
from tengen.networks.export import relabel
from tengen.networks.load import load_module
from tengen.runs.checkpoints import DamagedCheckpoint
from tengen.runs.verify import verify
from tengen.training.tensor_file import load_tensors, save_tensors

NETWORK = Path(__file__).parent.parent / "src" / "tengen" / "nets" / "zero-7x7.onnx"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("stores") / "small", games=40)


def flip(path: Path, place: int, bit: int) -> None:
    """Invert one bit of a file."""
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 1 << bit
    path.write_bytes(content)


def states(path: Path) -> dict[str, Integrity]:
    return {file.name: state for file, state in verify(path)}


def test_every_altered_bit_of_a_store_is_refused_and_found(store: Path, tmp_path: Path) -> None:
    """Of 600 stores with an altered byte 181 opened, with other games."""
    draw = random.Random(25)
    rows = [str(vars(record)) for record in Store.open(store)]
    names = [MANIFEST, "shard-00000.arrow"]
    altered = Counter[str]()
    for number in range(80):
        path = tmp_path / str(number)
        shutil.copytree(store, path)
        name = names[number % 2]
        flip(path / name, draw.randrange(1 << 30), draw.randrange(8))
        try:
            assert [str(vars(record)) for record in Store.open(path)] == rows  # white space of the manifest
        except StoreError:
            altered[name] += 1
            assert Integrity.ALTERED in states(path).values() or Integrity.MISSING in states(path).values()
    assert altered[names[1]] == 40
    assert altered[names[0]] >= 30


def test_a_store_of_an_earlier_version_opens(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "old"
    shutil.copytree(store, path)
    manifest = json.loads((path / MANIFEST).read_text()) | {"version": 3}
    del manifest["sha256"], manifest["shards"][0]["sha256"]
    (path / MANIFEST).write_text(json.dumps(manifest))
    assert len(Store.open(path)) == 40
    assert set(states(path).values()) == {Integrity.UNKNOWN}


def test_a_missing_shard_is_found(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut"
    shutil.copytree(store, path)
    (path / "shard-00000.arrow").unlink()
    assert states(path) == {MANIFEST: Integrity.INTACT, "shard-00000.arrow": Integrity.MISSING}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nets") / "small.onnx"
    props = {entry.key: entry.value for entry in onnx.load(NETWORK).metadata_props if entry.key == CARD_KEY}
    relabel(NETWORK, path, props)
    return path


def test_all_shipped_networks_have_their_checksums() -> None:
    found = states(NETWORK.parent)
    assert found.pop("default") is Integrity.UNKNOWN
    assert len(found) == 16 and set(found.values()) == {Integrity.INTACT}


def test_altered_playout_weights_are_found(tmp_path: Path) -> None:
    path = tmp_path / "own.playout"
    shutil.copyfile(NETWORK.parent / "linear-tygem.playout", path)
    assert states(path) == {path.name: Integrity.INTACT}
    flip(path, 300_000, 2)
    assert states(path) == {path.name: Integrity.ALTERED}


def test_a_network_file_carries_its_checksum(network: Path, tmp_path: Path) -> None:
    (tmp_path / "without.onnx").write_bytes(NETWORK.read_bytes()[:-83])
    assert (sealed(tmp_path / "without.onnx"), sealed(network)) == (Integrity.UNKNOWN, Integrity.INTACT)
    onnx.checker.check_model(onnx.load(network))
    assert load_evaluator(network).name == "zero-7x7"


def test_every_altered_bit_of_a_network_file_is_found(network: Path, tmp_path: Path) -> None:
    draw, path, size = random.Random(3), tmp_path / "net.onnx", network.stat().st_size
    for place in [0, size - 1, size - 30, size - 65, size - 70, *(draw.randrange(size) for _ in range(40))]:
        shutil.copyfile(network, path)
        flip(path, place, draw.randrange(8))
        assert sealed(path) is Integrity.ALTERED, place
    shutil.copyfile(network, path)
    flip(path, size // 2, 0)  # a weight, which every program would have read
    for load in (load_evaluator, load_module):
        with pytest.raises(NetworkError, match=r"net\.onnx is altered"):
            load(path)
    path.write_bytes(network.read_bytes()[:-100])
    assert sealed(path) is not Integrity.INTACT


def test_every_altered_bit_of_a_checkpoint_is_refused(tmp_path: Path) -> None:
    draw, whole, path = random.Random(4), tmp_path / "whole.ckpt", tmp_path / "step.ckpt"
    save_tensors({"network": {"weight": torch.arange(500.0)}}, whole)
    assert sealed(whole) is Integrity.UNKNOWN
    assert load_tensors(whole)["network"]["weight"][499] == 499
    seal(whole)
    assert sealed(whole) is Integrity.INTACT
    assert load_tensors(whole)["network"]["weight"][499] == 499
    size = whole.stat().st_size
    for place in [0, size - 1, size - 64, size - 66, size - 86, *(draw.randrange(size) for _ in range(60))]:
        shutil.copyfile(whole, path)
        flip(path, place, draw.randrange(8))
        with pytest.raises(DamagedCheckpoint):
            load_tensors(path)
        assert sealed(path) is Integrity.ALTERED, place


@pytest.mark.linux
def test_a_full_disk_is_an_error_of_the_system(tmp_path: Path) -> None:
    """PyTorch raised RuntimeError, without a file, when it wrote by itself."""
    with pytest.raises(OSError, match="No space left"):
        save_tensors({"network": torch.zeros(100_000)}, Path("/dev/full"))


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit there")
def test_a_checkpoint_that_the_disk_does_not_hold_is_an_error_of_the_disk(tmp_path: Path) -> None:
    """PyTorch ends its archive after the file has failed, and raises RuntimeError of its own."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, before[1]))
    try:
        with pytest.raises(OSError) as error:
            save_tensors({f"layer {i}": torch.zeros(1 << 16) for i in range(8)}, tmp_path / "step.ckpt")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert error.value.errno == errno.EFBIG


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"x" * 70, b"\x00" * 5000])
def test_a_file_without_a_checksum_has_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.onnx"
    path.write_bytes(content)
    assert sealed(path) is Integrity.UNKNOWN
