"""The game store: what is written is read, and nothing unfinished is ever trusted."""

from __future__ import annotations

import datetime
import errno
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import weakref
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tengen.data.format import MANIFEST
from tengen.data.record import GameRecord, pack_moves, pack_ownership, unpack_ownership
from tengen.data.stats import collect
from tengen.data.store import NO_DATE, Store, StoreWriter
from tengen.data.writer import StoreAppender
from tengen.errors import IllegalMove, StoreError


def a_record(i: int) -> GameRecord:
    """A different record for every i, with every column unknown now and then."""
    rng = np.random.default_rng(i)
    count = 2 if i == 4 else int(rng.integers(0, 30))  # the findings of a search below are of two moves
    return GameRecord(
        size=9,
        moves=pack_moves(np.arange(count) % 2, rng.integers(0, 82, count)),
        rules=["chinese", "japanese"][i % 2],
        komi=None if i % 3 == 0 else 6.5,
        black_stones=np.arange(i % 4, dtype=np.uint16),
        first=i % 2,
        winner=[0, 1, 2, None][i % 4],
        score=None if i % 5 else 3.5,
        ending=["count", "resign", "draw", "unknown"][i % 4],
        black_rank=f"{i % 9 + 1}d",
        date=None if i % 7 == 0 else datetime.date(2010, 1, 1) + datetime.timedelta(i),
        source=f"file#{i}",
        hash=2**64 - 1 - i,
        ownership=None if i % 2 else rng.integers(0, 3, 81).astype(np.uint8),
        visits=(np.array([5 | 7 << 16], np.uint32), np.array([], np.uint32)) if i == 4 else None,
        root_values=np.array([0.5, -0.5], np.float32) if i == 4 else None,
        weight=0.25 if i == 4 else None,
        surprises=np.array([np.nan, 1.5], np.float32) if i == 4 else None,
    )


def assert_same(read: GameRecord, written: GameRecord) -> None:
    for name, value in vars(written).items():
        got = getattr(read, name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(got, value, err_msg=name)
        elif name == "visits" and value is not None:
            assert [v.tolist() for v in got] == [v.tolist() for v in value]
        else:
            assert got == value, name


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with StoreWriter(tmp_path / "games", rows_a_shard=40) as writer:
        for i in range(100):
            writer.add(a_record(i))
    return Store.open(tmp_path / "games")


def test_rows_come_back_as_they_were(store: Store) -> None:
    assert [len(shard) for shard in store.shards] == [40, 40, 20]
    for i in range(100):
        assert_same(store.row(i), a_record(i))
    assert [r.source for r in store] == [f"file#{i}" for i in range(100)]


def test_columns_agree_with_rows(store: Store) -> None:
    records = [a_record(i) for i in range(100)]
    assert store.lengths.tolist() == [len(r.moves) for r in records]
    assert store.hashes.tolist() == [r.hash for r in records]
    assert store.positions == sum(len(r.moves) for r in records)
    np.testing.assert_array_equal(store.column("komi"), [np.nan if r.komi is None else r.komi for r in records])
    assert store.column("winner").tolist() == [-1 if r.winner is None else r.winner for r in records]
    days = [NO_DATE if r.date is None else (r.date - datetime.date(1970, 1, 1)).days for r in records]
    assert store.column("date").tolist() == days
    shard = store.shards[1]
    codes, names = shard.texts("rules")
    assert [names[code] for code in codes] == [r.rules for r in records[40:80]]
    for i, record in enumerate(records[40:80]):
        packed = shard.ownership[shard.ownership_offsets[i] : shard.ownership_offsets[i + 1]]
        assert packed.tobytes() == (b"" if record.ownership is None else pack_ownership(record.ownership))


def test_moves_are_views_of_the_mapped_file(store: Store) -> None:
    shard = store.shards[0]
    assert not shard.moves.flags.owndata
    assert not shard.moves.flags.writeable
    assert np.shares_memory(store.row(3).moves, shard.moves)


@pytest.mark.linux
def test_a_store_keeps_no_file_open(store: Store) -> None:
    held = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if fd.isdigit() and _is_open(fd)}
    assert not [name for name in held if str(store.path) in name]


