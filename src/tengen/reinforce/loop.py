"""A policy-gradient run: the second stage of AlphaGo (Silver et al. 2016), from a parent to a policy that beats it.

Each update plays a batch of games between the current policy and an earlier self drawn from a pool, and learns from the
results by REINFORCE. Everything is a function of the recipe: update i depends on (seed, i, weights, pool) alone, so a
run that was killed goes on from its newest checkpoint, which every update writes, as the unbroken one.
"""

from __future__ import annotations

import platform
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.progress import Progress, TaskID

import tengen
from tengen.data.planes import plane_set
from tengen.data.record import GameRecord
from tengen.disk import json_text, write_text
from tengen.errors import RecipeError
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.installed_networks import find_network_of
from tengen.evaluators.network_file import Card, read_card
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.game import BLACK, WHITE
from tengen.match.batch import BatchMatch, FinishedGame
from tengen.match.conditions import Conditions, longest_opening
from tengen.match.players import PolicyPlayer
from tengen.match.settings import MatchSettings
from tengen.match.summary import tally
from tengen.networks import parse_config
from tengen.networks.export import export, relabel
from tengen.networks.load import load_module
from tengen.reinforce.config import PolicyGradientConfig
from tengen.reinforce.folder import PolicyGradientFolder
from tengen.reinforce.learner import PolicyLearner, module_evaluator
from tengen.reinforce.losses import PolicyGradientLoss
from tengen.reinforce.report import write_policy_gradient_report
from tengen.reinforce.trajectories import trajectories
from tengen.runs.events import EventLog
from tengen.runs.progress import new_bar
from tengen.sgf import Result, SgfInfo, write_game
from tengen.statistics import Tally
from tengen.training.card import learned_games, provenance
from tengen.training.export import check_agreement

_OPPONENT, _GAMES, _EVALUATION = range(100, 103)  # purposes of seeds
_OPENING = 6  # moves of an evaluation's opening
_POLICY, _OTHER = "policy", "opponent"  # names of the players in a match


@dataclass(frozen=True)
class PolicyMatch:
    """Games of the current policy, which has Black in those of even number, against another policy."""

    played: list[FinishedGame]
    evaluations: int
    seconds: float

    @property
    def tally(self) -> Tally:
        return tally((one.outcome for one in self.played), _POLICY)

    def tally_as(self, color: int) -> Tally:
        return tally((one.outcome for one in self.played[color::2]), _POLICY)

    @property
    def mean_moves(self) -> float:
        return sum(one.outcome.moves for one in self.played) / len(self.played)

    def records(self) -> list[GameRecord]:
        return [one.game.record(f"game {one.outcome.index}") for one in self.played]


def run_policy_gradient(config: PolicyGradientConfig, folder: Path, progress: bool = True) -> Path:
    """Carry out a run in `folder`, or resume the one that it holds; return the network file.

    Raises RecipeError for losses that a policy gradient does not have, openings too long for the board, when the folder
    holds another run or another process works on it, and for a parent of another board size or without the value that
    is the baseline; NetworkError when the parent cannot be trained on. A finished run returns its file at once.
    """
    PolicyGradientLoss(config)  # checks the losses before the folder is touched
    Conditions(size=config.game.size, opening=config.evaluation.opening_moves).check_opening("evaluation.opening_moves")
    if config.learn.threads:
        torch.set_num_threads(config.learn.threads)
    files = PolicyGradientFolder(folder, config.name)
    # A run that has begun has its own copy, whatever has become of the start.
    start = files.parent if files.parent.exists() else find_network_of("start", config.start)
    _check_parent(config, start)
    with files.lead():
        files.prepare(config, start)
        learner = PolicyLearner(load_module(files.parent), read_card(files.parent).plane_set, config)
        saved, hours = files.load(), 0.0
        if saved is not None:
            learner.restore(saved["learner"])
            hours = float(saved["hours"])
        with files.log(learner.updates) as log:
            return _Run(config, files, learner, log, hours).go(progress)


def _check_parent(config: PolicyGradientConfig, start: Path) -> None:
    network = parse_config(read_card(start).config)
    network.check_sizes([config.game.size], "game.size asks for")
    if config.learn.baseline == "value" and network.heads.value is None:
        raise RecipeError(f"learn.baseline = value, but {start} has no value head: give mean or none")


class _Judged(NamedTuple):
    """What came of the games with the parent: by the best move after drawn openings, and with every move drawn."""

    best: PolicyMatch
    drawn: PolicyMatch


