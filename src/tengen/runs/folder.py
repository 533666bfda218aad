"""The folder of a run: its files, the process that works on it, and the check that it holds the run asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from tengen.disk import locked, write_text
from tengen.errors import RecipeError
from tengen.runs.events import EventLog, read_events

_NUMBER = re.compile(r"-(\d+)$")


class RunFolder:
    """The files that a run of every kind has.

        recipe.yaml  log.jsonl  report.html  tensorboard/  checkpoints/
        nets/NAME.onnx      the result

    `kind` is the `kind` of the recipe. Every file is written under another name and renamed, so a file that exists is
    complete.
    """

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path
        self.kind = kind
        self.recipe = path / "recipe.yaml"
        self.report = path / "report.html"
        self.checkpoints = path / "checkpoints"

    def network(self, name: str) -> Path:
        """The network file of this name."""
        return self.path / "nets" / f"{name}.onnx"

    def check_kind(self) -> None:
        """Raise RecipeError when the folder holds a match, a store or a run of another kind."""
        if (self.path / "match.json").exists():
            raise RecipeError(f"{self.path} holds a match; give another folder with --out")
        if (self.path / "manifest.json").exists():
            raise RecipeError(f"{self.path} is a game store; give another folder with --out")
        saved = self.saved_recipe()
        if saved is not None and (before := saved.get("kind", "supervised")) != self.kind:
            raise RecipeError(
                f"{self.path} holds a run of kind {before}, not {self.kind}; give another folder with --out"
            )

    @contextmanager
    def lead(self, hint: str = "wait for it to end, or give another folder with --out") -> Iterator[None]:
        """Make the folder and keep other processes from leading its run, until the block or this process ends.

        Raises RecipeError where another process leads it (`hint` says what to do), or another kind of run lies there.
        """
        self.check_kind()
        self.path.mkdir(parents=True, exist_ok=True)
        with self.locked("lead") as free:
            if not free:
                raise RecipeError(f"{self.path}: another process works on this run; {hint}")
            yield

    @contextmanager
    def locked(self, duty: str) -> Iterator[bool]:
        """Hold the run's lock for a duty such as `rate`; False where another process holds it.

        The system frees the lock when a process ends, however it ends.
        """
        with locked(self.path / f".{duty}.lock") as free:
            yield free

    def saved_recipe(self) -> dict[str, Any] | None:
        """The recipe of the run that the folder holds, as plain JSON values; None for a folder without a run.

        Raises RecipeError where the file cannot be read.
        """
        try:
            found = _recipe_of(self.recipe.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (UnicodeDecodeError, yaml.YAMLError) as error:
            raise RecipeError(f"{self.recipe} cannot be read; give another folder with --out") from error
        return _plain(found) if isinstance(found, dict) else {"kind": "unknown"}

    def check_same(
        self,
        recipe: BaseModel,
        may_change: Collection[str] = (),
        *,
        compared: Callable[[dict[str, Any]], dict[str, Any]] = lambda recipe: recipe,
    ) -> None:
        """Raise RecipeError, with the first setting that differs, when the folder holds a run of another recipe.

        `may_change` are settings (`learn.threads`) that a resumed run may change; `compared` maps both recipes to what
        is compared. Settings that the run's version did not have yet count as those by default.
        """
        saved = self.saved_recipe()
        if saved is not None:
            now = recipe.model_dump(mode="json")
            check_same(self.path, compared(_completed(saved, type(recipe), now)), compared(now), may_change)

    def write_recipe(self, recipe: Mapping[str, Any]) -> None:
        """Write the recipe as it is carried out."""
        write_text(self.recipe, yaml.safe_dump(_plain(dict(recipe)), sort_keys=False))

    def check_games(self, games: str, *, resumes: bool) -> None:
        """Record which games a run learns from. Raises RecipeError where it resumes and used other games before.

        A store that was imported again orders its games differently and holds out other games for validation.
        """
        noted = self.path / ".games"
        before = noted.read_text(encoding="utf-8") if resumes and noted.exists() else games
        if before != games:
            raise RecipeError(
                f"{self.path} holds a run that learned from {before}, and its store holds {games} now; give another "
                "--out"
            )
        write_text(noted, games)

    def events(self, *names: str) -> list[dict[str, Any]]:
        """The events of these names in the run's log, all events without names."""
        return read_events(self.path, *names)

    def log(self, step: int, *, tensorboard: bool = True, again: Collection[str] = ()) -> EventLog:
        """The run's log, to be continued after `step`."""
        return EventLog(self.path, step, tensorboard=tensorboard, again=again)


def check_same(folder: Path, before: object, now: object, may_change: Collection[str] = ()) -> None:
    """Raise RecipeError with the first setting that differs between two nested mappings.

    Settings in `may_change`, named by their path such as `learn.threads`, may differ.
    """
    if found := difference(before, now, may_change):
        raise RecipeError(
            f"{folder} holds a run with {found}; give the same settings to go on with it, or another folder with --out"
        )


def difference(before: object, now: object, may_change: Collection[str] = ()) -> str | None:
    """The first setting that differs, such as `search.visits = 32, not 64`; None where nothing does.

    Lists of equal length are compared element by element where they hold mappings. A setting that one side lacks
    equals an empty one: another version does not know it.
    """
    return _difference(_plain(before), _plain(now), may_change, "")


def _difference(before: Any, now: Any, may_change: Collection[str], place: str) -> str | None:
    if place in may_change:
        return None
    if isinstance(before, dict) and isinstance(now, dict):
        pairs = [(f"{place}.{key}" if place else key, before.get(key), now.get(key)) for key in {**now, **before}]
    elif _is_rows(before) and _is_rows(now) and len(before) == len(now):
        pairs = [(f"{place}[{i}]", row, other) for i, (row, other) in enumerate(zip(before, now, strict=True))]
    else:
        same = before == now or (before in ({}, [], None) and now in ({}, [], None))
        return None if same else f"{place} = {_text(before)}, not {_text(now)}"
    found = (_difference(was, now_is, may_change, name) for name, was, now_is in pairs)
    return next((text for text in found if text), None)


@lru_cache(maxsize=1)
def _recipe_of(text: str) -> Any:
    """The content of a recipe, which a process that waits asks for again and again: parsing takes 2 ms or more."""
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _completed(saved: dict[str, Any], model: type[BaseModel], now: dict[str, Any]) -> dict[str, Any]:
    """The recipe of a folder with the defaults of the settings that it lacks; as it is where it is none of the model.

    `now` is a recipe of this version, as plain values.
    """
    try:
        return model.model_validate(_without_gone(saved, now)).model_dump(mode="json")
    except ValueError:  # also RecipeError
        return saved


def _without_gone(saved: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """A recipe without the empty settings that this version does not have any more."""
    kept = {name: value for name, value in saved.items() if name in now or value not in ({}, [], None)}
    return {
        name: _without_gone(value, now[name]) if isinstance(value, dict) and isinstance(now.get(name), dict) else value
        for name, value in kept.items()
    }


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _plain(value: Any) -> Any:
    """A value as JSON holds it: keys are text, tuples are lists."""
    return json.loads(json.dumps(value))


def numbered(folder: Path, pattern: str) -> list[tuple[int, Path]]:
    """(number, path) of the files of a pattern such as `cycle-*.onnx`, lowest number first."""
    found = ((_NUMBER.search(path.stem), path) for path in folder.glob(pattern))
    return sorted((int(match[1]), path) for match, path in found if match)
