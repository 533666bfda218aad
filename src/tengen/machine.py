"""This machine and this process: processor, memory, child processes and signals. What differs between systems is here,
but for files (`disk`) and the pipes of a child (`pipes`).

What only Windows or macOS do was written from their documentation, and its tests put a fake in the system's place.
"""

from __future__ import annotations

import atexit
import ctypes
import errno
import hashlib
import multiprocessing
import os
import platform
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import metadata
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Literal

import psutil

Device = Literal["auto", "cpu", "intel-gpu", "cuda", "tensorrt", "rocm", "coreml", "directml", "onnxruntime", "torch"]
"""What evaluates a network; see tengen.evaluators.devices. auto: the fastest that the machine has; onnxruntime: ONNX
Runtime on the CPU; torch: PyTorch on its GPU, or on the CPU without one."""
Precision = Literal["auto", "bf16", "f32", "int8"]
"""In what OpenVINO computes a network; auto: see tengen.evaluators.openvino."""
_EXIT_SECONDS = 10.0  # for a batch and a callback at the end of the program
_CGROUP = Path("/sys/fs/cgroup")  # of the container, on Linux
_DEV = Path("/dev")
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # malloc.h of glibc


def core_count() -> int:
    """Processor cores that this process may use, by its affinity and by the CPU quota of its container."""
    process = psutil.Process()
    count = len(process.cpu_affinity()) if hasattr(process, "cpu_affinity") else psutil.cpu_count()  # not on macOS
    return min(count or 1, cpu_quota() or sys.maxsize)


def cpu_quota() -> int:
    """The cores, rounded up, whose time a container may use in all (cgroups of Linux, version 2); 0 without a quota."""
    with suppress(OSError, ValueError):
        quota, period = (_CGROUP / "cpu.max").read_text(encoding="utf-8").split()
        return 0 if quota == "max" else max(1, -(-int(quota) // int(period)))
    return 0


def processor_name() -> str:
    """The model of the processor, as the system calls it."""
    return _model_name() or platform.processor() or platform.machine()


def _model_name() -> str:
    """That of Linux, macOS or Windows; empty where it gives none, as Linux on Arm."""
    try:
        if sys.platform == "linux":
            lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
        if sys.platform == "darwin":
            command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
        if sys.platform == "win32":
            import winreg

            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"HARDWARE\DESCRIPTION\System\CentralProcessor\0") as key:
                return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()
    except (OSError, subprocess.SubprocessError):
        pass
    return ""


def graphics_files() -> list[str] | None:
    """The device files of graphics cards; None where the system has no such files, as Linux alone has them."""
    if sys.platform != "linux":
        return None
    names = ("nvidia[0-9]*", "dri/renderD*", "kfd", "dxg")  # dxg: the only one in Windows's subsystem for Linux
    return sorted(str(path) for name in names for path in _DEV.glob(name))


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """The versions of these distributions, of those that are installed."""
    found = {}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@cache
def source_commit() -> str:
    """The commit of the code, with `+` where files differ from it; empty for an installed package."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


@cache
def code_digest() -> str:
    """The SHA-256 of the Python files of the package, and of the interface of the native module."""
    return _digest_files(Path(__file__).parent, "py", "pyi")


@cache
def native_digest() -> str:
    """The SHA-256 of the sources of the native module, which a clone has; empty for an installed package.

    Not of the module itself: each machine may compile it for its own processor.
    """
    return _digest_files(Path(__file__).parents[2] / "native", "h", "cpp", "def")


def _digest_files(folder: Path, *ends: str) -> str:
    """The SHA-256 of the files with these ends of names, by their places; empty without any."""
    files = {path.relative_to(folder).as_posix(): path for end in ends for path in folder.rglob(f"*.{end}")}
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        content = path.read_bytes().replace(b"\r\n", b"\n")  # git may write the line ends of Windows
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest() if files else ""


def busy_cores() -> float:
    """The number of processes that want a core, on average over the last minute; on Windows, which does not count them,
    the number of cores that are busy during the next second."""
    if sys.platform == "win32":
        return psutil.cpu_percent(interval=1) / 100 * (os.cpu_count() or 1)
    return psutil.getloadavg()[0]


def available_memory() -> int:
    """Bytes that this process can still allocate without swapping, within the limit of its container too."""
    free = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):
        held = int((_CGROUP / "memory.current").read_text(encoding="utf-8"))
        lines = (_CGROUP / "memory.stat").read_text(encoding="utf-8").splitlines()
        # What was read from files counts as used, and is given up when memory is needed.
        cached = sum(int(line.split()[1]) for line in lines if line.startswith(("active_file ", "inactive_file ")))
        free = min(free, max(0, _memory_limit() - held + cached))
    return free


def total_memory() -> int:
    """Bytes of memory that the machine has, or that its container may use."""
    return min(int(psutil.virtual_memory().total), _memory_limit())


def _memory_limit() -> int:
    """Bytes that the container may use; sys.maxsize without a limit."""
    for name in ("memory.max", "memory/memory.limit_in_bytes"):  # of cgroups of version 2, and of 1
        with suppress(OSError, ValueError):
            # Without a limit version 2 says "max", which is no number, and version 1 a huge one.
            return int((_CGROUP / name).read_text(encoding="utf-8"))
    return sys.maxsize


def resident_memory() -> int:
    """Bytes of memory that this process holds now."""
    return int(psutil.Process().memory_info().rss)


def sync_file(path: Path) -> None:
    """Have the contents of a file on the disk before this returns. Raises OSError where they are not."""
    # Windows syncs what may be written alone.
    _sync(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)


def sync_folder(path: Path) -> None:
    """Sync the names of the files in a folder, where the system can: some file systems (FUSE, CIFS, 9p) cannot, and
    Windows can open no folder, and needs no sync of it."""
    if sys.platform == "win32":
        return
    try:
        _sync(path, os.O_RDONLY)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def keep_freed_memory() -> bool:
    """Let the process keep the memory that it frees, for its next allocations; whether the system can (glibc).

    Else glibc gives large blocks back at once, and the system clears each page again when it is touched: 8 to 10% of
    the time of a training step on a CPU, whose tensors come and go.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # not in musl
    return mallopt is not None and all([mallopt(_M_MMAP_MAX, 0), mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)])


