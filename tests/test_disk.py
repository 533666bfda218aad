"""Files are whole or not there, whatever ends the writing; locks end with who holds them."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from tengen.disk import (
    PARTIAL,
    cache_folder,
    cache_path,
    data_folder,
    expand_home,
    file_name,
    json_text,
    locked,
    size_text,
    try_lock,
    write_text,
    write_whole,
)
from tengen.errors import NoHomeFolder


@pytest.mark.parametrize("found", ["~/.cache/tengen", None])
def test_a_user_without_a_home(found: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """platformdirs leaves the ~ as it is, or fails, by its version."""

    def folder(*_args: object, **_more: object) -> str:
        if found is None:
            raise RuntimeError("could not determine the home directory for '~/.cache'")
        return found

    monkeypatch.setattr("platformdirs.user_cache_dir", folder)
    monkeypatch.setattr("platformdirs.user_data_dir", folder)
    for ask in (cache_path, data_folder):
        with pytest.raises(NoHomeFolder, match="set HOME to a folder"):
            ask("x")
    assert cache_folder("x") is None and not Path("~").exists()


@pytest.mark.parametrize("before", ["", "--out=", "--set=data.store=", "data.store=", "new=policy:"])
def test_the_home_folder_is_found_where_a_shell_leaves_it(before: str) -> None:
    assert expand_home(f"{before}~/x") == f"{before}{os.path.expanduser('~')}/x"
    for same in (f"{before}~x", f"{before}~", f"{before}x/~/y", f"a b={before}~/x"):
        assert expand_home(same) == same


def test_a_size_is_not_0() -> None:
    assert [size_text(count) for count in (70, 8_570, 1_234_500_000)] == ["0.1 kB", "8.6 kB", "1,234.5 MB"]


@pytest.mark.parametrize("durable", [True, False])
def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path, durable: bool) -> None:
    path = write_text(tmp_path / "file.txt", "old", durable=durable)
    with write_whole(path, durable=durable) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert [(left.name, left.read_text()) for left in tmp_path.iterdir()] == [("file.txt", "new")]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = write_text(tmp_path / "file.txt", "old")
    with pytest.raises(RuntimeError, match="in the middle"), write_whole(path) as temporary:
        temporary.write_text("ne")
        raise RuntimeError("in the middle")
    assert [(left.name, left.read_text()) for left in tmp_path.iterdir()] == [("file.txt", "old")]


@pytest.mark.linux
def test_the_cache_folder_is_one_that_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_folder("nets") == cache_path("nets") == tmp_path / "cache" / "tengen" / "nets"
    assert cache_path("nets").is_dir()
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert cache_folder("nets") is None
    monkeypatch.undo()
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cache_folder("nets") is None


@pytest.mark.linux
def test_a_full_disk_names_the_file_that_was_to_be_written(tmp_path: Path) -> None:
    path = write_text(tmp_path / "file.txt", "old")
    path.with_name(path.name + PARTIAL).symlink_to("/dev/full")  # a device that is always full
    with pytest.raises(OSError, match="No space left") as caught:
        write_text(path, "new" * 10_000)
    assert caught.value.filename == str(path)
    assert [(left.name, left.read_text()) for left in tmp_path.iterdir()] == [("file.txt", "old")]


@pytest.mark.parametrize("place", ["folder", "missing/file.txt", "other.txt/file.txt"])
def test_an_error_names_the_file_that_was_to_be_written(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "other.txt").write_text("in the way")
    with pytest.raises(OSError) as caught:
        write_text(tmp_path / place, "new")
    assert caught.value.filename == str(tmp_path / place)
    assert sorted(left.name for left in tmp_path.iterdir()) == ["folder", "other.txt"]


@pytest.mark.posix
@pytest.mark.parametrize(("number", "told"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_file_system_that_cannot_sync_folders_holds_files_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, told: bool
) -> None:
    def sync(handle: int, real: Callable[[int], None] = os.fsync) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(number, os.strerror(number))
        real(handle)

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(OSError, match="Input/output") if told else nullcontext():
        write_text(tmp_path / "file.txt", "new")
    assert [(left.name, left.read_text()) for left in tmp_path.iterdir()] == [("file.txt", "new")]


@pytest.mark.posix
def test_a_kill_leaves_the_old_file(tmp_path: Path) -> None:
    path = write_text(tmp_path / "file.txt", "old")
    script = f"""
import os, pathlib
from tengen.disk import write_whole
with write_whole(pathlib.Path({str(path)!r})) as temporary:
    temporary.write_text("ne")
    os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -9
    assert path.read_text() == "old"
    assert write_text(path, "new").read_text() == "new"  # over what the kill left
    assert not path.with_name(path.name + PARTIAL).exists()


def test_processes_may_write_a_shared_file_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    script = f"import pathlib, tengen.disk; tengen.disk.write_text(pathlib.Path({str(path)!r}), 'theirs', shared=True)"
    with write_whole(path, shared=True) as temporary:
        temporary.write_text("mi")
        subprocess.run([sys.executable, "-c", script], check=True)
        assert path.read_text() == "theirs" and temporary.read_text() == "mi"
        temporary.write_text("mine")
    assert [(left.name, left.read_text()) for left in tmp_path.iterdir()] == [("file.txt", "mine")]


@pytest.mark.parametrize("name", ["a" * 200, "\u56f2" * 66])
def test_a_name_that_is_allowed_fits_the_file_system_with_its_endings(tmp_path: Path, name: str) -> None:
    with write_whole(tmp_path / f"{file_name(name)}.onnx", shared=True) as temporary:
        temporary.write_text("a network")
    with pytest.raises(ValueError, match="give 1 to 200 bytes"):
        file_name(name + name[:1])


@pytest.mark.parametrize(
    "name", ["", "..", "a/b", "a:b", "a?b", 'a"b', "a<b", "a|b", "a*b", "end.", "end ", "NUL", "com1.x"]
)
def test_a_name_that_some_system_cannot_write(name: str) -> None:
    with pytest.raises(ValueError, match="name of a file"):
        file_name(name)


def test_one_holds_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path) as first, locked(path) as second:
        assert first
        assert not second
        assert try_lock(path) is None
    lock = try_lock(path)
    assert lock is not None
    lock.release()
    with locked(path) as free:
        assert free


def test_a_kill_frees_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    script = f"""
import pathlib
from tengen.disk import try_lock
held = try_lock(pathlib.Path({str(path)!r}))
assert held
print("held", flush=True)
input()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdin=-1, stdout=-1) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with locked(path) as free:
            assert not free
        holder.kill()
        holder.wait()
    with locked(path) as free:
        assert free


@pytest.mark.posix
def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that stands for a lock would outlive a killed process, and lock the run for every other machine."""

    def missing(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr("fcntl.flock", missing)
    with pytest.raises(OSError, match="has no file locks; mount it with flock") as caught:
        try_lock(tmp_path / "lock")
    assert caught.value.filename == str(tmp_path / "lock")


def test_json_has_no_nan() -> None:
    value = {"a": [1.5, float("nan"), {"b": (float("-inf"),)}], "c": "NaN", "d": np.float64("nan")}
    assert json_text(value) == '{"a": [1.5, null, {"b": [null]}], "c": "NaN", "d": null}'
