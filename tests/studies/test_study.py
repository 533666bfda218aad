"""A study from its file to its page: steps, resumption, scale, and paired figures."""

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from made_matches import series, write_match
from training.small_run import settings_of, write_store

import tengen
from tengen.cli.app import check_command, main
from tengen.errors import RecipeError
from tengen.match.spec import PlayerSpec
from tengen.recipes import load_recipe, recipe_kind
from tengen.recipes.loader import network_fields
from tengen.reinforce.config import PolicyGradientConfig
from tengen.selfplay.check import check as check_run
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.folder import SelfPlayFolder
from tengen.studies.figures import _FIND, find_figure, shown
from tengen.studies.page import _estimate, _numbers
from tengen.studies.runner import StudyFolder, run_study
from tengen.studies.study import FIGURES, Figure, Step, Study, load_study, study_names
from tengen.training.losses import check_losses
from tengen.training.metrics import Estimate, PredictionResults


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    settings = settings_of(write_store(folder / "games"))
    del settings["name"]
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(settings))
    return path


def description(recipe: Path) -> dict[str, Any]:
    return {
        "title": "Small",
        "paper": "Nobody (2026)",
        "hours": 0.01,
        "about": "Two seeds of a small network.",
        "quick": 0.2,
        "steps": {
            "net-{seed}": {
                "each": {"seed": [1, 2]},
                "run": f"train {recipe} --quiet",
                "set": {"training.seed": "{seed}"},
            },
            "duel": {
                "run": "match one=policy:${net-1} two=policy:${net-2} --quiet --workers 1",
                "options": {"games": 2, "size": 7, "komi": 0.5, "openings": "random", "opening": 2, "sprt": "0,200"},
            },
            "elsewhere": {"run": "match random random", "needs": ["a-program-that-is-not-there"]},
        },
        "rows": [
            {"what": "accuracy", "published": "50%", "ours": {"figure": "top1", "of": "net-1"}},
            {"what": "both seeds", "ours": {"figure": "top1", "of": ["net-1", "net-2"]}},
            {"what": "difference", "ours": {"figure": "top1", "of": ["net-2"], "minus": ["net-1"]}},
            {"what": "score", "ours": {"figure": "score", "of": "duel", "player": "one", "against": "two"}},
            {"what": "Elo", "ours": {"figure": "elo", "of": "duel", "player": "two"}},
            {"what": "missing", "ours": {"figure": "score", "of": "elsewhere", "player": "random"}},
        ],
        "plots": [{"title": "Accuracy", "of": {"net": ["net-1", "net-2"]}, "published": {"paper": [[100, 50.0]]}}],
        "conclusions": ["It is small."],
    }


@pytest.fixture
def path(recipe: Path, tmp_path: Path) -> Path:
    path = tmp_path / "small-study.yaml"
    path.write_text(yaml.safe_dump(description(recipe), sort_keys=False))
    return path


def put_network(folder: StudyFolder, step: str) -> Path:
    """A network where that of a step lies once it has run."""
    path = folder.run_folder(step) / "nets" / "small.onnx"
    path.parent.mkdir(parents=True)
    return Path(shutil.copy(Path(tengen.__file__).parent / "nets" / "zero-7x7.onnx", path))


def study(*args: object) -> int:
    return main(["study", *map(str, args)])


