"""A self-play run from its first game to the finished network, or on from wherever it was stopped.

A cycle is: games with the network of the cycle, learning, now and then the gate and the rating. It is done when its
event stands in the log; until then its parts are done again, which ends the same, but for the games, which are kept.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.data.store import Store
from tengen.data.writer import StoreAppender
from tengen.errors import RecipeError
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.network_file import read_card
from tengen.machine import resident_memory
from tengen.networks.export import relabel
from tengen.runs.events import Journal
from tengen.runs.folder import check_kind
from tengen.runs.interruption import ShutdownFlag
from tengen.runs.log import read_log
from tengen.selfplay.anchors import early_powers
from tengen.selfplay.check import check
from tengen.selfplay.config import ZeroConfig
from tengen.selfplay.diagnose import diagnose
from tengen.selfplay.folder import RunFolder
from tengen.selfplay.gate import gate
from tengen.selfplay.learn import Learner
from tengen.selfplay.network_checks import draw_probe, network_figures, training_mode_difference
from tengen.selfplay.pending import PendingGames
from tengen.selfplay.play import CyclePlayer, Effort, RecentGames, Terms, was_played_out
from tengen.selfplay.rate import rate, rated_size
from tengen.selfplay.rating_book import RatingBook, RatingEvent
from tengen.selfplay.report import Reporter, write_report
from tengen.selfplay.statistics import game_statistics
from tengen.selfplay.watcher import Watcher

_PROBED = 32  # positions that tell whether a network file plays as its module trains


@dataclass(frozen=True)
class Played:
    """A cycle whose games are in the store. `effort` is that of this process in `seconds`; `before` games were there
    when it came.
    """

    cycle: int
    terms: Terms
    before: int
    effort: Effort
    seconds: float

    def event(self) -> dict[str, Any]:
        """For the log."""
        return {
            "evaluations": self.effort.evaluations,
            "played_here": self.effort.games,
            "played_before": self.before,
            "playing_seconds": round(self.seconds, 2),
            "fair_komi": {str(size): komi for size, komi in self.terms.fair_komi.items()},
            "resign_winrate": self.terms.resign_winrate,
        }


class Laps:
    """Seconds by what they were spent on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.monotonic()

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def lap(self, name: str) -> None:
        """The time since the last lap was spent on `name`."""
        now = time.monotonic()
        self.seconds[name] = round(self.seconds.get(name, 0.0) + now - self._last, 2)
        self._last = now


