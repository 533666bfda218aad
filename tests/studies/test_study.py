"""The file of a study: what it may say, its reduced form, and those that Tengen brings."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from studies.small_study import description

from tengen.cli.app import check_command
from tengen.errors import RecipeError
from tengen.match.spec import PlayerSpec
from tengen.recipes import load_recipe, recipe_kind
from tengen.recipes.loader import network_fields
from tengen.reinforce.config import PolicyGradientConfig
from tengen.selfplay.check import check as check_run
from tengen.selfplay.config import SelfPlayConfig
from tengen.studies import study_names
from tengen.studies.runner import StudyFolder
from tengen.studies.study import Figure, Step, load_study
from tengen.training.losses import check_losses


def test_a_missing_key_belongs_into_the_file(recipe: Path, tmp_path: Path) -> None:
    """`--set hours=...` was advised, which is for the training runs."""
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({name: value for name, value in description(recipe).items() if name != "hours"}))
    with pytest.raises(RecipeError, match=r"mine\.yaml: hours is missing; put it into the file$"):
        load_study(str(path))


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
        ({"steps": {"a": {"run": "bench", "sets": {}}}}, r"unknown key 'steps\.a\.sets'; did you mean steps\.a\.set\?"),
        ({"rows": [{"what": "x", "diffs": ""}]}, r"unknown key 'rows\.0\.diffs'; did you mean rows\.0\.differs\?"),
        (
            {"rows": [{"what": "x", "ours": {"figure": "topp", "of": "net-1"}}]},
            r"unknown figure 'topp'; did you mean top5\?",
        ),
        (
            {"rows": [{"what": "x", "ours": {"figure": "top1", "of": "net-1", "keys": "a"}}]},
            r"unknown key 'rows\.0\.ours\.Figure\.keys'; did you mean rows\.0\.ours\.Figure\.key\?",
        ),
        (
            {"rows": [{"what": "of whom", "ours": {"figure": "score", "of": "duel"}}]},
            "row 'of whom': the figure score needs a player",
        ),
        *(
            ({"rows": [{"what": "w", "ours": figure}]}, f"row 'w': {message}")
            for figure, message in (
                ({"figure": "card", "key": "top1", "of": ["net-1", "net-2"]}, "the figure card is of one step"),
                ({"figure": "card", "key": "top1", "of": "net-1", "minus": "net-2"}, "the figure card takes no minus"),
                ({"figure": "training", "of": "net-1"}, "the figure training needs a key"),
                ({"figure": "top1", "of": []}, "the figure top1 needs a step in of"),
                ({"figure": "speedup", "of": "net-1"}, "the figure speedup needs a step in minus"),
                ({"figure": "speedup", "of": "net-1", "minus": "net-2", "key": "topp1"}, ".*did you mean top1"),
                ({"figure": "score", "of": "net-1", "player": "a"}, "step net-1 is no match"),
                ({"figure": "top1", "of": "net-1", "form": "{:.3q}"}, "form '{:.3q}' writes no number"),
                *(
                    ({"figure": "top1", "of": "net-1", "form": form}, f"form '{form}' writes no number")
                    for form in ("{x}", ".3f", "{.x}")
                ),
            )
        ),
        (
            {"plots": [{"title": "x", "of": {"a": ["net-1"]}, "over": ["steps"]}]},
            "plots.0.over.0.*'samples' or 'hours'",
        ),
        (
            {"plots": [{"title": title, "of": {"a": ["net-1"]}} for title in ("Top-1", "top 1")]},
            "plot 'Top-1': another one has the same title",
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


@pytest.mark.parametrize(
    ("recipe", "length", "whole"),
    [("tiny-5x5", "cycles", SelfPlayConfig), ("alphago-rl-9x9", "iterations", PolicyGradientConfig)],
)
def test_a_reduced_study_shortens_a_run_whose_length_its_recipe_gives(
    recipe: str, length: str, whole: type[SelfPlayConfig | PolicyGradientConfig]
) -> None:
    made = load_recipe(recipe, model=whole)
    asked, warmup = getattr(made, length), {"learn.schedule.warmup_steps": round(made.learn.schedule.warmup_steps / 2)}
    assert Step(run=f"zero {recipe}").scaled(0.5).set == {length: round(asked / 2), **warmup}
    assert Step(run=f"zero {recipe}", set={length: 8}).scaled(0.5).set == {length: 4, **warmup}


PLATEAU = {"shape": "plateau", "warmup_steps": 0, "patience": 100, "after": 200}


@pytest.mark.parametrize(
    ("recipe", "settings", "schedule"),
    [
        ("alphago-zero-20", {}, {"at": [2000, 4000, 6000, 7000]}),
        (
            "alphago-zero-20",
            {"training.schedule.warmup_steps": 500},
            {"at": [2000, 4000, 6000, 7000], "warmup_steps": 5},
        ),
        ("alphago-zero-20", {"training.schedule.unit": "epochs"}, {}),  # an epoch is a hundredth, too
        ("alphago-zero-20", {"training.schedule.shape": "constant"}, {}),
        ("alphago-policy", {}, {"every": 800_000}),
        ("a0.small", {}, {}),
        ("a0.small", {"training.epoch": None}, {"at": [1, 1.5]}),  # two epochs instead of 200
        ("a0.small", {"training.epoch": None, "training.schedule": PLATEAU}, {"patience": 1, "after": 2}),
        ("a0.small", {"training.schedule": PLATEAU}, {}),
    ],
)
def test_a_reduced_run_has_its_schedule_in_its_length(
    recipe: str, settings: dict[str, Any], schedule: dict[str, Any]
) -> None:
    scaled = Step(run=f"train {recipe}", set=settings).scaled(0.01)
    prefix = "training.schedule."
    found = {name.removeprefix(prefix): value for name, value in scaled.set.items() if name not in settings}
    assert {name: found[name] for name in found if name in ("at", "every", "patience", "after")} == {
        name: pytest.approx(value) for name, value in schedule.items() if name != "warmup_steps"
    }
    made = load_recipe(recipe, scaled.settings).training.schedule
    assert made.warmup_steps == schedule.get("warmup_steps", 0)


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
        # A row may show a map of a later move, which the network then has.
        keys = [row.ours.key for row in made.rows if isinstance(row.ours, Figure) and row.ours.of == [step]]
        later = [found[1] for key in keys if (found := re.match(r"(move\d)_(top1|top5|cross_entropy)$", key))]
        assert set(later) <= set(config.heads.maps) and bool(later) == (step == "k3-1")
        if full.training.epochs is not None:  # the same number of shorter epochs, so that curves keep their points
            assert reduced.training.epochs == full.training.epochs
