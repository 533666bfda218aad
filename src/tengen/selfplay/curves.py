"""The curves of a run's report, drawn from the events of its log. TensorBoard has all other scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from tengen.runs.plots import ACCENT, FAINT, PALETTE, SECOND, Draw, percent_axis, plot, time_unit
from tengen.selfplay.events import Event, at, games, playing_seconds, series, timed_games, window_ages
from tengen.selfplay.rating_book import RatingBook, RatingEvent
from tengen.selfplay.run_clock import PARTS
from tengen.statistics import Tally, wilson

_NEWEST = 5  # cycles that the calibration joins
_LEGEND = 0.25  # room for a legend below the axes
_LONG_LEGEND = 0.42  # room for a legend of anchors
_FEW = 5  # minimum length of the axis in cycles
_MARKED = 30  # points up to which each is marked
_MARKS = "os^Dv"  # of the points of an anchor


@dataclass(frozen=True)
class CyclePlot:
    """Lines over the cycles: `lines` gives the path of keys of each label, dots between; `percent` shows shares."""

    title: str
    lines: Mapping[str, str]
    percent: bool = False
    floor: float | None = 0.0
    """Where the vertical axis begins, None where the data does."""


LEARNING = (
    CyclePlot("Policy loss (nats)", {"training": "losses.policy", "new games": "fresh.policy"}, floor=None),
    CyclePlot("Value error", {"new games": "fresh.value", "games trained on": "seen.value"}),
    CyclePlot("Best move of raw policy and search agree", {"": "agreement"}, True),
)
GAMES = (
    CyclePlot(
        "Length of games (moves)",
        {"mean": "statistics.length.mean", "90th percentile": "statistics.length.high",
         "10th percentile": "statistics.length.low"},
    ),
    CyclePlot(
        "Variety",
        {"duplicate games": "statistics.duplicates", "played in earlier cycles": "statistics.repeated",
         "distinct openings, 6 moves": "statistics.distinct_openings.6",
         "distinct openings, 10 moves": "statistics.distinct_openings.10"},
        True,
    ),
)  # fmt: skip
HEALTH = (
    CyclePlot(
        "Root values",
        {"correlation with results": "statistics.values.correlation",
         "first position, for Black": "statistics.values.start",
         "standard deviation": "statistics.values.deviation"},
        floor=None,
    ),
    CyclePlot(
        "Resignation",
        {"winners that would have resigned": "statistics.resign.false_positives",
         "threshold (winrate)": "statistics.resign.threshold"},
        True,
    ),
)  # fmt: skip


def curves(chosen: Sequence[CyclePlot], events: Sequence[Event]) -> list[Markup]:
    """SVGs of the curves for which there are figures."""
    return [_curve(curve, events) for curve in chosen if any(_series(events, path)[0] for path in curve.lines.values())]


def results(events: Sequence[Event]) -> list[Markup]:
    """Black's share with its interval, the fair komi by board size, and how games end."""
    shown = []
    if series(events, "statistics", "black_share")[0]:
        shown.append(_over_cycles("Black's winrate", lambda axes: _black(axes, events)))
    if any(event.get("fair_komi") for event in events):
        shown.append(_over_cycles("Estimated fair komi", lambda axes: _fair(axes, events)))
    if any(at(event, "statistics", "endings") for event in events):
        shown.append(_over_cycles("How games end", lambda axes: _endings(axes, events), bottom=_LEGEND))
    return shown


def health(events: Sequence[Event]) -> list[Markup]:
    """The curves of HEALTH, the calibration of the newest cycles' root values, and the age of the replay window."""
    shown = curves(HEALTH, events)
    bands = [band for event in events[-_NEWEST:] for band in at(event, "statistics", "values", "calibration") or []]
    if bands:
        shown.append(plot("Calibration of root values", "value", lambda axes: _calibration(axes, bands)))
    if window_ages(events)[0]:
        shown.append(_over_cycles("Replay window (cycles)", lambda axes: _window(axes, events)))
    return shown


def throughput(events: Sequence[Event]) -> list[Markup]:
    """Games a second of playing and the shares of the time; without games that a resumed run found."""
    timed = [event for event in events if playing_seconds(event) and timed_games(event, games(event))]
    if not timed:
        return []
    return [
        _over_cycles("Games a second of playing", lambda axes: _speed(axes, timed)),
        _over_cycles("Share of the time", lambda axes: _times(axes, timed), bottom=_LEGEND),
    ]


