"""Hostile archives and records: an import ends with a count, in little memory and linear time."""

from __future__ import annotations

import io
import lzma
import random
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tengen.data.sources import ImportLimits, SourceProblem, Sources, Tree
from tengen.errors import SgfError
from tengen.sgf import grammar, read_tree
from tengen.sgf.grammar import RecordLimits, split_trees
from tengen.sgf.main_line import SgfProblem, read_record

GAME = b"(;GM[1]SZ[9];B[aa];W[bb])"


def problems(path: Path, **limits: float) -> list[SourceProblem]:
    found = list(Sources([path], ImportLimits(**limits)).trees())  # type: ignore[arg-type]
    return [one for one in found if isinstance(one, SourceProblem)]


def slow_split(buffer: bytes) -> Iterator[bytes]:
    """Each tree by itself: where its brackets close, or where the next game begins before that."""
    at = 0
    while found := grammar._START.search(buffer, at):
        start = found.start()
        end = grammar._tree_end(buffer, start, len(buffer))
        following = grammar._NEW_GAME.search(buffer, start + 1, len(buffer) if end < 0 else end)
        at = following.start() if following else len(buffer) if end < 0 else end
        yield grammar._with_start(buffer[start:at])


def test_trees_end_where_a_slow_reader_ends_them() -> None:
    words = [*(b"(", b")", b";", b"(;", b"[", b"]", b"\\", b" ", b"x")]
    words += [b"C[x)]", b"B[aa]", b"(B[aa]", b"(;GM[1]", b";SZ[9]", b"C[(;GM[1]]"]
    drawn = random.Random(5)
    for _ in range(3000):
        text = b"".join(drawn.choices(words, k=drawn.randint(1, 24)))
        assert list(split_trees(io.BytesIO(text))) == list(slow_split(text)), text


@pytest.mark.parametrize(
    "unit",
    [b"(;GM[1];B[aa]", b"(;GM[1];B[aa](", b"(;B[aa]", b"(;B[aa])", b"(B[aa]", b"(GM[1])", b";GM[1];B[aa]", b"(", b"( "],
)
def test_splitting_takes_linear_time(unit: bytes) -> None:
    """156 KB of the first took 27 s."""
    began = time.process_time()
    for _ in split_trees(io.BytesIO(unit * (600_000 // len(unit)))):
        pass
    assert time.process_time() - began < 3


def test_the_rest_of_a_tree_that_is_too_long_is_no_game() -> None:
    long = b"(;GM[1]" + b"(;B[aa])" * 300_000 + b")"
    first, second = split_trees(io.BytesIO(long + GAME), 1_000_000)
    assert (len(first), second) == (1_000_000, GAME)
    with pytest.raises(SgfProblem, match="record too large: 1,000,000 bytes or more"):
        read_record(first, RecordLimits(record_bytes=1_000_000))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b"(;GM[1]" + b";" * 100_000 + b")", "100,001 nodes, more than the limit of 100,000"),
        (b"(;GM[1]C" + b"[x]" * 400_000 + b")", "400,001 values, more than the limit of 400,000"),
        (b"(;GM[1]AB" + b"[aa:ss]" * 50_000 + b";B[aa])", "more stones than points"),
    ],
)
def test_a_record_that_is_too_large_is_refused(record: bytes, message: str) -> None:
    for read in (read_record, read_tree):
        with pytest.raises(SgfError, match=message):
            read(record)


def test_a_bomb_in_an_archive_ends_with_a_count(tmp_path: Path) -> None:
    packed = tmp_path / "bomb.xz"
    packed.write_bytes(lzma.compress(GAME + b" " * (18 << 20)))
    (found,) = problems(packed)
    assert (
        found.reason == "expands to too much" and "bytes from a file of" in found.detail and "250 times" in found.detail
    )
    assert not problems(packed, ratio=1e6)
    (found,) = problems(packed, ratio=1e6, expanded_bytes=1 << 20)
    assert "the limit expanded_bytes" in found.detail
    zipped = tmp_path / "many.zip"
    with zipfile.ZipFile(zipped, "w") as archive:
        for number in range(300):
            archive.writestr(f"a-name-that-is-as-long-as-those-of-real-records-{number:05d}.sgf", GAME)
    assert not problems(zipped)
    (found,) = problems(zipped, members=200)
    assert "members, more than the limit of 200" in found.detail
    taped = tmp_path / "many.tar"
    with tarfile.open(taped, "w") as tape:
        for number in range(300):
            entry = tarfile.TarInfo(f"{number}.sgf")
            entry.size = len(GAME)
            tape.addfile(entry, io.BytesIO(GAME))
    assert not problems(taped)
    trees = list(Sources([taped], ImportLimits(members=200)).trees())
    assert sum(isinstance(one, Tree) for one in trees) == 200 and isinstance(trees[-1], SourceProblem)


def test_limits_are_named() -> None:
    assert ImportLimits.of(["ratio=1e3", "nodes=5"]) == ImportLimits(ratio=1000, nodes=5)
    for setting, message in (
        ("nods=5", "did you mean nodes"),
        ("nodes=x", "write a whole number"),
        ("depth=0", "1 or more"),
    ):
        with pytest.raises(SgfError, match=message):
            ImportLimits.of([setting])


def test_a_hostile_import_stays_in_little_memory(tmp_path: Path) -> None:
    """Each of these took gigabytes; libraries and a worker process are in the figure."""
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell the peak memory of a program")
    for name, text in (
        ("values.sgf.xz", b"(;GM[1]C" + b"[x]" * 10_000_000),
        ("nodes.sgf.xz", b"(;GM[1]" + b";" * 30_000_000),
        ("stones.sgf.xz", b"(;GM[1]AB" + b"[aa:ss]" * 50_000 + b";B[aa])"),
    ):
        (tmp_path / name).write_bytes(lzma.compress(text, preset=0))
    moves = b"".join(b";%c[%c%c]" % (b"BW"[i % 2], 97 + i // 9, 97 + i % 9) for i in range(40))
    (tmp_path / "good.sgf").write_bytes(b"(;GM[1]SZ[9]" + moves + b")")
    script = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
from tengen.cli.app import main
status = main(["import", {str(tmp_path)!r}, "--out", {str(tmp_path / "store")!r}, "--workers", "1", "--quiet"])
# Not ru_maxrss: it begins with the memory of the process that started this one.
print(next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")))
sys.exit(status)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    *report, megabytes = done.stdout.splitlines()
    assert int(megabytes) < 1000 and any("record too large" in line for line in report), done.stdout
