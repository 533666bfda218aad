"""Sources of game trees: files, folders, collections, nested archives and standard input, read as streams."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from tengen.errors import SgfError, os_reason, printable, unknown_name
from tengen.sgf.grammar import RECORD_SUFFIXES, RecordLimits, other_format, split_trees, unread_archive

STDIN = "-"
OTHER_SUFFIXES = (".gib", ".ngf", ".ugf", ".ugi", ".7z", ".rar", ".zst", ".tzst")
"""Of records that are no SGF and of archives of other kinds, which are reported and not read."""
ARCHIVE_SUFFIXES = (".zip", ".tar", ".tgz", ".txz", ".tbz", ".tbz2", ".xz", ".gz", ".bz2")
_SPOOL = 1 << 24
_BLOCK = 1 << 16
_DIRECTORY_ENTRY = 128  # bytes of a member in the directory of a zip, about
_MAX_HEADER = 1 << 20  # bytes of a name or extended header in a tar
_RATIO_FROM = 1 << 24  # bytes below which no ratio is too large

_READ_ERRORS = (
    OSError,
    EOFError,
    lzma.LZMAError,
    zlib.error,
    zipfile.BadZipFile,
    tarfile.TarError,
    NotImplementedError,  # an unknown compression in a zip
    RuntimeError,  # an encrypted member of a zip
    IndexError,  # a name in a zip that begins with NUL
    MemoryError,  # a dictionary of 4 GB in an xz
    ValueError,  # a name in a zip that says it is UTF-8 and is not; a map of a sparse member that is no number
)

_COMPRESSIONS: dict[bytes, Callable[[Any], Any]] = {
    b"\xfd7zXZ\0": lzma.LZMAFile,
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream, mode="rb"),
    b"BZh": bz2.BZ2File,
}


@dataclass(frozen=True)
class ImportLimits(RecordLimits):
    """What a file given to an import may expand to, and the limits of a record; a bomb ends at them with a count.

    ratio: expanded bytes for each byte on disk, once 16 MB have been expanded. expanded_bytes: of one file on disk.
    members: of one file, in all of its archives. depth: archives in each other.
    """

    ratio: float = 250
    expanded_bytes: int = 1 << 36
    members: int = 250_000
    depth: int = 4

    @classmethod
    def of(cls, settings: Iterable[str]) -> ImportLimits:
        """Limits from texts such as `ratio=1000`. Raises SgfError for an unknown name and for no number."""
        given: dict[str, Any] = {}
        for setting in settings:
            name, _, text = setting.partition("=")
            if name not in cls.__dataclass_fields__:
                raise SgfError(f"--limit {setting}: {unknown_name('limit', name, cls.__dataclass_fields__)}")
            try:
                given[name] = float(text) if name == "ratio" else int(text)
            except ValueError:
                raise SgfError(f"--limit {setting}: write a whole number, such as {name}=1000") from None
        return cls(**given)


class TooMuch(Exception):
    """A file expands to more than the limits allow: the reason and the count."""


class ExpandedSize:
    """What one file on disk has expanded to so far."""

    def __init__(self, limits: ImportLimits, size: int) -> None:
        self.limits = limits
        self._size = size  # 0: unknown
        self._bytes = self._members = 0

    def expand(self, count: int) -> None:
        """Count bytes. Raises TooMuch."""
        self._bytes += count
        self._check(self._bytes)

    def expect(self, count: int) -> None:
        """Raise TooMuch for a member that claims too many bytes, before it is read."""
        self._check(count)

    def _check(self, count: int) -> None:
        if count > self.limits.expanded_bytes:
            raise TooMuch(f"more than {self.limits.expanded_bytes:,} bytes, the limit expanded_bytes")
        if self._size and count > max(_RATIO_FROM, self.limits.ratio * self._size):
            raise TooMuch(f"{count:,} bytes from a file of {self._size:,}, more than {self.limits.ratio:g} times")

    def open_members(self, count: int) -> None:
        """Count members of an archive. Raises TooMuch."""
        self._members += count
        if self._members > self.limits.members:
            raise TooMuch(f"{self._members:,} members, more than the limit of {self.limits.members:,}")


class _Expanded(io.RawIOBase):
    """The contents of an archive, counted against the limits of an import."""

    def __init__(self, stream: Any, size: ExpandedSize) -> None:
        self._stream = stream
        self._size = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        block = self._stream.read1(len(buffer)) if hasattr(self._stream, "read1") else self._stream.read(len(buffer))
        self._size.expand(len(block))
        buffer[: len(block)] = block
        return len(block)


class _Member(tarfile.TarInfo):
    """A member of a tar whose names are not as large as files."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo | None:
        if self.type in _LONG_HEADERS and self.size > _MAX_HEADER:
            raise TooMuch(f"a header of {self.size:,} bytes in a tar")
        return super()._proc_member(archive)  # type: ignore[misc,no-any-return]


