"""Every warning is raised by a history with its failure, and none by a healthy history."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selfplay.random_games import played_game, write_store

from tengen.data.record import GameRecord
from tengen.selfplay.config import RecordMixConfig, SelfPlayConfig
from tengen.selfplay.diagnose import YOUNG, RunWarning, diagnose
from tengen.selfplay.statistics import game_statistics

CONFIG = SelfPlayConfig.model_validate(
    {
        "name": "t",
        "cycles": 20,
        "games_per_cycle": 200,
        "network": {"family": "residual"},
        "resign": {"false_positives": 0.03},
    }
)


def healthy_cycle(cycle: int) -> dict[str, Any]:
    """A sound cycle as the log holds it."""
    return {
        "event": "cycle",
        "cycle": cycle,
        "window_positions": 20_000,
        "steps": 625,
        "fresh_positions": 20_000,
        "fresh": {"value": 0.55, "surprise": 0.5},
        "seen": {"value": 0.5, "surprise": 0.45},
        "normalisation": {"batch": 0.004, "training": 0.0},
        "statistics": {
            "games": 200,
            "black_share": 0.52,
            "duplicates": 0.02,
            "repeated": 0.0,
            "distinct_openings": {"6": 0.5, "10": 0.9},
            "endings": {"count": 198, "move limit": 2},
            "values": {"correlation": 0.6, "black_ahead": 0.5, "mover_ahead": 0.52},
            "resign": {"played_out": 100, "false_positives": 0.04},
            "fair": {"7": {"komi": 9.0, "games": 100, "black_share": 0.55}},
        },
    }


def history(cycles: int = 8, **changes: Any) -> list[dict[str, Any]]:
    """Healthy cycles with figures changed everywhere; a path is written with two underscores between keys."""
    events = [healthy_cycle(cycle) for cycle in range(cycles)]
    for event in events:
        for path, value in changes.items():
            *parents, last = path.split("__")
            place = event
            for name in parents:
                place = place[name]
            place[last] = value
    return events


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [warning.kind for warning in diagnose(events, CONFIG)]


def test_a_healthy_run_raises_no_warning() -> None:
    for cycles in range(9):
        assert kinds(history(cycles)) == []


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("value collapse", {"statistics__values__correlation": 0.02}),
        ("value collapse", {"statistics__values__correlation": -0.3}),
        ("value collapse", {"statistics__values__correlation": None, "statistics__values__deviation": 0.0}),
        ("value collapse", {"statistics__values__mover_ahead": 1.0}),
        ("value collapse", {"statistics__values__mover_ahead": 0.0}),
        ("value collapse", {"statistics__values__black_ahead": 0.0}),
        ("duplicate openings", {"statistics__duplicates": 0.5}),
        ("duplicate openings", {"statistics__repeated": 0.5}),
        ("duplicate openings", {"statistics__distinct_openings": {"6": 0.02, "10": 0.1}}),
        ("starving window", {"window_positions": 500}),
        ("starving window", {"steps": 3000}),
        ("overfit", {"fresh__value": 0.95}),
        ("overfit", {"fresh__surprise": 1.2}),
        ("normalisation mode", {"normalisation": {"batch": 0.4, "training": None}}),
        ("normalisation mode", {"normalisation": {"batch": None, "training": 0.5}}),
        ("resign false positives", {"statistics__resign__false_positives": 0.15}),
        ("move limit", {"statistics__endings": {"count": 20, "move limit": 180}}),
        ("one color wins", {"statistics__fair__7__black_share": 0.97}),
        ("one color wins", {"statistics__fair__7__black_share": 0.0}),
    ],
)
def test_each_disease_has_its_warning_and_no_other(kind: str, changes: dict[str, Any]) -> None:
    found = diagnose(history(**changes), CONFIG)
    assert [warning.kind for warning in found] == [kind]
    assert found[0].text.endswith(".")
    assert len(found[0].remedy) > 20
    assert RunWarning(**found[0].as_dict()) == found[0]


def test_a_run_that_only_beats_itself_is_told_by_its_ratings() -> None:
    (warning,) = diagnose(history(), CONFIG, "it learns to beat itself alone")
    assert warning.kind == "only beats itself"
    assert warning.text == "It learns to beat itself alone."


def test_records_in_the_batches_are_no_positions_drawn_again() -> None:
    """Ten times as many rows as new positions, where four are asked for: too often, unless most of them are records."""
    sick = history(8, steps=1600)
    mixed = copy.deepcopy(CONFIG.model_dump())
    mixed["learn"]["records"] = {"store": "records", "share": 0.9, "until": 14}
    (warning,) = diagnose(sick, CONFIG)
    assert "drawn 10.2 times, not 4 times" in warning.text
    assert (
        diagnose(sick, SelfPlayConfig.model_validate(mixed)) == []
    )  # 10.24 x (1 - 0.9 / 2) = 5.6 in cycle 7; above 6 warn


def test_the_share_of_the_records_falls_to_nothing() -> None:
    records = RecordMixConfig(store="records", share=0.8, until=4)
    assert [records.share_in(cycle) for cycle in (0, 1, 2, 3, 4, 9)] == pytest.approx([0.8, 0.6, 0.4, 0.2, 0, 0])


def test_a_young_network_may_know_nothing() -> None:
    sick = {"statistics__values__correlation": 0.0, "statistics__endings": {"move limit": 200}}
    assert kinds(history(YOUNG - 1, **sick)) == []
    assert kinds(history(YOUNG, **sick)) == ["value collapse", "move limit"]


def test_one_bad_cycle_is_no_collapse() -> None:
    events = history()
    events[-1]["statistics"]["values"]["correlation"] = 0.0
    assert kinds(events) == []


def test_values_that_rightly_favour_one_color_are_no_collapse() -> None:
    """At komi 0 on 7x7 Black wins nearly all games, and a good network says so: komi is the trouble then."""
    certain = {
        "statistics__values__black_ahead": 0.99,
        "statistics__values__correlation": 0.05,
        "statistics__black_share": 0.98,
        "statistics__fair__7": {"komi": 0.0, "games": 150, "black_share": 0.98},
    }
    assert kinds(history(**certain)) == ["one color wins"]


def test_a_few_false_positives_may_be_chance() -> None:
    assert kinds(history(statistics__resign={"played_out": 40, "false_positives": 0.075})) == []
    assert kinds(history(statistics__resign={"played_out": 400, "false_positives": 0.075})) == [
        "resign false positives"
    ]


def test_figures_that_are_missing_raise_nothing() -> None:
    assert diagnose([{"event": "cycle", "cycle": n} for n in range(9)], CONFIG) == []
    hollow = history()
    for event in hollow:
        for part in ("fresh", "seen", "normalisation"):
            event[part] = dict.fromkeys(event[part])
        event["statistics"]["values"] = dict.fromkeys(event["statistics"]["values"])
        event["window_positions"] = event["steps"] = None
    assert diagnose(hollow, CONFIG) == []


def test_the_remedy_for_komi_knows_whether_it_is_learned() -> None:
    sick = history(statistics__fair__7__black_share=1.0)
    fixed = copy.deepcopy(CONFIG.model_dump())
    fixed["game"]["komi"]["learn"] = False
    (learned,) = diagnose(sick, CONFIG)
    (still,) = diagnose(sick, SelfPlayConfig.model_validate(fixed))
    assert "lags behind" in learned.remedy
    assert "Komi is fixed" in still.remedy


def found_in(path: Path, games: list[GameRecord]) -> list[str]:
    """The warnings of a run all of whose cycles look like these games, by the figures that are taken of them."""
    statistics = game_statistics(
        write_store(path, games), fair_komi={5: 0.5}, resign_winrate=0.1, resign_turns=1, max_moves=200
    )
    return kinds([{"event": "cycle", "cycle": cycle, "statistics": statistics} for cycle in range(YOUNG)])


def test_diseases_are_seen_in_games(tmp_path: Path) -> None:
    """The figures of real games and the checks agree on what they are called and what they mean."""
    komi = [-4.5, 5.5, 0.5]
    sound = [played_game(seed, komi=komi[seed % 3]) for seed in range(60)]
    assert found_in(tmp_path / "sound", sound) == []
    blind = [played_game(seed, komi=komi[seed % 3], skill=0.0) for seed in range(60)]
    assert found_in(tmp_path / "blind", blind) == ["value collapse", "resign false positives"]
    hopeful = [replace(game, root_values=np.full(len(game.moves), 0.9, np.float32)) for game in sound]
    assert found_in(tmp_path / "hopeful", hopeful) == ["value collapse"]
    assert found_in(tmp_path / "same", sound[:20] * 3) == ["duplicate openings"]
    won = [replace(g, komi=0.5, winner=0, root_values=np.where(g.colors == 0, 0.6, -0.6)) for g in sound]
    assert found_in(tmp_path / "won", won) == ["one color wins"]
