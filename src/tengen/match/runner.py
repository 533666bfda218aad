"""Plays a match from its settings to its figures. An interrupted match continues from its folder."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from tengen.cluster import Cluster
from tengen.errors import RecipeError
from tengen.evaluators.installed_networks import find_network
from tengen.machine import core_count
from tengen.match.batch import GAMES_AT_ONCE, BatchMatch, Check, OpenPlayer, never_stop
from tengen.match.cluster import MatchWork, play_by_cluster, start_players
from tengen.match.failures import FailedPlayers, FailureWatch
from tengen.match.folder import MatchFolder, PlayedRecord
from tengen.match.length import games_that_count
from tengen.match.outcome import Outcome
from tengen.match.players import open_player
from tengen.match.settings import FindNetwork, MatchSettings
from tengen.match.sprt import SprtState, pair_scores
from tengen.match.summary import summarize
from tengen.match.workers import WorkerPool

_REPORT_SECONDS = 300.0  # between two reports of a match that runs


class MatchObserver:
    """Receives events while a match runs, and ignores them."""

    def started(self, earlier: Sequence[Outcome], at_once: int) -> None:
        """The players are ready; `earlier` are the games that the folder held already."""

    def played(self, outcome: Outcome, test: SprtState | None) -> None:
        """A game has ended; `test` is the state of the sequential test, if there is one."""

    def complete(self, games: int) -> None:
        """No game was missing: all, `games` of them, were played before. There are no other events then."""


class PlayGames(Protocol):
    """Plays games by their numbers, and yields them as they end."""

    def __call__(self, indices: Iterable[int]) -> Iterator[Sequence[PlayedRecord]]: ...


class Execution(ABC):
    """Where the games of a match are played."""

    @property
    def find_network(self) -> FindNetwork:
        """Gives the file of a network that a player names, so that games of another network do not mix in."""
        return find_network

    @abstractmethod
    def games_at_once(self, settings: MatchSettings) -> int:
        """The maximum of games side by side. Raises RecipeError for less than one."""

    @abstractmethod
    def start(
        self, settings: MatchSettings, at_once: int
    ) -> AbstractContextManager[tuple[PlayGames, Mapping[str, str]]]:
        """Start all players for `at_once` games. Gives what plays the games, and the programs of `BatchMatch`."""


@dataclass(frozen=True)
class InWorkers(Execution):
    """Plays a match in `workers` processes, one game at a time in each; by default as many as there are cores for.

    Each process imports the script anew: without `if __name__ == "__main__":` around the match the script fails. A
    player of `PLAYERS.register` is known to a process whose import of the script registers it; of others, such as those
    of a notebook, InBatch plays the match.
    """

    workers: int | None = None

    def games_at_once(self, settings: MatchSettings) -> int:
        return games_at_once(settings, self.workers)

    @contextmanager
    def start(self, settings: MatchSettings, at_once: int) -> Iterator[tuple[PlayGames, Mapping[str, str]]]:
        with WorkerPool(settings, at_once) as pool:
            yield pool.play, pool.programs


@dataclass(frozen=True)
class InBatch(Execution):
    """Plays a match in this process, `at_once` games side by side. The other fields are those of `BatchMatch`.

    `find_network` gives the file of a network that a player names, so that games of another network do not mix in.
    """

    at_once: int = GAMES_AT_ONCE
    threads: int | None = None
    open_player: OpenPlayer = open_player
    find_network: FindNetwork = find_network
    check: Check = never_stop

    def games_at_once(self, settings: MatchSettings) -> int:
        return self.at_once

    @contextmanager
    def start(self, settings: MatchSettings, at_once: int) -> Iterator[tuple[PlayGames, Mapping[str, str]]]:
        with BatchMatch(settings, at_once, self.threads, self.open_player, self.check) as match:
            match.start()
            yield match.play_records, match.programs


@dataclass(frozen=True)
class InCluster(Execution):
    """Plays a match by the workers of a cluster, up to `at_once` games side by side in each.

    `find_network` gives the file of a network that a player names, and `check` may raise, to stop.
    """

    cluster: Cluster
    at_once: int = 1
    find_network: FindNetwork = find_network
    check: Check = never_stop

    def games_at_once(self, settings: MatchSettings) -> int:
        return self.at_once

    @contextmanager
    def start(self, settings: MatchSettings, at_once: int) -> Iterator[tuple[PlayGames, Mapping[str, str]]]:
        work = MatchWork(settings, at_once, self.find_network)
        programs = start_players(self.cluster, work, self.check)
        yield partial(play_by_cluster, self.cluster, work, self.check), programs


def play_match(
    settings: MatchSettings,
    folder: Path,
    execution: Execution = InWorkers(),
    observer: MatchObserver | None = None,
    write_report: Callable[[Path], object] = lambda folder: None,
) -> dict[str, Any]:
    """Play the games that `folder` does not hold yet, and return the figures of all (see `summarize`).

    Players start first: one that does not exist or refuses the conditions raises TengenError before anything is
    written, OtherMatchError where the folder holds another match. A sequential test that is decided ends the match, and
    a pairing whose score is known as well as was asked plays no more; games after the deciding one are kept and do not
    count. A player that fails to start several games in a row plays no more; when all others have played, FailedPlayers
    is raised.

    The figures lie in the folder from the first minutes on, when the last game has ended, and after an interruption
    too; they are empty where there are no games. Each time `write_report` is called with the folder.

    The default plays in worker processes: a script needs `if __name__ == "__main__":` (see InWorkers).
    """
    observer = observer or MatchObserver()
    at_once = execution.games_at_once(settings)
    watch = FailureWatch(settings.pairings)
    with MatchFolder(folder) as files:

        def write() -> dict[str, Any]:
            if figures := _finish(settings, files):
                write_report(folder)
            return figures

        about = settings.about(execution.find_network)
        files.check(about)
        missing = sum(1 for _ in settings.left(files.outcomes))
        if not missing or _is_decided(settings, files.outcomes):
            observer.complete(len(_played(settings, files)))
            return write()
        at_once = min(at_once, missing)
        with execution.start(settings, at_once) as (play, programs):
            files.begin({**about, "programs": programs})
            try:
                observer.started(list(files.outcomes.values()), at_once)
                write()  # those of a shorter match would call themselves complete
                games = play(filter(watch.can_play, settings.left(files.outcomes)))
                _play(settings, files, watch.kept(games), observer, write)
            finally:
                figures = write()
        if watch.failed:
            left = sum(not watch.can_play(index) for index in settings.left(files.outcomes))
            raise FailedPlayers(watch.failed, left, figures)
    return figures


def games_at_once(settings: MatchSettings, workers: int | None = None) -> int:
    """The number of worker processes: `workers`, or as many as there are cores for.

    Players under a time limit never get more workers than cores, which would cost them thinking time. Raises
    RecipeError for less than one.
    """
    if workers is not None and workers < 1:
        raise RecipeError(f"workers must be 1 or more, not {workers}")
    limit = max(1, core_count() // settings.threads)
    if workers is None:
        return limit
    return min(workers, limit) if settings.timed else workers


def _play(
    settings: MatchSettings,
    files: MatchFolder,
    games: Iterator[Sequence[PlayedRecord]],
    observer: MatchObserver,
    write: Callable[[], object],
) -> None:
    judged = 0  # pairs, after which the test was open
    due = time.monotonic() + _REPORT_SECONDS
    for batch in games:
        files.add(batch)
        test = _test(settings, files.outcomes, judged)
        for outcome, _ in batch:
            observer.played(outcome, test)
        if test is not None:
            if test.accepted:
                return
            judged = sum(test.counts)
        if (started := time.monotonic()) >= due:
            write()
            # A report of many players takes seconds, in which no worker gets another game: at most 2% of the time.
            due = time.monotonic() + max(_REPORT_SECONDS, 50 * (time.monotonic() - started))


def _test(settings: MatchSettings, outcomes: Mapping[int, Outcome], open_after: int = 0) -> SprtState | None:
    """The state of the sequential test, if there is one; it was still open after `open_after` pairs."""
    if settings.sprt is None:
        return None
    return settings.sprt.judge(pair_scores(outcomes.values(), settings.players[0].name), open_after)


def _is_decided(settings: MatchSettings, outcomes: Mapping[int, Outcome]) -> bool:
    test = _test(settings, outcomes)
    return test is not None and test.accepted is not None


def _played(settings: MatchSettings, files: MatchFolder) -> dict[int, Outcome]:
    """The games of the match that have ended; the folder may hold more."""
    return {index: files.outcomes[index] for index in settings.indices() if index in files.outcomes}


def _finish(settings: MatchSettings, files: MatchFolder) -> dict[str, Any]:
    """Write the figures of the games so far; nothing where there are none."""
    if not (played := _played(settings, files)):
        return {}
    test = _test(settings, played)
    counted = games_that_count(settings.pairings, settings.within, test, played)
    figures = summarize(settings, counted, test)
    files.finish(figures)
    return figures
