"""report.html of a self-play run: one self-contained page, rebuilt while the run goes on."""

from __future__ import annotations

import shlex
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from tengen.data.store import Store
from tengen.runs.boards import first_move_picture, game_picture
from tengen.runs.events import read_events
from tengen.runs.progress import duration, rate_text
from tengen.runs.report import Board, Tile, read_recipe, sentence, with_minus, write_page
from tengen.selfplay import curves
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.events import Event, at, games, number, played_here, playing_seconds, timed_games
from tengen.selfplay.rating_book import RatingBook
from tengen.selfplay.run_clock import RunClock

REFRESH = 30
"""Seconds after which the page of a running run reloads itself."""

_SAMPLES = 8  # games shown
_MAPS = 6  # cycles whose first moves are shown
_SHARE = 0.02  # maximum share of the run's time that its report takes


class Reporter:
    """Rebuilds the report of a run so often that it takes at most 2% of the run's time."""

    def __init__(self, folder: Path, config: SelfPlayConfig, now: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._config = config
        self._now = now
        self._next = now()

    def update(self, clock: RunClock | None) -> bool:
        """Write the page if it is due; return whether it was."""
        began = self._now()
        if began < self._next:
            return False
        write_report(self._folder, self._config, clock)
        ended = self._now()
        self._next = ended + (ended - began) / _SHARE
        return True


def write_report(folder: Path, config: SelfPlayConfig, clock: RunClock | None = None) -> Path:
    """Write FOLDER/report.html from the run's log, games and ratings; return its path.

    With a `clock` the run goes on: the page shows when it ends and reloads itself. Sections without data are left out.
    """
    events = read_events(folder, "cycle")
    book = RatingBook.read(folder)
    if len(events) >= config.cycles:
        clock = None
    warnings = events[-1].get("warnings") or [] if events else []
    return write_page(
        folder / "report.html",
        "selfplay.html",
        title=config.name,
        what="self-play report",
        refresh=REFRESH if clock is not None else None,
        tensorboard=shlex.quote(str(folder / "tensorboard")),
        description=config.description,
        state=_state(config, events, clock),
        begun=bool(events),
        warnings=warnings,
        over=_earlier(events, {one["kind"] for one in warnings}),
        tiles=_tiles(config, events, book, clock),
        strength=curves.ratings(book),
        rating_notes=_rating_notes(config, book),
        learning=curves.curves(curves.LEARNING, events),
        games=curves.results(events) + curves.curves(curves.GAMES, events),
        first_moves=_first_moves(events),
        samples=_samples(folder / "games", events),
        health=curves.health(events),
        speed=curves.throughput(events),
        milestones=[(one.name, f"in {one.seconds_text}") for one in clock.milestones()] if clock else [],
        recipe=read_recipe(folder),
    )


def _state(config: SelfPlayConfig, events: Sequence[Event], clock: RunClock | None) -> str:
    if clock is not None:
        # A run that was killed leaves this page.
        return f"{clock.words()}. Written {datetime.now().astimezone():%Y-%m-%d %H:%M %Z}."
    if len(events) >= config.cycles:
        return f"The run is over: {config.cycles} cycles."
    return f"The run stopped after {len(events)} of {config.cycles} cycles; the same command resumes it."


def _earlier(events: Sequence[Event], held: set[str]) -> list[str]:
    """Warnings that no longer hold: `overfit (cycle 4 to 9)`."""
    cycles: dict[str, list[int]] = {}
    for event in events:
        for one in event.get("warnings") or []:
            cycles.setdefault(one["kind"], []).append(int(event["cycle"]) + 1)
    spans = {
        kind: f"{min(found)} to {max(found)}" if len(found) > 1 else f"{found[0]}" for kind, found in cycles.items()
    }
    return [f"{kind} (cycle {span})" for kind, span in spans.items() if kind not in held]


def _tiles(config: SelfPlayConfig, events: Sequence[Event], book: RatingBook, clock: RunClock | None) -> list[Tile]:
    if not events:
        return [Tile("cycles", f"0 of {config.cycles}")]
    last, played = events[-1], sum(map(games, events))
    spent = sum(number(event, 0.0, "evaluations") for event in events)
    here = sum(played_here(event, games(event)) for event in events)
    shown = [
        Tile("cycle", f"{len(events)} / {config.cycles}", f"{duration(3600 * number(last, 0, 'hours'))} so far"),
        Tile("games", f"{played:,}", f"{spent / max(1, here):,.0f} evaluations each" if spent else ""),
    ]
    known = [event for event in book.events if event.elo]
    if known and (elo := known[-1].elo):
        middle, low, high = ("?" if end is None else with_minus(f"{end:+,.0f}") for end in (elo.elo, elo.low, elo.high))
        shown.append(Tile("Elo", middle, f"{low} to {high}, network {known[-1].number}"))
    if last.get("agreement") is not None:
        shown.append(Tile("agreement", f"{last['agreement']:.0%}", "best move of raw policy and search"))
    if at(last, "statistics", "black_share") is not None:
        fair = ", ".join(f"{komi:.1f} on {size}x{size}" for size, komi in (last.get("fair_komi") or {}).items())
        below = f"fair komi {fair}" if fair else ""
        shown.append(Tile("Black's winrate", f"{last['statistics']['black_share']:.0%}", below))
    seconds, timed = playing_seconds(last), timed_games(last, games(last))
    if seconds and timed:
        below = f"{number(last, 0, 'evaluations') / seconds:,.0f} evaluations/s"
        shown.append(Tile("games/s", rate_text(timed / seconds), below))
    if clock is not None and clock.games_a_second() is not None:
        end = clock.run_ends()
        shown.append(Tile("ends in", duration(end.seconds), "at least" if end.at_least else ""))
    return shown


def _first_moves(events: Sequence[Event]) -> list[Board]:
    """Maps of some cycles, of the board size that is played most."""
    known = [event for event in events if at(event, "statistics", "first_moves")]
    if not known:
        return []
    sizes = at(known[-1], "statistics", "sizes") or {"": 0}
    size = max(sizes, key=sizes.__getitem__)
    found = [(event, at(event, "statistics", "first_moves", size)) for event in _spread(known, _MAPS)]
    return [
        Board(first_move_picture(counts), f"cycle {event['cycle'] + 1}")
        for event, counts in found
        if counts and np.sum(counts)
    ]


def _samples(path: Path, events: Sequence[Event]) -> list[Board]:
    """A game of some cycles: one whose length is the median of the cycle, since short games end first."""
    if not (path / "manifest.json").exists():
        return []
    store, shown = Store.open(path), []
    for event in _spread(events, _SAMPLES):
        first = first_row(store, int(event["cycle"]))
        lengths = store.lengths[first : first + games(event)]
        if not len(lengths):
            continue
        middle = int(np.argsort(lengths, kind="stable")[len(lengths) // 2])
        record = store.row(first + middle)
        picture = game_picture(record.game(), record.result, record.ownership)
        below = f"{len(record.moves)} moves, komi {record.komi or 0:g}"
        shown.append(Board(picture, f"cycle {event['cycle'] + 1}: {record.result}", below))
    return shown


def first_row(store: Store, cycle: int) -> int:
    """The first row of a cycle in a run's store, sorted by its sources `cycle/game`; the store's length without one."""

    def cycle_of(place: int) -> int:
        shard, row = store.locate(place)
        return int(str(store.shards[shard].batch.column("source")[row].as_py()).split("/")[0])

    return bisect_left(range(len(store)), cycle, key=cycle_of)


def _spread(events: Sequence[Event], count: int) -> list[Event]:
    """At most `count` events, evenly spread, the first and the last among them."""
    places = np.unique(np.linspace(0, len(events) - 1, min(count, len(events))).round().astype(int))
    return [events[place] for place in places.tolist()]


def _rating_notes(config: SelfPlayConfig, book: RatingBook) -> list[str]:
    """The warnings of the last rating, and the anchors that it left out, as sentences."""
    last = book.events[-1:]
    notes = [note for event in last for note in (*event.left_out, *event.warnings)] + list(book.warnings)
    outside = {pairing.anchor for event in book.events for pairing in event.pairings if not pairing.own}
    return [sentence(note, outside.union(config.rating.anchors)) for note in notes]
