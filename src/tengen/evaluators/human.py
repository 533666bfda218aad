"""A human-style network of KataGo beside the network that searches."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path

from tengen.errors import NetworkError
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.foreign_networks import is_foreign
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.network_file import read_card
from tengen.evaluators.raw import RawOutput, raw_outputs
from tengen.formats import DEFAULT_PROFILE
from tengen.formats.katago_metadata import profile_of
from tengen.game import BLACK, Game
from tengen.machine import Device

NO_HUMAN_NETWORK = "humanSLProfile needs a human-style network: --human-net FILE, or -human-model FILE as for KataGo"
_KEPT = 8
"""Profiles whose networks stay loaded."""


class HumanNetwork:
    """Says how people of a profile, such as `rank_5k`, would play. May be used from several threads.

    A profile is converted and loaded when it is first asked for. Raises NetworkError for a file that is no human-style
    network of KataGo.
    """

    def __init__(self, path: str | Path, device: Device = "auto", threads: int = 0) -> None:
        file, _, profile = str(path).rpartition("@")
        if is_foreign(file):
            raise NetworkError(f"{path}: leave out @{profile}; the profile is the parameter humanSLProfile")
        if not is_foreign(str(path)):
            find_network(path)  # it knows what an unknown name may mean
            raise NetworkError(f"{path} is no human-style network: such a one is a file of KataGo")
        card = read_card(find_network(f"{path}@{DEFAULT_PROFILE}"))
        self.name = card.name.partition("@")[0]
        self.katago_format: int = card.config.get("format", 0)
        load = partial(load_evaluator, device=device, batch=1, threads=threads)
        self._load = lru_cache(_KEPT)(lambda profile: load(f"{path}@{profile}"))
        self._lock = threading.Lock()

    def evaluator(self, profile: str, to_play: int = BLACK) -> Evaluator:
        """The network for one profile. Raises NetworkError for an unknown profile.

        Of a profile with a rank for each color, such as `rank_5k_3k`, it is the one for the positions of `to_play`.
        """
        if not profile:
            raise NetworkError("humanSLProfile is not set: name one, such as rank_5k")
        with self._lock:
            return self._load(profile_of(profile, to_play))

    def outputs(self, game: Game, profile: str, symmetries: Sequence[int] = (0,)) -> list[RawOutput]:
        """What it says of a position in these symmetries. Raises NetworkError for an unknown profile."""
        evaluator = self.evaluator(profile, game.to_play)
        with self._lock:
            return raw_outputs(evaluator, game, symmetries, optimism=0)