def test_a_study_runs_once_and_its_page_has_the_figures_of_its_runs(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, pages = tmp_path / "runs", tmp_path / "pages"
    assert study(path, "--out", runs, "--page", pages) == 0
    page = (pages / "small-study.md").read_text()
    row = {
        line.split(" | ")[0].strip("| "): line.split(" | ")[2] for line in page.splitlines() if line.startswith("| ")
    }
    found = PredictionResults.load(runs / "net-1" / "predictions.npz")
    assert row["accuracy"].startswith(f"{100 * found.top1.mean():.1f}% (")
    assert row["missing"] == "not run" and "a-program-that-is-not-there not installed" in page
    assert "It is small." in page
    summary = json.loads((runs / "duel" / "summary.json").read_text())
    assert row["score"].startswith(f"{100 * summary['pairings'][0]['score']:.1f}%")
    assert row["Elo"].split()[0] in ("-inf", "-0", "+0", "+inf")  # two games of policies: a side wins both, or each one
    assert re.search(r"\| duel \| done in \d+ s; SPRT of Elo 0 against 200: LLR .* after 1 pairs \|", page)
    for over in ("samples", "hours"):
        assert (pages / f"small-study-accuracy-{over}.svg").read_text().startswith("<svg")
    # Nothing runs again, and the page is the same.
    before = {file: file.stat().st_mtime_ns for file in runs.glob("*.json")}
    assert len(before) == 3
    assert study(path, "--out", runs, "--page", pages) == 0
    assert {file: file.stat().st_mtime_ns for file in runs.glob("*.json")} == before
    assert (pages / "small-study.md").read_text() == page
    # Nor does it change where the runs are gone.
    shutil.rmtree(runs)
    assert study(path, "--report", "--out", runs, "--page", pages) == 0
    assert (pages / "small-study.md").read_text() == page


def test_a_reduced_study_lies_elsewhere_and_says_so(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert study(path, "--quick", "--scale", "0.5", "--only", "net-1") == 2
    assert study(path, "--quick", "--only", "net-1") == 0
    folder = tmp_path / "runs" / "studies" / "small-study-x0.2"
    assert "Reduced" in (folder / "small-study.md").read_text()
    recipe = yaml.safe_load((folder / "net-1" / "recipe.yaml").read_text())
    assert (recipe["training"]["steps"], recipe["training"]["seed"]) == (6, 1)
    assert not (tmp_path / "docs").exists()
    pages = tmp_path / "pages"
    # The page of the study shows it where the full run is missing, and says so.
    assert study(path, "--report", "--page", pages) == 0
    page = (pages / "small-study.md").read_text()
    [row] = [line for line in page.splitlines() if line.startswith("| accuracy")]
    found = PredictionResults.load(folder / "net-1" / "predictions.npz")
    assert f"| {100 * found.top1.mean():.1f}% (" in row
    assert "--scale 0.2 --only net-1" in row and row.endswith("**0.2 of the length** |")
    assert "| **0.2 of the length**; **without net-2** |" in page
    assert "| net-1, 0.2 of its length |" in page and "| net-1 | not run |" in page


def test_the_page_of_your_own_study_is_in_the_folder_of_its_runs_and_names_its_file(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = yaml.safe_load(path.read_text())
    del made["paper"]
    (tmp_path / "my own.yaml").write_text(yaml.safe_dump(made, sort_keys=False))
    assert study("my own.yaml", "--report") == 0
    assert not (tmp_path / "docs").exists()
    page = (tmp_path / "runs" / "studies" / "my own" / "my own.md").read_text()
    commands = [part.split("`")[0] for part in page.split("`tengen study ")[1:]]
    assert len(commands) == 7 and all(shlex.split(words)[0] == "my own.yaml" for words in commands)


def test_a_page_keeps_the_figures_of_runs_that_are_gone(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runs, pages = tmp_path / "runs" / "studies", tmp_path / "pages"
    made = yaml.safe_load(path.read_text())
    made["rows"].append({**made["rows"][2], "what": "accuracy"})  # another figure of the same name
    path.write_text(yaml.safe_dump(made, sort_keys=False))
    for scale in (0.2, 0.4):
        assert study(path, "--scale", scale, "--only", "net-1") == 0
    assert study(path, "--scale", 0.2, "--only", "net-2") == 0
    assert study(path, "--report", "--page", pages) == 0
    page, record = ((pages / f"small-study.{end}").read_text() for end in ("md", "json"))
    plots = {plot: plot.read_text() for plot in pages.glob("*.svg")}
    rows = json.loads(record)["rows"]
    assert [row["scale"] for row in rows] == [0.4, 0.4, 0.2, None, None, None, 0.2]
    assert [row["without"] for row in rows] == [[], ["net-2"], [], [], [], [], []] and "**without net-2**" in page
    assert set(json.loads(record)["plots"].values()) == {0.4} and len(plots) == 2
    shutil.rmtree(runs / "small-study-x0.4")  # the shorter runs are still there
    assert study(path, "--report", "--page", pages) == 0
    assert (pages / "small-study.json").read_text() == record
    assert {plot: plot.read_text() for plot in plots} == plots
    shutil.rmtree(runs)
    assert study(path, "--report", "--page", pages) == 0
    assert (pages / "small-study.json").read_text() == record
    assert (pages / "small-study.md").read_text() == page
    # Runs of the same length take their place.
    edited = json.loads(record)
    edited["rows"][0]["ours"] = edited["runs"][0]["top1"]["ours"] = 0.99
    (pages / "small-study.json").write_text(json.dumps(edited))
    assert (
        study(path, "--report", "--page", pages) == 0 and (pages / "small-study.md").read_text().count("| 99.0% (") == 2
    )
    assert study(path, "--scale", 0.4, "--only", "net-1") == 0
    assert study(path, "--report", "--page", pages) == 0
    assert "99.0%" not in (pages / "small-study.md").read_text()


def test_a_page_keeps_no_figure_of_a_step_that_has_changed(path: Path, recipe: Path, tmp_path: Path) -> None:
    runs, pages = tmp_path / "runs", tmp_path / "pages"
    page, record = pages / "small-study.md", pages / "small-study.json"
    assert study(path, "--report", "--out", runs, "--page", pages) == 0
    found = json.loads(record.read_text())
    number = {"scale": 1.0, "ours": 0.99, "interval_95": [0.98, 1.0], "without": []}
    found["rows"] = [{**row, **number} for row in found["rows"]]
    found["rows"][1]["without"] = ["net-1"]
    run = {"scale": 1.0, "parameters": 1, "macs": 1, "samples": 1, "hours": 1.0}
    found["runs"] = [{**run, "step": step} for step in ("net-1", "net-2")]
    found["steps"] = dict.fromkeys(found["steps"], "done in 1 min")
    found["plots"] = dict.fromkeys(("small-study-accuracy-samples", "small-study-accuracy-hours"), 1.0)
    for plot in found["plots"]:
        (pages / f"{plot}.svg").write_text("<svg/>")
    record.write_text(json.dumps(found))
    assert study(path, "--report", "--out", runs, "--page", pages) == 0
    assert page.read_text().count("| 99.0% (") == 4 and page.read_text().count("| done in 1 min |") == 4
    assert page.read_text().count("![small-study-accuracy") == 2
    # net-1 changes, and with it the match of its network; the mean that is of net-2 alone stays.
    changed = description(recipe)
    changed["steps"]["net-{seed}"]["each"]["seed"] = [2]
    changed["steps"] = {"net-1": {"run": f"train {recipe} --quiet", "set": {"training.seed": 3}}, **changed["steps"]}
    path.write_text(yaml.safe_dump(changed, sort_keys=False))
    assert study(path, "--report", "--out", runs, "--page", pages) == 0
    rows = json.loads(record.read_text())["rows"]
    assert [row["ours"] for row in rows] == [None, 0.99, None, None, None, 0.99]
    assert [run["step"] for run in json.loads(record.read_text())["runs"]] == ["net-2"]
    assert list(json.loads(record.read_text())["steps"].values()).count("done in 1 min") == 2
    assert "![small-study-accuracy" not in page.read_text() and not list(pages.glob("*.svg"))


def test_a_page_without_runs_has_no_figures(path: Path, tmp_path: Path) -> None:
    assert study(path, "--report", "--out", tmp_path / "runs", "--page", tmp_path / "pages") == 0
    assert (tmp_path / "pages" / "small-study.md").read_text().count("| not run |") == 9  # rows and steps
    assert not (tmp_path / "runs").exists()


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
    assert said == ["help: left out, benchmarks/playouts.py not found"]


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


def test_a_report_with_settings_is_of_the_runs_with_them(path: Path, tmp_path: Path) -> None:
    folder = StudyFolder(tmp_path / "runs", load_study(str(path)).with_settings(["training.steps=7"]))
    put_network(folder, "net-1")
    run_study(folder, lambda command: 0, ["net-1"], say=lambda _: None)
    for settings, state in ((("--set", "training.steps=7"), "done"), ((), "not run: the folder holds another run")):
        assert study(path, "--report", *settings, "--out", tmp_path / "runs", "--page", tmp_path / state) == 0
        assert f"| net-1 | {state}" in (tmp_path / state / "small-study.md").read_text()


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
from tengen.cli import app, study
study.run_study = lambda *_: print(f"loaded: {{'matplotlib.figure' in sys.modules}}")
sys.exit(app.main({words!r}))
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(tengen.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "loaded: True" in done.stdout and (tmp_path / "small-study.md").exists()


def test_a_report_takes_no_settings_of_a_run(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert study(path, "--report", "--only", "net-1", "--page", tmp_path / "pages") == 2
    assert "leave out --only" in capsys.readouterr().err and not (tmp_path / "pages").exists()


def results(correct: np.ndarray[Any, Any], ply: np.ndarray[Any, Any], each: int = 1) -> PredictionResults:
    """Of games that are judged at one position, or at `each` one after the other."""
    zeros, hits = np.zeros(len(ply)), correct.astype(float)
    return PredictionResults(hits, hits, zeros, zeros, zeros, ply.astype(float), np.arange(len(ply)) // each)


def test_a_difference_is_paired(path: Path, tmp_path: Path) -> None:
    """On positions where two networks mostly agree the interval is that of the pairs on which they differ."""
    random = np.random.default_rng(0)
    ply = random.integers(0, 200, 4000)
    first = random.random(4000) < 0.5
    second = first ^ (random.random(4000) < 0.05)
    made = load_study(str(path))
    folder = StudyFolder(tmp_path, made)
    for step, correct in (("net-1", first), ("net-2", second)):
        folder.run_folder(step).mkdir()
        results(correct, ply).save(folder.run_folder(step) / "predictions.npz")
        (tmp_path / f"{step}.json").write_text(json.dumps({"command": folder.command(step)}))
    found = find_figure(folder, Figure(figure="top1", of=["net-2"], minus=["net-1"]))
    gained, lost = int((second & ~first).sum()), int((first & ~second).sum())
    n = len(ply)
    assert found is not None and found.mean == pytest.approx((gained - lost) / n)
    variance = ((gained + lost) / n - ((gained - lost) / n) ** 2) / (n - 1)  # of McNemar's pairs
    assert found.high - found.low == pytest.approx(2 * 1.959964 * variance**0.5, rel=1e-6)
    # The same positions in another order, as this version has them: of one a game the pairs are found.
    results(second, ply).rows(np.arange(n)[::-1]).save(folder.run_folder("net-2") / "predictions.npz")
    assert find_figure(folder, Figure(figure="top1", of=["net-2"], minus=["net-1"])) == found
    results(first, ply[::-1]).save(folder.run_folder("net-1") / "predictions.npz")
    with pytest.raises(RecipeError, match="different positions"):
        find_figure(folder, Figure(figure="top1", of=["net-2"], minus=["net-1"]))
    # Pairs of a game count as one: with each five times the interval is that of once.
    for step, correct in (("net-1", first), ("net-2", second)):
        results(correct.repeat(5), ply.repeat(5), 5).save(folder.run_folder(step) / "predictions.npz")
    copies = find_figure(folder, Figure(figure="top1", of=["net-2"], minus=["net-1"]))
    assert copies is not None and copies.high - copies.low == pytest.approx(found.high - found.low, rel=1e-6)


def test_a_figure_of_the_training_batches_is_of_the_last_tenth_and_in_the_scale_of_the_page(
    path: Path, tmp_path: Path
) -> None:
    folder = StudyFolder(tmp_path, load_study(str(path)))
    folder.run_folder("net-1").mkdir()
    (tmp_path / "net-1.json").write_text(json.dumps({"command": folder.command("net-1")}))
    events = [{"event": "train", "step": step, "value_mse": 1 - step / 1000} for step in range(50, 1001, 50)]
    log = "".join(json.dumps(event) + "\n" for event in events)
    (folder.run_folder("net-1") / "log.jsonl").write_text(log)
    found = find_figure(folder, Figure(figure="training", of=["net-1"], key="value_mse"))
    assert found is not None and found.mean == pytest.approx(0.025 / 4) and math.isnan(found.low)


def test_a_figure_that_a_step_does_not_have_is_named(path: Path, tmp_path: Path) -> None:
    folder = StudyFolder(tmp_path, load_study(str(path)))

    def find(figure: str, **fields: str) -> Estimate | None:
        return find_figure(folder, Figure(figure=figure, of=["duel"], **fields))

    def printed(output: object) -> None:
        found = {"command": folder.command("duel"), "seconds": 1, "output": output}
        (tmp_path / "duel.json").write_text(json.dumps(found))

    printed([])  # a command that printed no JSON
    with pytest.raises(RecipeError, match=r"figure output of step duel: unknown key 'foo'; there are: none"):
        find("output", key="foo")
    printed([{"name": "linear", "speed": 3}])
    found = [find("output", key=key) for key in ("0.speed", "linear.speed")]
    assert [each and each.mean for each in found] == [3, 3]
    for key, near in (("linear.sped", "did you mean speed"), ("1.speed", "there are: linear, 0"), ("linear", "linear")):
        with pytest.raises(RecipeError, match=f"unknown key '{key}'; .*{near}"):
            find("output", key=key)
    log = json.dumps({"event": "train", "step": 1, "top1": 0.5}) + "\n"
    folder.run_folder("duel").mkdir()
    (folder.run_folder("duel") / "log.jsonl").write_text(log)
    with pytest.raises(RecipeError, match="figure training of step duel: unknown key 'top2'; did you mean top1"):
        find("training", key="top2")
    write_match(folder.run_folder("duel"), series("one", "three", 1, 1))
    with pytest.raises(RecipeError, match="figure score of step duel: unknown player 'two'; there are: one, three"):
        find("score", player="one", against="two")
    network = put_network(folder, "net-1")
    (tmp_path / "net-1.json").write_text(json.dumps({"command": folder.command("net-1")}))
    assert folder.network("net-1") == network
    with pytest.raises(RecipeError, match="figure card of step net-1: unknown key 'foo'"):
        find_figure(folder, Figure(figure="card", of=["net-1"], key="foo"))


@pytest.mark.parametrize("ends", [{"sprt": {"elo0": 0, "elo1": 200}}, {"within": 12.0}], ids=["sprt", "within"])
def test_a_score_is_that_of_the_games_that_count_as_in_the_figures_of_the_match(
    path: Path, tmp_path: Path, ends: dict[str, Any]
) -> None:
    """Games that were played beside the deciding one stay in the folder and do not count."""
    folder = StudyFolder(tmp_path, load_study(str(path)))
    write_match(folder.run_folder("duel"), series("one", "two", 60, 40), kind="head-to-head", **ends)
    (tmp_path / "duel.json").write_text(json.dumps({"command": folder.command("duel")}))
    found = find_figure(folder, Figure(figure="score", of=["duel"], player="two", against="one"))
    assert found is not None and found.mean == 0 and found.count < 60
    high = 400 * math.log10(found.high / (1 - found.high))
    difference = Figure(figure="elo", of=["duel"], player="two")
    as_elo = find_figure(folder, difference)
    assert as_elo is not None and (as_elo.mean, as_elo.low) == (-math.inf, -math.inf)
    assert as_elo.high == pytest.approx(high)
    assert shown(difference, as_elo) == f"-inf (-inf to {high:+.0f})"


def test_a_score_of_a_match_that_was_interrupted_is_not_shown(path: Path, tmp_path: Path) -> None:
    """It would replace the score of a whole match on the page."""
    folder = StudyFolder(tmp_path, load_study(str(path)))
    write_match(folder.run_folder("duel"), series("one", "two", 1, 1))
    (folder.run_folder("duel") / "summary.json").write_text("{}")
    wanted = Figure(figure="score", of=["duel"], player="one")
    assert find_figure(folder, wanted) is None
    (tmp_path / "duel.json").write_text(json.dumps({"command": folder.command("duel")}))
    found = find_figure(folder, wanted)
    assert found is not None and (found.mean, found.count) == (0.5, 2)


@pytest.mark.parametrize(
    "ends", [(0.5, 0.25, 0.75), (math.inf, 40, math.inf), (-math.inf, -math.inf, 3), (2, -math.inf, math.inf)]
)
def test_a_page_keeps_infinite_figures(ends: tuple[float, float, float]) -> None:
    """As the Elo of a match without a loss; JSON has no infinity."""
    written = json.dumps(_numbers(Estimate(*ends, 9)), allow_nan=False)
    found = _estimate(json.loads(written))
    assert (found.mean, found.low, found.high) == ends


def test_a_page_keeps_a_figure_without_interval_and_one_that_was_not_reached() -> None:
    for mean in (2.5, math.nan):
        found = _estimate(json.loads(json.dumps(_numbers(Estimate(mean, math.nan, math.nan, 9)), allow_nan=False)))
        assert repr(found.mean) == repr(mean) and math.isnan(found.low) and math.isnan(found.high)


def test_every_figure_of_a_row_can_be_found() -> None:
    assert set(FIGURES) == set(_FIND)


def test_a_speedup_is_a_ratio_and_no_share() -> None:
    twice = Figure(figure="speedup", of=["a"], minus=["b"], key="top1")
    assert shown(twice, Estimate(2.0, math.nan, math.nan, 9)) == "2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"rows": [{"what": "x", "ours": {"figure": "top1", "of": "net-3"}}]},
            "unknown step 'net-3'; did you mean net-2",
        ),
        (
            {"steps": {"a": {"run": "match ${b} random"}, "b": {"run": "train tiny"}}, "rows": [], "plots": []},
            "step a needs",
        ),
        ({"steps": {"wrong": {"run": "bench"}}, "rows": [], "plots": []}, "step wrong has the name of the study"),
        ({"steps": {"a": {"run": "train"}}, "rows": [], "plots": []}, "run must be a command"),
        ({"steps": {"a": {"run": "python"}}, "rows": [], "plots": []}, "run must be a command"),
        ({"steps": {"a": {"run": ""}}, "rows": [], "plots": []}, "run must be a command"),
        ({"steps": {"a": {"run": "train 'tiny"}}, "rows": [], "plots": []}, "No closing quotation"),
        ({"steps": {"a": {"run": "train tiny", "each": [1, 2]}}, "rows": [], "plots": []}, "each of step a"),
        ({"steps": {"a": {"run": "train tiny", "each": {"seed": 3}}}, "rows": [], "plots": []}, "each of step a"),
        ({"steps": {"a": {"run": "train tiny", "each": {"seed": [1, 2]}}}, "rows": [], "plots": []}, "two steps a"),
        (
            {
                "steps": {"a-{n}": {"run": "bench", "each": {"n": [1]}}, "a-1": {"run": "bench"}},
                "rows": [],
                "plots": [],
            },
            "two steps a-1",
        ),
        ({"steps": {"a": {"run": "bench", "sets": {}}}}, r"unknown key 'steps\.a\.sets'; did you mean set\?"),
        ({"rows": [{"what": "x", "diffs": ""}]}, r"unknown key 'rows\.0\.diffs'; did you mean differs\?"),
        (
            {"rows": [{"what": "x", "ours": {"figure": "topp", "of": "net-1"}}]},
            r"unknown figure 'topp'; did you mean top5\?",
        ),
        (
            {"rows": [{"what": "x", "ours": {"figure": "top1", "of": "net-1", "keys": "a"}}]},
            r"unknown key 'rows\.0\.ours\.Figure\.keys'; did you mean key\?",
        ),
        (
            {"rows": [{"what": "of whom", "ours": {"figure": "score", "of": "duel"}}]},
            "row 'of whom': the figure score needs a player",
        ),
    ],
)
def test_a_step_that_does_not_exist_is_named(
    recipe: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(yaml.safe_dump({**description(recipe), **change}, sort_keys=False))
    with pytest.raises(RecipeError, match=message):
        load_study(str(path))


@pytest.mark.parametrize(
    "value", [None, True, 3, 0.5, "a0.small", [None, "null", False, "it's"], {"name": "sgd", "lr": [0.1, None]}]
)
def test_a_setting_is_read_as_it_was_written(value: object) -> None:
    [setting] = Step(run="train tiny", set={"a.b": value}).settings
    assert setting.startswith("a.b=") and yaml.safe_load(setting.removeprefix("a.b=")) == value


def test_matches_of_a_study_are_rated_together(tmp_path: Path) -> None:
    """`rate` takes the file of its JSON, other commands do not."""
    options = {"games": 2, "size": 5, "komi": 0.5, "openings": "random", "quiet": True, "workers": 1}
    described = {
        "title": "Rated",
        "hours": 0.01,
        "about": "A match.",
        "steps": {"duel": {"run": "match random other=random", "options": options}, "elo": {"run": "rate ${duel}"}},
        "rows": [{"what": "games | all", "ours": {"figure": "output", "of": "elo", "key": "sizes.0.games"}}],
    }
    path = tmp_path / "rated.yaml"
    path.write_text(yaml.safe_dump(described, sort_keys=False))
    folder = StudyFolder(tmp_path / "runs", load_study(str(path)))
    write_match(folder.run_folder("duel"), series("random", "other", 1, 1))
    (folder.path / "duel.json").write_text(json.dumps({"command": folder.command("duel"), "seconds": 1}))
    assert study(path, "--out", folder.path, "--page", tmp_path / "page") == 0
    assert folder.state("elo") == "done"
    found = find_figure(folder, Figure(figure="output", of=["elo"], key="sizes.0.games"))
    assert found is not None and found.mean == 2
    page = (tmp_path / "page" / "rated.md").read_text()
    assert "| games \\| all | - | 2 |" in page, "a bar in a text ends no cell"


def test_an_option_that_is_off_is_left_out() -> None:
    options = {"quiet": False, "out": None, "games": 4, "force": True}
    assert Step(run="match a b", options=options).command({}) == ["match", "a", "b", "--games", "4", "--force"]


def test_a_reduced_match_has_fewer_games_under_the_same_conditions() -> None:
    match = Step(run="match a b", options={"games": 400, "seconds": 0.2, "visits": 32}).scaled(0.01)
    assert match.options == {"games": 40, "seconds": 0.2, "visits": 32}


def test_the_study_of_the_documentation_can_run(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "studies" / "index.md").read_text()
    path = tmp_path / "width.yaml"
    path.write_text(text.split("```yaml\n")[1].split("```")[0])
    made = load_study(str(path))
    folder = StudyFolder(tmp_path, made)
    assert len(made.steps) == 5 and folder.study.steps["b2c32-2"].load().training.seed == 2
    for name, step in made.steps.items():
        step.check()
        check_command(folder.command(name))


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


@pytest.mark.parametrize(
    ("recipe", "length", "whole"),
    [("tiny-5x5", "cycles", SelfPlayConfig), ("alphago-rl-9x9", "iterations", PolicyGradientConfig)],
)
def test_a_reduced_study_shortens_a_run_whose_length_its_recipe_gives(
    recipe: str, length: str, whole: type[SelfPlayConfig | PolicyGradientConfig]
) -> None:
    asked = getattr(load_recipe(recipe, model=whole), length)
    assert Step(run=f"zero {recipe}").scaled(0.5).set == {length: round(asked / 2)}
    assert Step(run=f"zero {recipe}", set={length: 8}).scaled(0.5).set == {length: 4}


def test_a_reduced_run_has_the_networks_that_its_recipe_averages() -> None:
    step = Step(run="zero tiny-5x5", set={"learn.swa": 4}).scaled(0.01)
    check_run(load_recipe("tiny-5x5", step.settings, model=SelfPlayConfig))
    assert step.set["cycles"] == 4


@pytest.mark.parametrize("name", study_names())
def test_every_shipped_study_can_run(name: str, tmp_path: Path) -> None:
    """Its training runs are recipes with settings that exist, also in a small part of their length."""
    made = load_study(name)
    folder = StudyFolder(tmp_path, made)
    assert made.name == name and made.rows
    for step, fields in made.steps.items():
        fields.check()
        if fields.verb != "python":
            check_command(folder.command(step))
        for player in fields.set.get("players", []):
            PlayerSpec.model_validate(player).params.native()
        if fields.verb == "zero":
            assert any(fields.scaled(made.quick).set[name] < length for name, length in fields.set.items())
        if fields.verb != "train" or recipe_kind(str(fields.recipe)) != "supervised":
            continue
        assert folder.network(step) == tmp_path / step / "nets" / f"{fields.recipe}.onnx"
        full, reduced = (load_recipe(str(fields.recipe), each.settings) for each in (fields, fields.scaled(made.quick)))
        config = network_fields(full.network)
        check_losses(config, full.training.losses)
        samples = [
            run.training.with_epoch(run.data.max_positions or 200 * (run.data.games or 0)) for run in (full, reduced)
        ]
        before, after = (each.total_steps or 0 for each in samples)
        assert 0 < after <= max(1, 1.2 * before * made.quick)
        if full.training.epochs is not None:  # the same number of shorter epochs, so that curves keep their points
            assert reduced.training.epochs == full.training.epochs
