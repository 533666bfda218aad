"""The models that OpenVINO has compiled, in the user's cache folder: shared by processes, checked, limited in size."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from tengen.checksums import file_digest
from tengen.disk import remove_oldest

CACHE = "openvino"
"""The folder of the user's cache in which compiled models are kept for the next start."""
_CACHE_BYTES = 2 << 30  # of the models of one precision
_DIGEST = ".sha256"  # of the file beside a compiled model
_LONGEST_COMPILATION = 300.0  # seconds that other processes wait for one


class ModelCache:
    """The compiled models of a network file in a folder of those of one precision; None keeps nothing."""

    def __init__(self, folder: Path | None, network: Path) -> None:
        self._folder = folder
        self._fingerprint = _fingerprint(network)

    @contextmanager
    def entry(self, rows: int, edge: int) -> Iterator[str]:
        """OpenVINO's CACHE_DIR for the model of `rows` rows and this edge, which the block compiles; "" for none.

        The models that are there are checked before the block. A new one is noted after it, unless the block raises.
        """
        if self._folder is None:
            yield ""
            return
        # OpenVINO does not say which file it will read: a folder for each shape of a network has few files to check.
        folder = self._folder / f"{self._fingerprint}-{edge}-{rows}"
        with _sole_user(self._folder):
            _remove_damaged(folder)
            yield str(folder)
            _note_digests(folder)
            _trim(self._folder)


@contextmanager
def _sole_user(cache: Path) -> Iterator[None]:
    """Keep other processes from compiling into this cache folder during the block.

    OpenVINO maps the files of the cache into memory. A process that did not find a model there writes its file, even
    where another has written and mapped it meanwhile, which then dies of SIGBUS.
    """
    lock = FileLock(cache / ".lock", timeout=_LONGEST_COMPILATION)
    with suppress(Timeout, OSError, NotImplementedError):  # a file system may have no locks
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _fingerprint(path: Path) -> str:
    """A name for a network file: its last bytes, which are of its SHA-256 where it has one. Networks with the same name
    share folders of compiled models, not the models."""
    with path.open("rb") as file:
        file.seek(-16, os.SEEK_END)
        return file.read().hex()


def _remove_damaged(folder: Path) -> None:
    """Remove the models of a folder that are not as they were written, as after a loss of power, or were not written to
    the end: OpenVINO reads them without a check, and evaluates with them (2026.4)."""
    for path in folder.glob("*.blob"):
        noted = path.with_suffix(_DIGEST)
        with suppress(OSError):
            if not noted.is_file() or noted.read_bytes() != file_digest(path).encode():
                path.unlink()
                noted.unlink(missing_ok=True)


def _note_digests(folder: Path) -> None:
    """Write the SHA-256 of each new model of a folder beside it; another version of OpenVINO writes over a model."""
    for path in folder.glob("*.blob"):
        noted = path.with_suffix(_DIGEST)
        with suppress(OSError):  # a full disk: then the model is compiled again the next time
            if not noted.is_file() or noted.stat().st_mtime_ns < path.stat().st_mtime_ns:
                noted.write_bytes(file_digest(path).encode())


def _trim(cache: Path) -> None:
    """Remove the models that were used longest ago while those of the folder take more than `_CACHE_BYTES`: a network
    has one for each board size and size of batch, and each version of OpenVINO makes its own."""
    for path in remove_oldest(cache.rglob("*.blob"), _CACHE_BYTES):  # earlier versions of Tengen had no folders in it
        with suppress(OSError):
            path.with_suffix(_DIGEST).unlink(missing_ok=True)
            path.parent.rmdir()  # unless there are others
