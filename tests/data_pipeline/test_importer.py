"""Records into a store, end to end: what is kept, what is not and why, and what an interruption leaves."""

from __future__ import annotations

import errno
import json
import lzma
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_games import TYGEM, tygem_records

from tengen.data.import_report import NOTES, REPORT_JSON, REPORT_TEXT
from tengen.data.importer import HashSet, ImportOptions, ImportProgress, import_games
from tengen.data.record import unpack_ownership
from tengen.data.rows import DROPPED, FILTERED, PART, TOLERANCE, UNREADABLE, Filters, RowOptions, trees_to_rows
from tengen.data.sources import Tree
from tengen.data.stats import collect
from tengen.data.store import Store
from tengen.errors import SgfError, StoreError, Terminated
from tengen.runs.interruption import sigterm_interrupts
from tengen.sgf import read_game

GAMES = Path(__file__).parent.parent / "data"
FAST = RowOptions(playouts=0)


@pytest.fixture(scope="module")
def tygem(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The 300 TYGEM games of the tests, imported by two workers with owners."""
    out = tmp_path_factory.mktemp("stores") / "tygem"
    import_games([TYGEM], out, ImportOptions(workers=2))
    return Store.open(out)


def shard_bytes(path: Path) -> list[bytes]:
    return [(path / s["file"]).read_bytes() for s in Store.open(path).manifest["shards"]]


def test_rows_are_the_games(tygem: Store) -> None:
    trees = tygem_records()
    assert len(tygem) == len(trees) == 300
    for number, (row, data) in enumerate(zip(tygem, trees, strict=True), 1):
        game, info = read_game(data)
        assert list(zip(row.colors.tolist(), row.points.tolist(), strict=True)) == game.moves
        assert (row.komi, row.date, row.black_rank, row.result) == (6.5, info.date, "9d", str(info.result))
        assert row.source == f"tygem-300.sgf.xz#{number}"
        assert row.game().moves == game.moves


def test_the_same_shards_whatever_the_number_of_workers(tygem: Store, tmp_path: Path) -> None:
    import_games([TYGEM], tmp_path / "one", ImportOptions(workers=1))
    assert shard_bytes(tmp_path / "one") == shard_bytes(tygem.path)


def test_owners_agree_with_the_recorded_scores(tygem: Store) -> None:
    counted = [row for row in tygem if row.score is not None]
    owned = [row for row in counted if row.ownership is not None]
    assert len(owned) > 0.6 * len(counted)
    for row in owned:
        assert row.ownership is not None and row.score is not None and row.komi is not None
        # By territory a living stone counts nothing and a prisoner one point: area without the stones that were played.
        sides = [int((row.ownership == color).sum()) for color in (0, 1)]
        played = [int(((row.points < 361) & (row.colors == color)).sum()) for color in (0, 1)]
        counted_score = (sides[0] - played[0]) - (sides[1] - played[1]) - row.komi
        assert abs(counted_score - row.score) <= TOLERANCE
    assert all(row.ownership is None for row in tygem if row.score is None)
    packed = tygem.shards[0].ownership[:91]
    np.testing.assert_array_equal(unpack_ownership(packed, 361), owned[0].ownership)


def test_every_quirk_has_its_place_in_the_report(tmp_path: Path) -> None:
    report = import_games([GAMES], tmp_path / "all", ImportOptions(FAST, workers=1))
    reasons = dict(report.reasons)
    assert reasons[PART, "the text breaks off"] == 4
    assert reasons[PART, "illegal move"] == 3
    assert reasons[DROPPED, "handicap stones not given"] == 1
    assert reasons[DROPPED, "duplicate"] >= 1
    assert report.games == report.kept + report.number(DROPPED)
    places = {note.place: note.detail for notes in report.examples.values() for note in notes}
    assert places["data/fox-illegal-ko.sgf#1"] == "move 282, W S1: ko"
    rows = {row.source.split("/")[-1].split("#")[0]: row for row in Store.open(tmp_path / "all")}
    assert len(rows["fox-illegal-ko.sgf"].moves) == 281
    assert rows["fox-komi-375.sgf"].komi == 7.5
    assert rows["fox-komi-0-even.sgf"].komi is None
    assert rows["fox-rank-p2.sgf"].black_rank == "2p"
    assert len(rows["fox-handicap-8.sgf"].black_stones) == 8
    assert rows["fox-handicap-8.sgf"].first == 1


def test_records_of_other_formats_are_named_and_those_of_katago_are_read(tmp_path: Path) -> None:
    games = tmp_path / "games"
    games.mkdir()
    (games / "A.sgfs").write_bytes(b"\n".join(tygem_records()[:2]))
    (games / "a.gib").write_bytes(b"\\HS\r\n\\[GIBOKIND=Global\\]\r\n\\HE\r\nINI 0 1 0 &4\r\n")
    (games / "b.GIB").write_bytes(b"\\[GAMEINFO=1\\]\r\n")
    (games / "c.ngf").write_bytes(b"Rated game\r\n19\r\na   9DP\r\n0\r\n333\r\nPMABBREER\r\nPMACWEEEE\r\n")
    (games / "d.ugf").write_bytes(b"\xef\xbb\xbf[Header]\r\nVer=UGF3,200\r\n")
    (games / "e.sgf").write_bytes(b"nothing")
    report = import_games([games], tmp_path / "out", ImportOptions(FAST, workers=1))
    assert report.kept == 2
    told = {reason: count for (verdict, reason), count in report.reasons.items() if verdict == UNREADABLE}
    others = {"a GIB file": 2, "an NGF file": 1, "a UGF file": 1}
    convert = {f"{name}: convert it to SGF first": count for name, count in others.items()}
    assert told == {**convert, "no game tree in the file": 1}
    with pytest.raises(SgfError, match="a GIB file: convert it to SGF first"):
        read_game(games / "a.gib")


def test_the_report_stands_in_the_store(tmp_path: Path) -> None:
    report = import_games([GAMES], tmp_path / "all", ImportOptions(FAST, workers=1))
    as_json = json.loads((tmp_path / "all" / REPORT_JSON).read_text())
    assert as_json["kept"] == report.kept == len(Store.open(tmp_path / "all"))
    assert sum(entry["count"] for entry in as_json["reasons"]) == sum(report.reasons.values())
    assert (tmp_path / "all" / REPORT_TEXT).read_text() == report.text()
    lines = [line.split("\t") for line in (tmp_path / "all" / NOTES).read_text().splitlines()]
    assert Counter((verdict, reason) for verdict, reason, *_ in lines) == report.reasons


def test_duplicates_are_found_turned_and_mirrored(tmp_path: Path) -> None:
    moves = [(3, 15), (15, 3), (2, 2), (16, 16), (9, 4), (4, 9), (0, 18), (18, 0), (7, 7), (8, 8), (1, 5), (5, 1)]

    def tree(turn: object) -> str:
        places = [turn(r, c) for r, c in moves]  # type: ignore[operator]
        return (
            "(;GM[1]SZ[19]"
            + "".join(f";{'BW'[i % 2]}[{chr(97 + c)}{chr(97 + r)}]" for i, (r, c) in enumerate(places))
            + ")"
        )

    turns = [lambda r, c: (r, c), lambda r, c: (c, 18 - r), lambda r, c: (18 - r, c), lambda r, c: (18 - c, 18 - r)]
    (tmp_path / "g.sgf").write_text("\n".join(map(tree, turns)))
    report = import_games([tmp_path / "g.sgf"], tmp_path / "out", ImportOptions(FAST, workers=1))
    assert (report.kept, report.reasons[DROPPED, "duplicate"]) == (1, 3)


def test_damaged_games_too_early_are_dropped(tmp_path: Path) -> None:
    start = "(;GM[1]SZ[9];B[aa];W[bb];B[cc]"
    trees = [start + ";W[aa])", start + ";W[dd", "(;GM[1]SZ[9])", "(;GM[2];B[aa])", "(;GM[1]SZ[9];B[aa];AB[bb])"]
    (tmp_path / "g.sgf").write_text("\n".join(trees))
    with pytest.raises(StoreError, match="no game was kept") as error:
        import_games([tmp_path / "g.sgf"], tmp_path / "out", ImportOptions(workers=1))
    for reason in ("illegal move, too early", "breaks off, too early", "no moves", "not a game of Go", "mid-game, too"):
        assert reason in str(error.value)
    assert not (tmp_path / "out").exists()


def test_games_by_unknown_rules_are_reported_or_read_by_those_given(tmp_path: Path) -> None:
    moves = "".join(f";{'BW'[i % 2]}[{'abcdefghi'[i % 9]}{'abcdefghi'[i // 9 * 2]}]" for i in range(36))
    games = [
        f"(;SZ[9]KM[7.5]RU[{rules}]RE[B+R]{moves[:-6]};B[{end}i])"
        for rules, end in (("Lasker-Maas", "a"), ("Ing", "c"), ("", "e"))
    ]
    (tmp_path / "games.sgf").write_text("".join(games))
    report = import_games([tmp_path / "games.sgf"], tmp_path / "out", ImportOptions(FAST, workers=1))
    assert report.reasons[DROPPED, "unknown rules"] == 1 and "RU[Lasker-Maas]" in (tmp_path / "out" / NOTES).read_text()
    assert [row.rules for row in Store.open(tmp_path / "out")] == ["ing", "chinese"]
    given = ImportOptions(RowOptions(playouts=0, default_rules="aga"), workers=1)
    import_games([tmp_path / "games.sgf"], tmp_path / "given", given)
    assert [row.rules for row in Store.open(tmp_path / "given")] == ["aga", "ing", "aga"]


def test_filters_and_samples(tygem: Store, tmp_path: Path) -> None:
    only = ImportOptions(RowOptions(Filters(endings=("count",), min_moves=200), playouts=0), workers=1)
    report = import_games([TYGEM], tmp_path / "a", only)
    wanted = sum(row.ending == "count" and len(row.moves) >= 200 for row in tygem)
    assert report.kept == wanted == report.games - report.number(FILTERED)
    for name, sample in (("n", 40), ("fraction", 0.2)):
        report = import_games([TYGEM], tmp_path / name, ImportOptions(FAST, sample=sample, seed=1, workers=1))
        assert report.kept + report.number(FILTERED) == 300
        assert report.kept == 40 if sample == 40 else 30 < report.kept < 95
        assert set(Store.open(tmp_path / name).hashes.tolist()) < set(tygem.hashes.tolist())
    report = import_games([TYGEM], tmp_path / "more", ImportOptions(FAST, sample=400, workers=1))
    assert report.kept == 300 and not report.reasons and "sample" not in report.text()


def test_files_of_one_name_are_counted_one_by_one(tmp_path: Path) -> None:
    """Named themselves, files of different folders are known by the same name."""
    whole, other = tygem_records()[:2]
    files = [tmp_path / str(number) / "game.sgf" for number in range(5)]
    for file, data in zip(files, [other[:800], whole, whole, whole, other[:800]], strict=True):
        file.parent.mkdir()
        file.write_bytes(data)
    report = import_games(files, tmp_path / "out", ImportOptions(FAST, workers=1))
    assert (report.games, report.kept, report.number(PART), report.number(DROPPED)) == (5, 2, 1, 3)
    verdicts = [line.split("\t")[0] for line in (tmp_path / "out" / NOTES).read_text().splitlines()]
    assert sorted(verdicts) == [DROPPED] * 3 + [PART]


def test_a_part_of_a_game_that_is_not_in_the_sample_is_not_in_the_report(tmp_path: Path) -> None:
    trees = [tree[:800] for tree in tygem_records() if len(tree) > 1000][:40]
    (tmp_path / "broken.sgf").write_bytes(b"\n".join(trees))
    for name, sample in (("n", 7), ("fraction", 0.3)):
        options = ImportOptions(FAST, sample=sample, seed=1, workers=1)
        report = import_games([tmp_path / "broken.sgf"], tmp_path / name, options)
        assert report.number(PART) == report.kept == 40 - report.number(FILTERED) < 40
        listed = [line.split("\t")[2] for line in (tmp_path / name / NOTES).read_text().splitlines()]
        assert listed == [row.source for row in Store.open(tmp_path / name)]


def test_owners_are_counted_among_the_games_that_were_kept(tmp_path: Path) -> None:
    for name, sample in (("all", 0), ("n", 12), ("fraction", 0.5)):
        options = ImportOptions(RowOptions(Filters(), playouts=8), sample=sample, seed=1, workers=1)
        report = import_games([GAMES], tmp_path / name, options)
        in_part = {note.split("\t")[2] for note in (tmp_path / name / NOTES).read_text().splitlines()}
        rows = [row for row in Store.open(tmp_path / name) if row.source not in in_part]
        assert report.counted == sum(row.score is not None and row.komi is not None for row in rows) > 0
        assert report.owned == sum(row.ownership is not None for row in rows) <= report.counted


def test_a_hold_out_is_left_out(tygem: Store, tmp_path: Path) -> None:
    import_games([TYGEM], tmp_path / "part", ImportOptions(FAST, sample=50, workers=1))
    report = import_games([TYGEM], tmp_path / "rest", ImportOptions(FAST, exclude=(tmp_path / "part",), workers=1))
    held, rest = (set(Store.open(tmp_path / name).hashes.tolist()) for name in ("part", "rest"))
    assert not held & rest
    assert held | rest == set(tygem.hashes.tolist())
    assert report.reasons[FILTERED, "in an excluded store"] == 50


def test_unreadable_files_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_bytes((GAMES / "tygem-resign.sgf").read_bytes())
    (tmp_path / "b.sgf.xz").write_bytes(TYGEM.read_bytes()[:40_000])
    (tmp_path / "c.sgf").write_bytes(b"")
    report = import_games([tmp_path], tmp_path / "out", ImportOptions(FAST, workers=1))
    assert report.number(UNREADABLE) == 2
    assert report.kept > 100


def test_file_names_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\xfe.sgf")
    (tmp_path / name).write_bytes((GAMES / "tygem-resign.sgf").read_bytes())
    import_games([tmp_path], tmp_path / "out", ImportOptions(FAST, workers=1))
    assert Store.open(tmp_path / "out").row(0).source.endswith("\\udcff\\udcfe.sgf#1")


WORDS = (
    rb"( ) ; [ ] \ B[aa] W[bb] AB[cc:dd] AW[ee] AE[cc] SZ[5] GM[1] HA[3] KM[0] RE[B+1] DT[0000] PL[W] [] tt CA[utf-16]"
)
PIECES = st.lists(st.sampled_from([*WORDS.split(), b"\xff", b"\x84\\"]), max_size=60).map(b"".join)


@given(st.one_of(PIECES, PIECES.map(b"(;SZ[5];B[aa];W[bb];B[cc];W[dd]".__add__), st.binary(max_size=100)))
@settings(max_examples=200)
def test_hostile_text_becomes_a_row_or_a_note(data: bytes) -> None:
    options = RowOptions(Filters(min_moves=0, min_part=1), playouts=2)
    rows = trees_to_rows([Tree("x#1", data)], options)
    assert rows.batch.num_rows + sum(note.verdict == DROPPED for note in rows.notes) == 1
    for row in range(rows.batch.num_rows):
        assert len(rows.batch.column("moves")[row]) > 0


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    seen: list[ImportProgress] = []
    import_games([TYGEM], tmp_path / "out", ImportOptions(FAST, workers=1), seen.append)
    assert seen[-1].read_bytes == seen[-1].total_bytes == TYGEM.stat().st_size
    assert seen[-1].games == 300


def test_refusals_come_before_any_work(tygem: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="finished store already"):
        import_games([TYGEM], tygem.path)
    with pytest.raises(SgfError, match="no such file"):
        import_games([tmp_path / "nothing"], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_of_worker_processes_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where /dev/shm is full, the disk of the store was said to be."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tengen.data.importer.ProcessPoolExecutor", refuse)
    with pytest.raises(StoreError, match="/dev/shm, cannot start: No space left on device; import with --workers 1"):
        import_games([TYGEM], tmp_path / "out", ImportOptions(FAST, workers=2))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "kind"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)])
def test_a_signal_waits_while_a_worker_starts(
    number: int, kind: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    class Pool:
        """Gets a signal while it starts a worker."""

        def submit(self, *_: object) -> Future[object]:
            signal.raise_signal(number)
            steps.append("started")
            return Future()

        def shutdown(self, **_: object) -> None:
            steps.append("ended")

    monkeypatch.setattr("tengen.data.importer.ProcessPoolExecutor", lambda *_: Pool())
    with pytest.raises(KeyboardInterrupt) as caught, sigterm_interrupts():
        import_games([TYGEM], tmp_path / "out", ImportOptions(FAST, workers=2))
    assert caught.type is kind and steps == ["started", "ended"]


@pytest.mark.slow
@pytest.mark.posix
@pytest.mark.parametrize(("stop", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (9, -9)])
def test_an_interrupted_import_leaves_no_store_and_runs_again(tmp_path: Path, stop: int, status: int) -> None:
    pipe_read, pipe_write = os.pipe()
    command = [sys.executable, "-m", "tengen", "import", "-", "--out", str(tmp_path / "out"), "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        command, stdin=pipe_read, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, text=True
    )
    os.close(pipe_read)
    with lzma.open(TYGEM) as stream, os.fdopen(pipe_write, "wb") as pipe:
        games = stream.read()
        for _ in range(6):  # more than the chunks that wait: rows have come back, and the end has not
            pipe.write(games)
        pipe.flush()
        deadline = time.monotonic() + 60
        while not (tmp_path / ".out.partial").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(stop)
        said = process.communicate(timeout=60)[1]
        assert process.returncode == status
    if stop != 9:
        assert said == "stopped; no store was written: run the command again\n"
        assert list(tmp_path.iterdir()) == []
    assert not (tmp_path / "out").exists()
    assert not psutil.wait_procs(children, timeout=60)[1]
    import_games([TYGEM], tmp_path / "out", ImportOptions(FAST, workers=1))
    assert len(Store.open(tmp_path / "out")) == 300
    assert not (tmp_path / ".out.partial").exists()


def test_stats_count_what_is_there(tygem: Store) -> None:
    stats = collect(tygem)
    rows = list(tygem)
    assert (stats.games, stats.moves) == (300, sum(len(row.moves) for row in rows))
    assert stats.endings == Counter(row.ending for row in rows)
    assert stats.winners == Counter({0: "black", 1: "white"}[row.winner or 0] for row in rows)
    assert stats.ranks == {"9d": 600}
    assert (stats.sizes, stats.komi) == ({19: 300}, {6.5: 300})
    assert stats.with_ownership == sum(row.ownership is not None for row in rows)
    assert stats.first_date == min(row.date for row in rows if row.date)
    assert sum(stats.years.values()) == sum(stats.lengths.values()) == 300
    assert stats.bytes_a_game < 1000
    assert json.loads(json.dumps(stats.as_dict()))["ranks"] == {"9d": 600}


def test_the_commands(tmp_path: Path, tengen: object) -> None:
    run = tengen
    done = run("import", TYGEM, "--out", tmp_path / "s", "--no-ownership", "--workers", "1")  # type: ignore[operator]
    assert done.returncode == 0, done.stderr
    assert "300 games read, 300 kept" in done.stdout
    shown = run("stats", tmp_path / "s")  # type: ignore[operator]
    assert shown.returncode == 0
    assert "19x19" in shown.stdout
    again = run("import", TYGEM, "--out", tmp_path / "s")  # type: ignore[operator]
    assert again.returncode == 2
    assert again.stderr.startswith("error: ")
    assert "--force" in again.stderr
    assert len(again.stderr.splitlines()) == 1
    assert run("stats", tmp_path).returncode == 2  # type: ignore[operator]


def test_a_set_of_hashes_agrees_with_pythons() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = HashSet(newest=50), set()
    for _ in range(60):
        hashes = rng.integers(0, 700, 20).astype(np.uint64) * np.uint64(2**54)
        held = ours.holds(hashes).tolist()
        assert held == [h in theirs for h in hashes.tolist()]
        fresh = []
        for value in hashes.tolist():
            fresh.append(value not in theirs)
            theirs.add(value)
        assert ours.add(hashes).tolist() == fresh
        assert len(ours) == len(theirs)
