"""Atomic writes, JSON, the user's folders, and file locks that the system releases when a process ends."""

from __future__ import annotations

import errno
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import platformdirs
from filelock import BaseFileLock, FileLock, Timeout

from tengen.checksums import seal
from tengen.errors import NoHomeFolder
from tengen.machine import sync_file, sync_folder

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
PARTIAL = ".partial"
"""End of the name of a file that is being written."""


@contextmanager
def on_disk(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """Name `path`, which the block writes, in the OSError of a full disk, as a write has no name, and in that of the
    `temporary` file, which nobody knows."""
    try:
        yield
    except OSError as error:
        of_temporary = temporary is not None and str(error.filename) == str(temporary)
        if error.errno in DISK_FULL or (of_temporary and error.errno is not None):
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise


@contextmanager
def write_whole(path: Path, *, durable: bool = True, checksum: bool = False, shared: bool = False) -> Iterator[Path]:
    """Give the temporary path to write; it takes the name `path` once the block has ended.

    Whatever interrupts it, `path` holds what it held before. An error removes what was written. What is `durable` is on
    the disk by then and survives a loss of power too; what is not costs less, and survives the end of the process.
    With `checksum` a network file or checkpoint ends with its own, see `checksums.seal`. Errors name `path`.
    Several processes may write a `shared` file at a time, each under a temporary name of its own, which stays after a
    kill; any other file needs a lock, and overwrites what a kill left.
    """
    temporary = path.with_name(path.name + (f".{os.getpid()}" if shared else "") + PARTIAL)
    try:
        with on_disk(path, temporary):
            yield temporary
            if checksum:
                seal(temporary)
            if durable:
                sync_file(temporary)
            temporary.replace(path)
    except BaseException:
        with suppress(OSError):  # it would hide the first error
            temporary.unlink()
        raise
    if durable:
        sync_folder(path.parent)


def write_text(path: Path, text: str, *, durable: bool = True, shared: bool = False) -> Path:
    """Write a text file so that a reader, or a kill, finds the old text or the new one; return `path`."""
    with write_whole(path, durable=durable, shared=shared) as temporary:
        # A name that is no UTF-8 has surrogates: written as \udcXX, which is what they are in JSON, too.
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    return path


def data_folder(name: str) -> Path:
    """Where files of one kind of this user are, which may not exist yet. Raises NoHomeFolder."""
    return _user_folder(platformdirs.user_data_dir) / name


def cache_path(name: str) -> Path:
    """A file or folder, which may not exist, in the user's cache folder, which may be lost at any time. Raises
    NoHomeFolder."""
    return _user_folder(platformdirs.user_cache_dir) / name


def _user_folder(folder_of: Callable[..., str]) -> Path:
    # A user without an entry in the system's list, as in a container: older platformdirs leave the ~ as it is.
    with suppress(RuntimeError):
        if (folder := Path(folder_of("tengen", appauthor=False))).is_absolute():
            return folder
    raise NoHomeFolder("this user has no home folder, in which Tengen keeps files: set HOME to a folder")


def cache_folder(name: str) -> Path | None:
    """The folder `cache_path(name)`, made where it is missing; None where nothing can be written there: a home that is
    read-only or unknown must not stop a game."""
    try:
        folder = cache_path(name)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def remove_oldest(paths: Iterable[Path], max_bytes: int) -> list[Path]:
    """Remove the files that were used longest ago while all take more than `max_bytes`, but never the one used last.
    Returns the removed ones."""
    found, removed = [], []
    for path in paths:
        with suppress(OSError):  # somebody has just removed it
            found.append((path, path.stat()))
    excess = sum(state.st_size for _, state in found) - max_bytes
    # A file system may keep no time of access, or update it once a day.
    for path, state in sorted(found, key=lambda item: max(item[1].st_atime, item[1].st_mtime))[:-1]:
        if excess <= 0:
            break
        with suppress(OSError):  # Windows removes no file that is mapped into memory
            path.unlink()
            excess -= state.st_size
            removed.append(path)
    return removed


def size_text(count: int) -> str:
    """A number of bytes for people: `8.6 kB`, `1,234.5 MB`."""
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.1f} kB"


_HOME = re.compile(r"((?:[\w.+-]+[=:])*)~/")
"""The user's home folder at the beginning of a path, or of one behind --option=, key= or policy: alone."""


def expand_home(text: str) -> str:
    """A path with the home folder in the place of its `~`, which a shell expands at the beginning of a word alone."""
    found = _HOME.match(text)
    return found[1] + os.path.expanduser(text[found.end(1) :]) if found else text


_DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))}  # of Windows


def file_name(name: str) -> str:
    """`name`, if a file or folder of this name lies within its folder, on every system. Raises ValueError for a path,
    for nothing and for what Windows cannot write."""
    size = len(os.fsencode(name))  # file systems allow 255 bytes, with all endings
    wrong = any(letter in '/\\:<>"|?*' or ord(letter) < 32 for letter in name) or name[-1:] in (".", " ")
    if not name.strip(". ") or size > 200 or wrong or name.partition(".")[0].upper() in _DEVICES:
        raise ValueError(
            "it becomes the name of a file: give 1 to 200 bytes (66 Chinese characters), no slash, none of "
            '\\ : < > " | ? *, no dot or space at the end and no device of Windows such as NUL'
        )
    return name


def json_text(value: object, **form: Any) -> str:
    """A value as JSON, with null for numbers that are not finite: JSON has no NaN. `form` as of `json.dumps`."""
    try:
        return json.dumps(value, allow_nan=False, **form)
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False, **form)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def try_lock(path: Path) -> BaseFileLock | None:
    """Lock a file, which is made, until `release()` or the end of the process; None where another holder has it.

    Any thread may release the lock. The file itself stays. Raises FileNotFoundError where its folder is missing, and an
    OSError (ENOSYS) on a file system without locks.
    """
    if not path.parent.is_dir():  # filelock would make it
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    # What filelock would fall back to, a file that exists, outlives a killed process and so locks out other machines.
    lock = FileLock(path, timeout=0, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        why = "this file system has no file locks; mount it with flock, or choose a folder on another one"
        raise OSError(error.errno, why, str(path)) from error
    return lock


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold the lock of a file for the block; False where another holder has it."""
    lock = try_lock(path)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            lock.release()
