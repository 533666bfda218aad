"""A self-play run from its first game to the finished network, or resumed.

A cycle consists of games with the network of the cycle, training, gate and rating. It is done when its event is in the
log. Until then a resumed run repeats its parts with the same result, except for the finished games, which are kept.
"""

from __future__ import annotations

import logging
import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.cluster import Cluster
from tengen.data.store import Store
from tengen.errors import RecipeError, TengenError
from tengen.evaluators.devices import check_device
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.network_file import compute_the_same, read_card
from tengen.machine import Device, resident_memory
from tengen.networks.export import relabel
from tengen.runs.events import EventLog
from tengen.runs.interruption import ShutdownFlag
from tengen.runs.progress import Timings
from tengen.selfplay.anchors import early_powers
from tengen.selfplay.check import check
from tengen.selfplay.cluster import ClusterPlayer
from tengen.selfplay.cluster_learner import ClusterLearner
from tengen.selfplay.conditions import CycleConditions, was_played_out
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.diagnose import diagnose
from tengen.selfplay.events import brief, hours_of
from tengen.selfplay.folder import SelfPlayFolder, code_version
from tengen.selfplay.gate import gate
from tengen.selfplay.learn import Learner
from tengen.selfplay.network_checks import draw_probe, network_figures, training_mode_difference
from tengen.selfplay.play import CyclePlayer, GenerationStats, RecentGames
from tengen.selfplay.progress import Observer
from tengen.selfplay.rate import rate_network
from tengen.selfplay.rating_book import RatingBook
from tengen.selfplay.report import Reporter, write_report
from tengen.selfplay.statistics import game_statistics
from tengen.selfplay.transport import FolderTransport

_logger = logging.getLogger(__name__)
_PROBED = 32  # positions on which network file and module are compared
_WHOLE = 10  # newest events whose figures stay in memory; the log has all


@dataclass(frozen=True)
class PlayedCycle:
    """A cycle whose games are in the store. `stats` is the work of this process in `seconds`; `before` games existed
    when it began.
    """

    cycle: int
    conditions: CycleConditions
    before: int
    stats: GenerationStats
    seconds: float

    def event(self) -> dict[str, Any]:
        """For the log."""
        return {
            "evaluations": self.stats.evaluations,
            "played_here": self.stats.games,
            "played_before": self.before,
            "playing_seconds": round(self.seconds, 2),
            "fair_komi": {str(size): komi for size, komi in self.conditions.fair_komi.items()},
            "resign_winrate": self.conditions.resign_winrate,
        }


