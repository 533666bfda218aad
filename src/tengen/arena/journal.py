"""The folder of a match: its settings, a line of JSON a finished game, and every game as SGF.

A match that was interrupted at any moment goes on where it stopped: a game counts once its line is complete, and its
SGF is written before the line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tengen.arena.contest import Outcome
from tengen.errors import TengenError

# A match may be made longer and the folder moved; all else must stay as it was.
_MAY_CHANGE = frozenset({"games"})


class Journal:
    """Opens or makes the folder of a match with these settings. Raises TengenError when it holds another match."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder = folder
        self._lines = folder / "games.jsonl"
        self._settings = settings
        self.names: dict[str, str] = self._check()
        self.outcomes = self._read()

    def begin(self, names: Mapping[str, str]) -> None:
        """Make the folder and write down who plays and how; nothing is written before."""
        self.names = dict(names)
        (self.folder / "games").mkdir(parents=True, exist_ok=True)
        about = json.dumps({"names": self.names, **self._settings}, indent=2)
        _write(self.folder / "match.json", about.encode() + b"\n")
        if self._lines.exists():
            complete = self._lines.read_bytes()
            _write(self._lines, complete[: complete.rfind(b"\n") + 1])

    def add(self, outcome: Outcome, sgf: bytes) -> None:
        """Keep a finished game."""
        _write(self.folder / "games" / f"{outcome.index:05d}.sgf", sgf)
        with self._lines.open("ab") as file:
            file.write(json.dumps(asdict(outcome)).encode() + b"\n")
        self.outcomes[outcome.index] = outcome

    def finish(self, figures: dict[str, Any]) -> None:
        """Write the figures of the whole match beside its games."""
        _write(self.folder / "summary.json", json.dumps(figures, indent=2).encode() + b"\n")

    def _check(self) -> dict[str, str]:
        """The players' names of the match that is there, if one is."""
        path = self.folder / "match.json"
        if not path.exists():
            if self._lines.exists():
                raise TengenError(f"{self.folder} has games but no match.json; choose another folder with --out")
            return {}
        before: dict[str, Any] = json.loads(path.read_bytes())
        for key, value in json.loads(json.dumps(self._settings)).items():
            if key not in _MAY_CHANGE and before.get(key) != value:
                raise TengenError(
                    f"{self.folder} holds a match with {key} = {before.get(key)}, not {value}; "
                    "choose another folder with --out, or the same settings to go on"
                )
        return dict(before["names"])

    def _read(self) -> dict[int, Outcome]:
        if not self._lines.exists():
            return {}
        text = self._lines.read_bytes()
        rows = [json.loads(line) for line in text[: text.rfind(b"\n") + 1].splitlines()]
        return {row["index"]: Outcome(**{**row, "last_words": tuple(row["last_words"])}) for row in rows}


def _write(path: Path, content: bytes) -> None:
    """Write a whole file or nothing."""
    aside = path.with_name(path.name + ".part")
    aside.write_bytes(content)
    aside.replace(path)