def _is_open(fd: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{fd}")


def test_rows_are_located(store: Store) -> None:
    assert [store.locate(row) for row in (0, 39, 40, 99)] == [(0, 0), (0, 39), (1, 0), (2, 19)]
    for row in (-1, 100):
        with pytest.raises(IndexError):
            store.row(row)


def test_a_store_pickles_as_its_path(store: Store) -> None:
    assert_same(pickle.loads(pickle.dumps(store)).row(77), a_record(77))


def test_ownership_packs_into_two_bits_a_point() -> None:
    owner = np.random.default_rng(0).integers(0, 3, 361).astype(np.uint8)
    assert len(pack_ownership(owner)) == 91
    np.testing.assert_array_equal(unpack_ownership(pack_ownership(owner), 361), owner)


def test_a_record_plays_and_shows_itself() -> None:
    record = GameRecord(9, pack_moves([0, 1, 0], [40, 41, 81]), komi=5.5, winner=0, score=2.5, ending="count")
    assert record.game().moves == [(0, 40), (1, 41), (0, 81)]
    assert record.game(1).moves == [(0, 40)]
    assert record.result == "B+2.5"
    assert "9x9, 3 moves, B+2.5" in repr(record)
    with pytest.raises(IllegalMove):
        GameRecord(9, pack_moves([0, 1], [40, 40])).game()


def test_an_empty_store(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "none"):
        pass
    store = Store.open(tmp_path / "none")
    assert (len(store), store.positions, len(store.lengths), len(store.column("score"))) == (0, 0, 0, 0)


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), StoreWriter(tmp_path / "games", rows_a_shard=5) as writer:
        for i in range(12):
            writer.add(a_record(i))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_is_cleared(tmp_path: Path) -> None:
    left = tmp_path / ".games.partial"
    left.mkdir()
    (left / "shard-00009.arrow").write_bytes(b"half")
    with StoreWriter(tmp_path / "games") as writer:
        writer.add(a_record(1))
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["games", MANIFEST, "shard-00000.arrow"]


def test_a_finished_store_is_replaced_only_when_told(store: Store) -> None:
    with pytest.raises(StoreError, match="--force"), StoreWriter(store.path):
        pass
    with pytest.raises(RuntimeError), StoreWriter(store.path, overwrite=True):
        raise RuntimeError
    assert len(Store.open(store.path)) == 100
    with StoreWriter(store.path, overwrite=True) as writer:
        writer.add(a_record(5))
    assert len(Store.open(store.path)) == 1
    assert_same(store.row(99), a_record(99))  # the old one stays readable for those who have it open


KILLED_AT_EACH_CHANGE = """
import itertools, os, sys
from pathlib import Path
from data_pipeline.test_store import a_record
from tengen.data.store import StoreWriter

def write(folder, games):
    with StoreWriter(folder / "games", overwrite=True) as writer:
        for i in range(games):
            writer.add(a_record(i))

for number in itertools.count(1):
    folder = Path(sys.argv[1]) / str(number)
    write(folder, 2)
    if not (child := os.fork()):
        changes = itertools.count(1)
        def look(event, args):
            writes = event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR)
            if (writes or event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir")) and next(changes) == number:
                os.kill(os.getpid(), 9)
        sys.addaudithook(look)
        write(folder, 3)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders in which a store of 2 games was being replaced by one of 3 when the process was killed, each at the next
    of its changes on the disk; the last was not killed."""
    folder = tmp_path_factory.mktemp("killed")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED_AT_EACH_CHANGE, str(folder)]
    subprocess.run(command, check=True, env=environment, timeout=60)
    return folder


def games_in(path: Path) -> int:
    """Games of a store, all of which can be read; 0 where there is none and nothing is said of an old one."""
    try:
        store = Store.open(path)
    except StoreError as error:
        found = re.search(r"The old store is (.+): rename it to games", str(error))
        return games_in(Path(found[1])) if found else 0
    return sum(store.row(i).size == 9 for i in range(len(store)))


@pytest.mark.posix
def test_a_kill_at_any_change_leaves_the_old_store_or_the_new_one(killed: Path, tmp_path: Path) -> None:
    found = [games_in(killed / str(number) / "games") for number in range(1, len(list(killed.iterdir())) + 1)]
    assert set(found) == {2, 3} and found == sorted(found) and found.count(2) > 5 and found.count(3) > 3


