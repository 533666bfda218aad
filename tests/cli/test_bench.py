"""`tengen bench` as a user meets it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tengen.benchmark import suite
from tengen.benchmark.playing import BATCHES, SIZES
from tengen.benchmark.suite import Machine
from tengen.cli import bench
from tengen.cli.app import main
from tengen.evaluators import UniformEvaluator

ROOT = Path(__file__).parents[2]


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The only recipe that there is: of a tiny network."""
    pytest.importorskip("torch", reason="training needs the extra [train]")
    import yaml
    from training.small_run import settings_of, write_store

    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({**settings_of(write_store(tmp_path / "store")), "name": "mine"}))
    monkeypatch.setattr("tengen.recipes.recipe_names", lambda *kinds: [str(path)])
    monkeypatch.setattr(bench, "_installed", lambda: ["uniform"])
    return str(path)


def test_all_figures_as_json(recipe: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--seconds", "0.1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    found = {(row["network"], row["size"], row["batch"]) for row in figures["evaluations"]}
    assert found == {("uniform", size, batch) for size in SIZES for batch in BATCHES}
    assert {(row["player"], row["size"], row["games"]) for row in figures["visits"]} == {
        *(("uniform", size, 1) for size in (9, 19)),
        *(("no network", size, 1) for size in (9, 19)),
        ("uniform", 9, 64),
    }
    assert {row["size"] for row in figures["playouts"]} == set(SIZES)
    assert figures["encoding"]["rate"] > 0
    (run,) = figures["recipes"]
    assert run["recipe"] == "mine" and run["positions"] == 240 and run["seconds"] > 0
    assert figures["missing"] == [] and figures["machine"]["cores"] >= 1


def test_a_recipe_that_cannot_be_measured_is_said_to_be_left_out(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import yaml

    other = tmp_path / "other.yaml"
    settings = yaml.safe_load(Path(recipe).read_text())
    settings |= {"name": "other", "data": {**settings["data"], "teacher": {"network": "gone.onnx"}}}
    other.write_text(yaml.safe_dump(settings))
    monkeypatch.setattr("tengen.recipes.recipe_names", lambda *kinds: [str(other), recipe])
    assert main(["bench", "--seconds", "0.1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert [run["recipe"] for run in figures["recipes"]] == ["mine"]
    (missing,) = figures["missing"]
    assert missing.startswith("other: ") and "gone.onnx" in missing


def test_all_figures_for_people(recipe: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--seconds", "0.1"]) == 0
    shown = capsys.readouterr().out
    for word in ("32 at a time", "19x19", "64 games at once", "400 in ", "10,000 in ", "local", "b1c8", "will take"):
        assert word in shown
    assert "30 steps end it" in shown and "not measured" not in shown
    assert "…" not in shown, "nothing is cut on a terminal of 80 columns"


def test_one_network_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is measured that does not concern it."""
    assert main(["bench", "--net", "uniform", "--seconds", "0.1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    names = {row["network"] for row in figures["evaluations"]} | {row["player"] for row in figures["visits"]}
    assert names == {"uniform"} and len(figures["visits"]) == 3
    assert (figures["playouts"], figures["encoding"], figures["recipes"], figures["missing"]) == ([], None, [], [])


def test_a_network_of_one_size(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    network = UniformEvaluator()
    network.only_size = 13
    monkeypatch.setattr("tengen.evaluators.load_evaluator", lambda _: network)
    assert main(["bench", "--net", "uniform", "--seconds", "0.1"]) == 0
    shown = capsys.readouterr().out
    (row,) = (line for line in shown.splitlines() if line.startswith("uniform"))
    assert row.split()[1] == "13x13"
    assert [f"boards alone, not {size}" in shown for size in ("9x9", "13x13", "19x19")] == [True, False, True]


def test_one_recipe_alone(recipe: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", recipe, "--set", "training.steps=7", "--seconds", "0.1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["evaluations"] == figures["visits"] == figures["playouts"] == []
    assert figures["recipes"][0]["positions"] == 56


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["tyny"], "unknown recipe 'tyny'; did you mean tiny?"),
        (["tiny", "--set", "training.stepps=3"], "did you mean training.steps?"),
        (["--set", "training.steps=3"], "--set changes a recipe"),
        (["tiny", "--net", "uniform"], "--net uniform is of no use with a recipe: tiny has a network of its own"),
        (["tiny", "--tune"], "--tune concerns a network that plays: name it with --net, without a recipe"),
        (["--seconds", "0"], "--seconds"),
        (
            ["linear-tygem"],
            "a recipe of kind linear-playout; only recipes of tengen train that train a network are estimated",
        ),
        (["--net", "no-such-net"], "no-such-net"),
        (["--net", "uniform", "--tune"], "uniform: "),
    ],
)
def test_wrong_arguments_are_one_line(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *args]) == 2
    captured = capsys.readouterr()
    assert message in captured.err and captured.err.startswith("error: ") and captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_recipe_whose_length_its_games_decide_needs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="training needs the extra [train]")
    from training.small_run import write_store

    monkeypatch.chdir(tmp_path)
    assert main(["bench", "betago"]) == 2
    error = capsys.readouterr().err.replace("\\", "/")
    assert "depends on its games: stores/tygem-before-2012 is no game store" in error
    assert error.endswith("or give a store of yours with --set data.store=FOLDER\n")
    write_store(tmp_path / "mine")
    assert main(["bench", "betago", "--set", "data.store=mine"]) == 2
    assert "tygem-val is no game store" in capsys.readouterr().err


@pytest.mark.parametrize(("args", "status", "extras"), [(["tiny"], 2, ["train"]), ([], 0, ["data", "train"])])
def test_without_the_extra_it_says_what_to_install(args: list[str], status: int, extras: list[str]) -> None:
    program = (
        "import sys; sys.modules.update(torch=None, lightning=None, onnx=None, pyarrow=None)\n"
        "from tengen.cli import bench; bench._installed = lambda: ['uniform']\n"
        "from tengen.cli.app import main; sys.exit(main(['bench', '--seconds', '0.1', *sys.argv[1:]]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *args],
        capture_output=True,
        text=True,
        timeout=100,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == status
    for extra in extras:
        assert f"pip install 'tengen[{extra}]'" in done.stdout + done.stderr


def test_recipes_of_another_kind_are_said_to_be_left_out(recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tengen.recipes.recipe_names", lambda *kinds: [recipe, "linear-tygem", "zero-7x7"])
    measured = []
    monkeypatch.setattr(suite, "measure_all", lambda _, runs, *__: measured.append(runs) or suite.Figures(QUIET))
    monkeypatch.setattr(bench, "_print", lambda figures, _: measured.append(figures.missing))
    assert main(["bench"]) == 0
    assert [run.name for run in measured[0]] == ["mine"]
    assert len(measured[1]) == 1 and measured[1][0].startswith("linear-tygem, zero-7x7: ")


QUIET = Machine("1.0", "Z80", cores=4, memory=1 << 34, load=1.5)


def test_a_busy_machine_is_said_to_be_one() -> None:
    assert not QUIET.busy
    assert Machine("1.0", "Z80", cores=2, memory=1 << 34, load=1.5).busy


@pytest.mark.parametrize(
    ("value", "text"), [(12345.6, "12,300"), (1000, "1,000"), (999.6, "1e+03"), (99.94, "99.9"), (0.01234, "0.0123")]
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert bench._number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0123, "12.3 ms"),
        (0.2, "0.2 s"),
        (89.0, "89 s"),
        (120, "2 minutes"),
        (4212, "70.2 minutes"),
        (7200, "2 hours"),
    ],
)
def test_durations_read_well(seconds: float, text: str) -> None:
    assert bench._duration(seconds) == text
