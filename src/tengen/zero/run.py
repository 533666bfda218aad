"""A self-play run from its first game to the finished network, or on from wherever it was stopped.

A cycle is: games with the network of the cycle, learning, now and then the gate and the rating. It is done when its
event stands in the log; until then its parts are done again, which ends the same, but for the games, which are kept.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from tengen.data.appender import StoreAppender
from tengen.data.store import Store
from tengen.errors import RecipeError
from tengen.evaluators.load import load_evaluator
from tengen.training.journal import Journal
from tengen.training.log import read_log
from tengen.zero.check import check
from tengen.zero.config import ZeroConfig
from tengen.zero.diagnose import diagnose
from tengen.zero.folder import RunFolder
from tengen.zero.gate import gate
from tengen.zero.learn import Learner
from tengen.zero.pending import PendingGames
from tengen.zero.play import CyclePlayer, RecentGames, Terms
from tengen.zero.probe import network_figures
from tengen.zero.rate import rate, rated_size
from tengen.zero.rating_book import RatingBook, RatingEvent
from tengen.zero.report import write_report
from tengen.zero.statistics import game_statistics
from tengen.zero.stop import Stop
from tengen.zero.watcher import Watcher


class Run:
    """The process that leads a run: it plays, learns, rates and keeps the store. There is one of a folder."""

    def __init__(self, config: ZeroConfig, path: Path, watcher: Watcher, stop: Stop) -> None:
        self.config = config
        self.folder = RunFolder(path)
        self.watcher = watcher
        self.stop = stop

    def go(self) -> Path:
        """Carry the run to its end and return the network file.

        Raises RecipeError for a recipe that cannot work, another run's folder, or a run that another process leads;
        KeyboardInterrupt after Ctrl-C, when all is safe.
        """
        check(self.config)
        self.folder.path.mkdir(parents=True, exist_ok=True)
        with self.folder.locked("lead") as free:
            if not free:
                raise RecipeError(f"{self.folder.path}: another process leads this run; --role generate helps it")
            self.folder.prepare(self.config)
            self.history = cycle_events(self.folder)
            done = len(self.history)
            journal = Journal(self.folder.path, done)
            try:
                self.learner = Learner(self.config, self.folder, self.stop)
                self.learner.begin()
                self.recent = RecentGames(self.folder)
                self.player = CyclePlayer(self.config, self.folder, self.stop)
                for cycle in range(done, self.config.cycles):
                    self._cycle(cycle, journal)
                return self._finish(journal)
            finally:
                journal.close()

    def _cycle(self, cycle: int, journal: Journal) -> None:
        """Play, learn, judge; then write the event that makes the cycle done."""
        clock = _Laps()
        terms = Terms.of(self.config, self.recent.before(cycle), cycle)
        evaluations = self._play(cycle, terms)
        clock.lap("generate")
        self.watcher.judging(cycle)
        store = Store.open(self.folder.games)
        figures = self._figures(store, cycle, terms)
        clock.lap("other")
        self.watcher.learning(cycle)
        learnt = self.learner.learn(cycle, store, self.config.games_per_cycle)
        clock.lap("learn")
        self.watcher.judging(cycle)
        figures |= self._promote(cycle + 1, terms)
        clock.lap("other")
        event = {
            "cycle": cycle,
            "games": len(store),
            "evaluations": evaluations,
            "fair_komi": {str(size): komi for size, komi in terms.fair_komi.items()},
            "resign_winrate": terms.resign_winrate,
            **learnt.event(),
            **figures,
        }
        rating = self._rate(cycle + 1, terms, journal)
        alarm = rating.only_beats_itself if rating else None
        clock.lap("rate")
        event["seconds"] = clock.seconds
        event["hours"] = round(sum(sum(past["seconds"].values()) for past in [*self.history, event]) / 3600, 4)
        self.history.append(event)
        event["warnings"] = [warning.as_dict() for warning in diagnose(self.history, self.config, alarm)]
        journal.write("cycle", cycle + 1, event)
        self.folder.tidy(cycle + 1, self.config.keep_networks, kept_networks(self.config, self.folder))
        self.watcher.cycle_done(event)  # first, since the report asks the clock
        if (cycle + 1) % self.config.report_every == 0 or cycle + 1 == self.config.cycles:
            write_report(self.folder.path, self.config, self.watcher.clock)

    def _figures(self, store: Store, cycle: int, terms: Terms) -> dict[str, Any]:
        """What the new games look like, and what the network that played them makes of them."""
        end, games = len(store), self.config.games_per_cycle
        evaluator = load_evaluator(self.folder.network(cycle), threads=1)
        statistics = game_statistics(
            store,
            end - games,
            end,
            most_moves=self.config.game.most_moves,
            fair_komi=terms.fair_komi,
            resign_winrate=terms.resign_winrate or None,
            resign_turns=self.config.resign.turns if self.config.resign else 3,
        )
        network = network_figures(evaluator, store, end - games, end, seed=cycle, edge=self.config.game.edge)
        return {"statistics": statistics, **network}

    def _play(self, cycle: int, terms: Terms) -> int:
        """Play what is missing of a cycle, together with others, and put its games into the store."""
        with StoreAppender(self.folder.games) as store:
            if store.rows > cycle * self.config.games_per_cycle:
                return 0
            pending = PendingGames(self.folder.pending(cycle))
            evaluations = self.player.play(cycle, terms, pending, self.watcher.playing)
            games = pending.games()
            ordered = [games[number] for number in sorted(games)]
            store.append(ordered)
            self.recent.add(cycle, ordered)
            pending.clear()
            return evaluations

    def _promote(self, cycle: int, terms: Terms) -> dict[str, Any]:
        """Let the candidate play in `cycle`, or the network before it where the gate says no; what the log tells."""
        candidate, network = self.folder.candidate(cycle), self.folder.network(cycle)
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

    def _rate(self, number: int, terms: Terms, journal: Journal) -> RatingEvent | None:
        """Rate network `number` if it is its turn and no other process does it."""
        if number not in self.config.rated_cycles():
            return None
        with self.folder.locked("rate") as free:
            if not free:
                return None
            self.watcher.rating(number - 1)
            event = rate_network(self.config, self.folder, number, terms)
        journal.write("rating", number, event.point())
        self.watcher.rated(str(event))
        return event

    def _finish(self, journal: Journal) -> Path:
        """The network of the last cycle under the run's own name."""
        last = self.folder.network(self.config.cycles)
        path = self.folder.path / "nets" / f"{self.config.name}.onnx"
        partial = path.with_suffix(".partial")
        shutil.copyfile(last, partial)
        return partial.replace(path)


class _Laps:
    """Seconds by what they were spent on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.monotonic()

    def lap(self, name: str) -> None:
        """The time since the last lap was spent on `name`."""
        now = time.monotonic()
        self.seconds[name] = round(self.seconds.get(name, 0.0) + now - self._last, 2)
        self._last = now


def rate_network(config: ZeroConfig, folder: RunFolder, number: int, terms: Terms) -> RatingEvent:
    """Rate a network of a run at the fair komi of its time."""
    hours = sum(sum(event["seconds"].values()) for event in cycle_events(folder)[:number]) / 3600
    komi = terms.fair_komi[rated_size(config.game)]
    games = number * config.games_per_cycle
    return rate(folder.path, config, number, dict(folder.networks()), komi, games=games, hours=hours)


def kept_networks(config: ZeroConfig, folder: RunFolder) -> set[int]:
    """Numbers of the networks that a rating needs, now or later."""
    return RatingBook.read(folder.path).networks() | set(config.rated_cycles()) | {1}


def cycle_events(folder: RunFolder) -> list[dict[str, Any]]:
    """The events of the cycles that are behind a run."""
    return [entry for entry in read_log(folder.path / "log.jsonl") if entry["event"] == "cycle"]
