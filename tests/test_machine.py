"""This machine, and the branches of other systems with a fake in their place."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from tengen import _native, machine

KNOWN_FLAGS = {
    *("avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx_vnni", "avx512_vnni", "avx512_bf16"),
    *("amx_bf16", "amx_int8"),
}


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="Linux lists the flags of the processor")
def test_flags_of_the_processor_are_those_of_linux() -> None:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    listed = {word for line in lines if line.startswith("flags") for word in line.split()}
    assert set(_native.processor_flags()) == listed & KNOWN_FLAGS


def test_the_digest_of_the_code_is_that_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever they lie, with the line ends of any system; of the native module that of its sources, as each machine
    compiles it for itself."""

    def digests(folder: Path) -> tuple[str, str]:
        monkeypatch.setattr(machine, "__file__", str(folder / "src" / "tengen" / "machine.py"))
        return machine.code_digest.__wrapped__(), machine.native_digest.__wrapped__()

    package, native = ("machine.py", "data/a.py", "_native.pyi"), ("board/b.h", "board/b.cpp", "search/params.def")
    names = [f"src/tengen/{name}" for name in package] + [f"native/{name}" for name in native]
    found = set()
    for folder, end in ((tmp_path / "windows", b"\r\n"), (tmp_path / "linux", b"\n")):
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(name.encode() + end)
        (folder / "src" / "tengen" / "_native.so").write_text(str(folder))
        found.add(digests(folder))
    ((code, sources),) = found
    for i, name in enumerate(names):
        before = (folder / name).read_bytes()
        (folder / name).write_text("changed")
        now = digests(folder)
        assert (now[0] != code, now[1] != sources) == (i < 3, i >= 3), name
        (folder / name).write_bytes(before)
    shutil.rmtree(folder / "native")
    assert digests(folder) == (code, ""), "an installed package"


@pytest.mark.parametrize(
    ("text", "cores"),
    [("150000 100000", 2), ("200000 100000", 2), ("5000 100000", 1), ("6400000 100000", 3), ("max 100000", 3), ("", 3)],
)
def test_cores_of_a_container(text: str, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`docker run --cpus` sets a quota and leaves the affinity alone."""
    monkeypatch.setattr(machine.psutil.Process, "cpu_affinity", lambda _: [0, 1, 2], raising=False)
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    assert machine.core_count() == 3, "without such a file"
    (tmp_path / "cpu.max").write_text(text)
    assert machine.core_count() == cores


@pytest.mark.parametrize(
    ("limit", "held", "total", "available"),
    [
        ("4000", "1500", 4000, 3100),
        ("4000", "9000", 4000, 0),
        ("max", "1500", 64_000, 40_000),
        ("99000", "1500", 64_000, 40_000),
        ("", "1500", 64_000, 40_000),
        (None, None, 64_000, 40_000),
    ],
)
def test_memory_of_a_container(
    limit: str | None,
    held: str | None,
    total: int,
    available: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`docker run --memory` leaves the figures of the host alone. Pages of files are free when they are needed."""
    host = types.SimpleNamespace(total=64_000, available=40_000)
    monkeypatch.setattr(machine.psutil, "virtual_memory", lambda: host)
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    if limit is not None and held is not None:
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        (tmp_path / "memory.current").write_text(f"{held}\n")
        (tmp_path / "memory.stat").write_text("anon 900\nfile 700\ninactive_file 400\nactive_file 200\n")
    assert (machine.total_memory(), machine.available_memory()) == (total, available)


@pytest.mark.parametrize(("limit", "total"), [("4000", 4000), ("9223372036854771712", 64_000)])
def test_memory_of_a_container_with_cgroups_of_version_1(
    limit: str, total: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = types.SimpleNamespace(total=64_000)
    monkeypatch.setattr(machine.psutil, "virtual_memory", lambda: host)
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text(f"{limit}\n")
    assert machine.total_memory() == total


def test_name_of_the_processor_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(
        Path, "read_text", lambda *_, **__: "processor\t: 0\nmodel name\t: Fast One\nmodel name\t: Two\n"
    )
    assert machine.processor_name() == "Fast One"
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "processor\t: 0\nFeatures\t: asimd\n")  # on Arm
    monkeypatch.setattr(machine.platform, "processor", lambda: "")
    monkeypatch.setattr(machine.platform, "machine", lambda: "aarch64")
    assert machine.processor_name() == "aarch64"


def test_name_of_the_processor_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    def sysctl(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        assert command == ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.CompletedProcess(command, 0, "Apple M1\n")

    monkeypatch.setattr(subprocess, "run", sysctl)
    assert machine.processor_name() == "Apple M1"

    def missing(*_: Any, **__: Any) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", missing)
    monkeypatch.setattr(machine.platform, "processor", lambda: "arm")
    assert machine.processor_name() == "arm"


def test_name_of_the_processor_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    class Key:
        def __enter__(self) -> Key:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    def open_key(root: str, path: str) -> Key:
        assert (root, path) == ("HKLM", r"HARDWARE\DESCRIPTION\System\CentralProcessor\0")
        return Key()

    registry = types.SimpleNamespace(
        HKEY_LOCAL_MACHINE="HKLM",
        OpenKey=open_key,
        QueryValueEx=lambda key, name: ("AMD Ryzen 5 ", 1) if name == "ProcessorNameString" else None,
    )
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "winreg", registry)
    assert machine.processor_name() == "AMD Ryzen 5"


def test_busy_cores_where_the_system_counts_no_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(psutil, "cpu_percent", lambda interval: 75.0)
    assert machine.busy_cores() == pytest.approx(0.75 * (os.cpu_count() or 1))


@pytest.mark.parametrize(
    ("system", "text", "words"),
    [
        ("linux", r"gnugo --mode 'a b' \"x", ["gnugo", "--mode", "a b", '"x']),
        ("darwin", r"my\ bot # --x", ["my bot", "#", "--x"]),
        ("win32", r'"C:\Program Files\bot.exe" --net=D:\n\b.gz --name="a b"', [
            r"C:\Program Files\bot.exe", r"--net=D:\n\b.gz", "--name=a b",
        ]),
        ("win32", "", []),
    ],
)  # fmt: skip
def test_words_of_a_command_line(monkeypatch: pytest.MonkeyPatch, system: str, text: str, words: list[str]) -> None:
    monkeypatch.setattr(sys, "platform", system)
    assert machine.split_command_line(text) == words


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_a_quotation_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(ValueError, match="quotation"):
        machine.split_command_line('bot "x')


def test_a_child_has_a_group_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, **machine.own_group())
    with child:
        assert machine.process_group(child.pid) == child.pid != machine.process_group(os.getpid())
        child.communicate(b"\n")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    assert machine.own_group() == {"creationflags": 0x200}
    assert machine.process_group(child.pid) is None


