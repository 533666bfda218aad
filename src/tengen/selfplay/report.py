"""report.html of a self-play run: one self-contained page that grows while the run goes on."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tengen.data.store import Store
from tengen.runs import boards
from tengen.runs.log import read_log
from tengen.runs.report import figures, page, section, tile, tiles, warning, write_page
from tengen.selfplay import curves
from tengen.selfplay.config import ZeroConfig
from tengen.selfplay.events import Event, at, games, number, played_here, playing_seconds, timed_games
from tengen.selfplay.rating_book import RatingBook
from tengen.selfplay.timing import Clock, Milestone, duration, rate

REFRESH = 30
"""Seconds after which the page of a run that goes on loads itself again."""

_SAMPLES = 8  # games shown
_MAPS = 6  # cycles whose first moves are shown
_SHARE = 0.02  # of the run's time that its report may take


class Reporter:
    """Rebuilds the report of a run as often as it costs at most a fiftieth of the run's time."""

    def __init__(self, folder: Path, config: ZeroConfig, now: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._config = config
        self._now = now
        self._next = now()

    def update(self, clock: Clock | None) -> bool:
        """Write the page if it is due; whether it was."""
        began = self._now()
        if began < self._next:
            return False
        write_report(self._folder, self._config, clock)
        ended = self._now()
        self._next = ended + (ended - began) / _SHARE
        return True


def write_report(folder: Path, config: ZeroConfig, clock: Clock | None = None) -> Path:
    """Write FOLDER/report.html from the run's log, games and ratings; return its path.

    With a `clock` the run goes on: the page tells when it ends and loads itself again. What the folder lacks is left
    out.
    """
    log = read_log(folder / "log.jsonl")
    events = [entry for entry in log if entry["event"] == "cycle"]
    book = RatingBook.read(folder)
    if len(events) >= config.cycles:
        clock = None
    body = "".join(
        (
            boards.DEFINITIONS,
            _head(config, events, clock),
            _warnings(events),
            tiles(_tiles(config, events, book, clock)),
            section("Strength", figures(curves.ratings(book)) + _told(book)),
            section("Learning", figures(curves.curves(curves.LEARNING, events) + _losses(events))),
            section("Games", figures(curves.results(events) + curves.curves(curves.GAMES, events))),
            section("Where games begin", _first_moves(events)),
            section("Sample games", _samples(folder / "games", events)),
            section("Health", figures(curves.health(events))),
            section("Speed", figures(curves.throughput(events))),
            _milestones(clock),
            _recipe(folder / "recipe.yaml"),
        )
    )
    refresh = REFRESH if clock is not None else None
    text = page(f"{config.name}: self-play report", body, style=boards.STYLE, refresh=refresh)
    return write_page(folder / "report.html", text)


def _head(config: ZeroConfig, events: Sequence[Event], clock: Clock | None) -> str:
    if clock is not None:
        state = clock.words()
    elif len(events) >= config.cycles:
        state = f"The run is over: {config.cycles} cycles."
    else:
        state = f"The run stopped after {len(events)} of {config.cycles} cycles; the same command goes on with it."
    return f'<h1>{html.escape(config.name)}</h1><p>{html.escape(config.description)}</p><p class="state">{state}</p>'


def _warnings(events: Sequence[Event]) -> str:
    """The warnings that hold now, and those of earlier cycles in a line each."""
    if not events:
        return ""
    held = events[-1].get("warnings") or []
    cards = "".join(warning(one["kind"], one["text"], one["remedy"]) for one in held)
    over = _earlier(events, {one["kind"] for one in held})
    calm = "" if held else '<p class="well">No warnings.</p>'
    return cards + calm + (f'<p class="state">Over: {html.escape("; ".join(over))}.</p>' if over else "")


def _earlier(events: Sequence[Event], held: set[str]) -> list[str]:
    """Warnings that no longer hold: `overfit (cycles 4 to 9)`."""
    cycles: dict[str, list[int]] = {}
    for event in events:
        for one in event.get("warnings") or []:
            cycles.setdefault(one["kind"], []).append(int(event["cycle"]) + 1)
    spans = {
        kind: f"{min(found)} to {max(found)}" if len(found) > 1 else f"{found[0]}" for kind, found in cycles.items()
    }
    return [f"{kind} (cycle {span})" for kind, span in spans.items() if kind not in held]


def _tiles(config: ZeroConfig, events: Sequence[Event], book: RatingBook, clock: Clock | None) -> list[str]:
    if not events:
        return [tile("cycles", f"0 of {config.cycles}")]
    last, played = events[-1], sum(map(games, events))
    spent = sum(number(event, 0.0, "evaluations") for event in events)
    here = sum(played_here(event, games(event)) for event in events)
    shown = [tile("cycle", f"{len(events)} / {config.cycles}", f"{duration(3600 * number(last, 0, 'hours'))} so far")]
    shown.append(tile("games", f"{played:,}", f"{spent / max(1, here):,.0f} evaluations each" if spent else ""))
    known = [event for event in book.events if event.elo]
    if known and (elo := known[-1].elo):
        ends = " to ".join("?" if end is None else f"{end:+,.0f}" for end in (elo.low, elo.high))
        shown.append(tile("Elo", f"{elo.elo:+,.0f}", f"{ends}, network {known[-1].number}"))
    if last.get("agreement") is not None:
        shown.append(tile("agreement", f"{last['agreement']:.0%}", "best move of network and search"))
    if at(last, "statistics", "black_share") is not None:
        fair = ", ".join(f"{komi:.1f} on {size}x{size}" for size, komi in (last.get("fair_komi") or {}).items())
        shown.append(
            tile("Black's share", f"{last['statistics']['black_share']:.0%}", f"fair komi {fair}" if fair else "")
        )
    seconds, timed = playing_seconds(last), timed_games(last, games(last))
    if seconds and timed:
        shown.append(
            tile("games/s", rate(timed / seconds), f"{number(last, 0, 'evaluations') / seconds:,.0f} evaluations/s")
        )
    if clock is not None and clock.games_a_second() is not None:
        shown.append(
            tile("ends in", duration(clock.run_ends().seconds), "at least" if clock.run_ends().at_least else "")
        )
    return shown


def _losses(events: Sequence[Event]) -> list[str]:
    names = sorted({name for event in events for name in event.get("losses") or {}} - {"policy", "total"})
    lines = {name: f"losses.{name}" for name in names}
    return curves.curves([curves.Curve("Other training losses", lines)], events) if names else []


def _first_moves(events: Sequence[Event]) -> str:
    """Maps of some cycles, of the board size that is played most."""
    known = [event for event in events if at(event, "statistics", "first_moves")]
    if not known:
        return ""
    size = max(at(known[-1], "statistics", "sizes") or {"": 0}, key=lambda name: known[-1]["statistics"]["sizes"][name])
    shown = []
    for event in _spread(known, _MAPS):
        counts = at(event, "statistics", "first_moves", size)
        if counts and np.sum(counts):
            shown.append(boards.figure(boards.first_move_picture(counts), f"cycle {event['cycle'] + 1}"))
    note = "The area of a spot is its share of the first moves of the cycle, in percent."
    return f'<p class="state">{note}</p><div class="maps">{"".join(shown)}</div>' if shown else ""


def _samples(path: Path, events: Sequence[Event]) -> str:
    """A game of some cycles: one whose length is the median of the cycle, since short games end first."""
    if not (path / "manifest.json").exists():
        return ""
    store, shown = Store.open(path), []
    for event in _spread(events, _SAMPLES):
        first = first_row(store, int(event["cycle"]))
        lengths = store.lengths[first : first + games(event)]
        if not len(lengths):
            continue
        middle = int(np.argsort(lengths, kind="stable")[len(lengths) // 2])
        record = store.row(first + middle)
        below = f"{len(record.moves)} moves, komi {record.komi or 0:g}"
        shown.append(
            boards.figure(
                boards.game_picture(record.game(), record.result, record.ownership),
                f"cycle {event['cycle'] + 1}: {record.result}",
                below,
            )
        )
    note = "Final positions: a stone bears the number of its move, a point the tint of its final owner."
    return f'<p class="state">{note}</p><div class="boards">{"".join(shown)}</div>' if shown else ""


def first_row(store: Store, cycle: int) -> int:
    """The first row of a cycle in a run's store, whose sources `cycle/game` rise; its length where there is none."""
    low, high = 0, len(store)
    while low < high:
        middle = (low + high) // 2
        shard, row = store.locate(middle)
        source = str(store.shards[shard].batch.column("source")[row].as_py())
        if int(source.split("/")[0]) < cycle:
            low = middle + 1
        else:
            high = middle
    return low


def _spread(events: Sequence[Event], count: int) -> list[Event]:
    """At most `count` events, evenly spread, the first and the last among them."""
    places = np.unique(np.linspace(0, len(events) - 1, min(count, len(events))).round().astype(int))
    return [events[place] for place in places.tolist()]


def _milestones(clock: Clock | None) -> str:
    if clock is None:
        return ""
    rows = "".join(f"<tr><td>{html.escape(m.name)}</td><td>in {_until(m)}</td></tr>" for m in clock.milestones())
    return section("Still to come", f"<table>{rows}</table>")


def _until(milestone: Milestone) -> str:
    return ("at least " if milestone.at_least else "") + duration(milestone.seconds)


def _recipe(path: Path) -> str:
    if not path.exists():
        return ""
    text = html.escape(path.read_text(encoding="utf-8"))
    return f"<details><summary>Recipe</summary><pre>{text}</pre></details>"


def _told(book: RatingBook) -> str:
    """What the last rating says in words."""
    last = book.events[-1:]
    sentences = [sentence for event in last for sentence in (*event.left_out, *event.warnings)]
    return "".join(f'<p class="state">{html.escape(sentence)}</p>' for sentence in (*sentences, *book.warnings))
