"""`tengen rate`: Elo ratings of all players, from all their games."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tengen.cli.tables import new_table, print_table
from tengen.disk import json_text, write_whole
from tengen.errors import RecipeError

if TYPE_CHECKING:
    from tengen.ratings.pool import GameSet, Pool
    from tengen.ratings.standings import Standings

_OF_MATCH = ("match.json", "games.jsonl", "summary.json", "games.csv", "report.html")
"""Files in the folder of a match."""
_MAX_PAIRS = 60
_MANY = 200  # players whose intervals take a second
_MAX_ELO = 1e6  # of an anchor: a number


def command(
    folders: Annotated[
        list[Path],
        typer.Argument(
            help="match folders, folders of match folders, self-play runs, SGF files, folders of SGF files",
            show_default=False,
        ),
    ],
    anchor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[=ELO]",
            help="player with rating 0, or ELO; by default GNU Go level 10, else the player with the most games",
        ),
    ] = None,
    size: Annotated[int | None, typer.Option(help="board size; by default every size")] = None,
    same: Annotated[list[str] | None, typer.Option(help="NAME=OTHER: count the player NAME as OTHER")] = None,
    first_move: Annotated[bool, typer.Option(help="estimate the advantage of the first move")] = True,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="write all figures to this file; - prints them")
    ] = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="write the ratings to this file, one row a player; - prints them")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="folder for report.html, report.png and games.csv")] = None,
) -> None:
    """Rate all players at once, by maximum likelihood over all games, with 95% intervals.

    Every board size has its ratings. A player is known by its name, which contains its limits; two players of one
    name that are known to differ are rated apart.
    """
    from tengen.ratings.report import write_pool_report

    _check_output("json", json_file, folders)
    _check_output("csv", csv_file, folders)
    pool = _read(folders, same or [])
    sizes = pool.sizes if size is None else [size]
    found = list(_standings(pool, sizes, anchor, first_move))
    printed = [name for name, file in (("--json", json_file), ("--csv", csv_file)) if str(file) == "-"]
    if len(printed) > 1:
        raise RecipeError("--json - and --csv - both print: give a file to one of them")
    is_data = bool(printed)
    console = Console(stderr=is_data)
    if printed == ["--json"]:
        print(_json(found, ensure_ascii=True))  # standard output may have any encoding
    if printed == ["--csv"]:
        _write_csv(sys.stdout, found, "\n")
    for one in [] if is_data else found:
        _print(one, console)
    if json_file is not None and "--json" not in printed:
        _write(json_file, lambda file: print(_json(found), file=file))
    if csv_file is not None and "--csv" not in printed:
        _write(csv_file, lambda file: _write_csv(file, found))
    if report is not None:
        title = ", ".join(folder.resolve().name for folder in folders)
        console.print(f"report: {write_pool_report(pool, found, report, title)}", markup=False, soft_wrap=True)


def _write(path: Path, write: Callable[[TextIO], object]) -> None:
    """Let `write` fill a file, which holds what it held before until it is whole. Links, such as /dev/stderr, and
    devices stay what they are."""
    in_place = path.is_symlink() or (path.exists() and not path.is_file())
    with (
        nullcontext(path) if in_place else write_whole(path, shared=True) as place,
        place.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file,
    ):
        write(file)


def _check_output(option: str, file: Path | None, games: Sequence[Path]) -> None:
    """Raise RecipeError for a folder, and for a file that a user of `--json` or `--csv` as a flag would lose: one of
    the games."""
    from tengen.data.sources import ARCHIVE_SUFFIXES
    from tengen.sgf.grammar import RECORD_SUFFIXES

    if file is None or str(file) == "-":
        return
    real = file.resolve()
    of_match = real.name in _OF_MATCH and (real.parent / "match.json").exists()
    holds_games = of_match or file.suffix.lower() in (*RECORD_SUFFIXES, *ARCHIVE_SUFFIXES)
    if holds_games or file.is_dir() or real in [path.resolve() for path in games]:
        raise RecipeError(f"--{option} takes a file to write, not {file}: give FILE.{option}, or - to print")


def _read(folders: Sequence[Path], same: Sequence[str]) -> Pool:
    """The games of all folders, whatever each is, those of a folder in another once.

    Raises TengenError for one that holds no games.
    """
    from tengen.errors import SgfError
    from tengen.ratings.pool import Pool, even_games, matches_in, records_beside, sgf_games

    game_sets: list[GameSet] = []
    notes: list[str] = []
    taken: set[Path] = set()
    named = {folder.resolve() for folder in folders}
    for folder in sorted(named, key=lambda folder: (len(folder.parts), folder)):
        if not folder.exists():
            raise RecipeError(f"{folder}: there is no such folder or file")
        if found := matches_in(folder):
            beside = [record for record in records_beside(folder) if not {record, record.parent} & named - {folder}]
            if beside:
                notes.append(
                    f"{folder}: the SGF files beside its matches are left out ({len(beside)}, such as "
                    f"{beside[0].name}); name them or their folder too"
                )
            found = [game_set for game_set in found if game_set.source.resolve() not in taken]
        elif not any(folder.is_relative_to(other) for other in taken):
            if below := next(folder.rglob("match.json"), None):
                # Players of the same name in matches further down may be different networks.
                raise RecipeError(
                    f"{folder} holds matches in deeper folders, such as {below.parent}: name their folders"
                )
            try:
                found, left_out = sgf_games(folder)
            except SgfError as error:
                known = "match folders, folders of these, self-play runs with ratings, SGF files and folders of them"
                raise RecipeError(f"{folder} holds nothing to rate; that would be {known}") from error
            notes += left_out
        game_sets += found
        taken |= {game_set.source.resolve() for game_set in found}
    game_sets, handicaps = even_games(game_sets)
    notes += handicaps
    players = Pool.of(game_sets).players if same else []
    pool = Pool.of(game_sets, dict(_same(pair, players) for pair in same), notes)
    if not pool.sizes:
        nothing = f"no games to rate in {', '.join(map(str, folders))}"
        raise RecipeError("; ".join([nothing, *notes]))
    return pool


def _same(pair: str, players: Collection[str]) -> tuple[str, str]:
    """The names in NAME=OTHER, which may contain `=`.

    NAME is a player; where there is a choice OTHER is one too, or NAME is the longest.
    """
    splits = [(pair[:i].strip(), pair[i + 1 :].strip()) for i, letter in enumerate(pair) if letter == "="]
    splits = [(name, other) for name, other in splits if other]
    if not splits:
        raise RecipeError(f"--same takes NAME=OTHER, not {pair!r}")
    return max(splits, key=lambda names: (names[0] in players, names[1] in players, len(names[0])))


def _anchor(text: str | None, players: Collection[str]) -> tuple[str | None, float]:
    """The name in NAME or NAME=ELO, which may contain `=`, and its Elo, by default 0."""
    if text is None or text in players:
        return text, 0.0
    name, _, word = text.rpartition("=")
    name = name.strip()
    if name not in players:
        raise RecipeError(f"{text!r} cannot be the anchor: it has no games; there are {'; '.join(players)}")
    with suppress(ValueError):
        elo = float(word)
        if abs(elo) <= _MAX_ELO:
            return name, elo
    raise RecipeError(f"--anchor takes NAME or NAME=ELO, such as {name}=1800, not {text!r}")


def _standings(pool: Pool, sizes: Sequence[int], anchor: str | None, first_move: bool) -> Iterator[Standings]:
    """The standings on these sizes. A terminal shows a bar where intervals of many players take seconds."""
    from tengen.ratings.standings import standings
    from tengen.runs.progress import new_bar

    name, elo = _anchor(anchor, pool.players)
    many = any(len(pool.at(size).players) >= _MANY for size in sizes)
    with new_bar(many and sys.stderr.isatty()) as bar:
        for size in sizes:
            track = partial(bar.track, description=f"ratings on {size}x{size}")
            here, there = (name, elo) if name in pool.at(size).players else (None, 0.0)  # it may play on others alone
            yield standings(pool, size, here, anchor_elo=there, first_move=first_move, track=track)


def _json(found: Sequence[Standings], *, ensure_ascii: bool = False) -> str:
    return json_text({"sizes": [one.as_dict() for one in found]}, indent=1, ensure_ascii=ensure_ascii)


def _write_csv(file: TextIO, found: Sequence[Standings], end: str = "\r\n") -> None:
    rows = [{"size": one.size, "anchor": one.ratings.anchor, **row} for one in found for row in one.rows()]
    writer = csv.DictWriter(file, list(rows[0]), lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)


def _print(one: Standings, console: Console) -> None:
    games = f"{one.games:,} {'game' if one.games == 1 else 'games'}"
    anchor = f"{escape(one.ratings.anchor)} is {one.ratings.anchor_elo:g}"
    console.print(f"\n[bold]{one.size}x{one.size}[/bold]  {games}; {anchor}")
    print_table(_ratings(one), console)
    if (advantage := one.ratings.first_move) is not None:
        black = f"Black made {one.black.score:.1%} of the points"
        console.print(
            f"Black's first move is worth {advantage} Elo; {black}\n",
            highlight=False,
            soft_wrap=not console.is_terminal,
        )
    if len(one.pairs) <= _MAX_PAIRS:
        print_table(_pairs(one), console)
    else:
        console.print(f"{len(one.pairs)} pairings: --json and --report list them")
    for warning in one.warnings:
        console.print(f"[yellow]note:[/yellow] {escape(warning)}", highlight=False, soft_wrap=not console.is_terminal)


def _ratings(one: Standings) -> Table:
    headings = ("", "player", "Elo", "95% interval", "games", "score", "as Black", "as White")
    table = new_table(*headings, left={"player"}, plain=True, header_style="dim")
    for rank, player in enumerate(one.players, 1):
        elo, interval = one.text(player)
        black, white = one.by_color[player]
        whole = one.whole(player)
        shares = [f"{tally.score:.1%}" if tally.games else "" for tally in (whole, black, white)]
        table.add_row(str(rank), escape(player), f"[bold]{elo}[/bold]", interval, f"{whole.games:,}", *shares)
    return table


def _pairs(one: Standings) -> Table:
    # A pairing takes one column and its games another: two names and eight numbers do not fit into 80 columns.
    headings = ("pairing", "won-drawn-lost", "score", "95% interval", "expected", "stronger")
    table = new_table(*headings, left={"pairing"}, plain=True, header_style="dim")
    for pair in one.pairs:
        tally = pair.tally
        low, high = tally.interval()
        table.add_row(
            f"{escape(pair.first)} - {escape(pair.second)}",
            f"{tally.wins:,}-{tally.draws:,}-{tally.losses:,}",
            f"[bold]{tally.score:.1%}[/bold]",
            f"{100 * low:.1f} to {100 * high:.1f}%",
            "" if pair.expected is None else f"{pair.expected:.1%}",
            f"{tally.superiority():.1%}",
        )
    return table
