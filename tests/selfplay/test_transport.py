"""What processes of a run exchange: kept complete and shared whatever dies; the run folder is one way of several."""

from __future__ import annotations

import errno
import itertools
import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from filelock import FileLock

from tengen.data import store as store_module
from tengen.data.record import GameRecord, pack_moves
from tengen.errors import StoreError
from tengen.evaluators import device_rates
from tengen.evaluators.installed_networks import find_network
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay import play
from tengen.selfplay import transport as transport_module
from tengen.selfplay.conditions import CycleConditions
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.folder import SelfPlayFolder
from tengen.selfplay.play import CyclePlayer, RecentGames
from tengen.selfplay.transport import BLOCK, FolderGames, FolderTransport, Transport, number_of


def game(number: int, moves: int = 3) -> GameRecord:
    visits = tuple(np.array([(number + 1 << 16) | move], np.uint32) for move in range(moves))
    points = pack_moves(np.arange(moves) % 2, np.arange(moves))
    return GameRecord(7, points, komi=9.0, source=f"00004/{number:05d}", visits=visits)


def open_games(folder: Path) -> FolderGames:
    pending = FolderGames(folder)
    pending.begin()
    return pending


def test_games_come_back_as_they_were(tmp_path: Path) -> None:
    pending = open_games(tmp_path / "c")
    pending.add([game(5), game(2)])
    pending.flush()
    found = FolderGames(tmp_path / "c").games()
    assert sorted(found) == [2, 5]
    assert found[5].source == "00004/00005"
    assert found[5].visits is not None
    assert found[5].visits[1].tolist() == [6 << 16 | 1]


