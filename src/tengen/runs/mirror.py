"""A run folder whose run is carried out on another machine: the changes of its files, found there and made here."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tengen.disk import PARTIAL, write_whole

_LOCK = ".lock"
_GROWING = ("log.jsonl", "tensorboard/")  # all other files are replaced as a whole


class Change(NamedTuple):
    """A changed file of a folder: from byte `start` on it is `content`; None: it is gone."""

    name: str
    content: bytes | None
    start: int = 0


class _Seen(NamedTuple):
    stamp: tuple[int, int, int]
    size: int
    digest: int


class FolderWatch:
    """Finds what has changed in a folder since the last look, at first since this object was made."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[str, _Seen] = {}
        self.changes()

    def changes(self) -> list[Change]:
        """The files that are new or changed, and those that are gone.

        They are read by their names, checkpoints before the log: what the log says up to a checkpoint is there with it.
        """
        found: list[Change] = []
        names = sorted(path.relative_to(self._folder).as_posix() for path in self._files())
        for name in names:
            if (change := self._read(name)) is not None:
                found.append(change)
        for name in self._seen.keys() - set(names):
            del self._seen[name]
            found.append(Change(name, None))
        return found

    def _files(self) -> Iterable[Path]:
        paths = (path for path in self._folder.rglob("*") if path.is_file())
        return (path for path in paths if not path.name.endswith((PARTIAL, _LOCK)))

    def _read(self, name: str) -> Change | None:
        before = self._seen.get(name)
        try:
            with (self._folder / name).open("rb") as file:
                status = os.fstat(file.fileno())
                stamp = status.st_ino, status.st_size, status.st_mtime_ns
                if before is not None and stamp == before.stamp:
                    return None
                content = file.read()
        except FileNotFoundError:  # replaced or removed a moment ago: the next look finds it
            return None
        grew = before is not None and name.startswith(_GROWING) and zlib.crc32(content[: before.size]) == before.digest
        start = before.size if before is not None and grew else 0
        self._seen[name] = _Seen(stamp, len(content), zlib.crc32(content))
        return Change(name, content[start:], start)


def apply_changes(folder: Path, changes: Sequence[Change]) -> None:
    """Apply changes of another folder to this one, the log before the checkpoints, and what is gone last.

    A kill in between leaves a folder from which the run can go on.
    """
    for name, content, start in sorted(changes, key=lambda change: change.name, reverse=True):
        if content is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if start:
                with path.open("r+b") as file:
                    file.truncate(start)
                    file.seek(start)
                    file.write(content)
            else:
                with write_whole(path, durable=False) as temporary:
                    temporary.write_bytes(content)
    for change in changes:
        if change.content is None:
            (folder / change.name).unlink(missing_ok=True)
