"""The check of a network file against the module that it was made of."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from small_network import PLANES, SCALARS, SmallNet, write_network  # noqa: E402

from tengen.errors import NetworkError  # noqa: E402
from tengen.training.export import check_agreement  # noqa: E402


def test_a_file_of_the_module_passes(tmp_path: Path) -> None:
    module = SmallNet()
    check_agreement(module, write_network(tmp_path / "net.onnx", module), PLANES, SCALARS)


@pytest.mark.parametrize(
    ("layer", "index", "name"),
    [("board", 0, "policy"), ("board", 1, "value"), ("board", 4, "score"), ("points", 1, "ownership")],
)
def test_a_file_that_computes_something_else_is_refused(layer: str, index: int, name: str, tmp_path: Path) -> None:
    """One bias of the module is another since; the message names the output, and by how much it differs."""
    module = SmallNet()
    path = write_network(tmp_path / "net.onnx", module)
    with torch.no_grad():
        module.get_submodule(layer).bias[index] += 0.5
    with pytest.raises(NetworkError, match=rf"net\.onnx differs from the trained network by [\d.]+ in {name} at 9x9"):
        check_agreement(module, path, PLANES, SCALARS)
