"""Matches of a self-play run: gates and ratings. Their games lie in match folders in RUN/matches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tengen.cluster import Cluster
from tengen.engine.params import PassPolicy, SearchParams
from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator, WrappingEvaluator
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.load import load_evaluator
from tengen.machine import Device
from tengen.match.batch import GAMES_AT_ONCE, Check
from tengen.match.conditions import Conditions
from tengen.match.folder import OtherMatchError, read_folder, remove_match
from tengen.match.outcome import Outcome
from tengen.match.player import Player
from tengen.match.players import evaluator_player, open_player
from tengen.match.runner import Execution, InBatch, InCluster, play_match
from tengen.match.settings import MatchSettings
from tengen.match.spec import PlayerSpec
from tengen.match.summary import tally
from tengen.selfplay.config import GameConfig, SelfPlayConfig
from tengen.selfplay.generate import tree_memory
from tengen.statistics import Tally

Load = Callable[[str | Path], Evaluator]

_NO_EXPLORATION = {"gumbel_scale": 0.0, "noise_weight": 0.0, "forced_playouts": 0.0, "root_temperature": 1.0}


def load_temporary(path: str | Path, device: Device) -> Evaluator:
    """A network that lives for some cycles: its compiled models are not kept for later processes."""
    return load_evaluator(path, device, remember=False)


def checked(evaluator: Evaluator, check: Check) -> Evaluator:
    """The evaluator with a call of `check`, which may raise, to stop, before each batch."""
    return evaluator.wrapped(partial(_Checked, check=check))


class _Checked(WrappingEvaluator):
    """An evaluator that calls `check` before each batch."""

    def __init__(self, inner: BatchEvaluator, check: Check) -> None:
        super().__init__(inner)
        self._check = check

    def infer(self, batch: InputBatch) -> Evaluation:
        self._check()
        return self.inner.infer(batch)


class PlayerOpener:
    """Opens the players of a gate or a rating.

    `networks` are files of the run by their words, such as `network 7` or `candidate 8`; all other words are as in a
    match. `load` opens a network, `check` is called before each batch and may raise, to stop.
    """

    def __init__(self, networks: Mapping[str, Path], load: Load, check: Check, cluster: Cluster | None = None) -> None:
        self._networks = networks
        self._load = load
        self._check = check
        self._cluster = cluster
        self._open: dict[str, Evaluator] = {}

    def __call__(self, spec: PlayerSpec, games: int = 1, threads: int | None = None) -> Player:
        if spec.kind not in ("network", "policy"):
            return open_player(spec, games, threads)
        word = spec.subject
        found = self.evaluator(word) if word in self._networks else self._load(word)
        return evaluator_player(spec, found, games, threads or 1)

    def evaluator(self, word: str) -> Evaluator:
        """A network of the run, which stays open. Raises NetworkError when it cannot be loaded."""
        if word not in self._open:
            self._open[word] = checked(self._load(self._networks[word]), self._check)
        return self._open[word]

    def execution(self, threads: int | None = None, program: bool = False) -> InBatch | InCluster:
        """How a match of these players is played: by the workers of the cluster if there is one, else in this process.

        A match with a `program`, which is on this machine alone, is always played in this process.
        """
        if self._cluster and not program:
            return InCluster(self._cluster, GAMES_AT_ONCE, self._find_network, self._check)
        return InBatch(threads=threads, open_player=self, find_network=self._find_network, check=self._check)

    def _find_network(self, word: str) -> Path:
        return self._networks[word] if word in self._networks else find_network(word)


def run_pass_policy(game: GameConfig) -> PassPolicy:
    """The pass policy of a run's networks in its gates and ratings."""
    # A run whose games use no-legal-move plays its matches with no-useful-move, where it never has to fill own eyes.
    return "free" if game.pass_policy == "free" else "no-useful-move"


def run_search_params(config: SelfPlayConfig, visits: int) -> SearchParams:
    """The search of a run's networks in its gates and ratings: that of self-play without noise, with room for `visits`.

    The recipe's memory is that of its own visits.
    """
    params = config.search.search_params(full=False)
    memory = max(params.memory, tree_memory(config, visits))
    return params.model_copy(update={**_NO_EXPLORATION, "memory": memory})


def run_conditions(game: GameConfig, params: SearchParams, size: int, komi: float, **fields: object) -> Conditions:
    """The conditions of a match under the rules of self-play."""
    return Conditions.model_validate(
        {
            "size": size,
            "komi": komi,
            "rules": game.rules,
            "dead_stones": "none" if params.simulate_to_end else "pass-alive",
            "settle": game.settle,
            "max_moves": game.max_moves,
            **fields,
        }
    )


def play_run_match(settings: MatchSettings, folder: Path, execution: Execution) -> list[Outcome]:
    """Play a match of a run, or the games that its folder lacks; return all its games.

    A folder with another match is of an earlier attempt at the same cycle and is played anew.
    """
    try:
        play_match(settings, folder, execution)
    except OtherMatchError:
        remove_match(folder)
        play_match(settings, folder, execution)
    return read_folder(folder)[1]


def tallies_by_color(outcomes: list[Outcome], player: str) -> tuple[Tally, Tally]:
    """The player's wins, draws and losses with Black and with White."""
    black = [outcome for outcome in outcomes if outcome.black == player]
    white = [outcome for outcome in outcomes if outcome.white == player]
    return tally(black, player), tally(white, player)
