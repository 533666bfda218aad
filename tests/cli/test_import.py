"""`tengen import`: what its options change."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from tengen.cli.app import main
from tengen.data.import_report import ImportReport
from tengen.data.importer import ImportOptions
from tengen.data.rows import Filters, RowOptions
from tengen.data.sources import ImportLimits


def filtered(**filters: Any) -> ImportOptions:
    return ImportOptions(RowOptions(Filters(**filters)))


def test_a_report_of_one_small_game_reads_well() -> None:
    text = ImportReport(games=1, kept=1, bytes=2142).text()
    assert text.startswith("1 game read, 1 kept") and "\n  2.1 kB on disk, 2,142 bytes a game\n" in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", ImportOptions()),
        ("--force", ImportOptions(overwrite=True)),
        ("--size 9 --size 13", filtered(sizes=(9, 13))),
        ("--min-rank 3d", filtered(min_rank="3d")),
        ("--player Ann --player Bo", filtered(players=("Ann", "Bo"))),
        ("--since 2016-02-29", filtered(since=datetime.date(2016, 2, 29))),
        ("--until 2016-02-29", filtered(until=datetime.date(2016, 2, 29))),
        ("--ending count --ending resign", filtered(endings=("count", "resign"))),
        ("--max-handicap 0", filtered(max_handicap=0)),
        ("--komi 6.5 --komi 7.5", filtered(komi=(6.5, 7.5))),
        ("--min-moves 20", filtered(min_moves=20)),
        ("--max-moves 300", filtered(max_moves=300)),
        ("--min-part 40", filtered(min_part=40)),
        ("--sample 0.25", ImportOptions(sample=0.25)),
        ("--seed 3", ImportOptions(seed=3)),
        ("--exclude one --exclude two", ImportOptions(exclude=(Path("one"), Path("two")))),
        ("--rules japanese", ImportOptions(RowOptions(default_rules="japanese"))),
        ("--no-ownership", ImportOptions(RowOptions(playouts=0))),
        ("--limit depth=2 --limit ratio=9.5", ImportOptions(limits=ImportLimits(depth=2, ratio=9.5))),
        ("--workers 3", ImportOptions(workers=3)),
    ],
)
def test_an_option_changes_what_it_names(words: str, expected: ImportOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    def import_games(paths: list[str], out: Path, options: ImportOptions, _: object) -> ImportReport:
        given.extend((paths, out, options))
        return ImportReport()

    monkeypatch.setattr("tengen.data.importer.import_games", import_games)
    assert main(["import", "a.sgf", "games", "--out", "store", *words.split()]) == 0
    assert given == [["a.sgf", "games"], Path("store"), expected]