@pytest.mark.linux
def test_a_folder_may_have_a_name_that_is_no_text(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    pending = open_games(folder)
    pending.add([game(5)])
    pending.flush()
    assert sorted(FolderGames(folder).games()) == [5]


def test_a_game_played_twice_counts_once(tmp_path: Path) -> None:
    for _ in range(2):
        pending = open_games(tmp_path / "c")
        pending.add([game(5)])
        pending.flush()
    assert len(FolderGames(tmp_path / "c").games()) == 1


def test_half_a_file_is_not_read(tmp_path: Path) -> None:
    pending = open_games(tmp_path / "c")
    pending.add([game(1)])
    pending.flush()
    (whole,) = (tmp_path / "c").glob("*.arrow")
    whole.with_name("games-1-1-7.partial").write_bytes(whole.read_bytes()[:100])
    assert sorted(FolderGames(tmp_path / "c").games()) == [1]


def test_games_of_a_damaged_file_are_played_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pending = open_games(tmp_path / "c")
    for number in (0, 1):
        pending.add([game(number)])
        pending.flush()
    first, _ = sorted((tmp_path / "c").glob("*.arrow"))
    first.write_bytes(first.read_bytes()[:100])
    again, helper = FolderGames(tmp_path / "c"), FolderGames(tmp_path / "c")
    assert [sorted(games.games()) for games in (again, helper)] == [[1], [1]]
    (said,) = [record.getMessage() for record in caplog.records]
    assert said == f"{first} is damaged: it is now {first.name}.damaged, and its games are played again"
    assert list(again.claim(2)) == [0]


def test_games_that_cannot_be_opened_now_are_not_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the system says nothing about them."""

    def refused(*_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    pending = open_games(tmp_path / "c")
    pending.add([game(0)])
    pending.flush()
    with monkeypatch.context() as patch, pytest.raises(StoreError, match="Too many open files"):
        patch.setattr(pa, "memory_map", refused)
        FolderGames(tmp_path / "c").games()
    assert sorted(FolderGames(tmp_path / "c").games()) == [0]


def test_a_cycle_is_never_stored_without_the_games_of_a_damaged_file(tmp_path: Path) -> None:
    """They were whole when the cycle was counted as played."""
    transport = FolderTransport(SelfPlayFolder(tmp_path))
    games = transport.cycle_games(0)
    games.begin()
    for number in (0, 1):
        games.add([game(number)])
        games.flush()
    first, _ = sorted(games.folder.glob("*.arrow"))
    first.write_bytes(b"")
    with pytest.raises(StoreError, match=r"\.arrow\.damaged: its games must be played again"):
        transport.store_cycle(0)
    assert transport.cycles_stored() == 0 and list(transport.cycle_games(0).claim(2)) == [0]


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pending = open_games(tmp_path / "c")
    pending.add([game(1)])
    pending.flush()

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    pending.add([game(2)])
    with pytest.raises(StoreError, match="No space left"):
        pending.flush()
    monkeypatch.undo()
    assert not list((tmp_path / "c").glob("*.partial"))
    pending.flush()
    assert sorted(FolderGames(tmp_path / "c").games()) == [1, 2]


def test_claims_share_a_cycle_and_skip_what_was_played(tmp_path: Path) -> None:
    pending = open_games(tmp_path / "c")
    pending.add([game(0), game(70)])
    first, second = pending.claim(3 * BLOCK), pending.claim(3 * BLOCK)
    one, two = iter(first), iter(second)
    mine = [next(one) for _ in range(BLOCK - 1)]
    assert mine == list(range(1, BLOCK))
    theirs = list(two)
    assert theirs == [number for number in range(BLOCK, 3 * BLOCK) if number != 70]
    assert list(one) == []
    second.release()
    assert list(first) == theirs


def _claim_and_hang(folder: str) -> None:
    numbers = iter(FolderGames(Path(folder)).claim(BLOCK))
    next(numbers)
    Path(folder, "ready").touch()
    time.sleep(600)


def test_the_block_of_a_killed_process_is_free_again(tmp_path: Path) -> None:
    pending = open_games(tmp_path / "c")
    child = multiprocessing.get_context("spawn").Process(target=_claim_and_hang, args=(str(tmp_path / "c"),))
    child.start()
    try:
        while child.is_alive() and not (tmp_path / "c" / "ready").exists():
            time.sleep(0.02)
        assert list(pending.claim(BLOCK)) == []
    finally:
        child.kill()
        child.join()
    assert list(pending.claim(BLOCK)) == list(range(BLOCK))


def test_a_cycle_that_is_over_gives_nothing_to_play(tmp_path: Path) -> None:
    pending = open_games(tmp_path / "c")
    pending.clear()
    assert list(pending.claim(BLOCK)) == []


def test_a_cycle_that_another_process_stores_while_a_block_is_locked_gives_nothing_to_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """filelock makes the folder anew: the helper played the whole cycle again."""

    def late(*args: Any, **more: Any) -> FileLock:
        FolderGames(folder).clear()
        return FileLock(*args, **more)

    folder = tmp_path / "c"
    helper = open_games(folder)
    monkeypatch.setattr("tengen.disk.FileLock", late)
    assert list(helper.claim(BLOCK)) == []
    assert not helper.is_open()


def test_a_folder_that_goes_while_filelock_makes_it_gives_nothing_to_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mkdir of a folder that was there and has gone since: the helper ended with an error."""

    def gone(*_: object, **__: object) -> None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(tmp_path / "c"))

    helper = open_games(tmp_path / "c")
    monkeypatch.setattr("tengen.disk.FileLock", lambda *_, **__: SimpleNamespace(acquire=gone))
    assert list(helper.claim(BLOCK)) == []


def test_the_games_of_a_cycle_that_an_older_version_began_go_on(tmp_path: Path) -> None:
    """Its folder has no mark that the cycle is open."""
    pending = open_games(tmp_path / "c")
    pending.add([game(1)])
    pending.flush()
    for path in (tmp_path / "c").iterdir():
        if path.suffix != ".arrow":
            path.unlink()
    again = open_games(tmp_path / "c")
    assert again.is_open() and list(again.claim(3)) == [0, 2]


