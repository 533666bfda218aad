"""A small study for all tests of studies."""

from pathlib import Path

import pytest
import yaml
from studies.small_study import description
from training.small_run import settings_of, write_store


@pytest.fixture(scope="session")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    settings = settings_of(write_store(folder / "games"))
    del settings["name"]
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(settings))
    return path


@pytest.fixture
def path(recipe: Path, tmp_path: Path) -> Path:
    path = tmp_path / "small-study.yaml"
    path.write_text(yaml.safe_dump(description(recipe), sort_keys=False))
    return path
