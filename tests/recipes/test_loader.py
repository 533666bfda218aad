"""Recipes by name, by path and with settings; and what is said about those that cannot work."""

import json
import os
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from tengen.errors import RecipeError
from tengen.recipes import load_recipe, loader, recipe_kind, recipe_names
from tengen.recipes.loader import FOLDER, KINDS, _apply, load_run, network_fields, read_recipe, recipe_text
from tengen.reinforce.config import ActionValueConfig, PolicyGradientConfig
from tengen.selfplay.check import check
from tengen.selfplay.config import SelfPlayConfig, StageConfig
from tengen.training.config import LinearRun, RunConfig

MODELS: dict[str, Any] = {
    "supervised": RunConfig,
    "linear-playout": LinearRun,
    "selfplay": SelfPlayConfig,
    "policy-gradient": PolicyGradientConfig,
    "action-value": ActionValueConfig,
}

RECIPE = """
data: {store: games}
network: {family: residual, size: b2c16}
training: {steps: 10, optimizer: {name: adamw, lr: 0.001}}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(RECIPE)
    return path


@pytest.mark.parametrize(("content", "told"), [(b"\xff\xfe", "is no YAML"), (b"(;SZ[9];B[ee])", "holds no settings")])
def test_a_file_that_is_no_recipe_is_not_printed(path: Path, content: bytes, told: str) -> None:
    assert recipe_text(str(path)) == RECIPE
    path.write_bytes(content)
    with pytest.raises(RecipeError, match=told):
        recipe_text(str(path))


@pytest.mark.parametrize(
    "setting",
    [
        *("training.optimizer.lr=1.0e308", "training.seed=12345678901234567890123"),
        *("data.ahead=100000000", "training.clip=.inf"),
        *("data.ahead=1e8", "training.optimizer.lr=1e400"),
    ],
)
def test_a_number_that_no_run_can_take_is_refused_where_it_was_given(setting: str) -> None:
    """They ended in a traceback, in 5 GB of memory, or in weights of infinity."""
    with pytest.raises(
        RecipeError, match=rf"^--set {re.escape(setting)}: {setting.partition('=')[0]}: .* \(found [^']*\)"
    ):
        load_recipe("tiny", [setting])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("1e-3", 1e-3), ("1E8", 1e8), ("+2.5e+2", 250.0), (".5e1", 5.0), ("3.e2", 300.0), ("1.5e-3", 1.5e-3)),
        *(("7", 7), ("0.02", 0.02), (".inf", float("inf"))),
        *(("1e", "1e"), ("e8", "e8"), ("1e8x", "1e8x"), ("1e8:2", "1e8:2"), ("'1e8'", "1e8"), ("v1e8", "v1e8")),
    ],
)
def test_an_exponent_needs_no_dot_and_no_sign(path: Path, text: str, number: object) -> None:
    """As in YAML 1.2 and JSON; PyYAML reads 1e-3 as text. On the command line and in a file, alone and in a list."""
    settings: dict[str, Any] = {}
    _apply(settings, f"b={text}")
    _apply(settings, f"c={{d: [{text}, 2]}}")
    path.write_text(f"name: mine\ne: {text}\n")
    settings |= read_recipe(path)
    assert [settings["b"], settings["e"], *settings["c"]["d"]] == [number, number, number, 2]
    assert {type(settings["b"]), type(settings["e"])} == {type(number)}


def test_a_number_with_an_exponent_is_a_number_of_its_kind(path: Path) -> None:
    for rate, number in (("1e-3", 0.001), ("1e8", 100_000_000.0)):
        run = load_recipe(str(path), ["training.steps=1e3", f"training.optimizer.lr={rate}"])
        assert (run.training.steps, run.training.optimizer.lr) == (1000, number)
    with pytest.raises(
        RecipeError, match=r"^--set training\.steps=1\.5e0: training\.steps: .*integer.* \(found 1\.5\)"
    ):
        load_recipe(str(path), ["training.steps=1.5e0"])


@pytest.mark.parametrize("name", ["../../evil", "a/b", "..", "", "a\\b", "C:x", "x" * 201])
def test_a_name_is_no_path(name: str) -> None:
    """It would be written outside of the folder of the run."""
    with pytest.raises(RecipeError, match=r"name: it becomes the name of a file: give 1 to 200 bytes .*no slash"):
        load_recipe("tiny", [f"name={json.dumps(name)}"])


@pytest.mark.parametrize("name", recipe_names())
def test_every_shipped_recipe_loads(name: str) -> None:
    kind = recipe_kind(name)
    run: Any = load_run(KINDS[kind].command, name)
    assert type(run) is MODELS[kind] and run.name == name and run.description and run.hours
    if isinstance(run, LinearRun | PolicyGradientConfig):
        return
    pytest.importorskip("torch", reason="networks need the extra [train]")
    if isinstance(run, RunConfig):
        from tengen.training.start import with_network

        assert run.training.devices == 1  # a machine may have one GPU
        run = with_network(run)
    assert network_fields(run.network).plane_set
    if isinstance(run, SelfPlayConfig):
        check(run)


def test_recipes_are_listed_by_kind() -> None:
    assert "tiny-5x5" in recipe_names("selfplay") and "tiny" not in recipe_names("selfplay")
    assert set(recipe_names()) == set().union(
        *(recipe_names(kind) for kind in {recipe_kind(n) for n in recipe_names()})
    )


def test_the_file_names_the_run(path: Path) -> None:
    run = load_recipe(str(path))
    assert (run.name, run.training.steps, run.training.optimizer.name) == ("mine", 10, "adamw")


def test_settings_change_any_depth(path: Path) -> None:
    run = load_recipe(
        str(path), ["training.steps=null", "training.max_hours=0.5", "training.schedule.shape=cosine", "name=other"]
    )
    assert (run.name, run.training.steps, run.training.max_hours) == ("other", None, 0.5)
    assert run.training.schedule.shape == "cosine"
    assert run.training.optimizer.lr == 0.001


def test_a_recipe_changes_another(tmp_path: Path) -> None:
    path = tmp_path / "longer.yaml"
    path.write_text("like: tiny\ntraining: {steps: 900, schedule: {shape: cosine}}\nnetwork: {size: b2c16}\n")
    run, other = load_recipe(str(path)), load_recipe("tiny")
    assert (run.name, run.training.steps, run.network["size"]) == ("longer", 900, "b2c16")
    assert run.training.schedule == other.training.schedule.model_copy(update={"shape": "cosine"})
    assert (run.data, run.network["family"]) == (other.data, other.network["family"])


def test_a_mapping_may_be_given_without_spaces(path: Path) -> None:
    assert load_recipe(str(path), ["network={family:residual, size:b2c24}"]).network["size"] == "b2c24"
    config = load_recipe("tiny-5x5", ["game.sizes={5:1,9:2}"], model=SelfPlayConfig)
    assert config.game.sizes == {5: 1, 9: 2}


def test_an_item_of_a_list_may_have_a_colon() -> None:
    settings = ["rating.anchors=[random, gtp:gnugo --mode gtp]", "game={sizes:{5:1,9:2},komi:{start:5}}"]
    config = load_recipe("tiny-5x5", settings, model=SelfPlayConfig)
    assert config.rating.anchors == ("random", "gtp:gnugo --mode gtp")
    assert (config.game.sizes, config.game.komi.start) == ({5: 1, 9: 2}, 5)


def test_a_setting_of_a_stage_leaves_the_rest_of_the_stage() -> None:
    """YAML reads the number of a stage as a number, the command line has text."""
    before = load_recipe("zero-7x7", model=SelfPlayConfig).stages
    stages = load_recipe("zero-7x7", ["stages.14.search.visits=48"], model=SelfPlayConfig).stages
    assert before[14].search["visits"] != 48 and len(before[14].search) > 1
    changed = before[14].model_copy(update={"search": {**before[14].search, "visits": 48}})
    assert stages == {**before, 14: changed}
    whole = load_recipe("zero-7x7", ["stages.14={opening: {moves_mean: 3}}"], model=SelfPlayConfig).stages
    assert whole == {**before, 14: StageConfig(opening={"moves_mean": 3})}


def test_what_is_saved_loads_again(path: Path, tmp_path: Path) -> None:
    run = load_recipe(str(path), ["training.seed=5"])
    saved = tmp_path / "recipe.yaml"
    saved.write_text(yaml.safe_dump(run.model_dump(mode="json")))
    again = load_recipe(str(saved))
    assert again.model_copy(update={"recipe": run.recipe}) == run


def test_the_card_can_tell_the_command(path: Path) -> None:
    assert load_recipe("tiny").recipe == "tiny"
    told = load_recipe("tiny", ["data.store=stores/mine", "network={size: b2c24}"]).recipe
    assert shlex.split(told) == ["tiny", "--set", "data.store=stores/mine", "--set", "network={size: b2c24}"]
    assert load_recipe(str(path)).recipe == "mine.yaml"  # and not where it lies


def test_a_card_says_nothing_of_games_that_settings_have_replaced() -> None:
    assert "TYGEM" in load_recipe("tygem-b8c64").card.data
    assert "TYGEM" in load_recipe("tygem-b8c64", ["data.threads=2"]).card.data
    assert load_recipe("tygem-b8c64", ["data.store=stores/mine"]).card.data == ""
    assert load_recipe("tygem-b8c64", ["data.store=x", "card.data=mine"]).card.data == "mine"


@pytest.mark.parametrize("card", ["", "[a]"])
def test_a_card_that_is_none_is_an_error_in_words(path: Path, card: str) -> None:
    path.write_text(path.read_text() + f"card: {card}\n")
    with pytest.raises(RecipeError, match="card"):
        load_recipe(str(path), ["data.store=x"])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("training.stepps=3", r"unknown key 'training.stepps'; did you mean training\.steps\?"),
        ("training.optimizer.lrr=3", r"unknown key 'training.optimizer.lrr'; did you mean training\.optimizer\.lr\?"),
        ("max_hours=1", r"unknown key 'max_hours'; did you mean training\.max_hours\?"),
        ("training.lr=1", r"unknown key 'training\.lr'; did you mean training\.optimizer\.lr\?"),
        ("store=x", r"unknown key 'store'; did you mean data\.store\?"),
        ("training.optimizer.learning_rate=1", r"learning_rate'; there are: name, lr, "),
        ("size=b2c16", r"unknown key 'size'; there are: name, "),
        ("trainig.steps=3", r"unknown key 'trainig'; did you mean training\?"),
        ("training.batch_size=0", r"training.batch_size: .*greater than or equal to 1 \(found 0\)"),
        ("training.steps=many", r"training.steps: .*integer.* \(found 'many'\)"),
        ("training.steps=null", r"training: a run needs an end: give steps, epochs, max_hours"),
        ("data=null", r"data: "),
        ("training", r"write key=value"),
        ("training..steps=1", r"write key=value"),
        ("network.size.first=1", r"size is a value, not a group of settings"),
        ("training.steps=[", r"the value is no YAML"),
        (f"training.steps={'9' * 5000}", r"the value is no YAML"),
        (f"training.steps={'[' * 10_000}", r"the value is no YAML"),
        ("training.seed=!!bool maybe", r"the value is no YAML"),
        ("training.seed=!!timestamp x", r"the value is no YAML"),
        ("training.seed=!!int ''", r"the value is no YAML"),
    ],
)
def test_wrong_settings_are_named(path: Path, setting: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        load_recipe(str(path), [setting])


def test_a_setting_of_a_group_that_is_null_makes_it_a_group(tmp_path: Path) -> None:
    """As the recipe that a run wrote has the groups that it did not use."""
    whole = tmp_path / "recipe.yaml"
    whole.write_text(yaml.safe_dump(load_recipe("tiny-5x5", model=SelfPlayConfig).model_dump(mode="json")))
    assert "gate: null" in whole.read_text()
    gate = load_recipe(str(whole), ["gate.games=4"], model=SelfPlayConfig).gate
    assert gate is not None and gate.games == 4


@pytest.mark.parametrize("setting", ["stages.20.serch.visits=64", "stages={20: {serch: {visits: 64}}}"])
def test_a_wrong_key_of_a_stage_is_told_the_nearest(setting: str) -> None:
    with pytest.raises(RecipeError, match=r"unknown key 'stages\.20\.serch'; did you mean stages\.20\.search\?"):
        load_recipe("tiny-5x5", [setting], model=SelfPlayConfig)


@pytest.mark.parametrize(
    ("setting", "key"), [("visits=64", "search.visits"), ("komi=7", "game.komi"), ("learn.lr=1", "learn.optimizer.lr")]
)
def test_a_key_of_another_group_is_told_by_its_whole_path(setting: str, key: str) -> None:
    """Settings that the run does not heed were suggested, of another name."""
    with pytest.raises(RecipeError, match=rf"did you mean .*\b{re.escape(key)}\b"):
        load_recipe("tiny-5x5", [setting], model=SelfPlayConfig)


def test_a_path_in_the_home_folder_is_found(path: Path) -> None:
    home = os.path.expanduser("~")
    path.write_text(RECIPE.replace("store: games", "store: ~/games"))
    assert load_recipe(str(path)).data.store == f"{home}/games"
    assert load_recipe(str(path), ["data.store=~/others"]).data.store == f"{home}/others"
    assert load_recipe(str(path), ["data={store: ~/more}"]).data.store == f"{home}/more"


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "poor.yaml"
    path.write_text("network: {family: residual}\ntraining: {steps: 1}\n")
    with pytest.raises(RecipeError, match=r"data is missing"):
        load_recipe(str(path))


@pytest.mark.parametrize("text", ["- a\n- b\n", "data: [", "", "\x00", f"seed: {'9' * 5000}"])
def test_what_is_no_recipe_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(RecipeError, match=r"bad\.yaml (is no YAML|holds no settings)"):
        load_recipe(str(path))


BOMB = ", ".join(f"&{name} [{', '.join(['*' + inner] * 9)}]" for inner, name in pairwise("abcdefghij"))


def test_wrong_yaml_is_shown_with_its_place_and_what_is_there(tmp_path: Path) -> None:
    """The parser in C names neither the character nor what was expected."""
    path = tmp_path / "bad.yaml"
    path.write_text("data:\n\t- games\n")
    with pytest.raises(RecipeError, match=r"found character '\\t' that cannot start any token .*line 2, column 1"):
        read_recipe(path)


@pytest.mark.parametrize("kind", [loader._FastLoader, loader._Loader])
def test_with_and_without_libyaml_recipes_mean_the_same(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.yaml")]
    texts += ["a: [1e-3, ~/x, {9:1}, gtp:gnugo --level 1, 0x10, 017, yes, 'x', ~]", "{store:}"]
    expected = [yaml.load(text, loader._Loader) for text in texts]
    assert expected[-2]["a"][0] == 0.001 and expected[-1] == {"store": None}
    monkeypatch.setattr(loader, "_FastLoader", kind)
    assert [loader._parsed(text) for text in texts] == expected
    with pytest.raises(yaml.YAMLError, match="found character"):
        loader._parsed("like:\ttiny")
    for text in ("a: &a [*a]", f"a: {'9' * 1001}", f"a: [&a [x], {BOMB}]"):
        with pytest.raises(yaml.YAMLError):
            yaml.load(text, kind)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *((text, "more than 100,000 values") for text in (f"name: [&a [x], {BOMB}]", f"players: [&a [x], {BOMB}]")),
        (f"like: [&a {{k: v}}, {BOMB}]", "more than 100,000 values"),
        (f"name: [&a {'x' * 100_000}{', *a' * 200}]", "more than 100,000 values"),
        ("name: &a [*a]", "more than 100,000 values"),
        (f"training: {{steps: 0x{'f' * 5000}}}", "a number of 5,002 digits"),
    ],
)
def test_a_file_that_expands_to_too_much_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    """Texts of its values were made before they were cut: a file of 300 bytes hung the command."""
    path = tmp_path / "bomb.yaml"
    path.write_text(text)
    with pytest.raises(RecipeError, match=rf"bomb\.yaml is no YAML: .*{reason}"):
        read_recipe(path)
    path.write_text("name: mine\ntraining: &a {steps: 10}\nother: [*a, *a]\n")
    assert read_recipe(path)["other"] == [{"steps": 10}] * 2, "anchors may be used"


def test_a_recipe_that_is_like_itself_is_refused(tmp_path: Path) -> None:
    loop, first, second = (tmp_path / f"{name}.yaml" for name in ("loop", "first", "second"))
    for path, other in ((loop, loop), (first, second), (second, first)):
        path.write_text(f"like: {other}\n")
    with pytest.raises(RecipeError, match=re.escape(f"{loop} is like itself: {loop} -> {loop}")):
        load_recipe(str(loop))
    with pytest.raises(RecipeError, match=re.escape(f"{first} is like itself: {first} -> {second} -> {first}")):
        load_recipe(str(first))


def test_a_recipe_is_like_another_beside_it_or_a_shipped_one(path: Path, tmp_path: Path) -> None:
    (tmp_path / "wider.yaml").write_text("like: mine.yaml\nnetwork: {size: b2c32}\n")  # from any working folder
    wider = load_recipe(str(tmp_path / "wider.yaml"))
    assert (wider.network["size"], wider.network["family"], wider.training.steps) == ("b2c32", "residual", 10)
    (tmp_path / "longer.yaml").write_text("like: tiny\ntraining: {steps: 7}\n")
    longer = load_recipe(str(tmp_path / "longer.yaml"))
    assert longer.training.steps == 7 and longer.network == load_recipe("tiny").network


@pytest.mark.parametrize(
    ("like", "network", "kept"),
    [
        ("residual", {"size": "b2c32"}, True),
        ("residual", {"family": "residual", "pooling": False}, True),
        ("residual", {"family": "plain", "convs": ["3x3x8"]}, False),
        ("residual", {"preset": "bakago-v3"}, False),
        ("preset", {"family": "residual", "size": "b1c8"}, False),
        ("preset", {"preset": "bakago-v3"}, False),
        ("preset", {"preset": "betago", "dropout": 0.5}, True),
    ],
)
def test_a_network_of_another_family_takes_the_place_of_that_of_the_recipe_it_is_like(
    tmp_path: Path, like: str, network: dict[str, Any], kept: bool
) -> None:
    """Keys of the other family were left in it, and refused."""
    others: dict[str, dict[str, Any]] = {
        "residual": {"family": "residual", "size": "b1c16"},
        "preset": {"preset": "betago", "dropout": 0.1},
    }
    for name, fields in (("other", {"network": others[like]}), ("mine", {"like": "other.yaml", "network": network})):
        (tmp_path / f"{name}.yaml").write_text(json.dumps(fields))
    assert read_recipe(tmp_path / "mine.yaml")["network"] == {**(others[like] if kept else {}), **network}


def test_an_unknown_recipe_is_told_the_nearest() -> None:
    with pytest.raises(RecipeError, match=r"unknown recipe 'tygem-b8c46'; did you mean tygem-b8c64\?"):
        load_recipe("tygem-b8c46")
    with pytest.raises(
        RecipeError, match=r"unknown recipe 'nope'; there are: alphago-rl-9x9, betago-actor-critic, .*, tiny-5x5"
    ):
        recipe_kind("nope", "selfplay", "policy-gradient")


def test_a_file_of_the_name_is_offered(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with pytest.raises(RecipeError, match=r"unknown recipe 'mine'; did you mean mine\.yaml\?"):
        load_recipe("mine")


def test_an_unknown_recipe_that_another_is_like_is_told_with_its_place(path: Path) -> None:
    path.write_text("like: nosuch\n")
    with pytest.raises(RecipeError, match=r"mine\.yaml: like: unknown recipe 'nosuch'"):
        load_recipe(str(path))


def test_network_fields_are_checked() -> None:
    pytest.importorskip("torch", reason="networks need the extra [train]")
    with pytest.raises(RecipeError, match=r"unknown key 'network.sise'; did you mean network\.size\?"):
        network_fields({"family": "residual", "sise": "b2c16"})
    with pytest.raises(RecipeError, match=r"network.init_bias: .*finite"):
        network_fields({"family": "plain", "convs": ["3x3x8"], "init_bias": float("inf")})
    with pytest.raises(RecipeError, match=r"network.size: .*'b2' is no size"):
        network_fields({"family": "residual", "size": "b2"})
    with pytest.raises(RecipeError, match=r"unknown network.family 'residul'; did you mean residual\?"):
        network_fields({"family": "residul"})
    for preset, shown in ((["a"], "['a']"), ({"a": 1}, "{'a': 1}")):
        with pytest.raises(RecipeError, match=re.escape(f'unknown network.preset "{shown}"')):
            network_fields({"preset": preset})


def test_a_recipe_of_another_kind_is_no_network() -> None:
    with pytest.raises(RecipeError, match="of kind linear-playout, not supervised"):
        load_recipe("linear-tygem")


@pytest.mark.parametrize(
    ("command", "name", "kind", "right"),
    [
        ("train", "tiny-5x5", "selfplay", "zero"),
        ("train", "alphago-rl-9x9", "policy-gradient", "zero"),
        ("zero", "linear-tygem", "linear-playout", "train"),
    ],
)
def test_a_recipe_of_another_command_is_refused_with_its_own(command: str, name: str, kind: str, right: str) -> None:
    with pytest.raises(RecipeError, match=f"^{name} is a recipe of kind {kind}: tengen {right} {name}$"):
        load_run(command, name)


def test_a_kind_that_there_is_not_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("kind: selfply\n")
    with pytest.raises(RecipeError, match=r"mine.yaml: unknown kind 'selfply'; did you mean selfplay"):
        recipe_kind(str(tmp_path / "mine.yaml"))


def test_the_recipe_of_the_docs_is_one(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "guides" / "training.md").read_text(encoding="utf-8")
    (tmp_path / "docs.yaml").write_text(text.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    assert load_recipe(str(tmp_path / "docs.yaml")).network["family"] == "residual"


def test_the_search_of_a_card_is_checked_with_the_recipe(path: Path) -> None:
    run = load_recipe(str(path), ["card.search={preset: bakago, playouts: 5}"])
    assert run.card.search == {"preset": "bakago", "playouts": 5}
    with pytest.raises(RecipeError, match=r"card\.search: unknown search preset 'bakag'; did you mean bakago"):
        load_recipe(str(path), ["card.search={preset: bakag}"])
    for setting in ("card.search={c_punct: 1}", "card.search.c_punct=1"):
        with pytest.raises(RecipeError, match=r"^--set card\.search.*: card\.search: .*did you mean c_puct"):
            load_recipe(str(path), [setting])
    path.write_text(path.read_text() + "card: {search: {c_punct: 1}}\n")
    with pytest.raises(RecipeError, match=rf"^{path}: card\.search: .*did you mean c_puct"):
        load_recipe(str(path))


def groups(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A configuration and all groups of keys in it."""
    yield model
    for field in model.model_fields.values():
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from groups(kind)


@pytest.mark.parametrize("kind", MODELS)
def test_every_key_of_a_recipe_is_described(kind: str) -> None:
    """The reference of recipe keys prints the description; a group of keys has its docstring instead."""
    for model in groups(MODELS[kind]):
        for name, field in model.model_fields.items():
            inner = [part for part in (field.annotation, *get_args(field.annotation)) if isinstance(part, type)]
            assert field.description or any(issubclass(part, BaseModel) for part in inner), f"{model.__name__}.{name}"


def test_a_recipe_like_another_with_other_games_does_not_describe_those_of_the_other(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("like: tygem-b8c64\ntraining: {steps: 7}\n")
    assert "TYGEM" in load_recipe(str(path)).card.data
    path.write_text("like: tygem-b8c64\ndata: {store: stores/mine}\n")
    assert load_recipe(str(path)).card.data == ""
    path.write_text("like: tygem-b8c64\ndata: {store: stores/mine}\ncard: {data: mine}\n")
    assert load_recipe(str(path)).card.data == "mine"
