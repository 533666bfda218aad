"""The clock of a self-play run: it estimates when the cycle, the next ratings and the run end."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tengen.runs.progress import duration, rate_text
from tengen.selfplay.events import brief, number, played_here, playing_seconds, timed_games

PARTS = ("generate", "learn", "rate", "other")
"""The parts of a cycle; `other` is saving, evaluation and the report, which may come between the others."""
DOING = {"generate": "playing", "learn": "training", "rate": "rating", "other": "saving"}
"""What a run does during each part."""

_HALF_LIFE = 2.0  # cycles after which a measurement counts half: the length of games and the load of the machine change
_MIN_SECONDS = 1.0  # below which a pace is not used
_MIN_SHARE = 0.1  # of the games that must be played before their own pace is used
_MIN_TIMED = 0.5  # share of a cycle's games that must be timed to extrapolate to all: the last games run alone


@dataclass(frozen=True)
class Milestone:
    """An event to come and the seconds until then; with `at_least` a lower bound, as a part was never measured."""

    name: str
    seconds: float
    at_least: bool

    @property
    def seconds_text(self) -> str:
        """`at least 2 h 5 min`."""
        return f"{'at least ' if self.at_least else ''}{duration(self.seconds)}"


@dataclass
class _Part:
    """One part of the current cycle."""

    name: str
    began: float
    share: float = 0.0
    """How many of the games are played, 0..1; 0 of another part."""
    start: float = 0.0
    """How many were played before the run was resumed."""

    @property
    def measured(self) -> float:
        """How many of the games were played since the clock started, 0..1."""
        return self.share - self.start

    def whole(self, now: float) -> float:
        """Seconds that all games take at their own pace."""
        return (now - self.began) / max(1e-9, self.measured)


@dataclass
class RunClock:
    """Estimates when the cycle, the next ratings and the run end, from the last cycles and the games of this one.

    `cycles` and `games` a cycle as in the recipe; `rated_cycles` are those (from 0) that end with a rating. `history`
    holds the events `cycle` of a resumed run. `now` returns seconds.
    """

    cycles: int
    games: int
    rated_cycles: Container[int] = ()
    history: Sequence[Mapping[str, Any]] = ()
    now: Callable[[], float] = time.monotonic
    cycle: int = field(default=0, init=False)
    played: int = field(default=0, init=False)
    _before: int = field(default=0, init=False)
    _evaluations: int = field(default=0, init=False)
    _part: _Part | None = field(default=None, init=False)
    _begun: set[str] = field(default_factory=set, init=False)
    _done: list[Mapping[str, Any]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._done = [brief(event) for event in self.history]
        self.cycle = len(self._done)

    # Input: what happens.

    def begin(self, cycle: int, part: str, played: int = 0) -> None:
        """A part of a cycle (from 0), one of `PARTS`, begins and ends the part before.

        `played` games of the cycle existed already: those of a run that was interrupted.
        """
        if part == PARTS[0] or cycle != self.cycle:
            self.played = self._evaluations = 0
            self._begun = set()
        self._begun.add(part)
        self.cycle = cycle
        share = played / self.games if part == PARTS[0] else 0.0
        self.played, self._before = max(self.played, played), played if part == PARTS[0] else self._before
        self._part = _Part(part, self.now(), share, share)

    def playing(self, played: int, evaluations: int, in_flight: int = 0) -> None:
        """Games of this cycle that ended, evaluations since it began or was resumed, games in flight.

        The pool is refilled, so its games are in all phases: each counts as half played.
        """
        self.played, self._evaluations = played, evaluations
        if self._part is not None and played > self._before:
            self._part.share = min(1.0, (played + min(in_flight, self.games - played) / 2) / self.games)

    def end(self, event: Mapping[str, Any]) -> None:
        """The cycle is over; `event` holds its `seconds` by part and its `evaluations`."""
        self._done.append(brief(event))
        self._part = None
        self._begun = set()
        self.cycle += 1
        self.played = self._evaluations = 0

    # Output: estimates.

    @property
    def part(self) -> str | None:
        """The part under way, None between cycles."""
        return self._part.name if self._part else None

    @property
    def share(self) -> float:
        """How much of the part under way is done, 0..1: by the games, else by the time of the last cycles."""
        current = self._part
        if current is None or current.name == "generate":
            return current.share if current else 0.0
        usual = self._usual(current.name)
        return min(1.0, (self.now() - current.began) / usual) if usual else 0.0

    def games_a_second(self) -> float | None:
        """Games a second: of this cycle once a tenth of it is played, else of the last cycles; None before any game.

        Games that overlap with training take longer than the run waits for them, so only whole cycles are used then.
        """
        overlapped = [event for event in self._done if playing_seconds(event) > _waited(event) + 1]
        if took := _recent_mean(self._whole([(event, playing_seconds(event)) for event in overlapped])):
            return self.games / took
        part = self._part
        playing = part is not None and part.name == "generate" and self.now() - part.began >= _MIN_SECONDS
        if part and playing and part.measured > (_MIN_SHARE if self._done else 0):
            return self.games / part.whole(self.now())
        seconds = self._usual("generate")
        return self.games / seconds if seconds else None

    def evaluations_a_game(self) -> float | None:
        """Evaluations a game, measured like `games_a_second`; None before any game."""
        part = self._part
        if part and part.name == "generate" and part.measured >= _MIN_SHARE:
            return self._evaluations / (part.measured * self.games)
        spent = [
            (event["evaluations"], played_here(event, self.games)) for event in self._done if "evaluations" in event
        ]
        return _recent_mean(
            [evaluations / played for evaluations, played in spent if played >= _MIN_SHARE * self.games]
        )

    def cycle_ends(self) -> Milestone:
        """When this cycle ends."""
        return self._until(self.cycle, f"cycle {self.cycle + 1}")

    def run_ends(self) -> Milestone:
        return self._until(self.cycles - 1, "the run")

    def milestones(self) -> list[Milestone]:
        """Every rated cycle to come, and the end of the run."""
        ahead = [cycle for cycle in range(self.cycle, self.cycles) if cycle in self.rated_cycles]
        return [*(self._until(cycle, f"rating after cycle {cycle + 1}") for cycle in ahead), self.run_ends()]

    def words(self) -> str:
        """`42 games/s, 1,310 evaluations a game; cycle 12 of 80 ends in 1 min, the run in 1 h 05 min`."""
        if self.cycle >= self.cycles:
            return "the run is over"
        speed, evaluations = self.games_a_second(), self.evaluations_a_game()
        if speed is None:
            return f"cycle {self.cycle + 1} of {self.cycles}: measuring"
        cost = f", {evaluations:,.0f} evaluations a game" if evaluations else ""
        cycle, run = self.cycle_ends(), self.run_ends()
        now = f"{rate_text(speed)} games/s{cost}; cycle {self.cycle + 1} of {self.cycles}"
        missing = [name for name in self._unknown() if name != "other"]
        unknown = f" ({' and '.join(DOING[name] for name in missing)} not measured yet)" if missing else ""
        return f"{now} ends in {cycle.seconds_text}, the run in {run.seconds_text}{unknown}"

    def _until(self, last: int, name: str) -> Milestone:
        """The end of cycle `last` >= the one under way."""
        seconds, unknown = 0.0, False
        for cycle in range(self.cycle, last + 1):
            for part in PARTS:
                if part == "rate" and cycle not in self.rated_cycles:
                    continue
                left = self._left(part) if cycle == self.cycle else self._usual(part)
                unknown |= left is None and part != "other"
                seconds += left or 0.0
        return Milestone(name, seconds, unknown)

    def _left(self, part: str) -> float | None:
        """Seconds left of a part of the cycle under way; None when that was never measured."""
        current = self._part
        if current is None or part not in self._begun:
            return self._usual(part)
        if part != current.name:
            return 0.0
        elapsed, share, usual = self.now() - current.began, current.share, self._usual(part)
        if part != "generate":
            return None if usual is None else max(0.0, usual - elapsed)
        if usual is None:
            return (1 - share) * current.whole(self.now()) if current.measured > 0 else None
        if current.measured < _MIN_SHARE or elapsed < _MIN_SECONDS:
            return max(0.0, usual * (1 - share), usual * (1 - current.start) - elapsed)
        return (1 - share) * (share * current.whole(self.now()) + (1 - share) * usual)

    def _usual(self, part: str) -> float | None:
        """Seconds of a part by the last cycles, or by the games of the current one; None where not measured."""
        timed = [(event, event["seconds"][part]) for event in self._done if event.get("seconds", {}).get(part)]
        known = self._whole(timed) if part == "generate" else [seconds for _, seconds in timed]
        if known:
            return _recent_mean(known)
        current = self._part
        if current and current.name == part and current.measured >= min(_MIN_SHARE, 10 / self.games):
            return current.whole(self.now())
        return None

    def _whole(self, timed: Sequence[tuple[Mapping[str, Any], float]]) -> list[float]:
        """Seconds that all games of a cycle take, from events and the seconds that their games took.

        Games that existed when a run was resumed took none; a cycle with mostly such games is left out.
        """
        counted = [(timed_games(event, self.games), seconds) for event, seconds in timed]
        return [seconds * self.games / played for played, seconds in counted if played >= _MIN_TIMED * self.games]

    def _unknown(self) -> list[str]:
        ahead = any(cycle in self.rated_cycles for cycle in range(self.cycle, self.cycles))
        return [part for part in PARTS if self._usual(part) is None and (part != "rate" or ahead)]


def _waited(event: Mapping[str, Any]) -> float:
    """Seconds that a run waited for the games of a cycle."""
    return number(event, 0.0, "seconds", "generate")


def _recent_mean(values: Sequence[float]) -> float | None:
    """A mean in which the newest value has the largest weight."""
    if not values:
        return None
    weights = [0.5 ** (age / _HALF_LIFE) for age in reversed(range(len(values)))]
    return float(sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights))
