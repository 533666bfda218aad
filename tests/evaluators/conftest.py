"""One network file for all tests of evaluators, and a compiled-model cache that is not the user's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_network import write_network


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_network(tmp_path_factory.mktemp("nets") / "small.onnx")


@pytest.fixture(autouse=True, scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder
