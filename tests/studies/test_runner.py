"""The steps of a study: run once, resumed, checked before the first one, and stopped by the clock."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from studies.small_study import description, study

import tengen
from tengen.errors import RecipeError, TengenError
from tengen.recipes import load_recipe
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.folder import SelfPlayFolder
from tengen.studies.runner import StudyFolder, run_study
from tengen.studies.study import Study, load_study


def test_a_stopped_step_goes_on(path: Path, tmp_path: Path) -> None:
    """A command that was interrupted is given again, and those before it are not; its seconds add up."""
    made = load_study(str(path))
    folder = StudyFolder(tmp_path / "runs", made)
    given: list[str] = []

    def stopped(command: Sequence[str]) -> int:
        given.append(command[-1])
        if len(given) == 2:
            time.sleep(0.3)
            return 130
        return 0

    with pytest.raises(KeyboardInterrupt):
        run_study(folder, stopped, say=lambda _: None)
    run_study(folder, stopped, say=lambda _: None)
    assert [Path(word).name for word in given] == ["net-1", "net-2", "net-2", "duel"]
    assert (folder.result("net-2") or {})["seconds"] >= 0.3


def test_a_step_is_done_where_it_was_run_by_its_command(
    path: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, pages = tmp_path / "runs", tmp_path / "pages"
    made = load_study(str(path))
    run_study(StudyFolder(runs, made), lambda command: 0, say=lambda _: None)
    # The study has changed since, or is given another setting.
    assert study(path, "--set", "training.steps=31", "--out", runs, "--page", pages) == 2
    error = capsys.readouterr().err
    assert f"{runs}: step net-1 was run without training.steps=31; give another folder with --out" in error
    changed = description(recipe)
    changed["steps"]["net-{seed}"]["set"]["training.seed"] = 5
    path.write_text(yaml.safe_dump(changed, sort_keys=False))
    folder = StudyFolder(runs, load_study(str(path)))
    assert [folder.state(step) for step in folder.study.steps] == ["changed", "changed", "changed", "not run"]
    assert folder.difference("net-2") == "step net-2 was run with training.seed=2 instead of training.seed=5"
    assert folder.difference("duel").startswith("step duel was run with net-1, which was run with training.seed=1")
    with pytest.raises(RecipeError, match=r"remove net-1\.json and the folder net-1 there"):
        run_study(folder, lambda command: 0, ["duel"])
    assert study(path, "--report", "--out", runs, "--page", pages) == 0
    page = (pages / "small-study.md").read_text()
    assert "| net-1 | not run: the folder holds another run, step net-1 was run with training.seed=1" in page
    # A network that was made anew is another one than that which the match was played with.
    for step in ("net-1", "net-2"):
        (runs / f"{step}.json").unlink()
    with pytest.raises(RecipeError, match="step duel was run with net-1, which"):
        run_study(folder, lambda command: 0, say=lambda _: None)


def test_a_study_that_was_moved_is_done(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = load_study(str(path))
    given: list[str] = []

    def run(command: Sequence[str]) -> int:
        given.append(command[0])
        return 0

    monkeypatch.chdir(tmp_path)
    run_study(StudyFolder(Path("runs"), made), run, say=lambda _: None)
    (tmp_path / "runs").rename(tmp_path / "moved")
    for result in (tmp_path / "moved").glob("*.json"):  # as earlier versions wrote it
        found = json.loads(result.read_text())
        assert found.pop("inputs") is not None
        result.write_text(json.dumps(found))
    run_study(StudyFolder(tmp_path / "moved", made), run, say=lambda _: None)
    assert given == ["train", "train", "match"]


def test_a_script_is_that_of_the_clone_in_any_folder(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is none, as beside an installed package, its step is left out and the others run."""
    path = tmp_path / "scripts.yaml"
    steps = {"help": {"run": "python benchmarks/playouts.py --help"}, "last": {"run": "python mine.py"}}
    path.write_text(yaml.safe_dump({**description(recipe), "steps": steps, "rows": [], "plots": []}, sort_keys=False))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("print(7)")
    folder = StudyFolder(tmp_path / "runs", load_study(str(path)))
    run_study(folder, lambda command: 2, say=lambda _: None)
    assert (folder.result("last") or {})["output"] == 7 and folder.state("help") == "done"
    monkeypatch.setattr("tengen.studies.runner._CLONE", tmp_path / "site-packages")
    (tmp_path / "runs" / "help.json").unlink()
    said: list[str] = []
    run_study(folder, lambda command: 2, say=said.append)
    assert said == ["help: left out, benchmarks/playouts.py not found: start in a folder or a clone that has it"]


def test_a_step_runs_once(path: Path, tmp_path: Path) -> None:
    """Another call does not run it beside this one, and one that has run a later step meanwhile need not again."""
    folder = StudyFolder(tmp_path / "runs", load_study(str(path)))
    given: list[str] = []

    def beside(command: Sequence[str]) -> int:
        given.append(Path(command[-1]).name)
        if given == ["net-1"]:
            with pytest.raises(RecipeError, match="another process runs the step net-1; wait for it to end"):
                run_study(folder, beside, ["net-1"], say=lambda _: None)
            run_study(folder, beside, ["net-2"], say=lambda _: None)
        return 0

    run_study(folder, beside, say=lambda _: None)
    assert given == ["net-1", "net-2", "duel"]


def test_a_step_that_begins_anew_forgets_the_time_of_an_interrupted_run(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scripts.yaml"
    steps = {"bench": {"run": "python mine.py"}}
    path.write_text(yaml.safe_dump({**description(recipe), "steps": steps, "rows": [], "plots": []}, sort_keys=False))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("import sys\nsys.exit(130)")
    with pytest.raises(KeyboardInterrupt):
        run_study(StudyFolder(tmp_path / "runs", load_study(str(path))), lambda command: 2, say=lambda _: None)
    assert not (tmp_path / "runs" / "bench.seconds").exists()


def test_what_a_full_disk_stops_is_told_once(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of the step cannot be written either."""

    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tengen.studies.runner.write_text", full)
    folder = StudyFolder(tmp_path / "runs", load_study(str(path)))
    with pytest.raises(TengenError, match="step net-1 of the study failed with exit status 2"):
        run_study(folder, lambda command: 2, say=lambda _: None)


def test_a_script_writes_a_folder_for_later_steps(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scripts.yaml"
    steps = {"games": {"run": "python write.py", "out": True}, "read": {"run": "python read.py ${games}"}}
    path.write_text(yaml.safe_dump({**description(recipe), "steps": steps, "rows": [], "plots": []}, sort_keys=False))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "write.py").write_text(
        "import sys\nfrom tengen.data import GameRecord, StoreWriter, pack_moves\n"
        "with StoreWriter(sys.argv[sys.argv.index('--out') + 1]) as writer:\n"
        "    writer.add(GameRecord(19, pack_moves([0], [360]), winner=0))"
    )
    (tmp_path / "read.py").write_text("import sys\nfrom tengen.data import Store\nprint(len(Store.open(sys.argv[1])))")
    folder = StudyFolder(tmp_path / "runs", load_study(str(path)))
    run_study(folder, lambda command: 2, say=lambda _: None)
    assert (folder.result("read") or {})["output"] == 1
    (tmp_path / "runs").rename(tmp_path / "moved")
    moved = StudyFolder(tmp_path / "moved", folder.study)
    assert [moved.state(step) for step in steps] == ["done", "done"]


def test_settings_are_checked_before_a_step_runs(
    path: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--out", tmp_path / "runs", "--page", tmp_path / "pages")
    for setting, message in (
        ("foo", "--set foo: write key=value"),
        ("foo=1", "--set foo=1: unknown key 'foo'"),
        ("training.steps=few", "--set training.steps=few: training.steps: "),
    ):
        for options in ((), ("--report",), ("--only", "net-1")):
            assert study(path, "--set", setting, *options, *where) == 2
            assert capsys.readouterr().err.startswith(f"error: {message}")
    # A step that is not run may be of a recipe without the setting.
    changed = description(recipe)
    changed["steps"]["linear"] = {"run": "train linear-tygem"}
    path.write_text(yaml.safe_dump(changed, sort_keys=False))
    made = load_study(str(path))
    assert made.with_settings(["training.ema=0"], ["net-1"]).steps["net-1"].set["training.ema"] == "0"
    with pytest.raises(RecipeError, match=r"--set training\.ema=0: unknown key"):
        made.with_settings(["training.ema=0"])
    changed["steps"] = {"duel": {"run": "match random random"}}
    path.write_text(yaml.safe_dump({**changed, "rows": [], "plots": []}, sort_keys=False))
    with pytest.raises(RecipeError, match="small-study trains nothing: leave out --set"):
        load_study(str(path)).with_settings(["training.ema=0"])
    assert not (tmp_path / "pages").exists() and not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("step", "named"),
    [
        ({"run": "train RECIPE", "set": {"training.step": 40}}, "training.step"),
        ({"run": "train RECIPE", "set": {"network.sise": "b1c8"}}, "sise"),
        ({"run": "train RECIPE", "options": {"queit": True}}, "--queit"),
        ({"run": "train cody-7x7"}, "cody-7x7"),
        ({"run": "train nowhere"}, "nowhere"),
        ({"run": "train RECIPE", "set": {"data.store": "absent"}}, "absent is no game store"),
        ({"run": "train linear-tygem", "set": {"data.store": "absent"}}, "--set data.store=FOLDER"),
        ({"run": "zero zero-7x7", "set": {"serch.visits": 4}}, "serch"),
        ({"run": "match ${net-1} random", "options": {"gmes": 8}}, "--gmes"),
        ({"run": "match ${net-1} random", "options": {"games": "many"}}, "many"),
        ({"run": "mach ${net-1} random"}, "mach"),
        ({"run": "nets quantise ${net-1}"}, "unexpected argument"),
    ],
)
def test_the_last_step_is_checked_before_the_first_one_runs(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], step: dict[str, Any], named: str
) -> None:
    made = description(recipe)
    made["steps"]["last"] = {**step, "run": step["run"].replace("RECIPE", str(recipe))}
    path = tmp_path / "wrong.yaml"
    path.write_text(yaml.safe_dump(made, sort_keys=False))
    assert study(path, "--out", tmp_path / "runs", "--page", tmp_path / "pages") == 2
    error = capsys.readouterr().err
    assert error.startswith("error: step last: ") and named in error
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("games", "net"),
    [
        ({"run": "import a.sgf"}, {"run": "train RECIPE", "set": {"data.store": "${games}"}}),
        ({"run": "label here --out there"}, {"run": "train RECIPE", "set": {"data.store": "there"}}),
        ({"run": "stats here"}, {"run": "train RECIPE a.sgf", "set": {"training.seed": 1}}),
        ({"run": "stats here"}, {"run": "train RECIPE", "set": {"data.store": "there"}, "needs": ["no-such-program"]}),
    ],
)
def test_a_store_that_a_step_makes_need_not_be_there(
    recipe: Path, tmp_path: Path, games: dict[str, Any], net: dict[str, Any]
) -> None:
    net = {**net, "run": net["run"].replace("RECIPE", str(recipe))}
    made = {**description(recipe), "name": "small", "steps": {"games": games, "net": net}, "rows": [], "plots": []}
    ran: list[str] = []

    def run(command: Sequence[str]) -> int:
        ran.append(command[0])
        return 0

    run_study(StudyFolder(tmp_path, Study.model_validate(made)), run, say=lambda _: None)
    assert ran == [games["run"].split()[0], *([] if "needs" in net else ["train"])]


@pytest.mark.slow
def test_the_time_limit_stops_a_study(path: Path, tmp_path: Path, tengen: Callable[..., Any]) -> None:
    """In a process of its own: the limit is a signal, and other tests of this process may have used bf16."""
    endless = ("--set", "training.steps=1000000", "--hours", "0.002")
    done = tengen("study", path, *endless, "--out", tmp_path / "runs", "--page", tmp_path)
    assert done.returncode == 0 and "the same command goes on" in done.stderr


def test_the_time_limit_never_ends_in_an_import_that_the_page_needs(path: Path, tmp_path: Path) -> None:
    """Half of matplotlib that stays behind cannot be imported again."""
    words = ["study", str(path), "--hours", "1", "--out", str(tmp_path / "runs"), "--page", str(tmp_path)]
    program = f"""
import sys
from tengen.cli import app
from tengen.studies import runner
runner.run_study = lambda *_: print(f"loaded: {{'matplotlib.figure' in sys.modules}}")
sys.exit(app.main({words!r}))
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(tengen.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "loaded: True" in done.stdout and (tmp_path / "small-study.md").exists()


def test_the_network_of_a_run_is_the_one_of_its_name(tmp_path: Path) -> None:
    """A recipe or a setting may give it; networks of earlier cycles lie beside it."""
    recipe = tmp_path / "mine.yaml"
    recipe.write_text("like: tiny-5x5\nname: other\n")
    steps = {"play": {"run": f"zero {recipe}"}, "judge": {"run": "evaluate ${play} STORE"}}
    data = {"name": "s", "title": "t", "hours": 1, "about": "a", "steps": steps, "rows": []}
    folder = StudyFolder(tmp_path / "runs", Study.model_validate(data))
    run = SelfPlayFolder(folder.run_folder("play"))
    run.network("other").parent.mkdir(parents=True)
    for name in (0, 1, "other"):
        run.network(name).touch()
    run.prepare(load_recipe(str(recipe), model=SelfPlayConfig))
    assert str(run.network("other")) in folder.command("judge")
