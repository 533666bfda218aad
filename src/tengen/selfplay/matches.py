"""Matches of a self-play run: gates and ratings. Their games lie in match folders in RUN/matches."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tengen.engine.params import PassPolicy, SearchParams
from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator, WrappingEvaluator
from tengen.evaluators.load import load_evaluator
from tengen.machine import Device
from tengen.match.batch import Check
from tengen.match.folder import OtherMatchError, read_folder, remove_match
from tengen.match.game import Conditions, Outcome
from tengen.match.runner import Execution, play_match
from tengen.match.settings import MatchSettings
from tengen.match.summary import tally
from tengen.selfplay.config import GameConfig
from tengen.statistics import Tally

NO_EXPLORATION = {"gumbel_scale": 0.0, "noise_weight": 0.0, "forced_playouts": 0.0, "root_temperature": 1.0}
"""Settings of a search without noise."""


def load_temporary(path: str | Path, device: Device = "cpu") -> Evaluator:
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


def run_pass_policy(game: GameConfig) -> PassPolicy:
    """The pass policy of a run's networks in its gates and ratings."""
    # A run whose games use no-legal-move plays its matches with no-useful-move, where it never has to fill own eyes.
    return "free" if game.pass_policy == "free" else "no-useful-move"


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
