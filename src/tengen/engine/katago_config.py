"""KataGo's configuration files and overrides, as names and values."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

from tengen.engine.katago_params import KatagoChanges
from tengen.errors import RecipeError

MAX_INCLUDES = 10


def read_config(path: Path, _depth: int = 0) -> dict[str, str]:
    """The settings of a .cfg file of KataGo: `NAME = VALUE` lines, `#` begins a comment, `@include FILE` reads another.

    Settings of the file replace those of the files that it includes. Raises RecipeError with file and line for a line
    of another form and a name that is set twice, and for files that include each other; OSError for a file that cannot
    be read.
    """
    if _depth > MAX_INCLUDES:
        raise RecipeError(f"{path}: more than {MAX_INCLUDES} files include each other")
    included: dict[str, str] = {}
    own: dict[str, str] = {}
    text = path.read_bytes().decode("utf-8-sig", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        if content.startswith("@include"):
            name = content.removeprefix("@include").strip().strip('"')
            if "\0" in name:  # no system has such a file
                raise RecipeError(f"{path}, line {number}: {content!r} names no file")
            included |= read_config(path.parent / name, _depth + 1)
            continue
        name, equals, value = (part.strip() for part in content.partition("="))
        if not equals or not name:
            raise RecipeError(f"{path}, line {number}: NAME = VALUE expected, not {content!r}")
        if name in own:
            raise RecipeError(f"{path}, line {number}: {name} is set twice")
        own[name] = _unquoted(value)
    return included | own


def read_overrides(texts: list[str]) -> dict[str, str]:
    """The settings of `-override-config NAME=VALUE,NAME=VALUE`. Raises RecipeError for a part of another form."""
    settings = {}
    for part in (part for text in texts for part in text.split(",")):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not name:
            raise RecipeError(f"-override-config {part!r}: NAME=VALUE expected, such as maxVisits=500")
        settings[name] = _unquoted(value)
    return settings


def warn_of_unused(changes: KatagoChanges, used: Collection[str]) -> None:
    """Print which settings change nothing where `used` are the settings of the front end."""
    if changes.unknown:
        print(f"warning: settings without a meaning are ignored: {', '.join(changes.unknown)}", file=sys.stderr)
    if names := changes.without_effect(used):
        print(f"without effect in Tengen: {', '.join(names)}", file=sys.stderr)


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] == '"' else value
