"""Cards in files, and files that are no networks."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from small_network import card_named

from tengen.errors import NetworkError
from tengen.evaluators import installed_networks
from tengen.evaluators.join import join
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.network_file import Card, read_card


def test_a_card_is_read_as_onnx_reads_it(nets: Path) -> None:
    found = read_card(nets / "alpha.onnx")
    properties = {entry.key: entry.value for entry in onnx.load(nets / "alpha.onnx").metadata_props}
    assert found == card_named("alpha") == Card.model_validate_json(properties["tengen"])


def test_a_card_of_a_later_version_is_read(nets: Path) -> None:
    model = onnx.load(nets / "alpha.onnx")
    text = card_named("alpha").model_dump_json().replace("{", '{"invented": 1, ', 1)
    onnx.helper.set_model_props(model, {"tengen": text})
    onnx.save(model, nets / "alpha.onnx")
    assert read_card(nets / "alpha.onnx") == card_named("alpha")


@pytest.mark.parametrize("content", [b"", b"(;GM[1]FF[4])", b"\x00" * 50, b"\xff" * 50, b"PK\x03\x04 a zip file"])
def test_what_is_no_network_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(content)
    with pytest.raises(NetworkError, match=r"bad\.onnx"):
        read_card(path)


def test_a_file_cut_short_is_refused_wherever_it_was_cut(nets: Path) -> None:
    whole = (nets / "alpha.onnx").read_bytes()
    for length in range(1, len(whole) - 1, 97):
        (nets / "cut.onnx").write_bytes(whole[:length])
        with pytest.raises(NetworkError):
            read_card(nets / "cut.onnx")


BROKEN = {b"Conv": b"C\xffnv", b"Constant": b"Constan*", b"policy": b"p\xe9licy"}
"""Names in the graph, and bytes that are none: not UTF-8, or no operation."""


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_with_a_broken_name_is_refused_by_all_that_read_it(tmp_path: Path, name: bytes) -> None:
    """OpenVINO and ONNX put the bytes into their messages, which failed over them."""
    path = tmp_path / "broken.onnx"
    path.write_bytes((installed_networks.SHIPPED / "zero-7x7.onnx").read_bytes().replace(name, BROKEN[name]))
    readers: list[Callable[[], object]] = [
        lambda: load_evaluator(path, "cpu", remember=False),
        lambda: load_evaluator(path, "onnxruntime"),
        lambda: join(path, path, tmp_path / "joined.onnx"),
    ]
    for read in readers:
        with pytest.raises(NetworkError, match=r"broken\.onnx"):
            read()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": 3}', "[" * 100_000, "9" * 5000])
def test_a_card_that_makes_no_sense_is_refused(nets: Path, text: str) -> None:
    model = onnx.load(nets / "alpha.onnx")
    onnx.helper.set_model_props(model, {"tengen": text})
    onnx.save(model, nets / "alpha.onnx")
    with pytest.raises(NetworkError, match="card that cannot be read"):
        read_card(nets / "alpha.onnx")


def test_a_card_cannot_control_the_terminal(nets: Path) -> None:
    model, text = onnx.load(nets / "alpha.onnx"), card_named("alpha").model_dump_json()
    for old, new in (("alpha", r"al\u001b[2Jpha\ud800"), ("b2c16", r"b2\u0007c16"), ('"data":""', r'"data":"a\nb"')):
        text = text.replace(old, new)
    onnx.helper.set_model_props(model, {"tengen": text})
    onnx.save(model, nets / "alpha.onnx")
    found = read_card(nets / "alpha.onnx")
    assert (found.name, found.config, found.data) == ("al\ufffd[2Jpha\ufffd", {"size": "b2\ufffdc16"}, "a\nb")
    assert found.model_dump_json()


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=r"nothing\.onnx cannot be read"):
        read_card(tmp_path / "nothing.onnx")
    with pytest.raises(NetworkError, match="cannot be read"):
        read_card(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no files of open pipes")
def test_a_pipe_is_refused_with_the_reason() -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, b"an error without a number")
        with pytest.raises(NetworkError, match=r"cannot be read: .*not seekable"):
            read_card(f"/dev/fd/{reader}")
    finally:
        os.close(reader)
        os.close(writer)