@pytest.mark.parametrize("read", [0, 1])
def test_a_cycle_that_another_process_stores_while_its_games_are_read_gives_nothing_to_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: int
) -> None:
    """The lead removes the folder when `read` of the two files have been read."""
    folder = tmp_path / "c"
    for number in (0, 1):
        pending = open_games(folder)
        pending.add([game(number)])
        pending.flush()
    opened: list[Path] = []

    def shard(path: Path, rows: int) -> store_module.Shard:
        if len(opened) == read:
            FolderGames(folder).clear()
        opened.append(path)
        return store_module.Shard(path, rows)

    monkeypatch.setattr("tengen.selfplay.transport.Shard", shard)
    assert list(FolderGames(folder).claim(2)) == []
    assert list(tmp_path.iterdir()) == []


def test_one_thread_may_look_while_another_writes(tmp_path: Path) -> None:
    """A worker asks which games are there while the process adds its own: every game is there at each look."""
    pending = open_games(tmp_path / "c")
    failures: list[Exception] = []
    stop = threading.Event()

    def look() -> None:
        most = 0
        while not stop.is_set():
            try:
                found = len(pending.numbers())
                assert found >= most, f"{most} games, then {found}"
                most = found
            except Exception as error:
                failures.append(error)
                return

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for number in range(60):
            pending.add([game(number)])
            pending.flush()
    finally:
        stop.set()
        watcher.join()
        sys.setswitchinterval(interval)
    assert not failures
    assert len(pending.numbers()) == 60


class MemoryGames:
    """The games of a cycle in memory; claims are single games."""

    def __init__(self) -> None:
        self.finished: dict[int, GameRecord] = {}
        self.claimed: set[int] = set()
        self.opened = False
        self.lock = threading.Lock()

    def begin(self) -> None:
        self.opened = True

    def is_open(self) -> bool:
        return self.opened

    def add(self, records: Sequence[GameRecord]) -> None:
        with self.lock:
            self.finished |= {number_of(record): record for record in records}

    def flush(self) -> None:
        pass

    def numbers(self) -> set[int]:
        with self.lock:
            return set(self.finished)

    def claim(self, total: int) -> MemoryClaim:
        return MemoryClaim(self, total)


class MemoryClaim:
    def __init__(self, games: MemoryGames, total: int) -> None:
        self.games, self.total = games, total
        self.mine: set[int] = set()

    def __iter__(self) -> Iterator[int]:
        for number in range(self.total):
            with self.games.lock:
                free = number not in self.games.claimed and number not in self.games.finished
                if free:
                    self.games.claimed.add(number)
                    self.mine.add(number)
            if free:
                yield number

    def release(self) -> None:
        with self.games.lock:
            self.games.claimed -= self.mine


class MemoryTransport:
    """A run without a folder."""

    def __init__(self, networks: dict[int, Path]) -> None:
        self.networks = networks
        self.cycles: dict[int, MemoryGames] = {}
        self.stored: list[list[GameRecord]] = []

    def network(self, number: int) -> Path | None:
        return self.networks.get(number)

    def cycle_games(self, cycle: int) -> MemoryGames:
        return self.cycles.setdefault(cycle, MemoryGames())

    def cycles_stored(self) -> int:
        return len(self.stored)

    def stored_games(self, cycle: int) -> list[GameRecord]:
        return self.stored[cycle]

    def store_cycle(self, cycle: int) -> list[GameRecord]:
        games = self.cycles[cycle].finished
        self.stored.append([games[number] for number in sorted(games)])
        return self.stored[cycle]


CONFIG = SelfPlayConfig.model_validate(
    {
        "name": "x",
        "seed": 4,
        "cycles": 2,
        "games_per_cycle": 10,
        "games_at_once": 4,
        "workers": 2,
        "overlap": True,
        "network": {"family": "residual", "size": "b2c16"},
        "game": {"sizes": {7: 1}, "max_moves": 14},
        "search": {"visits": 4},
        "opening": {"high_surprise": 0.5},
    }
)


