"""MkDocs hook: writes the pages and tables that are made from the code when the site is built.

Generated are the command line, the recipe keys, the tables of search parameters, studies and published systems, and the
changelog.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tengen.cli.app import VERBS
from tengen.cli.recipes import about
from tengen.engine import SearchParams
from tengen.networks import FAMILIES
from tengen.recipes import load_recipe, recipe_names
from tengen.reinforce.config import ActionValueConfig, PolicyGradientConfig
from tengen.selfplay.config import SelfPlayConfig
from tengen.studies import study_names
from tengen.studies.study import Study, load_study
from tengen.training.config import LinearRun, RunConfig

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tengen"
STUDIES = ROOT / "docs" / "studies"
_CODE = re.compile(r"<code>[^<]*</code>")
_OPTION = re.compile(r"(?<![^\s>])--?[a-z][\w-]*(?: \w[\w.-]{0,24}(?![^\s<]))?")
_OTHER = ("network", "start", "training.losses", "training.value_loss", "training.optimizer")
"""Settings with which a step of a study trains something else than its recipe."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those of the folder."""
    pages = {
        "reference/cli.md": cli_page(),
        "reference/recipes.md": recipes_page(),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "]("),
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace the markers of the page by their tables."""
    for marker, make in MARKERS.items():
        if marker in markdown:
            markdown = markdown.replace(marker, make())
    return markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Mark options in code, which the style sheet keeps in a line with a short value: browsers break after dashes."""
    return _CODE.sub(lambda code: _OPTION.sub(r'<span class="option">\g<0></span>', code[0]), html)


def packages_table() -> str:
    """The packages and modules of `tengen` with the first paragraph of their docstrings."""
    rows = []
    for path in sorted(SOURCE.iterdir()):
        module = path / "__init__.py" if path.is_dir() else path
        if module.is_file() and module.suffix == ".py" and not path.name.startswith("__"):
            doc = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
            rows.append(f"| `tengen.{path.stem}` | {_cell(doc.split(chr(10) * 2)[0])} |")
    return "\n".join(["| module | contents |", "|---|---|", *rows])


def examples_section() -> str:
    """The programs of `examples/`: docstring and code of each."""
    sections = []
    for path in sorted((ROOT / "examples").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        doc = (ast.get_docstring(tree) or "").replace("::\n", ":\n")  # `::` is reStructuredText
        code = "".join(text.splitlines(keepends=True)[tree.body[0].end_lineno :]).lstrip()
        sections.append(f"### `{path.relative_to(ROOT)}`\n\n{doc}\n\n```python\n{code}```")
    return "\n\n".join(sections)


def studies_table() -> str:
    """The studies with their papers and hours, and links to the pages that exist."""
    rows = []
    for name in study_names():
        study = load_study(name)
        title = f"[{study.title}]({name}.md)" if (STUDIES / f"{name}.md").exists() else study.title
        rows.append(f"| `{name}` | {title} | {_cell(study.paper)} | {study.hours:g} |")
    return "\n".join(["| name | study | paper | hours |", "|---|---|---|---|", *rows])


def published_systems() -> str:
    """The recipes of published systems side by side, with the results of the studies."""
    results = _study_results()
    heads = [
        "recipe",
        "paper",
        "planes",
        "network",
        "parameters",
        "MMAC",
        "training",
        "search",
        "hours",
        "study",
        "top-1",
    ]
    rows = [heads, ["---"] * len(heads)]
    for name in recipe_names():
        if (made := about(name))["paper"]:
            macs = None if made["macs"] is None else round(made["macs"] / 1e6)
            row = [f"`{name}`", made["paper"], made["planes"], made["network"], made["parameters"], macs,
                   made["training"], made["search"], made["hours"], *results.get(name, ("", ""))]  # fmt: skip
            rows.append(["" if cell is None else _number(cell) for cell in row])
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in rows)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def _study_results() -> dict[str, tuple[str, str]]:
    """(study, top-1 with interval) of each recipe: the mean of the seeds of its longest run in the studies.

    Runs of another network, from other weights or of other losses are none of the recipe.
    """
    found: dict[str, tuple[float, str, str]] = {}
    for path in sorted(STUDIES.glob("*.json")):
        study = load_study(path.stem)
        record = json.loads(path.read_text(encoding="utf-8"))
        seeds: dict[tuple[str, float, str], dict[str, dict[str, Any]]] = {}
        for run in record["runs"]:
            step = study.steps[run["step"]]
            if "top1" not in run or any(key.startswith(_OTHER) for key in step.set):
                continue
            recipe = load_recipe(run["recipe"])
            if recipe.training.losses.policy:
                settings = json.dumps({**step.set, "training.seed": None}, sort_keys=True)
                seeds.setdefault((run["recipe"], _share(run, recipe), settings), {})[run["step"]] = run
        for (name, share, _), runs in seeds.items():
            if share > found.get(name, (0.0,))[0]:
                notes = [f"{share:.2g} of the length"] if share < 0.99 else []
                notes += dict.fromkeys(run["note"] for run in runs.values() if "note" in run)
                text = ", ".join([_mean_of_seeds(runs, record["rows"]), *notes])
                found[name] = (share, f"[{path.stem}](studies/{path.stem}.md)", text)
    return {name: (study, text) for name, (_, study, text) in found.items()}


