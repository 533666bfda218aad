"""A store that grows: whole at every moment, whatever ends the process that writes it."""

from __future__ import annotations

import datetime
import itertools
import json
import os
import random
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from data_pipeline.self_play_games import self_played

from tengen.data import LabelSampler, Sampler, Store, StoreAppender, StoreWriter, game_hash
from tengen.data.format import MANIFEST, SHARD, read_manifest
from tengen.data.record import check_record
from tengen.errors import StoreError
from tengen.rules import Rules

GAMES = 5
"""Games of an append."""
SPLITS: tuple[Literal["train"], Literal["validation"]] = ("train", "validation")


def some_games(first: int, count: int = GAMES) -> list:
    return [self_played(seed) for seed in range(first, first + count)]


def sources(path: Path) -> list[str]:
    return [record.source for record in Store.open(path)]


def named(count: int) -> list[str]:
    return [f"00000/{seed:05d}" for seed in range(count)]


def test_a_store_grows_by_calls(tmp_path: Path) -> None:
    path = tmp_path / "new" / "games"
    with StoreAppender(path) as appender:
        assert appender.rows == 0 and len(Store.open(path)) == 0
        appender.append(some_games(0))
        early = Store.open(path)
        appender.append([])
        appender.append(iter(some_games(GAMES, 3)))
        assert appender.rows == GAMES + 3
    with StoreAppender(path) as appender:
        assert appender.rows == GAMES + 3
        appender.append(some_games(GAMES + 3, 2))
    assert sources(path) == named(GAMES + 5)
    assert [len(shard) for shard in Store.open(path).shards] == [GAMES, 3, 2]
    assert len(early) == GAMES and early.row(4).source == "00000/00004", "what was open stays what it was"
    manifest = json.loads((path / MANIFEST).read_text())
    assert (manifest["version"], manifest["games"], manifest["moves"]) == (5, 10, Store.open(path).positions)
    assert LabelSampler(Store.open(path), GAMES).games <= 5
    assert sorted(p.name for p in path.parent.iterdir()) == ["games"], "no lock is left"


def test_an_imported_store_can_be_added_to(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "games") as writer:
        writer.facts = {"filters": {"min_moves": 10}}
        writer.add(self_played(0))
    before = json.loads((tmp_path / "games" / MANIFEST).read_text())
    with StoreAppender(tmp_path / "games") as appender:
        appender.append(some_games(1))
    after = json.loads((tmp_path / "games" / MANIFEST).read_text())
    assert sources(tmp_path / "games") == named(GAMES + 1)
    assert {name for name in after if after[name] != before[name]} == {"games", "moves", "bytes", "shards", "sha256"}


@pytest.mark.parametrize(("version", "later"), [(1, 4), (2, 3), (3, 1)])
def test_a_store_of_an_older_version_is_read_and_added_to(tmp_path: Path, version: int, later: int) -> None:
    """Its shards lack the columns that came later."""
    path = tmp_path / "games"
    with StoreWriter(path) as writer:
        for record in some_games(0):
            writer.add(record)
    with pa.memory_map(str(path / "shard-00000.arrow")) as file:
        batch = pa.ipc.open_file(file).get_batch(0)
    old = pa.schema(list(SHARD)[:-later])
    with pa.OSFile(str(path / "old"), "wb") as file, pa.ipc.new_file(file, old) as out:
        out.write_batch(batch.select(old.names))
    (path / "old").replace(path / "shard-00000.arrow")
    manifest = json.loads((path / MANIFEST).read_text()) | {"version": version}
    del manifest["sha256"], manifest["shards"][0]["sha256"]
    (path / MANIFEST).write_text(json.dumps(manifest))
    store = Store.open(path)
    known = [version > 1 and record.surprises is not None for record in some_games(0)]
    assert [record.surprises is not None for record in store] == known
    assert all((record.root_scores, record.root_ownership, record.player) == (None,) * 3 for record in store)
    assert [r.moves.tolist() for r in store] == [r.moves.tolist() for r in some_games(0)]
    assert version > 1 or LabelSampler(store, batch_size=8).batch(0).weight.max() <= 1  # no surprises
    Sampler(store, "all", batch_size=8).batch(0)
    with StoreAppender(path) as appender:
        appender.append(some_games(GAMES))
    assert sources(path) == named(2 * GAMES)
    given = [record.surprises is not None for record in some_games(GAMES)]
    assert [record.surprises is not None for record in Store.open(path)] == known + given


