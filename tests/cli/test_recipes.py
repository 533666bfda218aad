"""The command that lists recipes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tengen.cli.app import main
from tengen.recipes import loader


def test_the_list_reads_each_recipe_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """And once for each other one that is like it. Those of supervised runs were read twice."""
    read, opened = loader._read, Counter[str]()

    def counted(path: Path) -> dict[str, Any]:
        opened[path.stem] += 1
        return read(path)

    monkeypatch.setattr(loader, "_read", counted)
    for name in loader.recipe_names():
        loader.read_recipe(loader.FOLDER / f"{name}.yaml")
    once = opened.copy()
    opened.clear()
    assert main(["recipes", "--json"]) == 0
    assert opened == once
    (tiny,) = (row for row in json.loads(capsys.readouterr().out) if row["name"] == "tiny")
    assert tiny["training"].startswith("muon 0.02, batch 128, ")