@pytest.mark.posix
@pytest.mark.parametrize("made", [False, True], ids=["no folder", "an empty folder"])
def test_a_writer_finds_what_a_kill_left(killed: Path, tmp_path: Path, made: bool) -> None:
    """Whatever it does with the store: one that was moved away was lost to an empty folder in its place."""
    for number in range(1, len(list(killed.iterdir())) + 1):
        for kind in ("write", "append"):
            folder = tmp_path / kind / str(number)
            shutil.copytree(killed / str(number), folder)
            path, games = folder / "games", games_in(folder / "games")
            if made and not path.exists():
                path.mkdir()
            if kind == "append":
                with StoreAppender(path) as appender:
                    assert appender.rows == games
            else:
                with pytest.raises(StoreError, match="pass --force"), StoreWriter(path):
                    pass
            assert games_in(path) == games and path.exists()


@pytest.mark.posix
def test_a_store_that_was_replaced_does_not_come_back_in_part(killed: Path, tmp_path: Path) -> None:
    """A kill while the old store is removed, and then the new one is moved elsewhere: what is left is no store."""
    for number in range(1, len(list(killed.iterdir())) + 1):
        folder = tmp_path / str(number)
        shutil.copytree(killed / str(number), folder)
        if games_in(folder / "games") == 3:
            (folder / "games").rename(folder / "elsewhere")
            with pytest.raises(StoreError) as error:
                Store.open(folder / "games")
            assert ("The old store" in str(error.value)) == (games_in(folder / "games") == 2)


