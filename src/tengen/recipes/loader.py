"""From a recipe's name or path, and settings given on the command line, to a checked configuration."""

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar, get_args, get_origin, overload

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tengen.disk import expand_home
from tengen.errors import RecipeError, refused_value, unknown_name
from tengen.training.config import RunConfig
from tengen.training.recipe import changed

if TYPE_CHECKING:
    from tengen.networks import NetConfig

FOLDER = Path(__file__).parent


class _Kind(NamedTuple):
    """A kind of recipe: the command of `tengen` that runs it, and its model."""

    command: str
    model: str
    """Imported when a recipe is loaded: that of self-play takes half a second."""


KINDS = {
    "supervised": _Kind("train", "tengen.training.config:RunConfig"),
    "linear-playout": _Kind("train", "tengen.training.config:LinearRun"),
    "selfplay": _Kind("zero", "tengen.selfplay.config:SelfPlayConfig"),
    "policy-gradient": _Kind("zero", "tengen.reinforce.config:PolicyGradientConfig"),
    "action-value": _Kind("zero", "tengen.reinforce.config:ActionValueConfig"),
}
_FLOW = re.compile(r"([\[\]{},])(\s*\w+:(?=\S))?")
"""A sign of YAML's flow style, and what may be a key without a space behind it, as in {9:1}."""

Config = TypeVar("Config", bound=BaseModel)


_MAX_VALUES = 100_000
"""Values that a document may expand to through its anchors; a long text counts as one for each 100 characters."""
_NEAR = 0.7
"""How alike an unknown key and the one that is suggested are: less alike ones often are other settings."""
_MAX_DIGITS = 1000
"""Characters of an integer: of some thousands Python makes no text again."""


class _Dialect(yaml.constructor.SafeConstructor, yaml.resolver.Resolver):
    """YAML of a limited size, whose numbers are those of its version 1.2, as 1e-3: PyYAML wants a dot and a sign, as
    1.0e-3. A text that begins with ~/ is a path in the user's home folder."""

    def construct_document(self, node: yaml.Node) -> Any:
        """The value of a document. Raises YAMLError where it expands to too much, or contains itself."""
        if _expanded(node, {}) > _MAX_VALUES:
            raise yaml.YAMLError(f"its anchors expand it to more than {_MAX_VALUES:,} values")
        try:
            return super().construct_document(node)
        except (AttributeError, LookupError) as error:  # PyYAML's own: `!!timestamp x`, `!!bool maybe`, `!!int ''`
            raise yaml.YAMLError("a value is none of the type that its tag names") from error


def _expanded(node: yaml.Node, known: dict[yaml.Node, float]) -> float:
    """The number of values in a node, those of an alias each time; `known` has what was counted before."""
    if isinstance(node, yaml.ScalarNode):
        if node.tag == "tag:yaml.org,2002:int" and len(node.value) > _MAX_DIGITS:
            raise yaml.YAMLError(f"a number of {len(node.value):,} digits: {_MAX_DIGITS:,} at most")
        return 1 + len(node.value) // 100
    if node not in known:
        known[node] = math.inf  # while it is counted: of one that contains itself
        inner = chain.from_iterable(node.value) if isinstance(node, yaml.MappingNode) else node.value
        known[node] = 1 + sum(_expanded(each, known) for each in inner)
    return known[node]


_Dialect.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+$"), list("-+.0123456789")
)


def _text(loader: Any, node: yaml.ScalarNode) -> str:
    return expand_home(str(loader.construct_scalar(node)))


_Dialect.add_constructor("tag:yaml.org,2002:str", _text)


class _Loader(_Dialect, yaml.SafeLoader):
    """Its errors show the place and what is there."""


