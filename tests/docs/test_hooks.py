"""The tables that the documentation site makes from the code and from the studies."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tengen.coords import SIZES

pytest.importorskip("mkdocs", reason="the site needs the extra [docs]")
pytest.importorskip("torch", reason="the cost of networks needs the extra [train]")

PATH = Path(__file__).parents[2] / "docs" / "hooks.py"


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hooks", PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(step: str, recipe: str, top1: float, scale: float = 1.0, samples: int = 1) -> dict[str, Any]:
    found = {"ours": top1, "interval_95": [top1 - 0.01, top1 + 0.01]}
    return {"step": step, "recipe": recipe, "scale": scale, "samples": samples, "top1": found}


def test_the_result_of_a_recipe_is_the_mean_of_its_seeds_and_says_its_share(
    hooks: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = {
        "bakago-2016": [
            run("df-adagrad-1", "bakago-v3-32", 0.33, 0.02),  # the network of DarkForest
            run("v3-1", "bakago-v3-32", 0.19, 0.02),
            run("v3-2", "bakago-v3-32", 0.17, 0.02),
            run("moves", "bakago-v3-32", 0.29, 0.02),  # on other planes
            run("corrected", "bakago-v3-32", 0.25, 0.02),  # from the weights of another run
        ],
        "betago-2016": [run("net-1", "betago", 0.10, 0.1), run("net-2", "betago", 0.15)],  # the longer one counts
        "darkforest-2016": [run(f"k3-{seed}", "plan-b", 0.26, 0.1, 26_214_400) for seed in (1, 2)],
        # In full, as the study runs it.
        "mobile-2020": [{**run("a0.small", "a0.small", 0.3, samples=1_000_000), "note": "of an earlier recipe"}],
    }
    shown = {"figure": "top1", "of": ["k3-1", "k3-2"]}  # the page has the mean of the seeds
    rows = {"darkforest-2016": [{"figure": shown, "ours": 0.275, "interval_95": [0.27, 0.28], "without": []}]}
    for name, found in runs.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"runs": found, "rows": rows.get(name, [])}))
    monkeypatch.setattr(hooks, "STUDIES", tmp_path)
    assert hooks._study_results() == {
        "bakago-v3-32": ("[bakago-2016](studies/bakago-2016.md)", "18.0% (17.0 to 19.0), 0.02 of the length"),
        "betago": ("[betago-2016](studies/betago-2016.md)", "15.0% (14.0 to 16.0)"),
        "plan-b": ("[darkforest-2016](studies/darkforest-2016.md)", "27.5% (27.0 to 28.0)"),
        "a0.small": (
            "[mobile-2020](studies/mobile-2020.md)",
            "30.0% (29.0 to 31.0), 0.005 of the length, of an earlier recipe",
        ),
    }


def test_the_table_has_million_multiply_accumulates(hooks: ModuleType) -> None:
    rows = [line.split(" | ") for line in hooks.published_systems().splitlines()]
    macs = {row[0].strip("| `"): row[rows[0].index("MMAC")] for row in rows}
    assert macs["a0.20.256"] == "8,519" and macs["betago"] == "3"


def test_the_reference_has_the_default_of_a_key_in_its_place(hooks: ModuleType) -> None:
    page = hooks.recipes_page()
    decays = [line.split(" | ")[2] for line in page.splitlines() if line.startswith("| `decay` |")]
    names = [line.split(" | ")[2] for line in page.splitlines() if line.startswith("| `name` | text |")]
    assert decays == ["`0.7`", "`0.3`", "`0.3`", "`0.3`", "`0.98`"] and names.count("`adamw`") == 2


def test_the_reference_has_the_keys_and_the_values_that_a_kind_of_run_takes(hooks: ModuleType) -> None:
    kinds_of_runs = hooks.recipes_page().split("## Network families")[0].split("\n## Kind ")
    _, supervised, _, self_play, gradient, values = kinds_of_runs
    for key, kinds in (
        ("devices", [supervised]),
        ("accumulate", [supervised, self_play]),
    ):
        assert [kind for kind in (supervised, self_play, gradient, values) if f"| `{key}` |" in kind] == kinds
    assert "| `games` | integer ≥ 2, ≤ 1,000,000, even | `128` |" in gradient
    assert "| `start` | number ≥ -400, ≤ 400, multiple of 0.5 | `7.0` |" in self_play
    assert f"share of each board size, {SIZES} |" in self_play and f"| board size, {SIZES} |" in gradient
    families = dict(part.split("`", 1) for part in hooks.recipes_page().split("### `family: ")[1:])
    assert "| `policy` | group or null | `kind: dense` |" in families["a0"]
    assert "| `value` | group or null | `kind: pool` |" in families["mobile"]


def test_the_command_line_has_the_defaults_that_help_prints(hooks: ModuleType) -> None:
    sections = dict(section.split(" {#", 1) for section in hooks.cli_page().split("\n## tengen ")[1:])
    gtp, import_, label = sections["gtp"], sections["import"], sections["label"]
    assert "| `--threads` INTEGER | `0` |" in gtp and "| `--temperature` NUMBER | `0.0` |" in gtp
    assert "`--no-ponder` | `--no-ponder` |" in gtp and "`--no-resign` | `--resign` |" in gtp
    assert "| `--force-komi` |  |" in gtp and "| `--min-rank` TEXT |  |" in import_
    assert "| `--out` PATH | required |" in import_ and "| `STORE...` | required |" in label


def test_options_in_code_are_marked_so_that_no_line_ends_after_their_dashes(hooks: ModuleType) -> None:
    html = "<td>well-known --only</td><code>tengen study alphago-2016 --only value-all --set a-b=1 -m</code>"
    marked = hooks.on_page_content(html, None, None, None)
    assert re.findall(r'<span class="option">(.*?)</span>', marked) == ["--only value-all", "--set", "-m"]
    assert re.sub(r"</?span[^>]*>", "", marked) == html