@pytest.mark.parametrize(("system", "reuses"), [("linux", True), ("darwin", True), ("win32", False)])
def test_a_port_that_another_program_listens_on_stays_its_own(
    monkeypatch: pytest.MonkeyPatch, system: str, reuses: bool
) -> None:
    """On Windows SO_REUSEADDR binds a port that is in use; elsewhere it binds one whose connections have just ended."""
    monkeypatch.setattr(sys, "platform", system)
    with socket.socket() as listener:
        machine.bind_after_others(listener)
        assert bool(listener.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)) == reuses


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_a_signal_from_any_thread_reaches_the_main_thread(system: str) -> None:
    """In a process of its own: after bf16 training a signal inside pytest ends the process."""
    script = f"""
import signal, sys, threading
from tengen import machine
got = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: got.set())
sys.platform = {system!r}
sender = threading.Thread(target=machine.signal_self, args=(signal.SIGTERM,))
sender.start()
sender.join()
assert got.wait(10)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(("system", "flags"), [("linux", os.O_RDONLY), ("darwin", os.O_RDONLY), ("win32", os.O_RDWR)])
def test_a_file_is_synced_as_the_system_wants(
    system: str, flags: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows refuses to sync a file that is open for reading alone, and to open a folder at all."""
    opened: list[tuple[Path, int]] = []
    synced: list[int] = []

    def open_(path: Path, how: int, real: Callable[[Path, int], int] = os.open) -> int:
        opened.append((path, how))
        return real(path, how)

    def sync(handle: int, real: Callable[[int], None] = os.fsync) -> None:
        synced.append(handle)
        real(handle)

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(os, "open", open_)
    monkeypatch.setattr(os, "fsync", sync)
    (tmp_path / "file").write_text("text")
    machine.sync_file(tmp_path / "file")
    assert opened == [(tmp_path / "file", flags)] and len(synced) == 1
    if system == "win32":
        machine.sync_folder(tmp_path)
        assert len(opened) == len(synced) == 1
    elif os.name == "posix":
        machine.sync_folder(tmp_path)
        assert opened[1:] == [(tmp_path, os.O_RDONLY)] and len(synced) == 2


@pytest.mark.posix
@pytest.mark.parametrize(
    ("system", "order", "in_child"),
    [("linux", "end Ctrl-C", "True"), ("darwin", "end Ctrl-C", "True"), ("win32", "Ctrl-C end", "False")],
)
def test_ctrl_c_waits_until_it_is_no_longer_blocked(system: str, order: str, in_child: str) -> None:
    """In a process of its own, which a signal may end. Children inherit the mask; Windows has none."""
    script = f"""
import os, signal, subprocess, sys
from tengen import machine
got = []
signal.signal(signal.SIGINT, lambda *_: got.append("Ctrl-C"))
shown = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
child = [sys.executable, "-c", shown]
real, sys.platform = sys.platform, {system!r}
with machine.interrupt_blocked():
    sys.platform = real
    blocked = subprocess.run(child, capture_output=True, text=True, check=True).stdout
    signal.raise_signal(signal.SIGINT)
    got.append("end")
print(*got, blocked, signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [*order.split(), in_child, "False"]


def test_files_of_graphics_cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_DEV", tmp_path)
    (tmp_path / "dri").mkdir()
    for name in ("nvidia0", "nvidiactl", "dri/renderD128", "dri/card0", "kfd"):
        (tmp_path / name).touch()
    monkeypatch.setattr(sys, "platform", "linux")
    assert machine.graphics_files() == [str(tmp_path / name) for name in ("dri/renderD128", "kfd", "nvidia0")]
    for system in ("darwin", "win32"):
        monkeypatch.setattr(sys, "platform", system)
        assert machine.graphics_files() is None


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone can be told")
def test_freed_memory_is_kept() -> None:
    """A large block that is taken again and again costs page faults without, and none with."""
    program = """
import ctypes, resource
from tengen.machine import keep_freed_memory
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
def faults(size=100_000_000):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = libc.malloc(size)
    ctypes.memset(block, 1, size)
    libc.free(block)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(faults(), faults(), keep_freed_memory(), faults(), faults())
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert found[2] == "True"
    assert min(int(found[0]), int(found[1]), int(found[3])) > 40 > int(found[4])


def test_libraries_that_are_not_installed_have_no_version() -> None:
    """A finished training could not write its card where a library came under another name."""
    assert machine.library_versions(["numpy", "no-such-library"]) == {"numpy": np.__version__}