def _mean_of_seeds(seeds: Mapping[str, Mapping[str, Any]], rows: Iterable[Mapping[str, Any]]) -> str:
    """The mean top-1 of the runs of several seeds, by step, as the row of the study shows it if there is one.

    Without a row the ends of the interval are the means of the ends, as the positions themselves are not kept.
    """
    wanted = {"figure": "top1", "of": list(seeds)}
    if shown := next((row for row in rows if row["figure"] == wanted and not row["without"]), None):
        mean, low, high = shown["ours"], *shown["interval_95"]
    else:
        found = [run["top1"] for run in seeds.values()]
        mean, low, high = np.mean([[top1["ours"], *top1["interval_95"]] for top1 in found], axis=0)
    return f"{mean:.1%} ({100 * low:.1f} to {100 * high:.1f})"


def _share(run: dict[str, Any], recipe: RunConfig) -> float:
    """The share of a recipe's length that a run had; where that depends on the store, the share of its study's."""
    steps = recipe.training.total_steps
    return float(run["scale"] if steps is None else run["samples"] / (steps * recipe.training.batch_size))


def _cell(text: str) -> str:
    """Text as a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def recipes_page() -> str:
    """The reference of the keys of recipes and studies: one section a kind of recipe, one table a group of keys."""
    models: list[type[BaseModel]] = [RunConfig, LinearRun, SelfPlayConfig, PolicyGradientConfig, ActionValueConfig]
    kinds = [model.model_fields["kind"].default for model in models]
    sections = [
        "# Recipe keys",
        f"A recipe is a YAML file. `kind` selects the kind of run: {', '.join(f'`{kind}`' for kind in kinds)} "
        f"(default: `{kinds[0]}`). With `like: NAME` it begins with another recipe, a shipped one or a file "
        "beside it, and changes what it has itself. Missing keys have the defaults of these tables. Keys of a group "
        "are written below its name or as `--set GROUP.KEY=VALUE`. Keys of `network` are those of its family; "
        "[search parameters](search.md#all-parameters) may be given in `search.params`. The keys of a study are "
        "[below](#studies).",
    ]
    for kind, model in zip(kinds, models, strict=True):
        sections += [f"## Kind {kind}", *_groups(model, "")]
    sections.append("## Network families")
    for name in FAMILIES:
        config = FAMILIES[name].config
        sections += [f"### `family: {name}`", inspect.getdoc(config) or "", fields_table(config)]
    sections += ["## Studies", "A [study of your own](../studies/index.md#a-study-of-your-own) is a YAML file too."]
    sections += _groups(Study, "")
    return "\n\n".join(sections) + "\n"


def _groups(model: type[BaseModel], prefix: str, default: BaseModel | None = None) -> Iterator[str]:
    """The Markdown of a model: heading, docstring and table of its keys, then the same of the groups in it."""
    if prefix:
        yield f"### `{prefix}`"
    yield inspect.getdoc(model) or ""
    yield fields_table(model, default)
    for name, field in model.model_fields.items():
        for kind in (field.annotation, *get_args(field.annotation)):
            if inspect.isclass(kind) and issubclass(kind, BaseModel) and kind is not SearchParams:
                place = field.default if isinstance(field.default, kind) else None
                yield from _groups(kind, f"{prefix}.{name}" if prefix else name, place)


def fields_table(model: type[BaseModel], default: BaseModel | None = None) -> str:
    """The fields of a pydantic model as a Markdown table: name, values, default, description if there is any.

    `default` has the defaults of a group in its place, which may differ from those of the model. Keys that the model
    takes as they are by default alone (`TrainerConfig.fixed`) are left out.
    """
    fields = {name: field for name, field in model.model_fields.items() if name not in getattr(model, "fixed", ())}
    columns = ["key", "values", "default"] + ["description"] * any(field.description for field in fields.values())
    rows = [columns, ["---"] * len(columns)]
    for name, field in fields.items():
        cells = [f"`{name}`", _values(field), _default(field, name, default), field.description or ""]
        rows.append([_cell(cell) for cell in cells[: len(columns)]])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _default(field: FieldInfo, name: str, group: BaseModel | None) -> str:
    """The default of a field as YAML writes it."""
    default = field.get_default(call_default_factory=True) if group is None else getattr(group, name)
    if field.is_required():
        return "required"
    if isinstance(default, BaseModel):
        return f"`kind: {default.kind}`" if "kind" in type(default).model_fields else ""
    if default == "":
        return ""
    words = {None: "null", True: "true", False: "false"}
    return f"`{words[default] if default is None or isinstance(default, bool) else default}`"


def _values(field: FieldInfo) -> str:
    """The type of a field and its range in words."""
    bounds = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    limits = [
        f"{sign} {getattr(part, word):,}"
        for part in field.metadata
        for word, sign in bounds.items()
        if getattr(part, word, None) is not None
    ]
    steps = [part.multiple_of for part in field.metadata if getattr(part, "multiple_of", None) is not None]
    limits += ["even" if step == 2 else f"multiple of {step:g}" for step in steps]
    return " ".join([_kind(field.annotation), ", ".join(limits)]).strip()


def _kind(hint: Any) -> str:
    """A type in the words of YAML."""
    if inspect.isclass(hint) and issubclass(hint, BaseModel):
        return "group"
    parts = get_args(hint)
    if get_origin(hint) is Literal:
        return "|".join(f"`{part}`" for part in parts)
    if get_origin(hint) is Annotated:
        return _kind(parts[0])
    if get_origin(hint) in (dict, list, tuple):
        return f"{'mapping' if get_origin(hint) is dict else 'list'} of " + ", ".join(
            dict.fromkeys(_kind(part) for part in parts if part is not Ellipsis)
        )
    if parts:
        return " or ".join(dict.fromkeys("null" if part is type(None) else _kind(part) for part in parts))
    return {int: "integer", float: "number", bool: "true, false", str: "text"}.get(hint, "any")


def cli_page() -> str:
    """The reference of the command line in Markdown: one section a command, from its docstring and its parameters."""
    sections = [
        "# Command line",
        "Every command prints its options with `tengen COMMAND --help`. `tengen --version` prints the version. "
        "`--debug` shows the traceback of an error. `tengen --install-completion` makes the Tab key of bash, zsh, fish "
        "or PowerShell complete commands and options. Exit status: 0 success, 2 an error that the user can correct "
        "(one line on standard error), 130 interrupted by Ctrl-C, 143 by SIGTERM; `tengen play`, which Ctrl-C stops, "
        "then ends with 0, `tengen verify` with 1 where a file is altered or missing.",
        "\n".join(
            ["| command | purpose |", "|---|---|", *(f"| [`tengen {n}`](#{n}) | {v.help} |" for n, v in VERBS.items())]
        ),
    ]
    for name, verb in VERBS.items():
        module = importlib.import_module(verb.module)
        sections.append(_command_section(name, module.command))
        further = getattr(module, "SUBCOMMANDS", {})
        sections += [_command_section(f"{name} {word}", function) for word, function in further.items()]
    return "\n\n".join(sections) + "\n"


def _command_section(name: str, function: Callable[..., object]) -> str:
    program = typer.Typer(add_completion=False)
    program.command()(function)
    parameters = [p for p in typer.main.get_command(program).params if p.name != "help"]
    hints = get_type_hints(function)
    usage = [_word(p) for p in parameters if p.param_type_name == "argument"]
    rows = [_row(p, hints[p.name]) for p in parameters]
    return "\n\n".join(
        [
            f"## tengen {name} {{#{name.replace(' ', '-')}}}",
            f"```sh\n{' '.join(['tengen', name, '[OPTIONS]', *usage])}\n```",
            inspect.getdoc(function) or "",
            "\n".join(["| parameter | default | description |", "|---|---|---|", *rows]),
        ]
    )


def _word(argument: Any) -> str:
    """An argument as a usage line writes it."""
    word = (argument.metavar or argument.name).upper() + "..." * (argument.nargs == -1)
    return word if argument.required else f"[{word}]"


def _row(parameter: Any, hint: Any) -> str:
    """One line of a command's table; `hint` is the type of the parameter."""
    if parameter.param_type_name == "argument":
        names = f"`{_word(parameter)}`"
    else:
        names = ", ".join(f"`{word}`" for word in (*parameter.opts, *parameter.secondary_opts))
        names += "" if parameter.is_flag else f" {parameter.metavar or _type(hint)}"
    return "| " + " | ".join(map(_cell, (names, _shown(parameter), parameter.help or ""))) + " |"


def _shown(parameter: Any) -> str:
    """The default of a parameter as `--help` shows it: of a pair of flags the word that holds."""
    default = parameter.default() if callable(parameter.default) else parameter.default
    if parameter.required:
        return "required"
    if isinstance(default, bool):
        words = parameter.opts if default else parameter.secondary_opts
        return f"`{words[0]}`" if parameter.secondary_opts else ""
    return "" if default in (None, "", ()) else f"`{default}`"


def _type(hint: Any) -> str:
    """The word for a type: its choices, or INTEGER, NUMBER, PATH, TEXT."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)] or [hint]
    if get_origin(hint) is Literal:
        return "|".join(f"`{choice}`" for choice in kinds)
    if get_args(kinds[0]) or get_origin(hint) is list:
        return _type(kinds[0])
    return {int: "INTEGER", float: "NUMBER", Path: "PATH"}.get(kinds[0], "TEXT")


MARKERS = {
    "{{ search_parameters }}": lambda: fields_table(SearchParams),
    "{{ packages }}": packages_table,
    "{{ examples }}": examples_section,
    "{{ studies }}": studies_table,
    "{{ published_systems }}": published_systems,
}
