"""Processes that help a run which another process leads. `test_loop.py` has them beside whole runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from selfplay.run_folder import write_run

from tengen.data.store import Store
from tengen.evaluators.installed_networks import find_network
from tengen.recipes import load_recipe
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay import helper
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.folder import SelfPlayFolder
from tengen.selfplay.progress import Observer
from tengen.selfplay.rating_book import RatingBook
from tengen.selfplay.transport import FolderTransport

RECIPE = """
kind: selfplay
cycles: 1
games_per_cycle: 2
device: onnxruntime  # opens a network in a tenth of the time
start: zero-7x7
game: {sizes: {5: 1}}
search: {visits: 2}
rating: {games: 2, anchors: [random]}
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "micro.yaml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


@pytest.fixture
def folder(recipe: Path, tmp_path: Path) -> SelfPlayFolder:
    """The folder of a run that has its first network, which is its start."""
    folder = SelfPlayFolder(tmp_path / "run")
    folder.network(0).parent.mkdir(parents=True)
    for path in (folder.path / "start.onnx", folder.network(0)):
        shutil.copyfile(find_network("zero-7x7"), path)
    folder.prepare(folder.with_network(load_recipe(str(recipe), model=SelfPlayConfig)))
    return folder


def test_a_helper_plays_with_the_stages_of_the_lead(
    recipe: Path, folder: SelfPlayFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the lead was started again with others since."""
    stop, played = ShutdownFlag(), []
    lead, later = (
        load_recipe(str(recipe), ["cycles=2", f"stages.1.search.visits={visits}"], model=SelfPlayConfig)
        for visits in (8, 9)
    )

    class Player:
        def __init__(self, config: SelfPlayConfig, *_: object) -> None:
            self.config = config

        def help(self, *_: object) -> None:
            played.append(self.config.at(1).search.visits)
            folder.prepare(folder.with_network(later))
            if len(played) == 2:
                stop.set()

    folder.prepare(folder.with_network(lead))
    FolderTransport(folder).cycle_games(0).begin()
    monkeypatch.setattr(helper, "CyclePlayer", Player)
    monkeypatch.setattr(helper, "time", SimpleNamespace(sleep=lambda _: None))
    config = folder.with_network(load_recipe(str(recipe), model=SelfPlayConfig))
    with pytest.raises(KeyboardInterrupt):
        helper.help_generate(config, folder.path, Observer(), stop)
    assert played == [8, 9]


def loaded_by(role: str, recipe: Path, folder: SelfPlayFolder) -> set[str]:
    """The large libraries that a process of this role has loaded once the run is over. The lead stores the cycle while
    the helper waits.
    """
    program = f"""
import sys
from pathlib import Path
from types import SimpleNamespace
from tengen.cli.app import main
from tengen.selfplay import helper
from tengen.selfplay.folder import SelfPlayFolder
from tengen.selfplay.transport import FolderTransport

folder = SelfPlayFolder(Path({str(folder.path)!r}))
helper.time = SimpleNamespace(sleep=lambda _: FolderTransport(folder).store_cycle(0))
main(["zero", {str(recipe)!r}, "--out", str(folder.path), "--role", {role!r}, "--quiet"])
print(*{{"torch", "lightning_fabric", "matplotlib"}} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_a_process_that_plays_games_loads_no_pytorch(recipe: Path, folder: SelfPlayFolder) -> None:
    """It took 7 s and 400 MB until the first game, for libraries of training and of the report."""
    FolderTransport(folder).cycle_games(0).begin()
    assert not loaded_by("generate", recipe, folder)
    assert len(Store.open(folder.games)) == 2


def test_a_process_that_rates_networks_loads_no_pytorch(recipe: Path, folder: SelfPlayFolder, tmp_path: Path) -> None:
    """Matplotlib draws the report of the run's end."""
    write_run(tmp_path / "other", cycles=1, games=2)
    shutil.copytree(tmp_path / "other" / "games", folder.games)
    (folder.path / "log.jsonl").write_text(json.dumps({"event": "cycle", "step": 1, "cycle": 0, "seconds": {}}) + "\n")
    shutil.copyfile(folder.network(0), folder.network(1))
    assert loaded_by("rate", recipe, folder) == {"matplotlib"}
    assert [rated.number for rated in RatingBook.read(folder.path).events] == [1]
