"""A store of random games, and a network that `tengen train` made of them."""

from pathlib import Path

import pytest
from training.small_run import settings_of, write_store

from tengen.cli.app import main
from tengen.evaluators import installed_networks


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("stores") / "random")


@pytest.fixture(scope="session")
def trained(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that the command carried out."""
    pytest.importorskip("torch", reason="training needs the extra [train]")
    import yaml

    folder = tmp_path_factory.mktemp("runs")
    recipe = folder / "mine.yaml"
    recipe.write_text(yaml.safe_dump({**settings_of(store), "name": "mine"}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        assert main(["train", str(recipe), "--set", "training.steps=20", "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture
def mine(trained: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the only network that is installed, that of the run."""
    monkeypatch.setattr(installed_networks, "SHIPPED", trained / "nets")
    monkeypatch.setattr(installed_networks, "DEFAULT_NAME", trained / "nets" / "default")
    return "mine"