class SelfPlayRun:
    """The process that leads a run: it plays, trains, rates and writes the store. A run has one.

    With a cluster its workers play the games, those of gates and ratings too, and train where the recipe says so. What
    this process evaluates itself is computed on the CPU then.
    """

    def __init__(
        self,
        config: SelfPlayConfig,
        path: Path,
        observer: Observer,
        stop: ShutdownFlag,
        cluster: Cluster | None = None,
    ) -> None:
        self.folder = SelfPlayFolder(path)
        self.config = config = self.folder.with_network(config)
        self.transport = FolderTransport(self.folder)
        self.observer = observer
        self.stop = stop
        self.cluster = cluster
        self.player = (
            CyclePlayer(config, self.transport, stop)
            if cluster is None
            else ClusterPlayer(config, self.transport, stop, cluster)
        )

    def go(self) -> Path:
        """Carry the run to its end and return the network file.

        Raises RecipeError for a recipe that cannot work, the folder of another run, a run that another process leads
        and a run with more finished cycles than the recipe has; KeyboardInterrupt after Ctrl-C, when all is safe.
        """
        check(self.config, plays_here=self.cluster is None)
        if self.cluster is None:
            check_device(self.config.device)
        with self.folder.lead("--role generate helps it"):
            self.folder.check_config(self.config)
            history = self._finished_cycles()
            learner = self._new_learner()  # raises before anything is written
            if 0 < len(history) < self.config.cycles:
                learner.check_state(len(history))
            self._warn_of_early_end(len(history))
            self.folder.prepare(self.config)
            self.folder.note_code()
            if history:
                self.observer.resumed(len(history), self.config.cycles)
            with self.folder.log(len(history)) as log:
                for event in filter(lambda event: event.get("lost"), history):
                    log.write("cycle", event["step"], event)
                history = [*map(brief, history[:-_WHOLE]), *history[-_WHOLE:]]
                learner.begin()
                return _Lead(self, learner, history, log).go()

    def _new_learner(self) -> Learner:
        learner = self.config.cluster.learner
        if self.cluster is None or learner is None:
            return Learner(self.config, self.folder, self.stop)
        return ClusterLearner(self.config, self.folder, self.stop, self.cluster, learner.place())

    def _warn_of_early_end(self, done: int) -> None:
        """Warn where the run ends with a network that is no mean, as it was to have more cycles until now.

        The network stays as it is: it has been through the gate, and there may be games and a rating of it.
        """
        before, cycles, swa = self.folder.saved_recipe() or {}, self.config.cycles, self.config.learn.swa
        if swa == 1 or not done == cycles < before.get("cycles", 0):
            return
        if read_card(self.folder.network(done)).name != self.config.name:  # else it has ended the run before
            _logger.warning(
                "%s: the run ends with network %d, which is not the mean of the last %d networks (learn.swa), as more "
                "cycles were to follow when it was made; cycles = %d ends with a mean",
                *(self.folder.path, done, swa, cycles + 1),
            )

    def _finished_cycles(self) -> list[dict[str, Any]]:
        """The events of the finished cycles, by log and files. Raises RecipeError where the recipe has fewer cycles.

        For a cycle whose event is damaged there is one that only says so.
        """
        found = {event["step"]: event for event in self.folder.events("cycle")}
        done = max([self.folder.min_cycles(self.transport.cycles_stored()), *found])
        if done > self.config.cycles:
            raise RecipeError(
                f"{self.folder.path} has {done} cycles behind it, and cycles = {self.config.cycles} asks for fewer: "
                f"give cycles = {done} or more"
            )
        if done and self.folder.lacks_network(done):
            _logger.warning("%s is damaged or missing; cycle %d is learned again", self.folder.network(done), done - 1)
            done -= 1
        lost = {"event": "cycle", "lost": True, "seconds": {}}
        return [found.get(number, {**lost, "step": number, "cycle": number - 1}) for number in range(1, done + 1)]


