"""Networks for other machines: by name or as files."""

from pathlib import Path

from tengen.evaluators.portable_network import PortableNetwork


def test_a_network_for_another_machine(nets: Path, network: Path, tmp_path: Path) -> None:
    """Every machine has a shipped network by its name; by a path, only this one has it there."""
    assert PortableNetwork.of("alpha", nets / "alpha.onnx") == PortableNetwork("alpha")
    for path in (network, nets / "alpha.onnx"):
        sent = PortableNetwork.of(str(path), path).unpack(tmp_path / "there")
        assert Path(sent) == tmp_path / "there" / path.name and Path(sent).read_bytes() == path.read_bytes()
