"""Networks for other machines: by name where they are shipped with Tengen, else as files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tengen.evaluators import installed_networks
from tengen.evaluators.network_file import int8_path


@dataclass(frozen=True)
class PortableNetwork:
    """A network for another machine: its name where it comes with Tengen, or the content of its files by their names,
    the int8 file after the network.
    """

    name: str
    files: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, path: Path) -> PortableNetwork:
        """The network of this name, whose file here is `path`."""
        paths = [] if is_shipped(name, path) else [path, int8_path(path)]
        return cls(name, {each.name: each.read_bytes() for each in paths if each.exists()})

    def unpack(self, folder: Path) -> str:
        """What loads the network; its files, if there are some, are written into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in self.files.items():
            (folder / name).write_bytes(data)
        return str(folder / next(iter(self.files))) if self.files else self.name


def is_shipped(name: str, path: Path) -> bool:
    """Whether every machine with Tengen has the network of this name, whose file here is `path`.

    The path of a shipped network is that of one machine.
    """
    return path.parent == installed_networks.SHIPPED and Path(name).name == name
