"""All figures together, within a budget of seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import tengen
from tengen import _native
from tengen.benchmark.playing import (
    PLAY_BATCH,
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
from tengen.errors import MissingExtra, NetworkError, TengenError
from tengen.evaluators.device_rates import fastest_device, measure_layouts
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.file_evaluator import NetworkFileEvaluator
from tengen.machine import Device, busy_cores, core_count, processor_name, total_memory
from tengen.training.config import RunConfig

if TYPE_CHECKING:  # stores are not a part of a player's install
    from tengen.benchmark.training import Encoding, TrainingTime

PLAY_SIZES = (9, 19)
POOL_SIZE = 9

# Shares of the budget.
_EVALUATIONS, _VISITS, _PLAYOUT_VISITS, _PLAYOUTS, _ENCODING, _ESTIMATES = 0.3, 0.15, 0.1, 0.15, 0.05, 0.25


BUSY = 0.5
"""Load of a core above which other work slows the figures down."""


@dataclass(frozen=True)
class Machine:
    """`cores` that this process may use, `memory` in bytes, `load` the mean number of processes that wanted a core."""

    tengen: str
    processor: str
    cores: int
    memory: int
    load: float

    @property
    def busy(self) -> bool:
        return self.load > BUSY * self.cores


def this_machine() -> Machine:
    """The machine that this process runs on."""
    return Machine(
        tengen=tengen.__version__,
        processor=processor_name(),
        cores=core_count(),
        memory=total_memory(),
        load=round(busy_cores(), 1),
    )


@dataclass
class Figures:
    """What was measured; `missing` has a line for each figure that could not be."""

    machine: Machine
    evaluations: list[Evaluations] = field(default_factory=list)
    devices: dict[Device, float] = field(default_factory=dict)
    """Positions a second through the first network on each device, in batches as in play; 0 where it does not run."""
    layouts: dict[str, float] = field(default_factory=dict)
    """Evaluations a second of the first network on the CPU, by the way in which a batch is computed."""
    visits: list[Visits] = field(default_factory=list)
    playouts: list[Playouts] = field(default_factory=list)
    encoding: Encoding | None = None
    recipes: list[TrainingTime] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


Say = Callable[[str], None]


def measure_all(networks: Sequence[Evaluator], recipes: Sequence[RunConfig], seconds: float, say: Say) -> Figures:
    """Measure everything in about `seconds`; loading and compiling come on top.

    The first of `networks` plays. `say` gets the name of what is measured next.
    """
    figures = measure_networks(networks, (_EVALUATIONS + _VISITS) * seconds, say)
    if not networks:
        figures.missing.append("no network is installed: tengen train makes one")
    say("playouts a second in play without a network")
    share = _PLAYOUT_VISITS * seconds / len(PLAY_SIZES)
    figures.visits += [playout_visits(size, share, figures.machine.cores) for size in PLAY_SIZES]
    policies = _native.playout_policies()
    for policy in policies:
        say(f"playouts a second, {policy}")
        share = _PLAYOUTS * seconds / (len(policies) * len(SIZES))
        figures.playouts += [playouts(policy, size, share) for size in SIZES]
    if find_spec("pyarrow"):
        from tengen.benchmark.training import encoding

        say("positions a second into training")
        figures.encoding = encoding(recipes, _ENCODING * seconds)
    else:
        figures.missing.append(str(MissingExtra("measuring how fast positions come into training", "data")))
    _measure_recipes(figures, recipes, _ESTIMATES * seconds, say)
    return figures


def measure_networks(networks: Sequence[Evaluator], seconds: float, say: Say, tune: bool = False) -> Figures:
    """Evaluations of each network, and visits in play of the first, in about `seconds`.

    Board sizes that a network does not take are `missing`. Devices run the network of the largest board. With `tune`
    the fastest way to compute a batch of it is found and kept; raises NetworkError where it is not in a file.
    """
    figures = Figures(this_machine())
    share = seconds / (_EVALUATIONS + _VISITS)
    known = [(network, sizes) for network in networks if (sizes := _sizes(network, figures.missing))]
    playing = next((network.on(sizes[-1]) for network, sizes in known), None)
    file = playing if isinstance(playing, NetworkFileEvaluator) else None
    if tune and file is None:
        names, boards = ", ".join(network.name for network in networks), ", ".join(f"{size}x{size}" for size in SIZES)
        raise NetworkError(f"{names}: only a network file for one of the boards {boards} can be tuned")
    for network, sizes in known:
        say(f"{network.name}: evaluations a second")
        figures.evaluations += evaluations(network, _EVALUATIONS * share / len(known), sizes)
    if file:
        say(f"{file.name}: devices")
        figures.devices = fastest_device(file.path, None, again=True)[1]
        if tune:
            figures.layouts = measure_layouts(file.path, PLAY_BATCH)
    for network, sizes in known[:1]:
        say(f"{network.name}: visits a second in play")
        part = _VISITS * share / (len(PLAY_SIZES) + 1)
        figures.visits += [visits(network, size, part) for size in PLAY_SIZES if size in sizes]
        if POOL_SIZE in sizes:
            figures.visits.append(pool_visits(network, POOL_SIZE, part))
    return figures


def _sizes(network: Evaluator, missing: list[str]) -> list[int]:
    """Those of SIZES that the network takes; `missing` gets a line about each of the others."""
    found = []
    for size in SIZES:
        try:
            network.on(size)
            found.append(size)
        except NetworkError as error:
            missing.append(str(error))
    return found


def measure_recipe(run: RunConfig, seconds: float, say: Say) -> Figures:
    """How long training by one recipe takes. Needs the extra [train]."""
    from tengen.benchmark.training import estimate

    figures = Figures(this_machine())
    say(f"a few steps of {run.name}")
    figures.recipes = [estimate(run, seconds)]
    return figures


def _measure_recipes(figures: Figures, recipes: Sequence[RunConfig], seconds: float, say: Say) -> None:
    if not (find_spec("torch") and find_spec("lightning_fabric")):
        figures.missing.append(str(MissingExtra("measuring how long a recipe takes", "train")))
        return
    from tengen.benchmark.training import estimate

    for run in recipes:
        say(f"a few steps of the recipe {run.name}")
        try:
            figures.recipes.append(estimate(run, seconds / len(recipes)))
        except TengenError as error:  # a teacher or a start that is a file of the user's
            figures.missing.append(f"{run.name}: {error}")
