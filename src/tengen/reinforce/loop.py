"""A run that learns from the results of games without search: from a parent to a network that beats it.

Policy gradients are the second stage of AlphaGo (Silver et al. 2016), action values those of BetaGo's book. Each update
plays a batch of games between the current network and an earlier self drawn from a pool, and learns from the results.
Everything is a function of the recipe: update i depends on (seed, i, weights, pool) alone, so a
run that was killed goes on from its newest checkpoint, which every update writes, as the unbroken one.
"""

from __future__ import annotations

import platform
import shutil
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from rich.progress import Progress, TaskID
from torch import nn

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
from tengen.networks import NetConfig, build, parse_config
from tengen.networks.export import export, relabel
from tengen.networks.load import load_module
from tengen.reinforce.config import ActionValueConfig, PolicyGradientConfig, ReinforceConfig
from tengen.reinforce.folder import ReinforceFolder
from tengen.reinforce.learner import ActionValueLearner, PolicyLearner, module_evaluator, new_learner
from tengen.reinforce.losses import check_losses
from tengen.reinforce.report import write_reinforce_report
from tengen.reinforce.trajectories import trajectories
from tengen.runs.events import EventLog
from tengen.runs.progress import new_bar
from tengen.sgf import Result, SgfInfo, write_game
from tengen.statistics import Tally
from tengen.training.card import learned_games, provenance
from tengen.training.export import check_agreement
from tengen.training.network import make_network

_OPPONENT, _GAMES, _EVALUATION = range(100, 103)  # purposes of seeds
_OPENING = 6  # moves of an evaluation's opening
_POLICY, _OTHER = "policy", "opponent"  # names of the players in a match
_Moves = Literal["explore", "draw", "best"]


@dataclass(frozen=True)
class PolicyMatch:
    """Games of the current network, which has Black in those of even number, against another."""

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


def run_reinforce(config: ReinforceConfig, folder: Path, progress: bool = True) -> Path:
    """Carry out a run in `folder`, or resume the one that it holds; return the network file.

    Raises RecipeError for losses that such a run does not have, openings too long for the board, when the folder holds
    another run or another process works on it, and for a parent of another board size, without policy or without the
    value that is the baseline; NetworkError when the parent cannot be trained on. A finished run returns its file at
    once.
    """
    check_losses(config.learn.losses)
    Conditions(size=config.game.size, opening=config.evaluation.opening_moves).check_opening("evaluation.opening_moves")
    if config.learn.threads:
        torch.set_num_threads(config.learn.threads)
    files = ReinforceFolder(folder, config)
    # A run that has begun has its own copy, whatever has become of the start.
    start = None
    if files.parent.exists():
        start = files.parent
    elif config.start is not None:
        start = find_network_of("start", config.start)
    _check_parent(config, start)
    with files.lead():
        files.prepare(config, partial(_write_new, config) if start is None else partial(shutil.copyfile, start))
        learner = new_learner(load_module(files.parent), read_card(files.parent).plane_set, config)
        saved, hours = files.load(), 0.0
        if saved is not None:
            learner.restore(saved["learner"])
            hours = float(saved["hours"])
        with files.log(learner.updates) as log:
            return _Run(config, files, learner, log, hours).go(progress)


def _check_parent(config: ReinforceConfig, start: Path | None) -> None:
    """Check the network file that the run begins with, or without one the network of its recipe."""
    network = parse_config(config.network if start is None else read_card(start).config)
    what = "the network" if start is None else start
    network.check_sizes([config.game.size], "game.size asks for")
    if start is None and _is_normalized(network):
        raise RecipeError(
            "a new network with batch norm has no statistics of positions, and this kind of run gives it none: choose "
            "one without, or train one first and give it as start"
        )
    if not network.has_policy:
        raise RecipeError(f"{what} has no policy to choose moves by: give another network")
    if isinstance(config, PolicyGradientConfig) and config.learn.baseline == "value" and network.heads.value is None:
        raise RecipeError(f"learn.baseline = value, but {what} has no value head: give mean or none")


def _is_normalized(network: NetConfig) -> bool:
    """Whether a network has batch norm."""
    inputs = plane_set(network.plane_set)
    with torch.device("meta"):
        module = build(network, len(inputs.planes), len(inputs.scalars))
    return any(isinstance(part, nn.BatchNorm2d) for part in module.modules())


def _write_new(config: ReinforceConfig, path: Path) -> None:
    """Write the untrained network of a recipe."""
    network = parse_config(config.network)
    inputs = plane_set(network.plane_set)
    card = Card(
        name="untrained network",
        family=network.family,
        config=network.model_dump(mode="json"),
        plane_set=network.plane_set,
        board_sizes=[config.game.size],
        data="random weights",
        reproduce=f"tengen zero {config.recipe or config.name}",
    )
    module = make_network(config.network, inputs, config.seed)
    export(module, len(inputs.planes), len(inputs.scalars), path, card.metadata())


