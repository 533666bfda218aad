"""A network file for all tests of evaluators, and two that are installed."""

from pathlib import Path

import onnx
import pytest
from small_network import card_named, write_network

from tengen.evaluators import installed_networks


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_network(tmp_path_factory.mktemp("nets") / "small.onnx")


@pytest.fixture
def nets(tmp_path: Path, network: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two installed networks, the second of them the default."""
    folder = tmp_path / "nets"
    folder.mkdir()
    for name in ("alpha", "beta"):
        model = onnx.load(network)
        onnx.helper.set_model_props(model, {"other": "text", **card_named(name).metadata()})
        onnx.save(model, folder / f"{name}.onnx")
    (folder / "default").write_text("beta\n")
    monkeypatch.setattr(installed_networks, "SHIPPED", folder)
    monkeypatch.setattr(installed_networks, "DEFAULT_NAME", folder / "default")
    return folder
