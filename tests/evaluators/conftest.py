"""One network file for all tests of evaluators."""

from pathlib import Path

import pytest
from small_network import write_network


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_network(tmp_path_factory.mktemp("nets") / "small.onnx")