@pytest.mark.posix
def test_a_kill_between_the_two_renames_loses_no_store(store: Store) -> None:
    """The old store was left under a hidden name, which nothing told."""
    script = f"""
import os, pathlib
from tengen.data.store import StoreWriter
rename = pathlib.Path.rename
def killed(path, target):
    rename(path, target)
    if str(target).endswith(".old"):
        os.kill(os.getpid(), 9)
pathlib.Path.rename = killed
with StoreWriter({str(store.path)!r}, overwrite=True):
    pass
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -9
    assert not store.path.exists()
    with pytest.raises(StoreError, match=r"The old store is .*\.games\.old: rename it to games"):
        Store.open(store.path)
    with pytest.raises(StoreError, match="pass --force to replace it"), StoreWriter(store.path):
        pass
    assert len(Store.open(store.path)) == 100, "the writer puts it back before anything else"
    StoreWriter(store.path, overwrite=True).__enter__().__exit__(None, None, None)
    assert len(Store.open(store.path)) == 0
    assert [entry.name for entry in store.path.parent.iterdir()] == ["games"]


def test_an_error_between_the_two_renames_puts_the_old_store_back(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if path.name.endswith(".partial"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(StoreError, match="Permission denied"), StoreWriter(store.path, overwrite=True):
        pass
    assert len(Store.open(store.path)) == 100


def test_no_other_folder_is_ever_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(StoreError, match="no game store"), StoreWriter(tmp_path, overwrite=True):
        pass
    with pytest.raises(StoreError, match="no game store"), StoreWriter(tmp_path / "thesis.txt", overwrite=True):
        pass
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_two_writers_of_one_store(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "games"), pytest.raises(StoreError, match="another process"):
        StoreWriter(tmp_path / "games").__enter__()


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(StoreError, match="the disk is full"), StoreWriter(tmp_path / "games") as writer:
        writer.add(a_record(1))
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_before_the_first_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tengen.data.writer.StoreLock", no_space)
    with pytest.raises(StoreError, match="the disk is full"):
        StoreWriter(tmp_path / "games").__enter__()


def test_stores_that_cannot_be_read(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such folder"):
        Store.open(tmp_path / "nowhere")
    with pytest.raises(StoreError, match=f"no {MANIFEST}"):
        Store.open(tmp_path)
    manifest = json.loads((store.path / MANIFEST).read_text())
    for change, words in (({"version": 99}, "format version 99.*import the games again"), ({"format": "x"}, "not the")):
        (store.path / MANIFEST).write_text(json.dumps(manifest | change))
        with pytest.raises(StoreError, match=words):
            Store.open(store.path)
    (store.path / MANIFEST).write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        Store.open(store.path)


@pytest.mark.parametrize(
    "text",
    [
        '{"format": "tengen-games", "version": 1}',
        '{"format": "tengen-games", "version": 1, "shards": 7}',
        '{"format": "tengen-games", "version": 2, "shards": ["x"]}',
        '{"format": "tengen-games", "version": 3, "shards": [{"file": "x"}]}',
        '{"format": "tengen-games", "version": 3, "shards": [{"file": 1, "rows": 1}]}',
        '{"format": "tengen-games", "version": 3, "shards": [{"file": "x", "rows": "1"}]}',
        "[" * 100_000,
    ],
)
def test_a_manifest_without_a_checksum_may_say_anything(tmp_path: Path, text: str) -> None:
    """Those of the versions 1 to 3 have none."""
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(StoreError, match=re.escape(str(tmp_path / MANIFEST))):
        Store.open(tmp_path)


@pytest.mark.parametrize("damage", ["missing", "cut", "swapped", "offset"])
def test_a_damaged_shard_is_noticed(store: Store, damage: str) -> None:
    shard = store.path / "shard-00001.arrow"
    if damage == "missing":
        shard.unlink()
    elif damage == "cut":
        shard.write_bytes(shard.read_bytes()[:100])
    elif damage == "offset":  # of a game, which numpy would follow to wherever it leads
        offsets = store.shards[1].offsets
        wild = offsets.copy()
        wild[5] = 1 << 30
        assert shard.read_bytes().count(offsets.tobytes()) == 1
        shard.write_bytes(shard.read_bytes().replace(offsets.tobytes(), wild.tobytes()))
    else:
        shard.write_bytes((store.path / "shard-00002.arrow").read_bytes())
    with pytest.raises(StoreError, match="shard-00001"):
        Store.open(store.path)


def test_a_shard_that_the_manifest_does_not_name_is_not_read(store: Store) -> None:
    (store.path / "shard-00003.arrow").write_bytes((store.path / "shard-00002.arrow").read_bytes())
    assert len(Store.open(store.path)) == 100


def test_a_shard_that_rests_gives_its_file_up_and_comes_back(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "store", rows_a_shard=10) as writer:
        for i in range(30):
            writer.add(a_record(i))
    store = Store.open(tmp_path / "store")
    rows = [str(vars(record)) for record in store]
    hashes, recorded = store.hashes.copy(), [shard.recorded.tolist() for shard in store.shards]
    mapped = weakref.ref(store.shards[0].batch)
    store.rest(19)
    assert mapped() is None and [shard._batch is None for shard in store.shards] == [True, False, False]
    again = Store(store.path, store.manifest, store.shards)
    assert (again.hashes == hashes).all() and [shard.recorded.tolist() for shard in store.shards] == recorded
    assert store.shards[0]._batch is None, "hashes and counts need no file"
    assert [str(vars(record)) for record in store] == rows
    store.rest(30)
    path = tmp_path / "store" / store.manifest["shards"][0]["file"]
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, match=r"altered shard|damaged"):
        store.row(0)


def test_statistics_are_those_of_the_records_one_by_one(tmp_path: Path) -> None:
    records = [a_record(i) for i in range(30)]
    with StoreWriter(tmp_path / "store", rows_a_shard=7) as writer:
        for record in records:
            writer.add(record)
    stats = collect(Store.open(tmp_path / "store"))
    lengths = [len(record.moves) for record in records]
    dates = [record.date for record in records if record.date]
    assert (stats.games, stats.moves, stats.shortest, stats.longest) == (30, sum(lengths), min(lengths), max(lengths))
    assert (stats.median, stats.first_date, stats.last_date) == (np.median(lengths), min(dates), max(dates))
    assert stats.with_score == sum(record.score is not None for record in records)
    assert stats.with_ownership == sum(record.ownership is not None for record in records)
    assert stats.with_visits == 1
    assert stats.komi == Counter(record.komi for record in records)
    assert stats.rules == Counter(record.rules for record in records)
    assert stats.endings == Counter(record.ending for record in records)
    names = {0: "black", 1: "white", 2: "draw", None: "unknown"}
    assert stats.winners == Counter(names[record.winner] for record in records)
    assert stats.ranks == Counter(rank for record in records for rank in (record.black_rank, record.white_rank))
    assert stats.lengths == Counter(length // 50 * 50 for length in lengths)
    assert stats.years == Counter(date.year for date in dates)
    told = json.loads(json.dumps(stats.as_dict()))
    assert told["komi"] == {"6.5": stats.komi[6.5], "unknown": stats.komi[None]}
    assert told["ranks"]["unknown"] == 30 and told["bytes_a_game"] == round(stats.bytes / 30, 1) > 0
    assert (told["first_date"], told["last_date"]) == (str(min(dates)), str(max(dates)))
    with StoreWriter(tmp_path / "empty"):
        pass
    told = collect(Store.open(tmp_path / "empty")).as_dict()
    assert (told["games"], told["bytes_a_game"], told["first_date"], told["komi"]) == (0, 0, "", {})
