"""The ablations' table: ratios and intervals against SciPy's t-test, and what it says of runs that never arrived."""

import math
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel

PROGRAM = "long/ablation_page.py"


def variant(program: ModuleType, name: str, games: list[float | None], played: int = 6000) -> Any:
    return program.Variant.of(
        name,
        [
            {
                "seed": seed,
                "games": reached,
                "played": played,
                "evaluations_per_game": 1000.0,
                "seconds": 600.0,
                "scores": [(1024, 0.05), (2048, 0.25)],
            }
            for seed, reached in enumerate(games)
        ],
    )


def test_two_variants_agree_with_a_paired_t_test_of_the_logarithms(program: ModuleType) -> None:
    base, other = [3100.0, 4200.0, 2900.0, 5100.0], [2500.0, 4000.0, 1800.0, 3300.0]
    paired = ttest_rel(np.log(other), np.log(base))
    interval = paired.confidence_interval(0.95)
    mean = float(np.mean(np.log(other) - np.log(base)))
    found = program.factors([variant(program, "base", base), variant(program, "other", other)])
    assert found["other"] == pytest.approx([math.exp(x) for x in (mean, interval.low, interval.high)], rel=1e-9)
    assert found["base"] == pytest.approx((1, 1, 1))


def test_the_order_of_the_runs_does_not_matter(program: ModuleType) -> None:
    rows = [
        {"seed": seed, "games": games, "played": 6000, "evaluations_per_game": 1.0, "seconds": 1.0, "scores": []}
        for seed, games in ((2, 2900.0), (0, 3100.0), (1, 4200.0))
    ]
    assert program.Variant.of("base", rows).games == [3100.0, 4200.0, 2900.0]


def test_a_run_that_never_arrived_gives_a_bound_and_no_interval(program: ModuleType) -> None:
    base = variant(program, "base", [2000.0, 2000.0])
    lost = variant(program, "lost", [4000.0, None], played=9000)
    assert "lost" not in program.factors([base, lost, variant(program, "third", [1000.0, 1100.0])])
    row = program.rows([base, lost], 0.2)[2]
    assert row[1] == "4,000, more than 9,000"
    assert row[4] == "above 3.00"  # geometric mean of 4,000 and 9,000 is 6,000
    # calls are counted to the gate, or to the end of the run without it: (4,000 + 9,000) x 1,000 / 2
    assert row[2] == "6.5"


def test_one_seed_alone_has_no_interval(program: ModuleType) -> None:
    assert program.factors([variant(program, "base", [2000.0]), variant(program, "other", [1000.0])]) == {}


def test_the_page_and_its_picture(program: ModuleType, tmp_path: Path) -> None:
    written = program.write_report(
        [variant(program, "base", [3100.0, 4200.0]), variant(program, "no-<noise>", [4100.0, 4300.0])], 0.2, tmp_path
    )
    text = written.read_text()
    assert "no-&lt;noise&gt;" in text and "no-<noise>" not in text
    assert (tmp_path / "report.png").stat().st_size > 10_000