def when_parent_ends(action: Callable[[], None]) -> None:
    """Call `action` in a thread of this worker process when its parent ends for any reason, killed or not."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        action()

    threading.Thread(target=watch, name="tengen-parent", daemon=True).start()


def start_background(work: Callable[[], None], stop: Callable[[], None], name: str) -> threading.Thread:
    """Start a daemon thread that `stop` ends soon, which is called when the program ends too.

    Python ends a daemon thread that comes back from native code then, and the native core aborts the program. A thread
    that takes longer than ten seconds to end is left alone.
    """

    def run() -> None:
        try:
            work()
        finally:
            atexit.unregister(end)

    def end() -> None:
        stop()
        thread.join(_EXIT_SECONDS)

    thread = threading.Thread(target=run, name=name, daemon=True)
    atexit.register(end)
    try:
        thread.start()
    except BaseException:  # the system may refuse to start one
        atexit.unregister(end)
        raise
    return thread


def signal_self(number: signal.Signals) -> None:
    """Send this process a signal, which its main thread handles in Python; any thread may call it."""
    if sys.platform == "win32":  # os.kill would end the process at once
        signal.raise_signal(number)
    else:
        os.kill(os.getpid(), number)


@contextmanager
def interrupt_blocked() -> Iterator[None]:
    """Block Ctrl-C in this thread, and in the processes that it starts meanwhile; on Windows, where no signal can be
    blocked, nothing is done. Ctrl-C that came meanwhile is handled at the end."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # else the first process that multiprocessing starts ends the block
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def split_command_line(text: str) -> list[str]:
    """The words of a command line, with quotes as in a shell; on Windows a backslash is a part of a path.

    Raises ValueError for a quotation that does not end.
    """
    words = shlex.shlex(text, posix=True, punctuation_chars=False)
    words.whitespace_split = True
    words.commenters = ""
    if sys.platform == "win32":
        words.escape = ""
    return list(words)


def bind_after_others(listener: socket.socket) -> None:
    """Let a socket bind a port whose connections have just ended, and none that another program listens on."""
    if sys.platform != "win32":  # there sockets may do so, and this option would share the port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)


def own_group() -> dict[str, Any]:
    """Arguments of Popen for a child in a process group of its own, which Ctrl-C in our terminal does not reach."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def process_group(pid: int) -> int | None:
    """The group of a process; None on Windows, whose processes cannot be found by it. Raises OSError without one."""
    return None if sys.platform == "win32" else os.getpgid(pid)
