"""The folder of a run: the recipe that says what it holds, and one process that trains in it."""

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tengen.data.disk import write_whole
from tengen.errors import RecipeError

_RECIPE = "recipe.yaml"


def check_kind(folder: Path, kind: str) -> None:
    """Raise RecipeError when a folder holds a match, or a run of another kind, whose files would be written over."""
    if (folder / "match.json").exists():
        raise RecipeError(f"{folder} holds a match; give another folder with --out")
    try:
        found = yaml.safe_load((folder / _RECIPE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise RecipeError(f"{folder}/recipe.yaml cannot be read; give another folder with --out") from error
    before = found.get("kind", "network") if isinstance(found, dict) else "unknown"
    if before != kind:
        raise RecipeError(f"{folder} holds a run of kind {before}, not {kind}; give another folder with --out")


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold a lock, which is a file; False where another process holds it.

    The system frees the lock when a process ends, however it ends.
    """
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes from training in a folder, until the block or the process ends.

    Raises RecipeError where another one does: two would mix their logs and checkpoints.
    """
    with locked(folder / ".train.lock") as free:
        if not free:
            raise RecipeError(f"another process is training in {folder}; wait for it to end, or give another --out")
        yield


def write_recipe(folder: Path, recipe: Mapping[str, Any]) -> None:
    """Write the recipe as it is carried out; a full disk or a kill leaves the one that was there."""
    with write_whole(folder / _RECIPE) as path:
        path.write_text(yaml.safe_dump(dict(recipe), sort_keys=False), encoding="utf-8")
