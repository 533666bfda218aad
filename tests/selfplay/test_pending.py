"""Finished games of a running cycle: kept whole, shared between processes, whatever dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tengen.data.record import GameRecord, pack_moves
from tengen.errors import StoreError
from tengen.selfplay.pending import BLOCK, Claims, PendingGames


def game(number: int, moves: int = 3) -> GameRecord:
    visits = tuple(np.array([(number + 1 << 16) | move], np.uint32) for move in range(moves))
    points = pack_moves(np.arange(moves) % 2, np.arange(moves))
    return GameRecord(7, points, komi=9.0, source=f"00004/{number:05d}", visits=visits)


def open_games(folder: Path) -> PendingGames:
    pending = PendingGames(folder)
    pending.begin()
    return pending


def test_games_come_back_as_they_were(tmp_path: Path) -> None:
    pending = open_games(tmp_path / "c")
    pending.add([game(5), game(2)])
    pending.flush()
    found = PendingGames(tmp_path / "c").games()
    assert sorted(found) == [2, 5]
    assert found[5].source == "00004/00005"
    assert found[5].visits is not None
    assert found[5].visits[1].tolist() == [6 << 16 | 1]


def test_a_game_played_twice_counts_once(tmp_path: Path) -> None:
    for _ in range(2):
        pending = open_games(tmp_path / "c")
        pending.add([game(5)])
        pending.flush()
    assert len(PendingGames(tmp_path / "c").games()) == 1


def test_half_a_file_is_not_read(tmp_path: Path) -> None:
    pending = open_games(tmp_path / "c")
    pending.add([game(1)])
    pending.flush()
    (whole,) = (tmp_path / "c").glob("*.arrow")
    whole.with_name("games-1-1-7.partial").write_bytes(whole.read_bytes()[:100])
    assert sorted(PendingGames(tmp_path / "c").games()) == [1]


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
    assert sorted(PendingGames(tmp_path / "c").games()) == [1, 2]


def test_claims_share_a_cycle_and_skip_what_was_played(tmp_path: Path) -> None:
    pending = open_games(tmp_path / "c")
    pending.add([game(0), game(70)])
    first, second = Claims(pending, 3 * BLOCK), Claims(pending, 3 * BLOCK)
    one, two = iter(first), iter(second)
    mine = [next(one) for _ in range(BLOCK - 1)]
    assert mine == list(range(1, BLOCK))
    theirs = list(two)
    assert theirs == [number for number in range(BLOCK, 3 * BLOCK) if number != 70]
    assert list(one) == []
    second.release()
    assert list(first) == theirs


def _claim_and_hang(folder: str) -> None:
    numbers = iter(Claims(PendingGames(Path(folder)), BLOCK))
    next(numbers)
    Path(folder, "ready").touch()
    time.sleep(60)


def test_the_block_of_a_killed_process_is_free_again(tmp_path: Path) -> None:
    pending = open_games(tmp_path / "c")
    child = multiprocessing.get_context("spawn").Process(target=_claim_and_hang, args=(str(tmp_path / "c"),))
    child.start()
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "c" / "ready").exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert list(Claims(pending, BLOCK)) == []
    finally:
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
    assert list(Claims(pending, BLOCK)) == list(range(BLOCK))


def test_a_cycle_that_is_over_gives_nothing_to_play(tmp_path: Path) -> None:
    pending = open_games(tmp_path / "c")
    pending.clear()
    assert list(Claims(pending, BLOCK)) == []


def test_one_thread_may_look_while_another_writes(tmp_path: Path) -> None:
    """A worker asks which games are there while the process adds its own: every game is there at each look."""
    pending = open_games(tmp_path / "c")
    failures: list[Exception] = []
    stop = threading.Event()

    def look() -> None:
        most = 0
        while not stop.is_set():
            try:
                found = len(pending.games())
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
    assert len(pending.games()) == 60