class _Judged(NamedTuple):
    """What came of the games with the parent: by the best move after drawn openings, and with drawn moves."""

    best: PolicyMatch
    drawn: PolicyMatch


class _Run:
    def __init__(
        self,
        config: ReinforceConfig,
        files: ReinforceFolder,
        learner: PolicyLearner | ActionValueLearner,
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
        played = self._play(current, self._opponent(opponent), "explore", config.games, self._seed(_GAMES, number))
        learning = time.perf_counter()
        records = played.records()
        steps = trajectories(records, current, config.game.pass_policy)
        figures = self.learner.update(steps)
        ended = time.perf_counter()
        values = {
            **{name: round(value, 5) for name, value in figures.items()},
            "lr": self.learner.learning_rate,
            "opponent": opponent,
            "score": round(played.tally.score, 4),
            "length": round(played.mean_moves, 1),
            "different_games": len({record.points.tobytes() for record in records}),
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
        self, current: Evaluator, other: Evaluator, moves: _Moves, games: int, seed: int, opening: int = 0
    ) -> PolicyMatch:
        """Play games between two networks without search, all in one batch."""
        started, game = time.perf_counter(), self.config.game
        players = {
            name: self._player(evaluator, name, moves) for name, evaluator in ((_POLICY, current), (_OTHER, other))
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
            opening_temperature=self.config.evaluation.opening_temperature,
            seed=seed,
        )
        settings = MatchSettings.of(
            *({"player": f"policy:{name}", "name": name} for name in players), conditions=conditions
        )
        with BatchMatch(settings, open_player=lambda spec, games=1, threads=None: players[spec.name]) as match:
            played = match.play_all(games)
        evaluations = sum(player.evaluations for player in players.values())
        return PolicyMatch(played, evaluations, time.perf_counter() - started)

    def _player(self, evaluator: Evaluator, name: str, moves: _Moves) -> PolicyPlayer:
        """`best`: the best moves; `explore`: moves as they are drawn for an update; `draw`: as for an evaluation."""
        config, passing = self.config, self.config.game.pass_policy
        if moves == "best":
            return PolicyPlayer(evaluator, name, 0.0, passing)
        if isinstance(config, ActionValueConfig):
            return PolicyPlayer(evaluator, name, 0.0, passing, random_share=config.epsilon.after(self.learner.updates))
        assert isinstance(config, PolicyGradientConfig)
        return PolicyPlayer(evaluator, name, config.temperature if moves == "explore" else 1.0, passing)

    def _seed(self, purpose: int, number: int) -> int:
        return int(np.random.default_rng([self.config.seed, purpose, number]).integers(1 << 62))

    def _evaluate(self) -> None:
        """Let the policy play its parent when its time has come and that is not done yet."""
        updates = self.learner.updates
        if updates == 0 or updates % self.config.evaluation.every or updates in self.evaluations:
            return
        if self._parent_evaluator is None:
            module = load_module(self.files.parent)
            self._parent_evaluator = module_evaluator(
                module, "parent", self.parent.plane_set, self.config.learn.precision
            )
        self._note("evaluation", self._judge(self.learner.evaluator("current"), self._parent_evaluator))

    def _judge(self, current: Evaluator, parent: Evaluator) -> _Judged:
        """Games without search; two of those by the best move are kept."""
        settings, seed = self.config.evaluation, self._seed(_EVALUATION, self.learner.updates)
        opening = settings.opening_moves
        if opening is None:
            opening = min(_OPENING, longest_opening(self.config.game.size))
        best = self._play(current, parent, "best", settings.games, seed, opening)
        # By action values few moves are random: without openings many of the games would be the same.
        varied = opening if self.config.kind == "action-value" else 0
        drawn = self._play(current, parent, "draw", settings.games, seed, varied)
        self._keep_games(best)
        return _Judged(best, drawn)

    def _note(self, event: str, judged: _Judged) -> None:
        """Log games against the parent, and write ratings.json."""
        updates, values = self.learner.updates, {**_figures(judged.best), "drawn": _figures(judged.drawn)}
        self.log.write(event, updates, values)
        self.evaluations[updates] = {"step": updates, **values}
        points = [{key: value for key, value in entry.items() if key != "event"} for entry in self.evaluations.values()]
        write_text(self.files.ratings, json_text({"parent": self.parent.name, "points": points}, indent=1))
        write_reinforce_report(self.files.path, self.config, self.parent.name)

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
                "data": f"{self.config.method} from {self.parent.name} ({self.parent.data})",
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
        names = {"entropy": "entropy", "kl": "KL", "explained": "explained variance"}
        shown = ", ".join(f"{name} {values[key]:.3f}" for key, name in names.items() if key in values)
        return f"update {self.learner.updates}: {shown}{judged}"


def _opponent(files: ReinforceFolder, config: ReinforceConfig, number: int) -> Evaluator:
    """The evaluator of a member of the pool, by the number of its updates."""
    path = files.member(number)
    return module_evaluator(load_module(path), path.stem, read_card(path).plane_set, config.learn.precision)


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