def ratings(book: RatingBook) -> list[Markup]:
    """Elo with intervals over time, by all games and by those against players outside; scores against the anchors."""
    shown = []
    unit, an_hour = time_unit(max((event.hours for event in book.events), default=0.0))
    if any(event.elo for event in book.events):
        title = f"Elo, 95% intervals ({book.anchor} is 0)"
        shown.append(plot(title, unit, lambda axes: _elo(axes, book.events, an_hour)))
    if any(event.pairings for event in book.events):
        title = "Score against the anchors"
        shown.append(plot(title, unit, lambda axes: _anchors(axes, book.events, an_hour), bottom=_LONG_LEGEND))
    return shown


def _series(events: Sequence[Event], path: str) -> tuple[list[int], list[float]]:
    return series(events, *path.split("."))


def _over_cycles(title: str, draw: Draw, *, bottom: float = 0.15) -> Markup:
    def drawn(axes: Axes) -> None:
        draw(axes)
        axes.set_xlim(0, max(_FEW, axes.get_xlim()[1]))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))

    return plot(title, "cycle", drawn, bottom=bottom)


def _curve(curve: CyclePlot, events: Sequence[Event]) -> Markup:
    def draw(axes: Axes) -> None:
        for (label, path), color in zip(curve.lines.items(), PALETTE, strict=False):
            cycles, values = _series(events, path)
            if cycles:
                axes.plot(cycles, _scaled(values, curve.percent), _mark(cycles), color=color, label=label or None)
        if curve.floor is not None:
            axes.set_ylim(bottom=curve.floor)
        if curve.percent:
            axes.yaxis.set_major_formatter("{x:g}%")

    return _over_cycles(curve.title, draw)


def _black(axes: Axes, events: Sequence[Event]) -> None:
    cycles, shares = series(events, "statistics", "black_share")
    known = [event for event in events if at(event, "statistics", "black_share") is not None]
    ends = [
        wilson(share * games(event), games(event), games(event) * (at(event, "statistics", "draws") or 0))
        for share, event in zip(shares, known, strict=True)
    ]
    axes.axhline(50, color=FAINT, linewidth=1.5)
    axes.plot(cycles, _scaled(shares, True), _mark(cycles), color=ACCENT, label="all games")
    low, high = ([100 * end[side] for end in ends] for side in (0, 1))
    axes.fill_between(cycles, low, high, color=ACCENT, alpha=0.18)
    sizes = sorted({size for event in events for size in at(event, "statistics", "fair") or {}}, key=int)
    for size, color in zip(sizes, PALETTE[1:], strict=False):
        near, values = series(events, "statistics", "fair", size, "black_share")
        axes.plot(near, _scaled(values, True), _mark(near), color=color, label=f"{size}x{size}, komi near fair")
    percent_axis(axes)


def _fair(axes: Axes, events: Sequence[Event]) -> None:
    sizes = sorted({str(size) for event in events for size in event.get("fair_komi") or {}}, key=int)
    for size, color in zip(sizes, PALETTE, strict=False):
        cycles, values = series(events, "fair_komi", size)
        axes.plot(cycles, values, _mark(cycles), color=color, label=f"{size}x{size}")


def _endings(axes: Axes, events: Sequence[Event]) -> None:
    timed = [event for event in events if games(event)]
    names = sorted({name for event in timed for name in at(event, "statistics", "endings") or {}})
    shares = [
        [100 * (at(event, "statistics", "endings", name) or 0) / games(event) for event in timed] for name in names
    ]
    cycles = [int(event["cycle"]) + 1 for event in timed]
    if len(cycles) == 1:  # an area needs two ends
        cycles, shares = [cycles[0] - 1, *cycles], [[*share, *share] for share in shares]
    axes.stackplot(cycles, *shares, labels=names, colors=PALETTE, alpha=0.75)
    _filled(axes)


def _calibration(axes: Axes, bands: Sequence[Sequence[float]]) -> None:
    axes.plot([-1, 1], [-1, 1], color=FAINT)
    groups: dict[int, list[Sequence[float]]] = {}
    for band in bands:
        groups.setdefault(min(9, int((band[0] + 1) * 5)), []).append(band)
    joined = []
    for _, group in sorted(groups.items()):
        count = sum(band[2] for band in group)
        joined.append([sum(band[i] * band[2] for band in group) / count for i in (0, 1)])
    axes.plot([value for value, _ in joined], [result for _, result in joined], "o-", color=ACCENT)
    axes.set_ylabel("mean result for Black")


