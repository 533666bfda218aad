"""A store of random games for all tests of training."""

from pathlib import Path
from typing import Any

import pytest
from training.small_run import settings_of, write_store

from tengen.training.config import RunConfig


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("stores") / "random")


@pytest.fixture
def settings(store: Path) -> dict[str, Any]:
    return settings_of(store)


@pytest.fixture
def run(settings: dict[str, Any]) -> RunConfig:
    return RunConfig.model_validate(settings)