def test_a_shard_that_the_manifest_does_not_name_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "games"
    with StoreAppender(path) as appender:
        appender.append(some_games(0))
        left = [path / "shard-00001.arrow", path / "shard-00001.arrow.partial", path / f"{MANIFEST}.partial"]
        left[0].write_bytes((path / "shard-00000.arrow").read_bytes())
        for half in left[1:]:
            half.write_bytes(b"half")
        assert sources(path) == named(GAMES)
    with StoreAppender(path) as appender:
        appender.append(some_games(GAMES))
    assert sources(path) == named(2 * GAMES)
    assert sorted(p.name for p in path.iterdir()) == [MANIFEST, "shard-00000.arrow", "shard-00001.arrow"]


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("first", [True, False], ids=["at the first shard", "at a later shard"])
def test_killed_at_every_step_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool) -> None:
    """Whichever of the calls that reach the disk is the last, all games of earlier appends are there, and in order."""
    seen = set()
    for step in itertools.count():
        path = tmp_path / f"games{step}"
        before = 0 if first else GAMES
        if not first:
            with StoreAppender(path) as appender:
                appender.append(some_games(0))
        if not killed_after(step, path, before, monkeypatch):
            break
        if (path / MANIFEST).exists():
            seen.add(rows := len(Store.open(path)))
            assert sources(path) == named(rows)
        with StoreAppender(path) as appender:
            appender.append(some_games(appender.rows))
            assert sources(path) == named(appender.rows)
    assert seen == {before, before + GAMES} and step > 6