def play_cycles(transport: Transport, helpers: int = 0) -> list[list[Any]]:
    """All games of two cycles, as plain values; `helpers` more threads play as other processes do."""
    found = []
    with ShutdownFlag() as stop:
        for cycle in range(CONFIG.cycles):
            conditions = CycleConditions.of(CONFIG, RecentGames(transport).before(cycle), cycle)
            player = CyclePlayer(CONFIG, transport, stop)
            transport.cycle_games(cycle).begin()
            arguments = (cycle, conditions, lambda *_: None)
            threads = [threading.Thread(target=player.help, args=arguments) for _ in range(helpers)]
            for thread in threads:
                thread.start()
            player.play(*arguments)
            for thread in threads:
                thread.join()
            found += transport.store_cycle(cycle)
    return [
        [game.source, game.komi, game.score, game.moves.tolist(), [v.tolist() for v in game.visits or ()]]
        for game in found
    ]


@pytest.mark.slow
def test_a_run_without_a_folder_plays_the_same_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = find_network("zero-7x7")
    folder = SelfPlayFolder(tmp_path / "run")
    folder.network(0).parent.mkdir(parents=True)
    shutil.copyfile(network, folder.network(0))
    by_folder = play_cycles(FolderTransport(folder))
    assert len(by_folder) == 20
    assert FolderTransport(folder).cycles_stored() == 2
    assert FolderTransport(folder).network(1) is None
    assert not FolderTransport(folder).cycle_games(1).is_open()

    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert play_cycles(MemoryTransport({0: network}), helpers=2) == by_folder
    assert not list((tmp_path / "empty").iterdir())


def test_waiting_for_the_games_of_others_ends_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper that hangs keeps its games claimed."""
    transport = MemoryTransport({})
    list(transport.cycle_games(0).claim(CONFIG.games_per_cycle))
    stop, waits = ShutdownFlag(), itertools.count()

    def sleep(_: float) -> None:
        stop.event.set()
        assert next(waits) < 3, "it waits on"

    monkeypatch.setattr(play.time, "sleep", sleep)
    conditions = CycleConditions.of(CONFIG, [], 0)
    with pytest.raises(KeyboardInterrupt):
        CyclePlayer(CONFIG, transport, stop).play(0, conditions, lambda *_: None)


def test_games_that_another_process_holds_for_long_are_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    transport, stop, clock = MemoryTransport({}), ShutdownFlag(), itertools.count(0, 30)
    config = CONFIG.model_copy(update={"games_per_cycle": 140})
    games = transport.cycle_games(0)
    list(games.claim(config.games_per_cycle))
    games.add([game(number) for number in range(70)])
    said: list[int] = []

    def sleep(_: float) -> None:
        said.append(len(caplog.records))
        if len(said) == 3:
            games.add([game(70)])  # it goes on, and the time counts anew
        if len(said) == 12:
            stop.set()

    monkeypatch.setattr(play, "time", SimpleNamespace(sleep=sleep, monotonic=lambda: float(next(clock))))
    conditions = CycleConditions.of(CONFIG, [], 0)
    with pytest.raises(KeyboardInterrupt):
        CyclePlayer(config, transport, stop).play(0, conditions, lambda *_: None)
    assert said == [0] * 8 + [1] * 4
    (record,) = caplog.records
    assert record.getMessage() == (
        "no new game of cycle 0 for 120 s: another process has claimed the missing 69 games (locked blocks of 64: 1, "
        "2). If it was stopped or hangs, continue or end it; games of a process that has ended are played here"
    )


@pytest.mark.parametrize(("device", "kind"), [("onnxruntime", "OnnxRuntimeEvaluator"), ("auto", "OpenVinoEvaluator")])
def test_the_recipe_says_what_evaluates(device: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """auto is the CPU where there is nothing else."""
    monkeypatch.setattr(device_rates, "onnxruntime_providers", lambda: ["CPUExecutionProvider"])
    monkeypatch.setattr(device_rates, "openvino_devices", lambda: ["CPU"])
    monkeypatch.setattr(device_rates, "cache_path", lambda name: Path("/dev/null") / name)
    config = CONFIG.model_copy(update={"device": device, "games_per_cycle": 2})
    transport = MemoryTransport({0: find_network("zero-7x7")})
    transport.cycle_games(0).begin()
    with ShutdownFlag() as stop:
        player = CyclePlayer(config, transport, stop)
        assert {type(evaluator).__name__ for evaluator in play.open_evaluators(config, player.network(0))} == {kind}
        conditions = CycleConditions.of(config, RecentGames(transport).before(0), 0)
        assert player.play(0, conditions, lambda *_: None).games == 2


def test_a_stored_cycle_is_stored_once(tmp_path: Path) -> None:
    transport = FolderTransport(SelfPlayFolder(tmp_path))
    for _ in range(2):  # the second time as after a kill before the pending games were removed
        games = transport.cycle_games(0)
        games.begin()
        games.add([game(1), game(0)])
        games.flush()
        assert [number_of(record) for record in transport.store_cycle(0)] == [0, 1]
        assert transport.cycles_stored() == 1
        assert not games.is_open()


def test_a_cycle_opens_one_shard_however_many_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All shards were opened again in every cycle, and twice by the statistics: quadratic in the cycles."""
    opened = []

    class Counted(store_module.Shard):
        def __init__(self, path: Path, *args: Any) -> None:
            opened.append(path.name)
            super().__init__(path, *args)

    monkeypatch.setattr(store_module, "Shard", Counted)
    leader, helper = (FolderTransport(SelfPlayFolder(tmp_path)) for _ in range(2))
    recent = RecentGames(helper)
    for cycle in range(30):
        games = leader.cycle_games(cycle)
        games.begin()
        games.add([replace(game(number), source=f"{cycle:05d}/{number:05d}") for number in range(2)])
        games.flush()
        leader.store_cycle(cycle)
        store = leader.store().head(cycle + 1)
        assert [row.source for row in store][-1] == f"{cycle:05d}/00001"
        assert len(recent.before(cycle + 1)) == 2 * min(4, cycle + 1)
        assert leader.store() is leader.store()
    assert opened == [f"shard-{cycle:05d}.arrow" for cycle in range(30) for _ in ("leader", "helper")]


