"""Game trees out of every kind of file, also out of damaged ones."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tengen.data.sources import SourceProblem, Sources, Tree
from tengen.errors import SgfError
from tengen.sgf import read_game

GAME = b"(;GM[1]SZ[9];B[aa];W[bb])"
OTHER = b"(;GM[1]SZ[9];B[cc])"


def read(*paths: Path | str) -> tuple[list[tuple[str, bytes]], list[tuple[str, str]]]:
    items = list(Sources(paths).trees())
    trees = [(t.place, t.data) for t in items if isinstance(t, Tree)]
    return trees, [(p.place, p.reason) for p in items if isinstance(p, SourceProblem)]


def a_zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def a_tar(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def test_a_collection_and_a_folder(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.SGF").write_bytes(GAME + b"\n" + OTHER)
    (tmp_path / "a.sgf").write_bytes(OTHER)
    (tmp_path / "readme.txt").write_bytes(GAME)
    (tmp_path / ".hidden.sgf").write_bytes(GAME)
    top = tmp_path.name
    trees, problems = read(tmp_path)
    assert trees == [(f"{top}/a.sgf#1", OTHER), (f"{top}/b/two.SGF#1", GAME), (f"{top}/b/two.SGF#2", OTHER)]
    assert not problems


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, lambda data: data])
@pytest.mark.parametrize("box", [a_zip, a_tar, lambda members: members["x/g.sgf"]])
def test_packed_and_boxed(tmp_path: Path, pack: object, box: object) -> None:
    path = tmp_path / "games.bin"
    path.write_bytes(pack(box({"x/g.sgf": GAME + OTHER, "x/notes.txt": GAME})))  # type: ignore[operator]
    trees, problems = read(path)
    assert [data for _, data in trees] == [GAME, OTHER]
    assert not problems


def test_archives_in_archives(tmp_path: Path) -> None:
    inner = a_zip({"deep/g.sgf": GAME, "__MACOSX/._g.sgf": OTHER})
    (tmp_path / "all.tar.xz").write_bytes(lzma.compress(a_tar({"in.zip": inner, "h.sgf.gz": gzip.compress(OTHER)})))
    trees, problems = read(tmp_path / "all.tar.xz")
    assert trees == [("all.tar.xz/in.zip/deep/g.sgf#1", GAME), ("all.tar.xz/h.sgf.gz#1", OTHER)]
    assert not problems


def test_a_bomb_of_archives_is_left(tmp_path: Path) -> None:
    data = GAME
    for _ in range(7):
        data = gzip.compress(data)
    (tmp_path / "bomb.gz").write_bytes(data)
    assert read(tmp_path / "bomb.gz") == ([], [("bomb.gz", "archives too deep")])


def test_a_hole_in_a_tar_counts_as_what_it_expands_to(tmp_path: Path) -> None:
    """A member of GNU's type S: 512 bytes of data, and a hole of 256 MB before them."""
    hole = 1 << 28
    member = tarfile.TarInfo("g.sgf")
    member.size, member.type = 512, tarfile.GNUTYPE_SPARSE
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[386:410] = b"%011o\0%011o\0" % (hole, 512)
    header[483:495] = b"%011o\0" % (hole + 512)
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 8 * ord(" ") + sum(header[156:]))
    (tmp_path / "a.tar").write_bytes(bytes(header) + GAME.ljust(512) + bytes(1024))
    sources = Sources([tmp_path / "a.tar"])
    assert [problem.reason for problem in sources.trees()] == ["expands to too much"]  # type: ignore[union-attr]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_cut_archive_gives_what_it_has_and_the_rest_goes_on(tmp_path: Path, pack: object) -> None:
    games = b"\n".join(b"(;GM[1]SZ[9]GN[%d];B[aa])" % (i * 7919) for i in range(40_000))
    packed = pack(games)  # type: ignore[operator]
    (tmp_path / "a.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "b.sgf").write_bytes(GAME)
    trees, problems = read(tmp_path)
    assert trees[-1][1] == GAME
    assert [reason for _, reason in problems] == ["file cannot be read"]


def test_damaged_members_cost_only_themselves(tmp_path: Path) -> None:
    data = bytearray(a_zip({"a.sgf": GAME * 40, "b.sgf": OTHER, "c.sgf": b"no game"}))
    data[50] ^= 0xFF
    (tmp_path / "games.zip").write_bytes(data)
    trees, problems = read(tmp_path / "games.zip")
    assert OTHER in [tree for _, tree in trees]
    assert ("games.zip/c.sgf", "no game tree in the file") in problems
    assert ("games.zip/a.sgf", "file cannot be read") in problems


def test_a_zip_with_a_name_that_is_no_utf8_costs_only_itself(tmp_path: Path) -> None:
    data = a_zip({"\u00e9.sgf": GAME}).replace("\u00e9".encode(), b"\xe9\xe9")
    (tmp_path / "a.zip").write_bytes(data)
    (tmp_path / "b.sgf").write_bytes(OTHER)
    trees, problems = read(tmp_path)
    assert [tree for _, tree in trees] == [OTHER]
    assert [reason for _, reason in problems] == ["file cannot be read"]


def a_tar_with_header(**fields: str) -> bytes:
    """A tar of one member with these fields in an extended header."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("a.sgf")
        info.pax_headers, info.size = fields, len(GAME)
        archive.addfile(info, io.BytesIO(GAME))
    return buffer.getvalue()


def a_tar_of_size(field: bytes, name: str) -> bytes:
    """A tar of one member with this text as its size."""
    header = bytearray(tarfile.TarInfo(name).tobuf(tarfile.USTAR_FORMAT))
    header[124:136] = field
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 8 * ord(" ") + sum(header[156:]))
    return bytes(header) + GAME.ljust(512, b"\0")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.zip", a_zip({"a.sgf": GAME}).replace(b"a.sgf", b"\0.sgf"), "file cannot be read"),
        ("a.tar", a_tar_with_header(**{"GNU.sparse.map": "0,x"}), "file cannot be read"),
        ("a.tar", a_tar_with_header(size="9" * 20), "expands to too much"),
        ("a.tar", a_tar_of_size(b"\x80" + b"\x7f" * 11, "a.sgf"), "expands to too much"),
        ("a.tgz", gzip.compress(a_tar_of_size(b"\x80" + b"\x7f" * 11, "a.txt")), "expands to too much"),
    ],
    ids=["name", "sparse map", "size of a header", "size", "size in gzip"],
)
def test_a_hostile_archive_costs_only_itself(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    """The first two ended the import with a traceback, and the others never ended."""
    (tmp_path / name).write_bytes(data)
    (tmp_path / "b.sgf").write_bytes(OTHER)
    trees, problems = read(tmp_path)
    assert [tree for _, tree in trees] == [OTHER]
    assert [found for _, found in problems] == [reason]


def test_what_is_no_archive_is_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04 and nothing else")
    (tmp_path / "y.xz").write_bytes(GAME)
    trees, problems = read(tmp_path)
    assert [data for _, data in trees] == [GAME]
    assert [place.split("/")[1] for place, _ in problems] == ["x.zip"]


def test_names_that_a_terminal_would_obey_are_escaped(tmp_path: Path) -> None:
    names = {"b\x1b[2J.sgf": r"b\x1b[2J.sgf", "c\nd.sgf": r"c\nd.sgf", "\u68cb\u3000e f.sgf": "\u68cb\u3000e f.sgf"}
    (tmp_path / "a.zip").write_bytes(a_zip(dict.fromkeys(names, GAME)))
    trees, _ = read(tmp_path / "a.zip")
    assert [place for place, _ in trees] == [f"a.zip/{name}#1" for name in names.values()]


def test_standard_input() -> None:
    code = "from tengen.data.sources import Sources; print([t.place for t in Sources(['-']).trees()])"
    for data in (GAME + OTHER, gzip.compress(GAME + OTHER), a_zip({"g.sgf": GAME}), a_tar({"g.sgf": GAME})):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", code], input=data, capture_output=True, check=True, env=environment
        )
        assert done.stdout.startswith((b"['-#1'", b"['-/g.sgf#1'"))


def test_records_of_other_formats_are_found_unless_they_are_not_wanted(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "a.sgf").write_bytes(GAME)
    (folder / "a.gib").write_bytes(b"\\HS\n")
    (folder / "b.zip").write_bytes(a_zip({"c.ngf": b"", "c.sgf": OTHER}))
    (folder / "c.tar").write_bytes(a_tar({"d.UGF": b"", "d.sgf": OTHER}))
    named = {place for place, _ in read(folder)[1]}
    assert named == {"games/a.gib", "games/b.zip/c.ngf", "games/c.tar/d.UGF"}
    left = list(Sources([folder], other_formats=False).trees())
    assert [one.place for one in left] == ["games/a.sgf#1", "games/b.zip/c.sgf#1", "games/c.tar/d.sgf#1"]
    assert isinstance(next(Sources([folder / "a.gib"], other_formats=False).trees()), SourceProblem), "it is named"


def test_archives_that_are_not_read_are_named(tmp_path: Path) -> None:
    """Alone, in a folder and in another archive, as whole collections of games come."""
    noise = np.random.default_rng(3).bytes(500_000)
    assert noise.count(b"(;") >= 3, "which looks like damaged games"
    seven, rar, zst = b"7z\xbc\xaf\x27\x1c" + noise, b"Rar!\x1a\x07\x01\0" + noise, b"\x28\xb5\x2f\xfd" + noise
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "a.sgf").write_bytes(GAME)
    (folder / "b.7z").write_bytes(seven)
    (folder / "c.tar.zst").write_bytes(zst)
    (folder / "d.zip").write_bytes(a_zip({"e.rar": rar}))
    named = {
        "games/b.7z": "a 7z archive: unpack it first",
        "games/c.tar.zst": "a zst archive: unpack it first",
        "games/d.zip/e.rar": "a RAR archive: unpack it first",
    }
    found = list(Sources([folder]).trees())
    assert {one.place: one.reason for one in found if isinstance(one, SourceProblem)} == named
    assert [one.place for one in found if not isinstance(one, SourceProblem)] == ["games/a.sgf#1"]
    assert [one.place for one in Sources([folder], other_formats=False).trees()] == ["games/a.sgf#1"]
    assert list(Sources([folder / "b.7z"]).trees()) == [SourceProblem("b.7z", named["games/b.7z"], "")]
    (folder / "e.zst").write_bytes(b"\x5a\x2a\x4d\x18" + noise)
    with pytest.raises(SgfError, match="a zst archive: unpack it first"):
        read_game(folder / "e.zst")


def test_progress_is_in_bytes_on_disk(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_bytes(GAME * 10)
    (tmp_path / "b.sgf.gz").write_bytes(gzip.compress(GAME * 1000))
    sources = Sources([tmp_path])
    seen = [sources.read_bytes for _ in sources.trees()]
    assert seen == sorted(seen)
    assert sources.read_bytes == sources.total_bytes == sum(p.stat().st_size for p in tmp_path.iterdir())
    assert Sources(["-"]).total_bytes is None


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(SgfError, match="no such file"):
        Sources([tmp_path / "nowhere.sgf"])
    with pytest.raises(SgfError, match="no game records found"):
        Sources([tmp_path])


def test_memory_stays_constant(tmp_path: Path) -> None:
    """A hundred megabytes of noise and one game cost a few blocks."""
    with lzma.open(tmp_path / "big.xz", "wb", preset=0) as stream:
        for _ in range(100):
            stream.write(b"x(y" * (1 << 18))
        stream.write(GAME)
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell the peak memory of a program")
    # Not ru_maxrss: it begins with the memory of the process that started this one.
    code = (
        "import sys; from tengen.data.sources import Sources\n"
        "peak = lambda: next(int(x.split()[1]) for x in open('/proc/self/status') if x.startswith('VmHWM'))\n"
        "base = peak()\n"
        "trees = list(Sources([sys.argv[1]]).trees())\n"
        "print(len(trees), peak() - base)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(tmp_path / "big.xz")]
    trees, kilobytes = map(
        int, subprocess.run(command, capture_output=True, check=True, env=environment).stdout.split()
    )
    assert trees == 1
    assert kilobytes < 30_000
