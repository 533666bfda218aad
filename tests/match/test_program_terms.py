"""What programs are told about rules and time, by the commands that they list."""

from __future__ import annotations

import pytest

from tengen.engine.clock import TimeControl
from tengen.match.program_player import rules_command, time_commands, time_left
from tengen.rules import Rules

GTP = {"time_settings", "time_left"}
KGS = GTP | {"kgs-time_settings", "kgs-rules"}
KATA = KGS | {"kata-set-rules", "kata-time_settings"}


@pytest.mark.parametrize(
    ("rules", "known", "command"),
    [
        ("chinese", set(), None),
        ("chinese", KGS, "kgs-rules chinese"),
        ("new-zealand", KGS, "kgs-rules new_zealand"),
        ("tromp-taylor", KGS, None),
        ("tromp-taylor", KATA, "kata-set-rules tromp-taylor"),
        ("ko=simple,scoring=area,suicide=true", KATA, None),
    ],
)
def test_rules(rules: str, known: set[str], command: str | None) -> None:
    assert rules_command(Rules.parse(rules), known.__contains__) == command


@pytest.mark.parametrize(
    ("time", "known", "commands"),
    [
        ("5m+0", GTP, ["time_settings 300 0 0"]),
        ("5m+0", set(), []),
        ("10m+25/5m", KATA, ["time_settings 600 300 25"]),
        ("10m+5x30s", GTP, ["time_settings 600 30 1"]),
        ("10m+5x30s", KGS, ["kgs-time_settings byoyomi 600 30 5"]),
        ("5m+3s", KGS, ["time_settings 300 3 1"]),
        ("5m+3s", KATA, ["kata-time_settings fischer 300 3"]),
        ("0+1/2.5s", GTP, ["time_settings 0 2 1"]),
        ("0+1/0.5s", GTP, ["time_settings 0 1 1"]),
        ("5m+0.5s", GTP, ["time_settings 300 0 0"]),
        ("5m+0.5s", KATA, ["kata-time_settings fischer 300 0.5"]),
    ],
)
def test_time(time: str, known: set[str], commands: list[str]) -> None:
    assert time_commands(TimeControl.parse(time), known.__contains__) == commands


def test_no_clock_is_not_told() -> None:
    assert time_commands(None, KATA.__contains__) == []


@pytest.mark.parametrize(
    ("time", "spent", "known", "command"),
    [
        ("5m+0", [10.2], GTP, "time_left b 289 0"),
        ("5m+3s", [10], KATA, "time_left b 293 0"),
        ("5s+0", [4.4], KATA, "time_left b 1 0"),
        ("10s+25/5m", [12, 30], GTP, "time_left b 268 23"),
        ("10s+5x30s", [12, 45], KGS, "time_left b 30 4"),
        ("10s+5x30s", [12, 45], GTP, "time_left b 30 1"),
    ],
)
def test_what_is_left(time: str, spent: list[float], known: set[str], command: str) -> None:
    clock = TimeControl.parse(time).start()
    for seconds in spent:
        clock = clock.spend(seconds)
    assert time_left(clock, "b", known.__contains__) == command
