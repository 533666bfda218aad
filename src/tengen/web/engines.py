"""Engines for the pages: each has its own tree, all share one network."""

from __future__ import annotations

import os
import secrets
import threading

from tengen.engine import Engine
from tengen.engine.params import SearchParams, playout_params
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.network_file import default_by_size, find_network, read_card

NO_NETWORK = ("none", "uniform")
# Without a network each position that a level looks at is worth so many playouts.
_PLAYOUTS = 25
REMEMBERED = 20_000  # positions, about 60 MB on 19x19; pages that look at one game share them


class Engines:
    """Call it for an engine. The network is read at the first call, or by `warm_up`; searches take turns at it.

    Raises NetworkError at once for a network that is missing or is none.
    """

    def __init__(self, network: str) -> None:
        self._network = "" if network in NO_NETWORK else read_card(find_network(network)).name
        self._by_size = default_by_size() if network == "default" else {}
        self._source = "uniform" if network in NO_NETWORK else network
        alone = network == "none"
        self._params = playout_params().model_copy(update={"playouts": _PLAYOUTS}) if alone else SearchParams()
        self._evaluator: Evaluator | None = None
        self._loading = threading.Lock()

    def network(self, size: int) -> str:
        """The name of the network that plays on this board; empty without one."""
        return self._by_size[size].stem if size in self._by_size else self._network

    def __call__(self) -> Engine:
        with self._loading:
            if self._evaluator is None:
                self._evaluator = load_evaluator(self._source, cache=REMEMBERED)
        return Engine(self._evaluator, self._params, seed=secrets.randbits(31), threads=os.cpu_count() or 1)

    def warm_up(self, size: int) -> None:
        """Read the network and make it ready for this board, so that the first move need not wait."""
        self().warm_up(size)