def test_a_process_that_waits_reads_each_file_of_games_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It read all games of the cycle again every second. Afterwards no file is open, so that the lead can remove it."""
    opened: list[str] = []

    class Counted(store_module.Shard):
        def __init__(self, path: Path, *args: Any) -> None:
            opened.append(path.name)
            super().__init__(path, *args)

    monkeypatch.setattr(transport_module, "Shard", Counted)
    lead, helper = (FolderTransport(SelfPlayFolder(tmp_path)) for _ in range(2))
    config = CONFIG.model_copy(update={"games_per_cycle": 2})
    for cycle in (0, 1):
        games = lead.cycle_games(cycle)
        games.begin()
        for number in (0, 1):
            games.add([game(number)])
            games.flush()
            player = CyclePlayer(config.model_copy(update={"games_per_cycle": number + 1}), helper, ShutdownFlag())
            for _ in range(3):
                assert player.help(cycle, CycleConditions.of(config, [], cycle), lambda *_: None).games == 0
        assert sorted(opened) == sorted(path.name for path in games.folder.glob("*.arrow"))
        opened.clear()
        if sys.platform == "linux":
            assert str(games.folder) not in Path("/proc/self/maps").read_text()
        assert len(lead.store_cycle(cycle)) == 2
        opened.clear()


def test_a_store_that_was_written_anew_is_opened_anew(tmp_path: Path) -> None:
    transport = FolderTransport(SelfPlayFolder(tmp_path))
    for number in (0, 1):
        with store_module.StoreWriter(tmp_path / "games", overwrite=True) as writer:
            writer.add(game(number))
        assert transport.store().row(0).source == f"00004/{number:05d}"
