"""Registries: network families, losses, players and other parts that a name in a recipe or a command stands for.

A part comes from Tengen itself, from `register` in a program, or from an installed package through the entry points of
the registry's group, for example in its pyproject.toml::

    [project.entry-points."tengen.networks"]
    my-family = "my_package.networks:FAMILY"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from tengen.errors import TengenError, unknown_name

Part = TypeVar("Part")


class Registry(Generic[Part]):
    """Parts of one kind by name. Entry points of `group` are loaded when their name is first asked for.

    `kind` is what messages call a part, such as "network family". `error` is raised for an unknown name, and at the
    first use where an installed package gives a part a name that is taken.
    """

    def __init__(self, kind: str, group: str, builtin: Mapping[str, Part], error: type[TengenError]) -> None:
        self.kind = kind
        self.group = group
        self._parts = dict(builtin)
        self._error = error

    def __getitem__(self, name: str) -> Part:
        """The part of this name. Raises the registry's error for an unknown name or a plugin that cannot be loaded."""
        points = self._entry_points  # first: one with the name of another part would never be used
        if name not in self._parts:
            self._parts[name] = self._load(name, points)
        return self._parts[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entry_points or name in self._parts

    def __iter__(self) -> Iterator[str]:
        """The names: those of Tengen first, then registered ones, then those of installed packages."""
        return iter(dict.fromkeys((*self._parts, *self._entry_points)))

    def register(self, name: str, part: Part) -> Part:
        """Add a part. Raises ValueError where the name is taken by another part."""
        if name in self and self._parts.get(name) is not part:
            raise ValueError(f"{self.kind} {name!r} exists already: choose another name")
        self._parts[name] = part
        return part

    def _load(self, name: str, points: Mapping[str, EntryPoint]) -> Part:
        if name not in points:
            raise self._error(unknown_name(self.kind, name, self))
        found = points[name]
        try:
            part: Part = found.load()
        except Exception as error:
            raise self._error(f"{self.kind} {name!r} of {found.value} cannot be loaded: {error!r}") from error
        return part

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for point in entry_points(group=self.group):
            other = found.setdefault(point.name, point)
            taken = "Tengen" if point.name in self._parts else other.value if other.value != point.value else ""
            if taken:
                raise self._error(
                    f"{self.kind} {point.name!r} is a part of {taken} and of {point.value}, which is installed: "
                    "uninstall that package, or rename its part"
                )
        return found
