"""All figures together, within a budget of seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from typing import Any

from tengen import _native
from tengen.benchmark.machine import Machine, this_machine
from tengen.benchmark.playing import (
    SIZES,
    Evaluations,
    Playouts,
    Visits,
    evaluations,
    playout_visits,
    playouts,
    pool_visits,
    visits,
)
from tengen.benchmark.training import Encoding, Estimate, encoding, estimate
from tengen.errors import MissingExtra
from tengen.evaluators.evaluator import Evaluator
from tengen.training.config import RunConfig

PLAY_SIZES = (9, 19)
POOL_SIZE = 9

# Shares of the budget.
_EVALUATIONS, _VISITS, _PLAYOUTS, _ENCODING, _ESTIMATES = 0.3, 0.25, 0.15, 0.05, 0.25


@dataclass
class Figures:
    """What was measured; `missing` says in a line each what could not be."""

    machine: Machine
    evaluations: list[Evaluations] = field(default_factory=list)
    visits: list[Visits] = field(default_factory=list)
    playouts: list[Playouts] = field(default_factory=list)
    encoding: Encoding | None = None
    recipes: list[Estimate] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


Say = Callable[[str], None]


def measure_all(networks: Sequence[Evaluator], recipes: Sequence[RunConfig], seconds: float, say: Say) -> Figures:
    """Measure everything in about `seconds`, and what loading and compiling take besides.

    The first of `networks` is the one that plays. `say` is told what is measured next.
    """
    figures = Figures(this_machine())
    for network in networks:
        say(f"{network.name}: evaluations a second")
        figures.evaluations += evaluations(network, _EVALUATIONS * seconds / len(networks))
    _measure_play(figures, networks, _VISITS * seconds, say)
    policies = _native.playout_policies()
    for policy in policies:
        say(f"playouts a second, {policy}")
        share = _PLAYOUTS * seconds / (len(policies) * len(SIZES))
        figures.playouts += [playouts(policy, size, share) for size in SIZES]
    say("positions a second into training")
    figures.encoding = encoding(recipes, _ENCODING * seconds)
    _measure_recipes(figures, recipes, _ESTIMATES * seconds, say)
    return figures


def measure_recipe(run: RunConfig, seconds: float, say: Say) -> Figures:
    """How long one recipe will take, alone. Needs the extra [train]."""
    figures = Figures(this_machine())
    say(f"a few steps of {run.name}")
    figures.recipes = [estimate(run, seconds)]
    return figures


def _measure_play(figures: Figures, networks: Sequence[Evaluator], seconds: float, say: Say) -> None:
    share = seconds / (2 * len(PLAY_SIZES) + 1)
    if networks:
        say(f"{networks[0].name}: visits a second in play")
        figures.visits += [visits(networks[0], size, share) for size in PLAY_SIZES]
        figures.visits.append(pool_visits(networks[0], POOL_SIZE, share))
    else:
        figures.missing.append("no network is installed: tengen train makes one")
    say("playouts a second in play without a network")
    figures.visits += [playout_visits(size, share, figures.machine.cores) for size in PLAY_SIZES]


def _measure_recipes(figures: Figures, recipes: Sequence[RunConfig], seconds: float, say: Say) -> None:
    if not (find_spec("torch") and find_spec("lightning")):
        figures.missing.append(str(MissingExtra("how long a recipe takes: training", "train")))
        return
    for run in recipes:
        say(f"a few steps of the recipe {run.name}")
        figures.recipes.append(estimate(run, seconds / len(recipes)))
