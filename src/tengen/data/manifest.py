"""The manifest of a game store: the file that makes a folder of shards a store."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tengen.data.schema import FORMAT, FORMAT_VERSION
from tengen.errors import StoreError

MANIFEST = "manifest.json"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read and check the manifest of the store in `folder`; raises StoreError that says what to do."""
    path = folder / MANIFEST
    if not path.is_file():
        known = "there is no such folder" if not folder.is_dir() else f"the folder has no {MANIFEST}"
        raise StoreError(f"{folder} is no game store: {known}; make one with 'tengen import PATH... --out {folder}'")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read ({error}); import the games again") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{path} is not the manifest of a game store")
    version = manifest.get("version")
    if version != FORMAT_VERSION:
        raise StoreError(
            f"{folder} is a game store of format version {version}, this program reads {FORMAT_VERSION}: "
            "import the games again, or use the program that wrote it"
        )
    return manifest


def write_manifest(folder: Path, shards: list[dict[str, Any]], facts: Mapping[str, Any]) -> None:
    """Write the manifest of the shards in `folder` with `facts` beside them (totals, filters, report, date)."""
    manifest = {"format": FORMAT, "version": FORMAT_VERSION, **facts, "shards": shards}
    with (folder / MANIFEST).open("w", encoding="utf-8") as file:
        file.write(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
