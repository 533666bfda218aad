"""The folder of a run: the recipe that says what it holds, and one process that trains in it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tengen.disk import locked, write_text
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
    before = found.get("kind", "supervised") if isinstance(found, dict) else "unknown"
    if before != kind:
        raise RecipeError(f"{folder} holds a run of kind {before}, not {kind}; give another folder with --out")


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes from training in a folder, until the block or the process ends.

    Raises RecipeError where another one does: two would mix their logs and checkpoints.
    """
    with locked(folder / ".train.lock") as free:
        if not free:
            raise RecipeError(f"another process is training in {folder}; wait for it to end, or give another --out")
        yield


def check_games(folder: Path, games: str, resumes: bool) -> None:
    """Note which games a run learns from. Raises RecipeError where it resumes and learnt from others before.

    A store that was imported anew deals its games in another order, and sets others apart to judge on.
    """
    noted = folder / ".games"
    before = noted.read_text(encoding="utf-8") if resumes and noted.exists() else games
    if before != games:
        raise RecipeError(
            f"{folder} holds a run that learnt from {before}, and its store holds {games} now; give another --out"
        )
    write_text(noted, games)


def write_recipe(folder: Path, recipe: Mapping[str, Any]) -> None:
    """Write the recipe as it is carried out; a full disk or a kill leaves the one that was there."""
    write_text(folder / _RECIPE, yaml.safe_dump(dict(recipe), sort_keys=False))
