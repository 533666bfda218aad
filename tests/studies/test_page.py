"""The page of a study: the figures of its runs, of reduced ones, and of runs that are gone."""

import json
import math
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from made_matches import series, write_match
from studies.small_study import description, put_network, study

from tengen.evaluators.network_file import Card
from tengen.recipes.loader import network_cost, network_fields
from tengen.studies.figures import TrainingRun, find_figure
from tengen.studies.page import _command, _estimate, _numbers, _run_record, _training_row
from tengen.studies.runner import StudyFolder, run_study
from tengen.studies.study import Figure, load_study
from tengen.training.metrics import Estimate, PredictionResults


@pytest.mark.slow
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
        plot = (pages / f"small-study-accuracy-{over}.svg").read_text()
        assert plot.startswith("<svg") and f">Accuracy by {over}</text>" in plot
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


@pytest.mark.slow
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
    assert len(commands) == 2 and all(shlex.split(words)[0] == "my own.yaml" for words in commands)
    assert "Commands that begin with an option are those of `tengen study 'my own.yaml'`." in page
    assert page.count("| `--only ") == 6


@pytest.mark.slow
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


def test_a_report_with_settings_is_of_the_runs_with_them(path: Path, tmp_path: Path) -> None:
    folder = StudyFolder(tmp_path / "runs", load_study(str(path)).with_settings(["training.steps=7"]))
    put_network(folder, "net-1")
    run_study(folder, lambda command: 0, ["net-1"], say=lambda _: None)
    for settings, state in ((("--set", "training.steps=7"), "done"), ((), "not run: the folder holds another run")):
        assert study(path, "--report", *settings, "--out", tmp_path / "runs", "--page", tmp_path / state) == 0
        page = (tmp_path / state / "small-study.md").read_text()
        assert f"| net-1 | {state}" in page
        words = shlex.join([*settings, "--out", str(tmp_path / "runs"), "--page", str(tmp_path / state)])
        assert f"tengen study {path} {words}" in page, "the commands of these runs"
        assert ("## Conclusions" in page) == (not settings), "other runs have other ones"


def test_a_report_takes_no_settings_of_a_run(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert study(path, "--report", "--only", "net-1", "--page", tmp_path / "pages") == 2
    assert "leave out --only" in capsys.readouterr().err and not (tmp_path / "pages").exists()


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


def test_the_table_of_the_steps_has_what_a_network_can_show() -> None:
    """A network without a policy has no top-1, and its multiplications are those of the boards that it learned."""
    value_alone = {
        "plane_set": "tengen",
        "board_size": 9,
        "convs": ["3x3x8"],
        "policy": None,
        "value": {"kind": "dense"},
    }
    results = PredictionResults(*[np.zeros(4)] * 6, np.arange(4))
    value, policy = (
        _run_record(TrainingRun("net", Card(name="net", plane_set="tengen", board_sizes=[9], **fields), results))
        for fields in (
            {"family": "plain", "config": {"family": "plain", **value_alone}, "positions": 80},
            {"family": "residual", "config": {"family": "residual", "size": "b1c8"}},
        )
    )
    assert "top1" not in value and "top5" not in value and value["value_mse"]["ours"] == policy["top1"]["ours"] == 0
    assert policy["macs"] == network_cost(network_fields({"family": "residual", "size": "b1c8"}), 9)[1]
    rows = [_training_row({**record, "scale": 1.0}, 1.0) for record in (value, policy)]
    assert rows[0][4] == "80" and rows[0][6:8] == ["-", "-"] and rows[1][4] == "-"
    noted = _training_row({**value, "scale": 0.1, "note": "of an earlier recipe"}, 1.0)
    assert noted[0] == "net, 0.1 of its length, of an earlier recipe"


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("convs=['5x5x64', '3x3x8']", "\"convs=['5x5x64', '3x3x8']\""),
        ("a b", "'a b'"),
        *((word, shlex.quote(word)) for word in ("it's $5", "it's `x`", "it's !", 'it\'s "it"', "it's \\")),
    ],
)
def test_commands_are_readable_and_the_shell_reads_them_back(word: str, written: str) -> None:
    assert _command(["tengen", word]) == f"tengen {written}"
    assert shlex.split(_command(["tengen", word])) == ["tengen", word]


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
