"""Estimates against simulated runs whose end is known, on a simulated clock."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tengen.selfplay.run_clock import RunClock

GAMES, SLOTS = 200, 64
EVALUATIONS_A_MOVE = 20


@dataclass
class Machine:
    """A pool that plays 400 moves a second, shared by the games in flight, and learns for 6 seconds a cycle."""

    moves: list[float]
    """Mean length of a game by cycle."""
    learn: float = 6.0
    rating: float = 20.0
    every: int = 4
    now: float = 0.0
    random: random.Random = field(default_factory=lambda: random.Random(1))

    def run(self, clock: RunClock) -> Iterator[tuple[int, str]]:
        """Advances the time and updates the clock; yields (cycle, part) after every second or so."""
        for cycle, moves in enumerate(self.moves):
            began = self.now
            clock.begin(cycle, "generate")
            yield from self._play(clock, cycle, moves)
            seconds: dict[str, float] = {"generate": self.now - began}
            parts = {"learn": self.learn, "rate": self.rating * ((cycle + 1) % self.every == 0), "other": 0.5}
            for part, length in parts.items():
                clock.begin(cycle, part)
                for _ in range(int(length)):
                    self.now += 1
                    yield cycle, part
                seconds[part] = length
            clock.end({"seconds": seconds, "evaluations": GAMES * moves * EVALUATIONS_A_MOVE})

    def _play(self, clock: RunClock, cycle: int, moves: float) -> Iterator[tuple[int, str]]:
        queued = [moves * self.random.uniform(0.5, 1.5) for _ in range(GAMES)]
        playing: list[float] = []
        played = evaluations = 0
        while queued or playing:
            while queued and len(playing) < SLOTS:
                playing.append(queued.pop())
            self.now += 0.5
            playing = [left - 200 / len(playing) for left in playing]
            evaluations += 200 * EVALUATIONS_A_MOVE
            played += sum(left <= 0 for left in playing)
            playing = [left for left in playing if left > 0]
            clock.playing(played, evaluations, len(playing))
            yield cycle, "generate"


def estimates(machine: Machine, cycles: int) -> tuple[list[dict[str, Any]], dict[int, float], float]:
    """What the clock said at every moment, when each cycle ended, and when the run did."""
    clock = RunClock(cycles, GAMES, range(3, cycles, 4), now=lambda: machine.now)
    said, ends = [], {}
    for cycle, part in machine.run(clock):
        said.append(
            {
                "now": machine.now,
                "cycle": cycle,
                "part": part,
                "cycle_ends": clock.cycle_ends(),
                "run_ends": clock.run_ends(),
                "words": clock.words(),
            }
        )
        ends[cycle] = machine.now
    return said, ends, machine.now


def test_after_its_first_cycles_the_end_of_the_run_is_known_within_a_tenth() -> None:
    said, _, end = estimates(Machine([40.0] * 12), 12)
    after = [one for one in said if one["cycle"] >= 4]
    assert all(not one["run_ends"].at_least for one in after)
    worst = max(abs(one["now"] + one["run_ends"].seconds - end) / end for one in after)
    assert worst < 0.1


def test_the_first_minute_gives_an_honest_lower_bound() -> None:
    """Learning and rating were never measured then: the words say so, and the estimate lies below the truth."""
    said, _, end = estimates(Machine([120.0] * 12), 12)
    at = next(one for one in said if one["now"] >= 30)
    assert at["cycle"] == 0
    assert at["run_ends"].at_least
    assert "at least" in at["words"]
    assert "training and rating not measured yet" in at["words"]
    assert 0.6 * end < at["now"] + at["run_ends"].seconds < 1.02 * end


def test_the_end_of_a_cycle_is_known_from_the_middle_of_its_games() -> None:
    said, ends, _ = estimates(Machine([60.0] * 8), 8)
    for one in said:
        if one["cycle"] >= 1 and one["part"] == "generate":
            truth = ends[one["cycle"]] - one["now"]
            assert one["cycle_ends"].seconds == pytest.approx(truth, abs=8 if one["cycle"] >= 4 else 28)


def test_recent_cycles_count_when_games_get_longer() -> None:
    """Games grow from 20 moves to 80, then stay: a mean over all cycles would promise far too little."""
    lengths = [20.0 + 10 * min(cycle, 6) for cycle in range(20)]
    said, _, end = estimates(Machine(lengths), 20)
    at = next(one for one in said if one["cycle"] == 10)
    assert at["now"] + at["run_ends"].seconds == pytest.approx(end, rel=0.06)
    plain = at["now"] * 20 / 10
    assert abs(plain - end) > 2 * abs(at["now"] + at["run_ends"].seconds - end)


def test_the_estimate_of_a_part_that_takes_longer_than_usual_never_falls_below_zero() -> None:
    now = [0.0]
    clock = RunClock(4, 10, now=lambda: now[0])
    clock.end({"seconds": {"generate": 10.0, "learn": 5.0}, "evaluations": 1000})
    clock.begin(1, "generate")
    now[0] = 500.0
    assert 0 <= clock.cycle_ends().seconds <= 15
    clock.playing(5, 700)
    assert clock.cycle_ends().seconds == pytest.approx(0.5 * (0.5 * 1000 + 0.5 * 10) + 5)
    assert clock.evaluations_a_game() == pytest.approx(140)


def test_milestones_name_every_rating_to_come_and_the_end() -> None:
    cycle = {"seconds": {"generate": 10.0, "learn": 5.0, "rate": 7.0, "other": 1.0}}
    clock = RunClock(8, 10, (1, 3, 7), [cycle] * 2, now=lambda: 0.0)
    assert [(m.name, m.seconds, m.at_least) for m in clock.milestones()] == [
        ("rating after cycle 4", 39.0, False),
        ("rating after cycle 8", 110.0, False),
        ("the run", 110.0, False),
    ]
    assert clock.words() == "1 games/s; cycle 3 of 8 ends in 16 s, the run in 2 min"


def test_a_resumed_run_knows_its_pace_at_once() -> None:
    event = {"seconds": {"generate": 20.0, "learn": 10.0}, "evaluations": 262_000}
    clock = RunClock(80, 200, (), [event] * 11, now=lambda: 0.0)
    clock.begin(11, "generate")
    assert clock.words() == ("10 games/s, 1,310 evaluations a game; cycle 12 of 80 ends in 30 s, the run in 34 min")


def test_games_that_were_there_before_an_interruption_are_no_pace() -> None:
    now = [0.0]
    event = {"seconds": {"generate": 20.0, "learn": 10.0}, "evaluations": 200_000}
    clock = RunClock(5, 200, (), [event], now=lambda: now[0])
    clock.begin(1, "generate", played=150)
    clock.playing(150, 0, 50)
    assert clock.games_a_second() == pytest.approx(10)
    assert clock.cycle_ends().seconds == pytest.approx(5 + 10)
    now[0] = 4.0
    clock.playing(190, 40_000, 0)  # 40 games in 4 seconds, 1,000 evaluations each
    assert clock.games_a_second() == pytest.approx(10)
    assert clock.evaluations_a_game() == pytest.approx(1000)
    assert clock.cycle_ends().seconds == pytest.approx(1 + 10)


def test_saving_may_come_before_learning() -> None:
    event = {"seconds": {"generate": 20.0, "learn": 10.0, "other": 4.0}, "evaluations": 5}
    clock = RunClock(3, 200, (), [event], now=lambda: 0.0)
    clock.begin(1, "generate")
    clock.begin(1, "other")
    assert clock.cycle_ends().seconds == pytest.approx(14)
    clock.begin(1, "learn")
    assert clock.cycle_ends().seconds == pytest.approx(10)


def test_a_cycle_whose_games_were_there_already_is_no_measure_of_playing() -> None:
    events = [
        {"seconds": {"generate": 20.0, "learn": 10.0}, "evaluations": 200_000},
        {"seconds": {"generate": 0.1, "learn": 10.0}, "evaluations": 0},
    ]
    assert RunClock(5, 200, (), events, now=lambda: 0.0).cycle_ends().seconds == pytest.approx(30)


WHOLE = {"seconds": {"generate": 20.0, "learn": 10.0}, "evaluations": 200_000, "played_here": 200, "played_before": 0}


@pytest.mark.parametrize("older", [[], [WHOLE]])
def test_of_a_cycle_that_was_half_played_before_a_resumption_the_other_half_counts(older: list[dict[str, Any]]) -> None:
    half = {**WHOLE, "seconds": {"generate": 10.0, "learn": 10.0}, "evaluations": 100_000, "played_here": 100}
    clock = RunClock(5, 200, (), [*older, {**half, "played_before": 100}], now=lambda: 0.0)
    assert clock.games_a_second() == pytest.approx(10)
    assert clock.evaluations_a_game() == pytest.approx(1000)
    assert clock.cycle_ends().seconds == pytest.approx(30)


def test_games_of_helpers_are_waited_for_but_cost_this_process_nothing() -> None:
    helped = {**WHOLE, "evaluations": 120_000, "played_here": 120}
    clock = RunClock(5, 200, (), [helped], now=lambda: 0.0)
    assert clock.games_a_second() == pytest.approx(10)
    assert clock.evaluations_a_game() == pytest.approx(1000)
    assert clock.cycle_ends().seconds == pytest.approx(30)


def test_the_last_games_of_a_cycle_are_no_pace() -> None:
    """They run alone: ten games in 8 seconds are no sign that 200 would take 160."""
    tail = {"seconds": {"generate": 8.0, "learn": 10.0}, "evaluations": 10_000, "played_here": 10, "played_before": 190}
    clock = RunClock(5, 200, (), [WHOLE, tail], now=lambda: 0.0)
    assert clock.games_a_second() == pytest.approx(10)
    assert clock.cycle_ends().seconds == pytest.approx(30)


def test_before_anything_is_measured_nothing_is_promised() -> None:
    clock = RunClock(80, 200, (), now=lambda: 0.0)
    assert clock.words() == "cycle 1 of 80: measuring"
    clock.begin(0, "generate")
    assert clock.games_a_second() is None
    assert clock.evaluations_a_game() is None


def test_games_beside_learning_are_timed_by_themselves() -> None:
    events = [{"cycle": c, "seconds": {"generate": 2.0, "learn": 60.0}, "playing_seconds": 50.0} for c in range(3)]
    clock = RunClock(10, 500, history=events)
    clock.begin(3, "generate")
    clock.playing(490, 10_000)
    assert clock.games_a_second() == pytest.approx(10.0)
