"""KataGo's network files: what is read, and what a damaged, foreign or future file is answered."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import katago_twin as twin
import numpy as np
import pytest

from tengen.errors import NetworkError
from tengen.formats import network_format
from tengen.formats.katago_model import AttentionBlock, KataGoModel, OrdinaryBlock, TipNorm
from tengen.formats.katago_reader import read_katago


@pytest.fixture(scope="module")
def model() -> KataGoModel:
    maker = twin.Maker(17, 0)
    blocks = maker.ordinary(), maker.attention(6, 4, 2, 6, 3, "learned"), maker.feed_forward(6)
    return maker.model(blocks, tip="plain", policy_outputs=2)


@pytest.fixture(scope="module")
def good(model: KataGoModel) -> bytes:
    return twin.text(model)


def read(folder: Path, content: bytes, suffix: str = ".bin") -> KataGoModel:
    path = folder / f"net{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    return read_katago(path)


@pytest.mark.parametrize("suffix", [".bin", ".bin.gz", ".txt", ".txt.gz"])
def test_the_four_forms_hold_the_same_layers(model: KataGoModel, suffix: str, tmp_path: Path) -> None:
    found = read(tmp_path, twin.text(model, binary=".bin" in suffix), suffix)
    assert (found.name, found.version, found.multipliers) == ("tiny-v17", 17, model.multipliers)
    assert found.pass_alive_under_suicide and found.plane_set == "katago-v7-suicide"
    assert found.parameters == model.parameters
    for mine, block in zip(model.trunk.blocks, found.trunk.blocks, strict=True):
        assert type(mine) is type(block)
    first, second = found.trunk.blocks[:2]
    assert isinstance(first, OrdinaryBlock) and isinstance(second, AttentionBlock)
    for layer in ("trunk.blocks[0].convolution1", "trunk.blocks[1].query", "value.numbers", "policy.pass_bias"):
        weights = (eval(f"one.{layer}.weights", {"one": one}) for one in (found, model))
        assert np.array_equal(*weights), layer
    assert isinstance(found.trunk.norm, TipNorm) and not found.trunk.norm.spatial


def test_weights_in_text_may_be_spread_over_chunks(model: KataGoModel, tmp_path: Path) -> None:
    wide = twin.text(model, binary=False).replace(b" ", b" \n" * 3000)  # far more than one chunk of a megabyte
    assert len(wide) > 5 << 20
    assert np.array_equal(read(tmp_path, wide, ".txt").value.value.weights, model.value.value.weights)


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    def change(content: bytes) -> bytes:
        assert content.count(old) >= 1
        return content.replace(old, new, 1)

    return change


NAN = np.array([np.nan], "<f4").tobytes()
BAD: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "ends where the name of the network was expected"),
    "blank": (lambda _: b" \n " * 50, "ends where the name of the network was expected"),
    "binary data": (lambda _: b"\x00\xff\x80" * 4000, "expected the name of the network, found b'"),
    "name": (replaced(b"tiny-v17", b"tiny\x1b[2J"), r"expected the name of the network, found 'tiny\\x1b\[2J'"),
    "long name": (replaced(b"tiny-v17", b"n" * 201), "expected the name of the network, found 'nnn"),
    "HTML": (lambda _: b"<!DOCTYPE html> <html> Not found", "format must be a whole number.*found 'html>'.*DOCTYPE"),
    "future": (replaced(b"tiny-v17\n17\n", b"tiny-v17\n18\n"), "format 18, which is newer than the formats 3 to 17"),
    "ancient": (replaced(b"tiny-v17\n17\n", b"tiny-v17\n2\n"), "format 2, which is older than"),
    "other inputs": (replaced(b"\n22\n19\n", b"\n21\n19\n"), "format 17 has 22 planes and 19 scalars, found 21 and 19"),
    "reserved": (replaced(b"0\n1\n0\n0\n", b"0\n1\n0\n7\n"), "option 2 of the network is '7', not 0"),
    "no multiplier": (replaced(b"\n21\n19\n", b"\n-21\n19\n"), "multiplier td_score must be .* above 0, found '-21'"),
    "meta": (replaced(b"140\n0\n1\n", b"140\n2\n1\n"), "metadata encoder must be .* from 0 to 1, found '2'"),
    "kind": (replaced(b"ordinary_block", b"curious_block"), "block 1 of 3 is of the unknown kind 'curious_block'"),
    "activation": (replaced(b"ACTIVATION_RELU", b"ACTIVATION_GELU"), "unknown kind 'ACTIVATION_GELU'; known are ACT"),
    "block count": (replaced(b"trunk\n3\n", b"trunk\n2\n"), "channels of transformer_ffn_block must be"),
    "million blocks": (replaced(b"trunk\n3\n", b"trunk\n9999999\n"), "blocks must be .* 1 to 1000, found '9999999'"),
    "channels": (replaced(b"trunk\n3\n6\n", b"trunk\n3\n5\n"), "layer2 has 6 channels, where 5 were expected"),
    "negative": (replaced(b"trunk\n3\n6\n", b"trunk\n3\n-6\n"), "number of trunk channels must be .* found '-6'"),
    "huge layer": (replaced(b"5\n5\n22\n6\n", b"31\n31\n32000\n32000\n"), "984,064,000,000 weights makes more than"),
    "large layer": (replaced(b"5\n5\n22\n6\n", b"5\n5\n3000\n6000\n"), "needs 450,000,000 weights, but the file ends"),
    "even kernel": (replaced(b"5\n5\n22\n6\n", b"4\n5\n22\n6\n"), "kernel of 4x5; both must be odd"),
    "dilation": (replaced(b"5\n5\n22\n6\n1\n1\n", b"5\n5\n22\n6\n2\n2\n"), "dilation 2x2; only 1x1"),
    "mark": (replaced(b"@BIN@", b"@BAN@"), "has b'@BAN@.* where a weight was expected"),
    "later mark": (lambda c: b"@BAN@".join(c.rsplit(b"@BIN@", 1)), r"expected @BIN@ before the [\d,]+ weights"),
    "heads": (replaced(b"\n4\n2\n6\n3\n1\n1\n", b"\n4\n3\n6\n3\n1\n1\n"), "4 heads of .* are no multiple of its 3"),
    "odd pairs": (replaced(b"\n4\n2\n6\n3\n1\n1\n", b"\n4\n2\n5\n3\n1\n1\n"), "of 5 channels, which must be even"),
    "rope": (replaced(b"rope\n2\n3\n2\n", b"rope\n2\n3\n3\n"), r"rope has shape \(2, 3, 3\), not \(2, 3, 2\)"),
    "policy": (replaced(b"policyhead\n2\n", b"policyhead\n3\n"), "policy outputs must be 2 or 4, found 3"),
    "NaN": (lambda c: c.replace(c[c.index(b"@BIN@") + 5 :][:4], NAN, 1), "weights that are infinite or no numbers"),
    "tail": (lambda c: c + b"0", "more data follows the last layer, from b'0'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name: str, good: bytes, tmp_path: Path) -> None:
    change, message = BAD[name]
    with pytest.raises(NetworkError, match=message) as caught:
        read(tmp_path, change(good))
    assert str(caught.value).startswith(f"{tmp_path}/net.bin is no KataGo network that can be read: ")


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("name", ["net.bin", "net.txt", "net.bin.gz", "only.gz", "net"])
def test_the_content_counts_and_not_the_name(model: KataGoModel, binary: bool, name: str, tmp_path: Path) -> None:
    path, content = tmp_path / name, twin.text(model, binary=binary)
    for written in (content, gzip.compress(content)):
        path.write_bytes(written)
        assert read_katago(path).name == model.name and network_format(path) == "katago"


def test_a_weight_that_is_no_number(model: KataGoModel, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=r"has b'1\.5\.2' where a weight was expected"):
        number = twin.text(model, binary=False).split(b"\n5\n5\n22\n6\n1\n1\n")[1].split(b" ")[0]
        read(tmp_path, twin.text(model, binary=False).replace(number, b"1.5.2", 1), ".txt")


def test_every_truncation_is_an_error(good: bytes, model: KataGoModel, tmp_path: Path) -> None:
    """At every tenth line of the text form, and at 40 places of the binary one."""
    text = twin.text(model, binary=False).rstrip()
    ends = [at for at in range(len(text)) if text[at : at + 1] == b"\n"][::10]
    for content, suffix, places in ((good, ".bin", range(1, len(good) - 1, len(good) // 40)), (text, ".txt", ends)):
        for place in places:
            with pytest.raises(NetworkError):
                read(tmp_path, content[:place], suffix)


def test_damaged_gzip(good: bytes, tmp_path: Path) -> None:
    packed, path = gzip.compress(good), tmp_path / "net.bin.gz"
    broken = packed[: len(packed) // 2] + bytes(8) + packed[len(packed) // 2 + 8 :]
    for content, message in (
        (packed[: len(packed) // 2], "is cut short: its gzip stream does not end"),
        (packed[:-4], "is cut short"),
        (packed[:-8] + b"\0\0\0\0" + packed[-4:], "is damaged or not compressed with gzip: CRC check failed"),
        (broken, "damaged|no KataGo network"),
        (b"", "ends where the name of the network was expected"),
    ):
        path.write_bytes(content)
        with pytest.raises(NetworkError, match=message):
            read_katago(path)


@pytest.mark.parametrize("filling", [b"x", b" ", b"\0"])
def test_a_small_file_that_unpacks_to_much_is_refused_at_its_first_chunk(filling: bytes, tmp_path: Path) -> None:
    path = tmp_path / "net.bin.gz"
    path.write_bytes(gzip.compress(filling * (30 << 20), 1))
    tracemalloc.start()
    with pytest.raises(NetworkError):
        read_katago(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 << 20


def test_one_long_number_among_many_is_refused_before_it_takes_memory(model: KataGoModel, tmp_path: Path) -> None:
    text = twin.text(model, binary=False)
    number = text.split(b"\n5\n5\n22\n6\n1\n1\n")[1].split(b" ")[0]
    tracemalloc.start()
    with pytest.raises(NetworkError, match="where a weight was expected"):
        read(tmp_path, text.replace(number, b"0" * 10_000 + b"1", 1), ".txt")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 << 20


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="cannot be read: No such file"):
        read_katago(tmp_path / "absent.bin.gz")
    (tmp_path / "folder.bin").mkdir()
    with pytest.raises(NetworkError, match="cannot be read: Is a directory"):
        read_katago(tmp_path / "folder.bin")