class _FastLoader(_Dialect, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """In C, where PyYAML was built with libyaml: a fifth of the time."""


def _parsed(text: str) -> Any:
    """The value of a YAML text. Raises YAMLError or ValueError for one that is none, RecursionError for a deep one."""
    if "\t" in text:  # libyaml takes a tab where PyYAML, which may be all there is, does not
        return yaml.load(text, _Loader)
    try:
        return yaml.load(text, _FastLoader)
    except (yaml.YAMLError, ValueError):  # perhaps of a text that is right: libyaml refuses {a:}
        return yaml.load(text, _Loader)


def recipe_names(*kinds: str) -> list[str]:
    """The recipes that come with Tengen, of these kinds if any are given."""
    paths = sorted(FOLDER.glob("*.yaml"))
    return [path.stem for path in paths if not kinds or _kind(read_recipe(path)) in kinds]


def recipe_text(name_or_path: str) -> str:
    """A recipe as it is written. Raises RecipeError for an unknown one, and for a file that is none."""
    path = _find(name_or_path)
    _read(path)
    return path.read_text(encoding="utf-8")


def recipe_fields(name_or_path: str) -> dict[str, Any]:
    """The fields of a recipe, with those of the one that it is like. Raises RecipeError for an unknown one."""
    return read_recipe(_find(name_or_path))


def recipe_kind(name_or_path: str, *kinds: str) -> str:
    """The kind of a recipe, one of KINDS: `supervised` unless it names another.

    Raises RecipeError for an unknown recipe, whose message offers recipes of `kinds`, or of all, and for an unknown
    kind.
    """
    path = _find(name_or_path, kinds)
    kind = _kind(read_recipe(path))
    if kind not in KINDS:
        raise RecipeError(f"{path}: {unknown_name('kind', kind, KINDS)}")
    return kind


def run_kind(command: str, name_or_path: str) -> str:
    """The kind of a recipe that `tengen COMMAND` runs.

    Raises RecipeError for a recipe of another command, and as `recipe_kind`.
    """
    kinds = [kind for kind, known in KINDS.items() if known.command == command]
    kind = recipe_kind(name_or_path, *kinds)
    if kind not in kinds:
        raise RecipeError(f"{name_or_path} is a recipe of kind {kind}: tengen {KINDS[kind].command} {name_or_path}")
    return kind


def _kind(data: Mapping[str, Any]) -> str:
    return str(data.get("kind", "supervised"))


@overload
def load_recipe(name_or_path: str, settings: Sequence[str] = ()) -> RunConfig: ...
@overload
def load_recipe(name_or_path: str, settings: Sequence[str] = (), *, model: type[Config]) -> Config: ...
def load_recipe(name_or_path: str, settings: Sequence[str] = (), *, model: type[BaseModel] = RunConfig) -> BaseModel:
    """Read a recipe by name or path and apply settings such as `training.steps=500`.

    The name of the run is the file's, unless the recipe has one; `model` is the configuration of the recipe's kind.
    The description of the games on the card is left out where settings name another store. Raises RecipeError, with
    the nearest known name for an unknown recipe or key.
    """
    path = _find(name_or_path)
    data = read_recipe(path)
    data.setdefault("name", path.stem)
    if (kind := _kind(data)) != (wanted := model.model_fields["kind"].default):
        raise RecipeError(f"{path} is a recipe of kind {kind}, not {wanted}")
    data["recipe"] = " ".join([name_or_path if path.parent == FOLDER else path.name, *map(_as_typed, settings)])
    card = data.get("card")
    if isinstance(card, dict) and any(setting.startswith("data.store=") for setting in settings):
        card.pop("data", None)  # it describes other games
    config = settled(data, settings, model, f"{path}: ")
    if advice := getattr(getattr(config, "card", None), "search", None):
        from tengen.engine.params import SearchParams

        try:
            SearchParams().advised(advice)
        except RecipeError as error:
            source = _source("card.search.", settings, f"{path}: ")
            raise RecipeError(f"{source}card.search: {error}") from error
    return config


def load_run(command: str, name_or_path: str, settings: Sequence[str] = ()) -> BaseModel:
    """The recipe that `tengen COMMAND` runs, as the model of its kind. Raises RecipeError as `run_kind` and
    `load_recipe`."""
    model: type[BaseModel] = resolve_name(KINDS[run_kind(command, name_or_path)].model)
    return load_recipe(name_or_path, settings, model=model)


def _as_typed(setting: str) -> str:
    return f"--set {shlex.quote(setting)}"


def settled(data: dict[str, Any], settings: Sequence[str] | None, model: type[Config], where: str = "") -> Config:
    """The configuration of these fields with settings such as `conditions.komi=6.5` applied; None where the command
    takes none.

    Raises RecipeError, which begins with `where`, with the nearest known name for an unknown key.
    """
    for setting in settings or ():
        _apply(data, setting)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        # A misspelled key first: it is why another one is missing.
        found = sorted(error.errors(), key=lambda each: each["type"] == "missing")
        source = _source(".".join(map(str, found[0]["loc"])) + ".", settings or (), where)
        explained = _explain(found[0], model=model, takes_set=settings is not None)
        raise RecipeError(f"{source}{explained}") from error


def _source(place: str, settings: Sequence[str], where: str) -> str:
    """What the value at `place` comes from: the file is not to blame for what the command line changes."""
    keys = [(setting, setting.partition("=")[0] + ".") for setting in settings]
    given = [setting for setting, key in keys if place.startswith(key) or key.startswith(place)]
    return f"--set {given[-1]}: " if given else where


def network_fields(network: Mapping[str, Any]) -> "NetConfig":
    """Check the fields of a recipe's network; RecipeError for a wrong one. Needs the extra [train]."""
    from tengen.networks import FAMILIES, parse_config
    from tengen.networks.presets import PRESETS

    if (preset := network.get("preset")) is not None and str(preset) not in PRESETS:  # a list has no hash
        raise RecipeError(unknown_name("network.preset", str(preset), PRESETS))
    family = str(network.get("family") or PRESETS.get(str(preset), {}).get("family"))
    if family not in FAMILIES:
        raise RecipeError(unknown_name("network.family", family, FAMILIES))
    try:
        return parse_config(network)
    except ValidationError as error:
        raise RecipeError(_explain(error.errors()[0], "network", model=FAMILIES[family].config)) from error


def network_cost(network: "NetConfig", edge: int = 19) -> tuple[int, int]:
    """(parameters, multiply-accumulates of one position) of a network on a board of `edge`, its own if it has one size.

    Nothing is computed: the network is built without memory for its weights. Needs the extra [train].
    """
    from tengen.data.planes import plane_set
    from tengen.networks.registry import cost

    inputs = plane_set(network.plane_set)
    return cost(network, len(inputs.planes), len(inputs.scalars), edge)


def _find(name_or_path: str, kinds: Sequence[str] = ()) -> Path:
    shipped = FOLDER / f"{name_or_path}.yaml"
    if Path(name_or_path).name == name_or_path and shipped.is_file():
        return shipped
    path = Path(name_or_path)
    if path.is_file():
        return path
    if path.is_dir() or path.suffix in (".yaml", ".yml"):
        raise RecipeError(f"{path}: {'a folder is no recipe' if path.is_dir() else 'there is no such file'}")
    if beside := next(filter(Path.is_file, (Path(f"{path}{suffix}") for suffix in (".yaml", ".yml"))), None):
        raise RecipeError(f"unknown recipe {name_or_path!r}; did you mean {beside}?")
    raise RecipeError(unknown_name("recipe", name_or_path, recipe_names(*kinds)))


def read_recipe(path: Path, likes: Sequence[Path] = ()) -> dict[str, Any]:
    """The fields of a YAML file. With `like: NAME` those of another recipe, of which the file changes some.

    `likes` are the files that began with this one. Raises RecipeError for a file that begins with itself.
    """
    likes = [*likes, path]
    if path.resolve() in {other.resolve() for other in likes[:-1]}:
        raise RecipeError(f"{path} is like itself: {' -> '.join(map(str, likes))}")
    data = _read(path)
    if "like" in data:
        other = read_recipe(_find_like(str(data.pop("like")), path), likes)
        if isinstance(data.get("data"), dict) and "store" in data["data"] and isinstance(other.get("card"), dict):
            other["card"].pop("data", None)  # it describes other games
        if _is_other_network(data.get("network"), other.get("network")):
            del other["network"]
        data = changed(other, data)
    return data


def _is_other_network(network: Any, other: Any) -> bool:
    """Whether the fields of a network name another family or preset than those of the other recipe, which then mean
    nothing for it."""
    both = isinstance(network, dict) and isinstance(other, dict)
    return both and any(name in network and network[name] != other.get(name) for name in ("family", "preset"))


def _find_like(name_or_path: str, path: Path) -> Path:
    """The recipe that the one at `path` is like: a shipped one by name, or a file beside it."""
    beside = path.parent / name_or_path
    if beside.is_file():
        return beside
    try:
        return _find(name_or_path)
    except RecipeError as error:
        raise RecipeError(f"{path}: like: {error}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        data = _parsed(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # as in `_apply`
        raise RecipeError(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise RecipeError(f"{path} holds no settings: keys and their values, such as name: mine, are expected")
    return data


def _apply(data: dict[str, Any], setting: str) -> None:
    """Put `a.b=value` into nested mappings; the value is read as YAML."""
    path, equals, text = setting.partition("=")
    if not equals or not all(path.split(".")):
        raise RecipeError(f"--set {setting}: write key=value, such as training.steps=500")
    *outer, last = path.split(".")
    place = data
    for part in outer:
        key = _key(place, part)
        inner = place.get(key)
        if inner is None:  # not there, or null, as the recipe of a run has the groups that it does not use
            inner = place[key] = {}
        if not isinstance(inner, dict):
            raise RecipeError(f"--set {setting}: {part} is a value, not a group of settings")
        place = inner
    try:
        place[_key(place, last)] = _parsed(_spaced(text))
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a number of 5,000 digits, 10,000 brackets
        raise RecipeError(f"--set {setting}: the value is no YAML") from error


def _key(group: Mapping[Any, Any], part: str) -> Any:
    """The key that a part of `a.b=value` means: one that is there, such as the number 14, or the text itself."""
    return next((key for key in group if str(key) == part), part)


def _spaced(text: str) -> str:
    """YAML with a space behind each key of its flow mappings: {9:1} would be read as a time of day.

    An item of a list, such as gtp:gnugo, is no key.
    """
    groups: list[str] = []

    def spaced(found: re.Match[str]) -> str:
        sign, key = found.groups()
        if sign in "[{":
            groups.append(sign)
        elif sign in "]}" and groups:
            groups.pop()
        return f"{found[0]} " if key and groups and groups[-1] == "{" else found[0]

    return _FLOW.sub(spaced, text)


def _explain(error: ErrorDetails, prefix: str = "", model: type[BaseModel] = RunConfig, takes_set: bool = True) -> str:
    """One line about a validation error: where, what was found, what would be right."""
    where = ".".join(part for part in (prefix, *map(str, error["loc"])) if part)
    if error["type"] == "extra_forbidden":
        siblings = _siblings(error["loc"], model)
        return f"unknown key {where!r}; {_right_keys(where, prefix, siblings, model)}"
    if error["type"] == "missing":
        return f"{where} is missing; put it into the {f'recipe or give --set {where}=...' if takes_set else 'file'}"
    return refused_value(error, where)


def _right_keys(where: str, prefix: str, siblings: Sequence[str], model: type[BaseModel]) -> str:
    """The keys that an unknown one may stand for: those of this very name in any group, else the nearest beside it."""
    *outer, last = where.split(".")
    named = list(dict.fromkeys(".".join(part for part in (prefix, path) if part) for path in _paths(last, model)))
    near = get_close_matches(last, siblings, n=1, cutoff=_NEAR)
    if keys := named or [".".join([*outer, name]) for name in near]:
        return f"did you mean {', '.join(keys)}?"
    return f"there are: {', '.join(siblings) or 'none'}"


def _paths(name: str, model: type[BaseModel], outer: tuple[type[BaseModel], ...] = ()) -> Iterator[str]:
    """The dotted paths of the fields of this name in a model and in the groups in it."""
    for key, field in model.model_fields.items():
        if key == name:
            yield key
        if get_origin(field.annotation) in (dict, list, tuple):  # whose keys and numbers are the user's
            continue
        for kind in _models(field.annotation):
            if kind not in (*outer, model):
                yield from (f"{key}.{path}" for path in _paths(name, kind, (*outer, model)))


def _siblings(location: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """The known keys of the model that has an unknown one."""
    models = [model]
    for part in location[:-1]:
        if len(models) > 1:  # of a union the location has the `kind` or, without one, the name of the class
            models = [kind for kind in models if part == _tag(kind)] or models
        elif field := models[0].model_fields.get(str(part)):
            models = _models(field.annotation)
        # Any other part is a key of a mapping or an index of a list, whose values the models are.
        if not models:
            return []
    return list(models[0].model_fields)


def _tag(model: type[BaseModel]) -> Any:
    """What the location of an error calls a member of a union."""
    kind = model.model_fields.get("kind")
    return kind.default if kind else model.__name__


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models within an annotation."""
    return [annotation] if _is_model(annotation) else [kind for part in get_args(annotation) for kind in _models(part)]


def _is_model(kind: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
