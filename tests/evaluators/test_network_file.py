"""Cards in files, networks by name, and files that are no networks."""

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from tengen.errors import NetworkError
from tengen.evaluators import installed_networks
from tengen.evaluators.installed_networks import PortableNetwork, find_network, installed
from tengen.evaluators.join import join
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.network_file import Card, read_card
from tengen.evaluators.playout_file import installed_playouts


def card(name: str) -> Card:
    return Card(name=name, family="residual", config={"size": "b2c16"}, plane_set="tengen", board_sizes=[9, 19])


@pytest.fixture
def nets(tmp_path: Path, network: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two installed networks, the second of them the default."""
    folder = tmp_path / "nets"
    folder.mkdir()
    for name in ("alpha", "beta"):
        model = onnx.load(network)
        onnx.helper.set_model_props(model, {"other": "text", **card(name).metadata()})
        onnx.save(model, folder / f"{name}.onnx")
    (folder / "default").write_text("beta\n")
    monkeypatch.setattr(installed_networks, "EMBEDDED", folder)
    monkeypatch.setattr(installed_networks, "DEFAULT_NAME", folder / "default")
    return folder


def test_a_card_is_read_as_onnx_reads_it(nets: Path) -> None:
    found = read_card(nets / "alpha.onnx")
    properties = {entry.key: entry.value for entry in onnx.load(nets / "alpha.onnx").metadata_props}
    assert found == card("alpha") == Card.model_validate_json(properties["tengen"])


def test_a_card_of_a_later_version_is_read(nets: Path) -> None:
    model = onnx.load(nets / "alpha.onnx")
    text = card("alpha").model_dump_json().replace("{", '{"invented": 1, ', 1)
    onnx.helper.set_model_props(model, {"tengen": text})
    onnx.save(model, nets / "alpha.onnx")
    assert read_card(nets / "alpha.onnx") == card("alpha")


def test_networks_by_name_and_path(nets: Path, network: Path) -> None:
    assert installed() == [(nets / f"{name}.onnx", card(name)) for name in ("alpha", "beta")]
    assert find_network("alpha") == nets / "alpha.onnx"
    assert find_network("default") == nets / "beta.onnx"
    assert find_network(network) == network
    (nets / "default").unlink()
    assert find_network("default") == nets / "alpha.onnx"


def test_a_damaged_network_does_not_hide_the_others(nets: Path, caplog: pytest.LogCaptureFixture) -> None:
    (nets / "gamma.onnx").write_bytes((nets / "alpha.onnx").read_bytes()[:300])
    assert [path.stem for path, _ in installed()] == ["alpha", "beta"]
    assert "gamma.onnx" in caplog.text


def test_a_damaged_playout_policy_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    installed_networks.user_folder().mkdir(parents=True)
    (installed_networks.user_folder() / "mine.playout").write_bytes(b"TENGEN")
    assert [one.name for one in installed_playouts()] == ["linear-tygem"] and "mine.playout" in caplog.text


def test_an_unknown_name_is_told_the_nearest(nets: Path) -> None:
    with pytest.raises(NetworkError, match=r"no network 'alpa'.*did you mean alpha\?"):
        find_network("alpa")
    for unknown in ("some/where/else.onnx", "missing.bin.gz"):
        with pytest.raises(NetworkError, match=r"there are: alpha, beta$"):
            find_network(unknown)


def test_no_network_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed_networks, "EMBEDDED", tmp_path)
    monkeypatch.setattr(installed_networks, "DEFAULT_NAME", tmp_path / "default")
    assert installed() == []
    with pytest.raises(NetworkError, match="no network is installed"):
        find_network("default")


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
    path.write_bytes((installed_networks.EMBEDDED / "zero-7x7.onnx").read_bytes().replace(name, BROKEN[name]))
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
    model, text = onnx.load(nets / "alpha.onnx"), card("alpha").model_dump_json()
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


def test_a_network_for_another_machine(nets: Path, network: Path, tmp_path: Path) -> None:
    """Every machine has a shipped network by its name; by a path, only this one has it there."""
    assert PortableNetwork.of("alpha", nets / "alpha.onnx") == PortableNetwork("alpha")
    for path in (network, nets / "alpha.onnx"):
        sent = PortableNetwork.of(str(path), path).unpack(tmp_path / "there")
        assert Path(sent) == tmp_path / "there" / path.name and Path(sent).read_bytes() == path.read_bytes()


def test_a_name_that_no_file_can_have_is_unknown() -> None:
    with pytest.raises(NetworkError, match="neither an installed one nor a file"):
        find_network("a" * 300)
