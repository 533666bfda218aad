"""Files that workers of a Ray cluster need."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.cluster.connection import import_ray
from tengen.disk import try_lock, write_whole

_PREFIX = "tengen-worker-"
_LOCK = "lock"
_START_SECONDS = 60.0  # for a worker to make its lock and take it: the two are not one step


@dataclass(frozen=True)
class SharedFiles:
    """Files of this machine for workers. They lie in Ray's object store, from which a machine fetches each once.

    `parts` has for each name, such as a recipe's name of a store, the contents by their places: of a file its own name,
    of a folder its name and the place in it (`store/manifest.json`).
    """

    parts: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, paths: Mapping[str, Path], which: Callable[[str], bool] = lambda place: True) -> SharedFiles:
        """The files at these paths; of folders those for whose place in it, such as `nets/a.onnx`, `which` holds."""
        ray, parts = import_ray(), {}
        for name, path in paths.items():
            files = {path.name: path}
            if path.is_dir():
                there = ((each.relative_to(path).as_posix(), each) for each in path.rglob("*") if each.is_file())
                files = {f"{path.name}/{place}": each for place, each in there if which(place)}
            parts[name] = {place: ray.put(each.read_bytes()) for place, each in files.items()}
        return cls(parts)

    @staticmethod
    def put(content: bytes) -> Any:
        """What stands for a file's content in `parts`."""
        return import_ray().put(content)

    def unpack(self, folder: Path) -> dict[str, Path]:
        """Write what is not there yet into `folder`; where the file or folder of each name lies now."""
        found = {name: self.destination(folder, name) for name, files in self.parts.items() if files}
        for name, destination in found.items():
            for place, content in self.parts[name].items():
                path = destination.parent / place
                if not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with write_whole(path, durable=False) as temporary:  # a part of it would pass for the whole
                        temporary.write_bytes(import_ray().get(content))
        return found

    def destination(self, folder: Path, name: str) -> Path:
        """Where `unpack` writes the file or folder of this name, which must have contents."""
        number, place = list(self.parts).index(name), next(iter(self.parts[name]))
        return folder / str(number) / place.partition("/")[0]


class WorkerFolder:
    """The folder of a worker for the temporary files of its process, locked as long as the process lives.

    Ray kills workers whose leading process was killed: the next worker on the machine removes what they left, once it
    is a minute old.
    """

    def __init__(self) -> None:
        for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
            with suppress(OSError, NotImplementedError):  # another user's; a file system without locks
                old = time.time() - lock.stat().st_mtime > _START_SECONDS
                if old and (free := try_lock(lock)) is not None:
                    free.release()
                    shutil.rmtree(lock.parent, ignore_errors=True)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = None
        with suppress(OSError, NotImplementedError):
            self._lock = try_lock(self.path / _LOCK)
        tempfile.tempdir = str(self.path)

    def close(self) -> None:
        """Remove the folder."""
        tempfile.tempdir = None
        if self._lock is not None:
            self._lock.release()
        shutil.rmtree(self.path, ignore_errors=True)
