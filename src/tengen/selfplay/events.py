"""Access to figures in the events of a run's log; any figure may be missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Event = Mapping[str, Any]
_TIMES = ("seconds", "evaluations", "playing_seconds", "played_here", "played_before")


def at(event: Any, *path: str) -> Any:
    """The value at a path of keys, None where a key is missing."""
    for name in path:
        if not isinstance(event, Mapping):
            return None
        event = event.get(name)
    return event


def number(event: Event, default: float, *path: str) -> float:
    """The number at a path, `default` where there is none."""
    found = at(event, *path)
    return default if found is None else float(found)


def series(events: Sequence[Event], *path: str) -> tuple[list[int], list[float]]:
    """Cycles, counted from 1, and the numbers at a path, of the events `cycle` that have one."""
    found = [(int(event["cycle"]) + 1, at(event, *path)) for event in events]
    known = [(cycle, float(value)) for cycle, value in found if value is not None]
    return [cycle for cycle, _ in known], [value for _, value in known]


def brief(event: Event) -> dict[str, Any]:
    """What a run still asks of a cycle that is long over: its times and its gate, a twentieth of the event's memory."""
    return {name: event[name] for name in ("step", "cycle", "gate", *_TIMES) if name in event}


def hours_of(events: Sequence[Event]) -> float:
    """Hours that the cycles of these events took."""
    return sum(sum(event["seconds"].values()) for event in events) / 3600


def playing_seconds(event: Event) -> float:
    """How long the games of a cycle took; with `overlap` more than the run waited for them. 0 where it is not known."""
    return number(event, number(event, 0.0, "seconds", "generate"), "playing_seconds")


def games(event: Event) -> int:
    """Games of one cycle."""
    return int(number(event, 0.0, "statistics", "games"))


def played_here(event: Event, whole: int) -> int:
    """How many of the `whole` games of a cycle the process that wrote the event finished, for its `evaluations`. In
    older logs all of them, or none without evaluations.
    """
    return int(number(event, 0 if event.get("evaluations") == 0 else whole, "played_here"))


def timed_games(event: Event, whole: int) -> int:
    """How many of the `whole` games of a cycle ended in its `playing_seconds`, in any process. Games that a resumed run
    found do not count. As `played_here` in older logs.
    """
    before = at(event, "played_before")
    return played_here(event, whole) if before is None else whole - int(before)


def window_ages(events: Sequence[Event]) -> tuple[list[int], list[float]]:
    """For each cycle, counted from 1, how many cycles the replay window spans; 1 is the cycle alone."""
    cycles, ages = [], []
    for place, event in enumerate(events):
        left, age = number(event, 0.0, "window_games"), 0.0
        for earlier in reversed(events[: place + 1]):
            if left <= 0 or not games(earlier):
                break
            age += min(1.0, left / games(earlier))
            left -= games(earlier)
        if age:
            cycles.append(int(event["cycle"]) + 1)
            ages.append(round(age, 2))
    return cycles, ages