def killed_after(step: int, path: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Append, and stop for good before the call number `step` that reaches the disk; False when there is none."""
    left = step

    def counted(call):
        def tried(*args, **kwargs):
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return call(*args, **kwargs)

        return tried

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", counted(os.fsync))
        for name in ("replace", "mkdir", "unlink", "write_text"):
            patch.setattr(Path, name, counted(getattr(Path, name)))
        appender = None
        try:
            appender = StoreAppender(path)
            appender.append(some_games(rows))
        except Killed:
            return True
        finally:
            left = 100
            if appender is not None:
                appender.close()
    return False


CHILD = """
import sys
from data_pipeline.self_play_games import self_played
from tengen.data import StoreAppender
appender = StoreAppender(sys.argv[1])
while True:
    appender.append([self_played(appender.rows + i) for i in range(int(sys.argv[2]))])
    print(appender.rows, flush=True)
"""


@pytest.mark.posix
@pytest.mark.parametrize("there", [True, False])
def test_a_store_behind_a_link_lies_where_the_link_leads(tmp_path: Path, there: bool) -> None:
    """The store took the place of the link: on the disk that had no room for it."""
    target, link = tmp_path / "large disk" / "games", tmp_path / "games"
    if there:
        target.mkdir(parents=True)
    link.symlink_to(target)
    for first in (0, GAMES):
        with StoreWriter(link, overwrite=True) as writer:
            for record in some_games(first):
                writer.add(record)
        assert link.is_symlink() and sources(target) == sources(link) == named(first + GAMES)[first:]
    with StoreAppender(link) as appender:
        appender.append(some_games(2 * GAMES))
    assert sources(target) == named(3 * GAMES)[GAMES:]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games", "large disk"]
    assert [path.name for path in target.parent.iterdir()] == ["games"]


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path) -> None:
    path = tmp_path / "games"
    rng = random.Random(1)
    known = 0
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(8):
        command = [sys.executable, "-c", CHILD, str(path), str(GAMES)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
            assert child.stdout is not None
            written = [int(child.stdout.readline())]
            time.sleep(rng.uniform(0, 0.05))
            child.kill()
            written += map(int, child.stdout.read().split())
        store = Store.open(path)
        assert known < written[-1] <= len(store) <= written[-1] + GAMES
        assert sources(path) == named(len(store))
        known = len(store)


@pytest.mark.linux
@pytest.mark.parametrize("part", ["shard-00001.arrow", MANIFEST])
def test_a_full_disk_loses_nothing(tmp_path: Path, part: str) -> None:
    """The file to be written lies on a device that is always full."""
    path = tmp_path / "games"
    with StoreAppender(path) as appender:
        appender.append(some_games(0))
        (path / f"{part}.partial").symlink_to("/dev/full")
        with pytest.raises(StoreError, match=r"the disk is full: .* keeps the games that it had") as caught:
            appender.append(some_games(GAMES))
        assert "\n" not in str(caught.value)
        assert appender.rows == GAMES and sources(path) == named(GAMES)
        appender.append(some_games(GAMES))
    assert sources(path) == named(2 * GAMES)
    assert not list(path.glob("*.partial"))


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with StoreAppender(tmp_path / "games"), pytest.raises(StoreError, match="another process is writing"):
        StoreAppender(tmp_path / "games")
    with StoreWriter(tmp_path / "games2"), pytest.raises(StoreError, match="another process is writing"):
        StoreAppender(tmp_path / "games2")
    StoreAppender(tmp_path / "games").close()


def test_a_closed_store_is_not_written(tmp_path: Path) -> None:
    """Without the lock it would overwrite the shards of the next writer."""
    with StoreAppender(tmp_path / "games") as closed:
        closed.append([])
    with StoreAppender(tmp_path / "games") as appender:
        appender.append(some_games(0))
        for write in (lambda: closed.append(some_games(1)), lambda: closed.set_facts({"x": 1})):
            with pytest.raises(StoreError, match="is closed"):
                write()
    assert sources(tmp_path / "games") == named(GAMES)


def test_a_writer_takes_games_in_its_block_alone(tmp_path: Path) -> None:
    """Elsewhere they would wait for a shard that is never written."""
    writer, game = StoreWriter(tmp_path / "games"), some_games(0, 1)[0]
    with pytest.raises(StoreError, match="is not open"):
        writer.add(game)
    with writer:
        writer.add(game)
    with pytest.raises(StoreError, match="is not open"):
        writer.add(game)
    assert sources(tmp_path / "games") == named(1)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"size": 30}, "board size"),
        ({"rules": "chinse"}, "unknown rules 'chinse'"),
        ({"moves": np.array([999], np.uint16)}, "moves must be points 0 to"),
        ({"moves": np.array([-1])}, "moves must be points 0 to"),
        ({"moves": np.array([1 << 16])}, "moves must be points 0 to"),
        ({"moves": np.array([1.5])}, "moves must be points 0 to"),
        ({"black_stones": np.array([600], np.uint16)}, "black_stones must be points 0 to"),
        ({"first": 2}, "first must be one of"),
        ({"winner": 5}, "winner must be one of"),
        ({"ending": "resigned"}, "ending must be one of"),
        ({"root_values": np.zeros(1, np.float32)}, "root_values has 1 entries"),
        ({"ownership": np.zeros(3, np.uint8)}, "ownership has 3 entries"),
        ({"rules": Rules.parse("chinese")}, "rules must be a text such as 'chinese'"),
        ({"handicap": 300}, "handicap must be a whole number 0 to 255, not 300"),
        ({"handicap": None}, "handicap must be a whole number"),
        ({"komi": 5.25}, "komi must be None, a whole or half number, not 5.25"),
        ({"komi": float("nan")}, "komi must be None, a whole or half number, not nan"),
        ({"komi": "6.5"}, "komi must be None, a whole or half number, not '6.5'"),
        ({"score": "B+3"}, r"score must be None or a number, not 'B\+3'"),
        ({"weight": -1.0}, "weight must be None or a number from 0 on, not -1.0"),
        ({"weight": float("inf")}, "weight must be None or a number from 0 on, not inf"),
        ({"date": "2020-01-01"}, "date must be None or a datetime.date, not '2020-01-01'"),
        ({"hash": -1}, r"hash must be a whole number 0 to 2\*\*64 - 1, not -1"),
        ({"hash": 1 << 64}, r"hash must be a whole number 0 to 2\*\*64 - 1"),
        ({"black_rank": None}, "black_rank must be a text, not None"),
        ({"player": 3}, "player must be one of"),
    ],
)
def test_a_record_that_no_reader_could_use_is_refused(tmp_path: Path, change: dict[str, object], problem: str) -> None:
    """One such game made every sampler of the store fail, with no word of which."""
    good = some_games(0, 1)[0]
    check_record(replace(good, black_stones=np.array([3], np.int8), white_stones=np.array([])))
    bad = replace(good, **change)  # type: ignore[arg-type]
    with StoreAppender(tmp_path / "games") as appender:
        with pytest.raises(StoreError, match=rf"game {good.source}: {problem}"):
            appender.append([good, bad])
        assert appender.rows == 0
    with StoreWriter(tmp_path / "more") as writer:
        with pytest.raises(StoreError, match=problem):
            writer.add(bad)
        writer.add(good)
    assert len(Store.open(tmp_path / "more")) == 1


def test_a_point_of_a_record_belongs_to_black_white_or_neither() -> None:
    good = some_games(0, 1)[0]
    with pytest.raises(StoreError, match="ownership must be 0, 1 or 2 at each point, not 7"):
        check_record(replace(good, ownership=np.full(good.size**2, 7, np.uint8)))


def test_a_record_may_have_numbers_of_any_type(tmp_path: Path) -> None:
    good = some_games(0, 1)[0]
    day = datetime.datetime(2020, 1, 31, 23)
    given = replace(good, komi=np.float32(6.5), handicap=np.int64(2), weight=0, score=np.float64(1.5), date=day)
    with StoreWriter(tmp_path / "games") as writer:
        writer.add(given)
        writer.add(replace(good, komi=7, weight=np.float16(0.5), date=day.date()))
    first, second = Store.open(tmp_path / "games")
    assert (first.komi, first.handicap, first.weight, first.score, first.date) == (6.5, 2, 0, 1.5, day.date())
    assert (second.komi, second.weight, second.date) == (7, 0.5, day.date())


@pytest.mark.parametrize("missing", [0, None])
def test_games_without_a_hash_get_theirs(tmp_path: Path, missing: int | None) -> None:
    """All games had the hash 0, and so were in one split."""
    games = some_games(0, 60)
    without = [replace(game, hash=missing, moves=game.moves.tolist()) for game in games]
    with StoreWriter(tmp_path / "written") as writer:
        for game in without:
            writer.add(game)
    with StoreAppender(tmp_path / "appended") as appender:
        appender.append(without)
    known = [game_hash(game.size, game.moves, game.black_stones, game.white_stones) for game in games]
    for name in ("written", "appended"):
        assert Store.open(tmp_path / name).hashes.tolist() == known
    parts = [Sampler(Store.open(tmp_path / "written"), split, validation_fraction=0.3) for split in SPLITS]
    assert all(0 < part.games < 60 for part in parts) and sum(part.games for part in parts) == 60


def test_a_hash_that_is_given_is_kept(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "games") as writer:
        writer.add(replace(some_games(0, 1)[0], hash=7))
    assert Store.open(tmp_path / "games").hashes.tolist() == [7]


def test_no_other_folder_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(StoreError, match=r"holds thesis\.txt and is no game store"):
        StoreAppender(tmp_path)
    with pytest.raises(StoreError, match="cannot be written: File exists"):
        StoreAppender(tmp_path / "thesis.txt")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("write", [StoreWriter, StoreAppender])
def test_the_root_of_the_file_system_becomes_no_store(write: type[StoreWriter | StoreAppender]) -> None:
    root = Path(Path.cwd().anchor)
    with pytest.raises(StoreError, match=f"^{re.escape(str(root))} is the root of a file system"), write(root):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    """Of a folder, and of the records that an import names in the manifest."""
    folder = tmp_path / os.fsdecode(b"GBK \xc6\xe5")
    folder.mkdir()
    with StoreWriter(folder / "store") as writer:
        writer.add(self_played(1))
    assert len(Store.open(folder / "store")) == 1
    with StoreAppender(tmp_path / "more", {"sources": [str(folder)]}) as appender:
        appender.append([self_played(2)])
    assert read_manifest(tmp_path / "more")["sources"] == [str(folder)]