class Run:
    """The process that leads a run: it plays, learns, rates and keeps the store. There is one of a folder."""

    def __init__(self, config: ZeroConfig, path: Path, watcher: Watcher, stop: ShutdownFlag) -> None:
        self.config = config
        self.folder = RunFolder(path)
        self.watcher = watcher
        self.stop = stop
        self._shown = 0  # the cycle whose games the watcher is told of

    def go(self) -> Path:
        """Carry the run to its end and return the network file.

        Raises RecipeError for a recipe that cannot work, another run's folder, a run that another process leads or that
        has more cycles behind it than the recipe asks for; KeyboardInterrupt after Ctrl-C, when all is safe.
        """
        check(self.config)
        check_kind(self.folder.path, self.config.kind)
        self.folder.path.mkdir(parents=True, exist_ok=True)
        with self.folder.locked("lead") as free:
            if not free:
                raise RecipeError(f"{self.folder.path}: another process leads this run; --role generate helps it")
            self.folder.check_same(self.config)
            self.history = self._behind()
            done = len(self.history)
            self.learner = Learner(self.config, self.folder, self.stop)  # which refuses what it cannot start from
            self.folder.prepare(self.config)
            journal = Journal(self.folder.path, done)
            try:
                self.learner.begin()
                self.recent = RecentGames(self.folder)
                self.reporter = Reporter(self.folder.path, self.config)
                self.player = CyclePlayer(self.config, self.folder, self.stop)
                self._cycles(done, journal)
                return self._finish(journal)
            finally:
                journal.close()

    def _behind(self) -> list[dict[str, Any]]:
        """The events of the cycles that are done; RecipeError where the recipe asks for fewer."""
        events, cycles = cycle_events(self.folder), self.config.cycles
        if len(events) > cycles:
            raise RecipeError(
                f"{self.folder.path} has {len(events)} cycles behind it, and cycles = {cycles} asks for fewer: give "
                f"cycles = {len(events)} or more"
            )
        return events

    def _cycles(self, done: int, journal: Journal) -> None:
        """The cycles that are left; with `overlap` each is learnt from while the next is played."""
        with ThreadPoolExecutor(1, "self-play") as beside:
            try:
                ahead: Future[Played] | None = None
                for cycle in range(done, self.config.cycles):
                    laps = Laps()
                    self._shown = cycle
                    played = ahead.result() if ahead else self._play(cycle)
                    laps.lap("generate")
                    follows = self.config.overlap and cycle + 1 < self.config.cycles
                    ahead = beside.submit(self._play, cycle + 1) if follows else None
                    self._learn(played, laps, journal)
            except BaseException:
                self.stop.event.set()  # for the games under way
                raise

    def _play(self, cycle: int) -> Played:
        """Play what is missing of a cycle, together with others, and put its games into the store."""
        began = time.monotonic()
        terms = Terms.of(self.config, self.recent.before(cycle), cycle)
        pending = PendingGames(self.folder.pending(cycle))
        before, effort = self.config.games_per_cycle, Effort()
        with StoreAppender(self.folder.games) as store:
            if store.rows <= cycle * self.config.games_per_cycle:
                before = len(pending.games())
                effort = self.player.play(cycle, terms, pending, self._show)
                games = pending.games()
                ordered = [games[number] for number in sorted(games)]
                store.append(ordered)
                self.recent.add(cycle, ordered)
        pending.clear()  # which a process may not have come to that was killed when the games were in the store
        return Played(cycle, terms, before, effort, time.monotonic() - began)

    def _show(self, cycle: int, done: int, games: int, evaluations: int) -> None:
        """Tell the watcher of games, unless the cycle before is still learnt from."""
        if cycle == self._shown:
            self.watcher.playing(cycle, done, games, evaluations)

    def _learn(self, played: Played, laps: Laps, journal: Journal) -> None:
        """Learn from a cycle, judge, rate; then write the event that makes the cycle done."""
        cycle, terms = played.cycle, played.terms
        self.watcher.judging(cycle)
        store = Store.open(self.folder.games).head(cycle + 1)
        figures = self._figures(store, cycle, terms)
        laps.lap("other")
        self.watcher.learning(cycle)
        learnt = self.learner.learn(cycle, store, self.config.games_per_cycle)
        laps.lap("learn")
        self.watcher.judging(cycle)
        figures["normalisation"]["training"] = self._mode_difference(store, cycle)
        figures |= self._promote(cycle + 1, terms)
        laps.lap("other")
        self._rate(cycle + 1, terms, laps, journal)
        laps.lap("rate")
        event = {
            "cycle": cycle,
            "games": len(store),
            **played.event(),
            **learnt.event(),
            **figures,
            "seconds": laps.seconds,
            "memory": resident_memory(),
            "hours": round(self._hours(laps), 4),
        }
        self.history.append(event)
        alarm = RatingBook.read(self.folder.path).alarm  # of this cycle or an earlier one, whoever rated
        event["warnings"] = [warning.as_dict() for warning in diagnose(self.history, self.config, alarm)]
        journal.write("cycle", cycle + 1, event, durable=True)  # what is tidied away next, only this makes needless
        self.folder.tidy(cycle + 1, self.config.keep_networks, kept_networks(self.config, self.folder))
        self.watcher.cycle_done(event)  # first, since the report asks the clock
        self.reporter.update(self.watcher.clock)

    def _figures(self, store: Store, cycle: int, terms: Terms) -> dict[str, Any]:
        """What the new games look like, and what the network that played them makes of them."""
        number = self.config.playing_network(cycle)
        evaluator = load_evaluator(self.folder.network(number), threads=1, remember=False)
        while number and self.history[number - 1].get("gate", {}).get("passed") is False:
            number -= 1  # refused: what plays is a copy of the network before
        fresh, seen = (self._rows(played) for played in (cycle, number - 1))  # it learnt from cycle number - 1 last
        statistics = game_statistics(
            store,
            fresh.start,
            fresh.stop,
            most_moves=self.config.at(cycle).game.most_moves,
            fair_komi=terms.fair_komi,
            resign_winrate=terms.resign_winrate or None,
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
        """How far the new network file and the learner's network in training mode differ."""
        first, edge = len(store) - self.config.games_per_cycle, self.config.game.edge
        network = load_evaluator(self.folder.candidate(cycle + 1), threads=1, remember=False).on(edge)
        probe = draw_probe(network, store, first, positions=_PROBED, seed=cycle, edge=edge)
        return training_mode_difference(network, self.learner.trainer.average, probe)

    def _promote(self, cycle: int, terms: Terms) -> dict[str, Any]:
        """Let the candidate play in `cycle`, or the network before it where the gate says no; what the log tells."""
        candidate, network = self.folder.candidate(cycle), self.folder.network(cycle)
        if cycle == self.config.cycles:
            self.learner.average(cycle)
        if self.config.gate is None:
            candidate.replace(network)
            return {}
        result = gate(self.config, cycle, candidate, self.folder.network(cycle - 1), terms.fair_komi)
        if result.passed:
            candidate.replace(network)
        else:
            shutil.copyfile(self.folder.network(cycle - 1), candidate)
            candidate.replace(network)
        return {"gate": result.event()}

    def _hours(self, laps: Laps) -> float:
        """Of the run, up to the last lap of the cycle under way."""
        return hours_of(self.history) + laps.total / 3600

    def _rate(self, number: int, terms: Terms, laps: Laps, journal: Journal) -> None:
        """Rate network `number` if it is its turn and no other process does it."""
        if number not in self.config.rated_cycles():
            return
        with self.folder.locked("rate") as free:
            if not free:
                return
            self.watcher.rating(number - 1)
            event = rate_network(self.config, self.folder, number, terms, self._hours(laps), self.stop)
        journal.write("rating", number, event.point())
        self.watcher.rated(str(event))

    def _finish(self, journal: Journal) -> Path:
        """The network of the last cycle under the run's own name, with what the recipe says of it by now."""
        last = self.folder.network(self.config.cycles)
        path = self.folder.path / "nets" / f"{self.config.name}.onnx"
        told = self.config.card
        hours = hours_of(cycle_events(self.folder))  # of playing too, where the learner knows its own
        said = {"licence": told.licence, "search": told.search, "hours": float(f"{hours:.3g}")}
        said["name"] = self.config.name  # a refused candidate leaves the file of an earlier cycle
        card = self.learner.described(read_card(last)).model_copy(update=said)
        relabel(last, path, card.metadata())
        write_report(self.folder.path, self.config)
        return path


def rate_network(
    config: ZeroConfig, folder: RunFolder, number: int, terms: Terms, hours: float, stop: ShutdownFlag
) -> RatingEvent:
    """Rate a network of a run, `hours` after its beginning, at the fair komi of its time; KeyboardInterrupt on a wish
    to stop.
    """
    komi = terms.fair_komi[rated_size(config.game)]
    games = number * config.games_per_cycle
    networks = dict(folder.networks())
    return rate(folder.path, config, number, networks, komi, games=games, hours=hours, check=stop.check)


def kept_networks(config: ZeroConfig, folder: RunFolder) -> set[int]:
    """Numbers of the networks that a rating needs, now or later."""
    early = early_powers(config.cycles) if "early" in config.rating.anchors else [1]
    return RatingBook.read(folder.path).networks() | set(config.rated_cycles()) | set(early)


def hours_of(events: Sequence[Mapping[str, Any]]) -> float:
    """Hours that the cycles of these events took."""
    return sum(sum(event["seconds"].values()) for event in events) / 3600


def cycle_events(folder: RunFolder) -> list[dict[str, Any]]:
    """The events of the cycles that are behind a run."""
    return [entry for entry in read_log(folder.path / "log.jsonl") if entry["event"] == "cycle"]
