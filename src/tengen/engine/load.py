"""From the name of a network to an engine that plays."""

from __future__ import annotations

from tengen.engine.engine import DEFAULT_VISITS, Engine
from tengen.engine.limits import Limits
from tengen.engine.search import SearchParams
from tengen.engine.style import Style
from tengen.evaluators.load import Backend, Symmetry, load_evaluator


def load_engine(
    network: str = "default",
    *,
    visits: int | None = DEFAULT_VISITS,
    seconds: float | None = None,
    threads: int = 0,
    backend: Backend = "auto",
    symmetry: Symmetry = "none",
    batch: int = 8,
    seed: int = 0,
    params: SearchParams | None = None,
    style: Style | None = None,
) -> Engine:
    """An engine with a network by name or file; "none" plays without one, by the search and the rules alone.

    `visits` and `seconds` bound a move where `think` is given no limits; `threads` compute the network (0: all
    cores), under its `symmetry`. Raises NetworkError for a network that cannot be loaded, RecipeError for a setting
    that cannot work.
    """
    name = "uniform" if network == "none" else network
    evaluator = load_evaluator(name, backend, threads=threads, symmetry=symmetry, seed=seed)
    return Engine(evaluator, params, batch, seed, style=style, limits=Limits(visits=visits, seconds=seconds))
