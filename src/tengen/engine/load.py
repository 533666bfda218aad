"""From the name of a network to an engine that plays."""

from __future__ import annotations

import os

from tengen.engine.engine import DEFAULT_VISITS, Engine
from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams, playout_params
from tengen.engine.style import Style
from tengen.errors import RecipeError
from tengen.evaluators.load import Backend, Symmetry, load_evaluator

DEFAULT_PLAYOUTS = 10_000


def load_engine(
    network: str = "default",
    *,
    visits: int | None = None,
    seconds: float | None = None,
    threads: int = 0,
    backend: Backend = "auto",
    symmetry: Symmetry = "none",
    batch: int = 8,
    seed: int = 0,
    params: SearchParams | None = None,
    style: Style | None = None,
) -> Engine:
    """An engine with a network by name or file; "none" plays without one, by playouts and the rules alone.

    `visits` (if neither it nor seconds is given 400, by playouts 10,000) and `seconds` bound a move where `think` is
    given no limits; `threads` (0: all cores) compute the network, under its `symmetry`, or search by playouts.
    Raises NetworkError for a network that cannot be loaded, RecipeError for a setting that cannot work.
    """
    if not 0 <= seed < 2**63:
        raise RecipeError(f"seed must lie between 0 and 2**63 - 1, not {seed}")
    if params is None:
        params = playout_params() if network == "none" else SearchParams()
    name = "uniform" if network == "none" else network
    evaluator = load_evaluator(name, backend, threads=threads, symmetry=symmetry, seed=seed)
    if visits is None and seconds is None:
        visits = DEFAULT_VISITS if params.asks_network else DEFAULT_PLAYOUTS
    limits = Limits(visits=visits, seconds=seconds)
    return Engine(evaluator, params, batch, seed, style=style, limits=limits, threads=threads or os.cpu_count() or 1)
