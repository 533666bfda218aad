"""Where the stores, networks and runs that a recipe names lie on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class LocalFiles:
    """Where the stores, networks and runs that a recipe names lie on this machine.

    They lie where the recipe says, but for those in `paths`, by their names in the recipe: a worker of a cluster has
    copies.
    """

    paths: Mapping[str, Path] = field(default_factory=dict)

    def path(self, name: str) -> Path:
        return self.paths.get(name, Path(name))

    def name_or_path(self, name: str) -> str:
        """The path of a network's copy; without one the name itself, which may be that of an installed network."""
        return str(self.paths.get(name, name))


AS_NAMED = LocalFiles()
"""All files lie where the recipe says."""