class _Run:
    def __init__(
        self,
        config: PolicyGradientConfig,
        files: PolicyGradientFolder,
        learner: PolicyLearner,
        log: EventLog,
        hours: float,
    ) -> None:
        self.config, self.files, self.learner, self.log = config, files, learner, log
        self.parent = read_card(files.parent)
        self.evaluations = {event["step"]: event for event in files.events("evaluation")}
        self._earlier, self._started = hours, time.perf_counter()
        self._parent_evaluator: Evaluator | None = None
        # The last few that were asked for stay in memory.
        self._opponent = lru_cache(maxsize=8)(partial(_opponent, files, config))

    @property
    def hours(self) -> float:
        """Hours of work, earlier starts of the run included."""
        return self._earlier + (time.perf_counter() - self._started) / 3600

    def go(self, progress: bool) -> Path:
        """Update after update, with copies to the pool and evaluations at their times."""
        if self.files.events("final") and self.files.result.exists():
            return self.files.result
        with new_bar(progress) as bar:
            task = bar.add_task("starting", total=self.config.iterations, completed=self.learner.updates)
            while True:
                self._join_pool()
                if self.learner.updates >= self.config.iterations:
                    break
                self._evaluate()
                self._update(bar, task)
        return self._finish()

    def _update(self, bar: Progress, task: TaskID) -> None:
        """One batch of games, one update, one checkpoint."""
        config, number = self.config, self.learner.updates
        opponent = self._draw_opponent()
        began = time.perf_counter()
        current = self.learner.evaluator("current")
        played = self._play(current, self._opponent(opponent), config.games, self._seed(_GAMES, number))
        learning = time.perf_counter()
        steps = trajectories(played.records(), current, config.game.pass_policy)
        figures = self.learner.update(steps)
        ended = time.perf_counter()
        values = {
            **{name: round(value, 5) for name, value in figures.items()},
            "lr": self.learner.learning_rate,
            "opponent": opponent,
            "score": round(played.tally.score, 4),
            "length": round(played.mean_moves, 1),
            "positions": len(steps),
            "evaluations": played.evaluations,
            "play_seconds": round(learning - began, 2),
            "learn_seconds": round(ended - learning, 2),
            "hours": round(self.hours, 4),
        }
        self.log.write("train", self.learner.updates, values)
        self.files.save(self.learner.updates, {"learner": self.learner.state(), "hours": self.hours})
        bar.update(task, completed=self.learner.updates, description=self._describe(values))

    def _join_pool(self) -> None:
        """Put the current policy into the pool when its time has come, and remove those that have left it."""
        updates = self.learner.updates
        if updates % self.config.pool.every:
            return
        if not (path := self.files.member(updates)).exists():
            export(self.learner.playing(), *self._widths(), path, self._card({}).metadata())
        # Where the newest checkpoint is damaged, the run goes on with the one before and the pool of that time.
        self.files.tidy_pool({*self._members(updates), *self._members(updates - 1)})

    def _members(self, updates: int) -> list[int]:
        """After which updates the members of the pool were saved, when the policy has had `updates`."""
        every, newest = self.config.pool.every, self.config.pool.max_members
        later = list(range(every, updates + 1, every))
        return [0, *later[len(later) - newest if newest is not None and len(later) > newest else 0 :]]

    def _draw_opponent(self) -> int:
        members = self._members(self.learner.updates)
        random = np.random.default_rng([self.config.seed, _OPPONENT, self.learner.updates])
        return members[int(random.integers(len(members)))]

    def _play(
        self,
        current: Evaluator,
        other: Evaluator,
        games: int,
        seed: int,
        temperature: float | None = None,
        opening: int = 0,
        opening_temperature: float = 1.0,
    ) -> PolicyMatch:
        """Play games between two raw policies, all in one batch."""
        started, game = time.perf_counter(), self.config.game
        drawn = self.config.temperature if temperature is None else temperature
        players = {
            name: PolicyPlayer(evaluator, name, drawn, game.pass_policy)
            for name, evaluator in ((_POLICY, current), (_OTHER, other))
        }
        conditions = Conditions(
            size=game.size,
            rules=game.rules,
            komi=game.komi,
            dead_stones="pass-alive",
            settle=game.settle,
            max_moves=game.max_moves,
            openings="players",
            opening=opening,
            opening_temperature=opening_temperature,
            seed=seed,
        )
        settings = MatchSettings.of(
            *({"player": f"policy:{name}", "name": name} for name in players), conditions=conditions
        )
        with BatchMatch(settings, open_player=lambda spec, games=1, threads=None: players[spec.name]) as match:
            played = match.play_all(games)
        evaluations = sum(player.evaluations for player in players.values())
        return PolicyMatch(played, evaluations, time.perf_counter() - started)

    def _seed(self, purpose: int, number: int) -> int:
        return int(np.random.default_rng([self.config.seed, purpose, number]).integers(1 << 62))

    def _evaluate(self) -> None:
        """Let the policy play its parent when its time has come and that is not done yet."""
        updates = self.learner.updates
        if updates == 0 or updates % self.config.evaluation.every or updates in self.evaluations:
            return
        if self._parent_evaluator is None:
            module = load_module(self.files.parent)
            self._parent_evaluator = module_evaluator(module, "parent", self.parent.plane_set, self.config)
        self._note("evaluation", self._judge(self.learner.evaluator("current"), self._parent_evaluator))

    def _judge(self, current: Evaluator, parent: Evaluator) -> _Judged:
        """Raw policies, no search; two of the games by the best move are kept."""
        settings, seed = self.config.evaluation, self._seed(_EVALUATION, self.learner.updates)
        opening = settings.opening_moves
        if opening is None:
            opening = min(_OPENING, longest_opening(self.config.game.size))
        best = self._play(current, parent, settings.games, seed, 0.0, opening, settings.opening_temperature)
        drawn = self._play(current, parent, settings.games, seed, 1.0)
        self._keep_games(best)
        return _Judged(best, drawn)

    def _note(self, event: str, judged: _Judged) -> None:
        """Log games against the parent, and write ratings.json."""
        updates, values = self.learner.updates, {**_figures(judged.best), "drawn": _figures(judged.drawn)}
        self.log.write(event, updates, values)
        self.evaluations[updates] = {"step": updates, **values}
        points = [{key: value for key, value in entry.items() if key != "event"} for entry in self.evaluations.values()]
        write_text(self.files.ratings, json_text({"parent": self.parent.name, "points": points}, indent=1))
        write_policy_gradient_report(self.files.path, self.config, self.parent.name)

    def _keep_games(self, result: PolicyMatch) -> None:
        for which, record in zip("ab", result.records(), strict=False):
            names = (self.config.name, self.parent.name)
            black, white = names if which == "a" else names[::-1]
            info = SgfInfo(black, white, result=Result(record.winner, record.score, record.ending))
            path = self.files.game(self.learner.updates, which)
            write_text(path, write_game(record.game(), info).decode())

    def _finish(self) -> Path:
        """Write the network file, let the file itself play its parent's, and put the result into its card."""
        path, widths = self.files.result, self._widths()
        network = self.learner.playing()
        export(network, *widths, path, self._card({}).metadata())
        check_agreement(network, path, *widths)
        threads = self.config.learn.threads
        judged = self._judge(
            OpenVinoEvaluator(path, threads=threads), OpenVinoEvaluator(self.files.parent, threads=threads)
        )
        metrics: dict[str, Any] = {"games_against_parent": judged.best.tally.games}
        for name, result in (("against_parent", judged.drawn), ("against_parent_best_move", judged.best)):
            metrics[f"score_{name}"] = round(result.tally.score, 4)
            metrics[f"score_{name}_interval"] = [round(end, 4) for end in result.tally.interval()]
        relabel(path, path, self._card(metrics).metadata())
        self._note("final", judged)
        return path

    def _widths(self) -> tuple[int, int]:
        inputs = plane_set(self.parent.plane_set)
        return len(inputs.planes), len(inputs.scalars)

    def _card(self, metrics: dict[str, Any]) -> Card:
        games = self.learner.updates * self.config.games
        return self.parent.model_copy(
            update={
                "name": self.config.name,
                "board_sizes": [self.config.game.size],
                "rules": f"{self.config.game.rules}, komi {self.config.game.komi:g}",
                "data": f"policy gradient from {self.parent.name} ({self.parent.data})",
                "games": games,
                "positions": sum(event["positions"] for event in self.files.events("train")),
                "hours": round(self.hours, 2),
                "hardware": f"{torch.get_num_threads()} CPU threads, {platform.machine()}",
                "metrics": metrics,
                "reproduce": f"tengen zero {self.config.recipe or self.config.name}",
                "provenance": provenance(
                    self.config.model_dump(mode="json"), self.config.seed, learned_games(self.parent.provenance)
                ),
                "created": datetime.now(UTC).date().isoformat(),
                "version": tengen.__version__,
            }
        )

    def _describe(self, values: dict[str, Any]) -> str:
        last = max(self.evaluations, default=None)
        judged = "" if last is None else f", {self.evaluations[last]['score']:.1%} against the parent after {last}"
        return f"update {self.learner.updates}: entropy {values['entropy']:.2f}, KL {values['kl']:.3f}{judged}"


def _opponent(files: PolicyGradientFolder, config: PolicyGradientConfig, number: int) -> Evaluator:
    """The evaluator of a member of the pool, by the number of its updates."""
    path = files.member(number)
    return module_evaluator(load_module(path), path.stem, read_card(path).plane_set, config)


def _figures(result: PolicyMatch) -> dict[str, Any]:
    """Games against the parent, for the log."""
    low, high = result.tally.interval()
    return {
        **asdict(result.tally),
        "score": round(result.tally.score, 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "as_black": round(result.tally_as(BLACK).score, 4),
        "as_white": round(result.tally_as(WHITE).score, 4),
        "length": round(result.mean_moves, 1),
        "seconds": round(result.seconds, 1),
    }
