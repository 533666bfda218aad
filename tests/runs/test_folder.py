"""The folder of a run: which run lies there, who works on it, and what it is compared with."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from tengen import disk
from tengen.errors import RecipeError
from tengen.runs.folder import RunFolder, difference, numbered

RECIPE = {"kind": "supervised", "name": "x", "search": {"visits": 32, "params": {}}, "learn": {"threads": 2, "lr": 0.1}}


class Search(BaseModel, extra="forbid"):
    visits: int = 16
    params: dict[str, int] = {}
    settle: bool = True


class Recipe(BaseModel, extra="forbid"):
    """What runs of RECIPE are compared by, with a setting that is new, `search.settle`."""

    kind: str = "supervised"
    name: str = "x"
    search: Search = Search(visits=32)
    learn: dict[str, float] = {"threads": 2, "lr": 0.1}


def test_a_fresh_folder_takes_any_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", "supervised")
    with folder.lead():
        folder.check_same(Recipe())
        folder.write_recipe(RECIPE)
    assert folder.saved_recipe() == RECIPE
    folder.check_same(Recipe())


def test_the_first_setting_that_differs_is_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "supervised")
    folder.write_recipe(RECIPE)
    with pytest.raises(RecipeError, match=r"holds a run with search\.visits = 32, not 64; give the same settings"):
        folder.check_same(Recipe(search=Search(visits=64)))
    folder.check_same(Recipe(learn={"threads": 4, "lr": 0.1}), may_change=("learn.threads",))
    with pytest.raises(RecipeError, match=r"learn\.lr = 0\.1, not 0\.2"):
        folder.check_same(Recipe(learn={"threads": 4, "lr": 0.2}), may_change=("learn.threads",))
    folder.check_same(Recipe(name="y"), compared=lambda recipe: {**recipe, "name": ""})


def test_a_recipe_is_parsed_again_only_where_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that help a run ask for it twice a second. Its time and size say nothing about its content."""
    folder, parsed = RunFolder(tmp_path, "supervised"), []

    def load(text: str, _loader: object) -> object:
        parsed.append(text)
        return json.loads(text)

    monkeypatch.setattr("tengen.runs.folder.yaml.load", load)
    for lr in (0.3, 0.4):
        folder.recipe.write_text(json.dumps(RECIPE | {"lr": lr}))
        os.utime(folder.recipe, (1, 1))
        for _ in range(3):
            saved = folder.saved_recipe()
            assert saved == RECIPE | {"lr": lr}
            saved.clear()
    assert len(parsed) == 2


def test_a_setting_that_is_newer_than_the_run_counts_as_that_by_default(tmp_path: Path) -> None:
    """No command could give what the run was begun with, so an upgrade ended it. Another setting is gone."""
    folder = RunFolder(tmp_path, "supervised")
    folder.write_recipe({**RECIPE, "search": {"visits": 32, "visits_from": {}}})
    folder.check_same(Recipe())
    with pytest.raises(RecipeError, match=r"search\.settle = true, not false"):
        folder.check_same(Recipe(search=Search(visits=32, settle=False)))
    folder.write_recipe({**RECIPE, "search": {"visits": 32, "visits_from": {"3": 64}}})
    with pytest.raises(RecipeError, match=r"holds a run with search\."):
        folder.check_same(Recipe())


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({1: "x"}, {"1": "x"}, None),
        ({"a": (1, 2)}, {"a": [1, 2]}, None),
        ({"a": [1, 2]}, {"a": [1, 3]}, "a = [1, 2], not [1, 3]"),
        ({"a": None}, {"a": True}, "a = null, not true"),
        ({"a": "x"}, {"a": "y"}, "a = x, not y"),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {}}}, "a.b.c = 1, not null"),
        ({"players": [{"v": 1}, {"v": 2}]}, {"players": [{"v": 1}, {"v": 3}]}, "players[1].v = 2, not 3"),
        ({"players": [{"v": 1}]}, {"players": []}, 'players = [{"v": 1}], not []'),
        ({"new": {}}, {}, None),
        ({}, {"new": None}, None),
        ({"a": 0}, {}, "a = 0, not null"),
        ({"a": False}, {"a": None}, "a = false, not null"),
    ],
)
def test_differences(before: object, now: object, found: str | None) -> None:
    assert difference(before, now) == found


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    RunFolder(tmp_path / "a", "supervised").check_kind()
    (tmp_path / "recipe.yaml").write_text("name: before kinds\n")
    RunFolder(tmp_path, "supervised").check_kind()
    with pytest.raises(RecipeError, match="holds a run of kind supervised, not selfplay; give another folder"):
        RunFolder(tmp_path, "selfplay").check_kind()
    (tmp_path / "recipe.yaml").write_text("- no recipe\n")
    with pytest.raises(RecipeError, match="holds a run of kind unknown, not supervised"):
        RunFolder(tmp_path, "supervised").check_kind()
    (tmp_path / "recipe.yaml").write_bytes(b"\xff\xfe\x00: [")
    with pytest.raises(RecipeError, match=r"recipe.yaml cannot be read; give another folder"):
        RunFolder(tmp_path, "supervised").check_kind()
    (tmp_path / "manifest.json").touch()
    with pytest.raises(RecipeError, match="is a game store"):
        RunFolder(tmp_path, "supervised").check_kind()
    (tmp_path / "match.json").touch()
    with pytest.raises(RecipeError, match="holds a match"), RunFolder(tmp_path, "supervised").lead():
        pass


def test_one_process_leads_a_run_and_its_death_frees_it(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", "supervised")
    script = f"""
import pathlib
from tengen.runs.folder import RunFolder
with RunFolder(pathlib.Path({str(folder.path)!r}), "supervised").lead():
    print("leads", flush=True)
    input()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdin=-1, stdout=-1) as leader:
        assert leader.stdout is not None
        assert leader.stdout.readline() == b"leads\n"
        with pytest.raises(RecipeError, match="another process works on this run; wait for it"), folder.lead():
            pass
        with folder.locked("rate") as free:
            assert free
        leader.kill()
        leader.wait()
    with folder.lead():
        pass


def test_a_resumed_run_keeps_its_games(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "supervised")
    folder.check_games("10 games (aa)", resumes=False)
    folder.check_games("10 games (aa)", resumes=True)
    with pytest.raises(RecipeError, match=r"learned from 10 games \(aa\), and its store holds 11 games \(bb\) now"):
        folder.check_games("11 games (bb)", resumes=True)
    folder.check_games("11 games (bb)", resumes=False)


def test_numbered_files_come_by_number(tmp_path: Path) -> None:
    for name in ("cycle-00010.onnx", "cycle-00002.onnx", "cycle-00003.ckpt", "cycle-x.onnx", "step-00001.onnx"):
        (tmp_path / name).touch()
    found = numbered(tmp_path, "cycle-*.onnx")
    assert [(number, path.name) for number, path in found] == [(2, "cycle-00002.onnx"), (10, "cycle-00010.onnx")]


def test_a_full_disk_leaves_the_recipe_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder(tmp_path, "supervised")
    folder.write_recipe({"name": "first"})

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk, "sync_file", full)
    with pytest.raises(OSError, match="No space"):
        folder.write_recipe({"name": "second"})
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("recipe.yaml", "name: first\n")]