class _Lead:
    """Carries out the cycles of a run that follow those of `history`, while this process holds the folder."""

    def __init__(self, run: SelfPlayRun, learner: Learner, history: list[dict[str, Any]], log: EventLog) -> None:
        self.config, self.folder, self.transport = run.config, run.folder, run.transport
        self.observer, self.stop, self.cluster = run.observer, run.stop, run.cluster
        self.player = run.player
        self.learner = learner
        self.log = log
        self.history = history
        self.recent = RecentGames(self.transport)
        self.reporter = Reporter(self.folder.path, self.config)
        self._shown = 0  # the cycle whose games the observer receives

    def go(self) -> Path:
        """Carry the run to its end and return the network file.

        Where that is interrupted the report no longer says that the run goes on.
        """
        try:
            self._cycles()
            self._rate_last()
            return self._finish()
        except BaseException:
            with suppress(OSError, TengenError):  # they would hide why it ends
                write_report(self.folder.path, self.config)
            raise

    def _cycles(self) -> None:
        """Carry out the cycles; with `overlap` the next cycle is played while the learner trains on the last."""
        with ThreadPoolExecutor(1, "self-play") as executor:
            try:
                ahead: Future[PlayedCycle] | None = None
                for cycle in range(len(self.history), self.config.cycles):
                    timings = Timings()
                    self._shown = cycle
                    played = ahead.result() if ahead else self._play(cycle)
                    timings.add("generate")
                    follows = self.config.overlap and cycle + 1 < self.config.cycles
                    ahead = executor.submit(self._play, cycle + 1) if follows else None
                    self._learn(played, timings)
            except BaseException:
                self.stop.set()  # ends the games in flight
                raise

    def _play(self, cycle: int) -> PlayedCycle:
        """Play what is missing of a cycle, together with other processes, and put its games into the store."""
        began = time.monotonic()
        conditions = CycleConditions.of(self.config, self.recent.before(cycle), cycle)
        before, stats = self.config.games_per_cycle, GenerationStats()
        if self.transport.cycles_stored() <= cycle:
            before = len(self.transport.cycle_games(cycle).numbers())
            stats = self.player.play(cycle, conditions, self._show)
        self.recent.add(cycle, self.transport.store_cycle(cycle))
        return PlayedCycle(cycle, conditions, before, stats, time.monotonic() - began)

    def _show(self, cycle: int, done: int, games: int, evaluations: int) -> None:
        """Report games to the observer, unless the learner still trains on the cycle before."""
        if cycle == self._shown:
            self.observer.playing(cycle, done, games, evaluations)

    def _learn(self, played: PlayedCycle, timings: Timings) -> None:
        """Train on a cycle, evaluate, rate; then write the event that completes the cycle."""
        cycle, conditions = played.cycle, played.conditions
        number = cycle + 1  # of the network that this cycle makes
        # Statistics of the new games, before the network has seen them.
        self.observer.evaluating(cycle)
        store = self.transport.store().head(number)
        figures = self._figures(store, cycle, conditions)
        timings.add("other")
        # Training.
        self.observer.learning(cycle)
        learned = self.learner.learn(cycle, store, self.config.games_per_cycle)
        timings.add("learn")
        # Gate and rating of the new network.
        self.observer.evaluating(cycle)
        figures["normalisation"]["training"] = self._mode_difference(store, cycle)
        figures |= self._promote(number, conditions)
        timings.add("other")
        self._rate(number, conditions, timings)
        timings.add("rate")
        # The event completes the cycle; what only an unfinished cycle needs is removed after it.
        event = {
            "cycle": cycle,
            "code": code_version(),
            "games": len(store),
            **played.event(),
            **learned.event(),
            **figures,
            "seconds": timings.seconds,
            "memory": resident_memory(),
            "hours": round(self._hours(timings), 4),
        }
        self.history.append(event)
        self.history[-_WHOLE - 1 : -_WHOLE] = map(brief, self.history[-_WHOLE - 1 : -_WHOLE])
        alarm = RatingBook.read(self.folder.path).alarm  # of this cycle or an earlier one
        event["warnings"] = [warning.as_dict() for warning in diagnose(self.history, self.config, alarm)]
        self.log.write("cycle", number, event, durable=True)
        self.folder.tidy(number, self.config.keep_networks, kept_networks(self.config, self.folder))
        self.observer.cycle_done(event)  # before the report, which reads the clock
        self.reporter.update(self.observer.clock)

    def _figures(self, store: Store, cycle: int, conditions: CycleConditions) -> dict[str, Any]:
        """Statistics of the new games, and evaluations of them by the network that played them."""
        number = self.config.playing_network(cycle)
        device: Device = self.config.device if self.cluster is None else "cpu"
        evaluator = load_evaluator(self.folder.network(number), device, threads=1, remember=False)
        while number and self.history[number - 1].get("gate", {}).get("passed") is False:
            number -= 1  # refused by the gate: the file is a copy of the network before
        fresh, seen = (self._rows(played) for played in (cycle, number - 1))  # it was trained on cycle number - 1 last
        statistics = game_statistics(
            store,
            fresh.start,
            fresh.stop,
            max_moves=self.config.at(cycle).game.max_moves,
            fair_komi=conditions.fair_komi,
            resign_winrate=conditions.resign_winrate or None,
            resign_turns=self.config.resign.turns if self.config.resign else 3,
            played_out=[was_played_out(self.config, game.source) for game in self.recent.of(cycle)],
        )
        network = network_figures(
            evaluator.on(self.config.game.edge), store, fresh, seen, seed=cycle, edge=self.config.game.edge
        )
        return {"statistics": statistics, **network}

    def _rows(self, cycle: int) -> range:
        """The rows of a cycle's games in the store; none before the first cycle."""
        games = self.config.games_per_cycle
        return range(max(0, cycle * games), max(0, (cycle + 1) * games))

    def _mode_difference(self, store: Store, cycle: int) -> float | None:
        """Difference between the new network file and the learner's network in training mode."""
        first, edge = len(store) - self.config.games_per_cycle, self.config.game.edge
        network = load_evaluator(self.folder.candidate(cycle + 1), "cpu", threads=1, remember=False).on(edge)
        probe = draw_probe(network, store, first, positions=_PROBED, seed=cycle, edge=edge)
        return training_mode_difference(network, self.learner.trainer.average, probe)

    def _promote(self, number: int, conditions: CycleConditions) -> dict[str, Any]:
        """Make the candidate network `number`, or a copy of the one before where the gate refuses it."""
        candidate, network = self.folder.candidate(number), self.folder.network(number)
        if number == self.config.cycles:
            self.learner.average(number)
        if not self.folder.lacks_network(number) and compute_the_same(candidate, network):
            # It was learned before, in other hours. Gate and rating go on with the games of that file.
            shutil.copyfile(network, candidate)
        if self.config.gate is None:
            candidate.replace(network)
            return {}
        playing = self.folder.network(number - 1)
        path, komi = self.folder.path, conditions.fair_komi
        result = gate(path, self.config, number, candidate, playing, komi, self.cluster, self.stop.check)
        if not result.passed:
            shutil.copyfile(playing, candidate)
        candidate.replace(network)
        return {"gate": result.event()}

    def _hours(self, timings: Timings) -> float:
        """Hours of the run so far."""
        return hours_of(self.history) + timings.total / 3600

    def _rate(self, number: int, conditions: CycleConditions, timings: Timings) -> None:
        """Rate network `number` if the recipe says so and no other process rates."""
        if number not in self.config.rated_networks():
            return
        with self.folder.locked("rate") as free:
            if not free:
                return
            self.observer.rating(number - 1)
            hours = self._hours(timings)
            event = rate_network(self.config, self.folder, number, conditions, hours, self.stop, self.cluster)
        self.log.write("rating", number, event.point())
        self.observer.rated(str(event))

    def _rate_last(self) -> None:
        """Rate the last network where that is not done: it was not the last one when it was made."""
        number = self.config.cycles
        if RatingBook.read(self.folder.path).event(number) is None:
            conditions = CycleConditions.of(self.config, self.recent.before(number - 1), number - 1)
            self._rate(number, conditions, Timings())

    def _finish(self) -> Path:
        """Write the last network under the name of the run, with the card by the current recipe."""
        last = self.folder.network(self.config.cycles)
        path = self.folder.path / "nets" / f"{self.config.name}.onnx"
        hours = hours_of(self.folder.events("cycle"))  # with generation; the learner counts training alone
        changes = {
            "name": self.config.name,  # a refused candidate leaves the file of an earlier cycle
            "licence": self.config.card.licence,
            "search": self.config.card.search,
            "hours": float(f"{hours:.3g}"),
        }
        records = self.config.learn.records
        stores = [self.folder.games, *([Path(records.store)] if records else [])]
        card = self.learner.described(read_card(last), stores).model_copy(update=changes)
        relabel(last, path, card.metadata())
        write_report(self.folder.path, self.config)
        return path


def kept_networks(config: SelfPlayConfig, folder: SelfPlayFolder) -> set[int]:
    """Numbers of the networks that a rating needs, now or later."""
    early = early_powers(config.cycles) if "early" in config.rating.anchors else [1]
    return RatingBook.read(folder.path).networks() | set(config.rated_networks()) | set(early)