def _window(axes: Axes, events: Sequence[Event]) -> None:
    cycles, ages = window_ages(events)
    axes.plot(cycles, ages, _mark(cycles), color=ACCENT)
    axes.set_ylim(bottom=0)


def _speed(axes: Axes, events: Sequence[Event]) -> None:
    cycles = [int(event["cycle"]) + 1 for event in events]
    speeds = [timed_games(event, games(event)) / playing_seconds(event) for event in events]
    axes.plot(cycles, speeds, _mark(cycles), color=ACCENT)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,g}")


def _times(axes: Axes, events: Sequence[Event]) -> None:
    cycles = [int(event["cycle"]) + 1 for event in events]
    parts = [[at(event, "seconds", part) or 0.0 for event in events] for part in PARTS]
    wholes = [max(1e-9, sum(column)) for column in zip(*parts, strict=True)]
    below = [0.0] * len(cycles)
    for name, part, color in zip(PARTS, parts, PALETTE, strict=False):
        shares = [100 * seconds / whole for seconds, whole in zip(part, wholes, strict=True)]
        axes.bar(cycles, shares, bottom=below, width=1.0, color=color, alpha=0.8, label=name)
        below = [low + share for low, share in zip(below, shares, strict=True)]
    _filled(axes)


def _filled(axes: Axes) -> None:
    """An area chart of shares: its names lie below it."""
    axes.set_ylim(0, 100)
    axes.yaxis.set_major_formatter("{x:g}%")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=4, frameon=False)


def _elo(axes: Axes, events: Sequence[RatingEvent], an_hour: float) -> None:
    for label, kind, color in (("all games", "elo", ACCENT), ("against players outside the run", "outside", SECOND)):
        found = [(an_hour * event.hours, getattr(event, kind)) for event in events if getattr(event, kind)]
        times, ratings = [time for time, _ in found], [rating for _, rating in found]
        errors = [[_gap(r.elo, r.low) for r in ratings], [_gap(r.high, r.elo) for r in ratings]]
        if found:
            middles = [rating.elo for rating in ratings]
            axes.errorbar(times, middles, yerr=errors, fmt="o-", color=color, capsize=3, elinewidth=1.2, label=label)
    _from_the_start(axes)


def _anchors(axes: Axes, events: Sequence[RatingEvent], an_hour: float) -> None:
    met: dict[str, list[tuple[float, Tally]]] = {}
    for event in events:
        for pairing in event.pairings:
            name = pairing.word if pairing.word == "past" else pairing.anchor
            met.setdefault(name, []).append((an_hour * event.hours, pairing.tally))
    axes.axhline(50, color=FAINT, linewidth=1.5)
    for i, (name, matches) in enumerate(met.items()):
        times, tallies = [time for time, _ in matches], [tally for _, tally in matches]
        color = PALETTE[i % len(PALETTE)]
        style = ("-", "--", ":")[i // len(PALETTE) % 3]
        mark = _MARKS[i % len(_MARKS)]  # outlines of different shapes, which are seen where scores are equal
        scores = [100 * tally.score for tally in tallies]
        axes.plot(times, scores, style, marker=mark, fillstyle="none", color=color, label=name)
        low, high = ([100 * tally.interval()[side] for tally in tallies] for side in (0, 1))
        axes.fill_between(times, low, high, color=color, alpha=0.12)
    _from_the_start(axes)
    percent_axis(axes)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=2, frameon=False, fontsize="small")


def _from_the_start(axes: Axes) -> None:
    """An axis of time from the beginning of the run, with as few ticks as a narrow page has room for."""
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4))


def _gap(high: float | None, low: float | None) -> float:
    """Length of an error bar; 0 where its end is beyond all bounds."""
    return 0.0 if high is None or low is None else max(0.0, high - low)


def _scaled(values: Sequence[float], percent: bool) -> list[float]:
    return [100 * value for value in values] if percent else list(values)


def _mark(points: Sequence[Any]) -> str:
    return ".-" if len(points) <= _MARKED else "-"
