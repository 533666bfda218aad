"""What lies in the folder of a run before it is written to."""

from pathlib import Path

import yaml

from tengen.errors import RecipeError


def check_kind(folder: Path, kind: str) -> None:
    """Raise RecipeError when a folder holds a run of another kind than `kind`, whose files would be written over."""
    try:
        found = yaml.safe_load((folder / "recipe.yaml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise RecipeError(f"{folder}/recipe.yaml cannot be read; give another folder with --out") from error
    before = found.get("kind", "network") if isinstance(found, dict) else "unknown"
    if before != kind:
        raise RecipeError(f"{folder} holds a run of kind {before}, not {kind}; give another folder with --out")
