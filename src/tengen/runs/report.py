"""The report page of a run or match: data rendered by a Jinja2 template, one HTML file without scripts or links."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from tengen.disk import write_text


@dataclass(frozen=True)
class Tile:
    """A figure in large print, with its label above and a line below."""

    label: str
    value: str
    below: str = ""


@dataclass(frozen=True)
class Board:
    """A picture of a board with a title, a line below, and the address that it links to."""

    picture: Markup
    title: str
    below: str = ""
    link: str = ""


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("tengen.runs"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def template(source: str) -> Template:
    """A template of a program's own, which may extend `base.html` and import `parts.html` of `runs/templates`."""
    return _templates().from_string(source)


def write_page(path: Path, template: str | Template, **data: Any) -> Path:
    """Render a template of `runs/templates` into `path`, which a reader never sees half written; return `path`.

    Every template takes `title`, `what` (the kind of report) and `refresh`, the seconds after which the page reloads
    itself, or None; a review has a `source`. Text is escaped; only Markup is not.
    """
    text = _templates().get_template(template).render({"refresh": None, "source": None, **data})
    return write_text(path, text, durable=False, shared=True)


def sentence(note: str, names: Iterable[str]) -> str:
    """A note with a full stop, and with a capital unless one of these names is at its beginning."""
    is_named = any(re.match(rf"{re.escape(name)}(?![\w-])", note) for name in names)
    return f"{note if is_named else note[:1].upper() + note[1:]}."


def with_minus(figures: str) -> str:
    """Figures with minus signs instead of hyphens, as charts have them."""
    return figures.replace("-", "\N{MINUS SIGN}")


def read_recipe(folder: Path) -> str:
    """The recipe of a run as text, empty where there is none."""
    path = folder / "recipe.yaml"
    return path.read_text(encoding="utf-8") if path.exists() else ""
