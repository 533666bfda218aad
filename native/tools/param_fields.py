"""Writes the fields of tengen.engine.params.SearchParams from native/search/params.def: `make stub` runs it.

python native/tools/param_fields.py [FILE]
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from tengen import _native

TARGET = Path(__file__).parents[2] / "src" / "tengen" / "engine" / "param_fields.py"
HEAD = '''"""The fields of a search's settings, written by `make stub` from native/search/params.def: do not edit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field


class SearchParamFields(BaseModel):
'''


def number(value: float) -> str:
    """A limit, as short as it can be written."""
    return f"{value:.15g}" if abs(value) < 1e9 or value % 1e9 else f"{value:.0e}".replace("e+0", "e")


def string(text: str) -> str:
    """A string literal in parts that fit into a line."""
    lines = textwrap.wrap(text, 90, drop_whitespace=False)
    return " ".join(json.dumps(line, ensure_ascii=False) for line in lines)


def field(row: dict[str, Any]) -> str:
    """One field of the model, as source."""
    kind, default = row["type"], row["default"]
    limits = ""
    if row["min"] is not None:
        limits = f"{'gt' if row['min_excluded'] else 'ge'}={number(row['min'])}, le={number(row['max'])}, "
    annotation = f"Literal[{', '.join(map(json.dumps, row['choices']))}]" if kind == "choice" else kind
    value = repr(float(default)) if kind == "float" else default.title() if kind == "bool" else default
    value = json.dumps(default) if kind in ("choice", "str") else value
    info = f"Field({limits}description={string(row['description'])})"
    return f"    {row['name']}: Annotated[{annotation}, {info}] = {value}\n"


def source() -> str:
    """The module, formatted by ruff."""
    text = HEAD + "".join(field(row) for row in _native.search_param_table())
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else TARGET).write_text(source())
