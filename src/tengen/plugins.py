"""Registries: network families, losses, players and other parts that a name in a recipe or a command stands for.

A part comes from Tengen itself, from `register` in a program, or from an installed package through the entry points of
the registry's group, for example in its pyproject.toml:

    [project.entry-points."tengen.networks"]
    my-family = "my_package.networks:FAMILY"
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from tengen.errors import TengenError, unknown_name

Part = TypeVar("Part")


class Registry(Generic[Part]):
    """Parts of one kind by name. Entry points of `group` are loaded when their name is first asked for.

    `kind` is what messages call a part, such as "network family". `error` is raised for an unknown name, for a part
    that is no `part_type`, and at the first use where an installed package gives a part a name that is taken. Names of
    `reserved` count as taken; no name has a character of `forbidden`.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        builtin: Mapping[str, Part],
        error: type[TengenError],
        *,
        part_type: type[Any] | None = None,
        reserved: Collection[str] = (),
        forbidden: str = "",
    ) -> None:
        self.kind = kind
        self.group = group
        self._parts = dict(builtin)
        self._own = frozenset((*builtin, *reserved))
        self._forbidden = forbidden
        self._part_type = part_type
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
        """Add a part, or replace one that was registered before, as when a cell of a notebook is run again.

        Raises ValueError where the name is that of another part of Tengen or of an installed package, or cannot be
        used, and the registry's error for a part of the wrong kind.
        """
        if fault := self._fault(name):
            raise ValueError(f"{self.kind} {name!r}: {fault}; choose another name")
        if (name in self._own or name in self._entry_points) and self._parts.get(name) is not part:
            raise ValueError(f"{self.kind} {name!r} exists already: choose another name")
        self._check(part, f"{name!r}")
        self._parts[name] = part
        return part

    def is_registered(self, name: str) -> bool:
        """Whether the part was added by `register`: another process knows it only if it registers the part too."""
        return name in self._parts and name not in self._own and name not in self._entry_points

    def _fault(self, name: str) -> str:
        """Why no part can have this name; empty where one can."""
        found = next((character for character in self._forbidden if character in name), "")
        return found and f"a name cannot contain {found!r}"

    def _check(self, part: Part, name: str) -> None:
        if self._part_type is not None and not isinstance(part, self._part_type):
            raise self._error(f"{self.kind} {name} is {described(part)}, no {self._part_type.__name__}")

    def _load(self, name: str, points: Mapping[str, EntryPoint]) -> Part:
        if name not in points:
            raise self._error(unknown_name(self.kind, name, self))
        found = points[name]
        try:
            part: Part = found.load()
        except Exception as error:
            raise self._error(f"{self.kind} {name!r} of {found.value} cannot be loaded: {error!r}") from error
        self._check(part, f"{name!r} of {found.value}")
        return part

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for point in entry_points(group=self.group):
            other = found.setdefault(point.name, point)
            taken = "Tengen" if point.name in self._own else other.value if other.value != point.value else ""
            if taken:
                raise self._error(
                    f"{self.kind} {point.name!r} is a part of {taken} and of {point.value}, which is installed: "
                    "uninstall that package, or rename its part"
                )
            if fault := self._fault(point.name):
                raise self._error(
                    f"{self.kind} {point.name!r} of {point.value}, which is installed: {fault}; uninstall that "
                    "package, or rename its part"
                )
        return found


def described(value: object) -> str:
    """What a value is, for messages: `a function`, `the class Hello`."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
