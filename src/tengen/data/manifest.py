"""The manifest of a game store: the file that makes a folder of shards a store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tengen.data.schema import FORMAT, FORMAT_VERSION, READABLE_VERSIONS
from tengen.disk import write_whole
from tengen.errors import StoreError

MANIFEST = "manifest.json"
_TOTALS = {"games": "rows", "moves": "moves", "bytes": "bytes"}


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
    if version not in READABLE_VERSIONS:
        raise StoreError(
            f"{folder} is a game store of format version {version}, this program reads "
            f"{READABLE_VERSIONS[0]} to {READABLE_VERSIONS[-1]}: import the games again, or use the program that "
            "wrote it"
        )
    return manifest


def write_manifest(folder: Path, shards: list[dict[str, Any]], facts: Mapping[str, Any]) -> None:
    """Write the manifest of the shards in `folder` with `facts` beside them (filters, report, date).

    The totals follow from the shards. What `facts` says of the manifest's own keys does not count.
    """
    own = {"format": FORMAT, "version": FORMAT_VERSION, **totals(shards)}
    manifest = {**own, **facts, **own, "shards": shards}
    with write_whole(folder / MANIFEST) as path:
        path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def totals(shards: list[dict[str, Any]]) -> dict[str, int]:
    """Games, moves and bytes of all shards together."""
    return {total: sum(shard[one] for shard in shards) for total, one in _TOTALS.items()}