_LONG_HEADERS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, b"x", b"g", b"X")


class Tree(NamedTuple):
    """The bytes of one game tree and its place: `archive/file#number`, with numbers from 1."""

    place: str
    data: bytes


class SourceProblem(NamedTuple):
    """A file that cannot be read, or not to its end."""

    place: str
    reason: str
    detail: str


class Sources:
    """Game trees of files, folders, archives and `-` (standard input), in a fixed order and constant memory.

    Folders are searched for .sgf and .sgfs files and archives by name. A file given as a path is read whatever its
    name. The first bytes decide the type of a file. A file that cannot be read, or is a record or an archive of another
    format, gives a SourceProblem, and reading continues. Without `other_formats`, files of OTHER_SUFFIXES are left out
    of folders and archives, as all others are.

    A file that expands to more than `limits` gives a SourceProblem after the games up to there.

    Raises SgfError when a path does not exist or no file is found.
    """

    def __init__(
        self,
        paths: Iterable[str | os.PathLike[str]],
        limits: ImportLimits | None = None,
        *,
        other_formats: bool = True,
    ) -> None:
        self._limits = limits or ImportLimits()
        self._suffixes = RECORD_SUFFIXES + ARCHIVE_SUFFIXES + (OTHER_SUFFIXES if other_formats else ())
        self.files = [file for path in paths for file in _find_files(os.fspath(path), self._suffixes)]
        if not self.files:
            raise SgfError(
                "no game records found: name .sgf files, archives (zip, xz, gz, bz2, tar) or folders of them"
            )
        self._sizes = [0 if name == STDIN else path.stat().st_size for name, path in self.files]
        self._before = 0
        self._open: IO[bytes] | None = None

    @property
    def total_bytes(self) -> int | None:
        """Size of all files on disk in bytes; None when standard input is among them."""
        return None if any(name == STDIN for name, _ in self.files) else sum(self._sizes)

    @property
    def read_bytes(self) -> int:
        """Bytes on disk that `trees` has read."""
        inside = self._open is not None and not self._open.closed and self._open.seekable()
        return self._before + (self._open.tell() if inside and self._open else 0)

    def trees(self) -> Iterator[Tree | SourceProblem]:
        """Read all sources once."""
        for (name, path), size in zip(self.files, self._sizes, strict=True):
            try:
                self._expanded = ExpandedSize(self._limits, size)
                with _standard_input() if name == STDIN else path.open("rb") as self._open:
                    yield from self._trees(name, self._open, 0)
            except TooMuch as error:
                yield SourceProblem(printable(name), "expands to too much", str(error))
            except OSError as error:
                yield _problem(name, error)
            self._open = None
            self._before += size

    def _trees(self, name: str, stream: Any, depth: int) -> Iterator[Tree | SourceProblem]:
        """Read one stream: the members of an archive, or the trees of a collection."""
        try:
            head = stream.peek(512)
            unpack = next((f for magic, f in _COMPRESSIONS.items() if head.startswith(magic)), None)
            if depth > (deepest := self._limits.depth):
                yield SourceProblem(printable(name), "archives too deep", f"more than {deepest} in each other")
            elif archive := unread_archive(head):
                yield SourceProblem(printable(name), archive, "")
            elif unpack:
                with unpack(stream) as inner:
                    yield from self._trees(name, self._counted(inner), depth + 1)
            elif head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
                yield from self._zip(name, stream, depth)
            elif head[257:262] == b"ustar":
                yield from self._tar(name, stream, depth)
            else:
                yield from self._collection(name, stream, head)
        except _READ_ERRORS as error:
            yield _problem(name, error)

    def _collection(self, name: str, stream: Any, head: bytes) -> Iterator[Tree | SourceProblem]:
        number = 0
        for number, data in enumerate(split_trees(_Blocks(stream), self._limits.record_bytes), 1):
            yield Tree(f"{printable(name)}#{number}", data)
        if not number:
            yield SourceProblem(printable(name), other_format(head) or "no game tree in the file", "")

    def _zip(self, name: str, stream: Any, depth: int) -> Iterator[Tree | SourceProblem]:
        file = _seekable(stream)
        self._expanded.open_members(_zip_directory(file) // _DIRECTORY_ENTRY)  # before it is read as a whole
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                if member.is_dir() or not _is_wanted(member.filename, self._suffixes):
                    continue
                try:
                    with archive.open(member) as inner:
                        yield from self._trees(f"{name}/{member.filename}", self._counted(inner), depth + 1)
                except _READ_ERRORS as error:
                    yield _problem(f"{name}/{member.filename}", error)

    def _tar(self, name: str, stream: Any, depth: int) -> Iterator[Tree | SourceProblem]:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Member) as archive:
            for member in archive:
                self._expanded.open_members(1)
                archive.members.clear()  # type: ignore[attr-defined]  # it would keep all of them
                # To the end of a member that is not there `tarfile` reads on for ever, whether it is wanted or not.
                self._expanded.expect(archive.offset - member.offset_data)
                wanted = member.isfile() and _is_wanted(member.name, self._suffixes)
                inner = archive.extractfile(member) if wanted else None
                if inner is not None:
                    # A sparse member is larger than what the archive has of it.
                    whole = self._counted(inner) if member.issparse() else inner
                    yield from self._trees(f"{name}/{member.name}", whole, depth + 1)

    def _counted(self, stream: Any) -> io.BufferedReader:
        """Contents of an archive, which count."""
        return io.BufferedReader(_Expanded(stream, self._expanded), _BLOCK)


def _zip_directory(file: Any) -> int:
    """Bytes of the directory of a zip, which `zipfile` reads as a whole: all that lies before its end record, where
    that does not say."""
    end = file.seek(0, 2)
    file.seek(max(0, end - (1 << 16) - 22))
    tail = file.read()
    file.seek(0)
    at = tail.rfind(b"PK\x05\x06")
    size = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    return end if size == 0xFFFFFFFF else size


class _Blocks:
    """A stream that returns the last bytes before a read error first, and raises the error at the next read."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._error: Exception | None = None

    def read(self, size: int, /) -> bytes:
        if self._error:
            raise self._error
        blocks: list[bytes] = []
        wanted = size
        try:
            while wanted > 0 and (block := self._stream.read1(wanted)):
                blocks.append(block)
                wanted -= len(block)
        except _READ_ERRORS as error:
            self._error = error
            if not blocks:
                raise
        return b"".join(blocks)


def _problem(name: str, error: Exception) -> SourceProblem:
    text = os_reason(error) if isinstance(error, OSError) else str(error)
    return SourceProblem(printable(name), "file cannot be read", text or type(error).__name__)


def _find_files(path: str, suffixes: tuple[str, ...]) -> list[tuple[str, Path]]:
    """The files of a path as (name, path): in a folder those with these suffixes, whose names start with the folder."""
    if path == STDIN:
        return [(STDIN, Path())]
    top = Path(path)
    if not top.exists():
        raise SgfError(f"{path}: there is no such file or folder")
    if not top.is_dir():
        return [(top.name, top)]
    found = sorted(Path(folder, file) for folder, _, files in os.walk(top) for file in files)
    inside = [(file.relative_to(top).as_posix(), file) for file in found]
    wanted = [(name, file) for name, file in inside if file.is_file() and _is_wanted(name, suffixes)]
    return [(f"{top.resolve().name}/{name}", file) for name, file in wanted]


def _is_wanted(name: str, suffixes: tuple[str, ...]) -> bool:
    """Whether a name has one of these suffixes. Hidden files and macOS resource forks are left out."""
    parts = name.split("/")
    hidden = any(part.startswith(".") and part not in (".", "..") for part in parts) or "__MACOSX" in parts
    return not hidden and name.lower().endswith(suffixes)


def _standard_input() -> IO[bytes]:
    return open(os.dup(sys.stdin.fileno()), "rb")


def _seekable(stream: Any) -> Any:
    """Return the stream itself when it is a file on disk, else a copy of it, on disk when it is large."""
    if isinstance(stream, io.BufferedReader) and isinstance(stream.raw, io.FileIO) and stream.seekable():
        return stream
    copy = tempfile.SpooledTemporaryFile(_SPOOL)  # noqa: SIM115  # closed with the archive that reads it
    while block := stream.read(io.DEFAULT_BUFFER_SIZE * 16):
        copy.write(block)
    copy.seek(0)
    return copy
