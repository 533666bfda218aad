"""A match: games under equal conditions, several at once, interrupted and resumed at will, ended by itself if asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from tengen.errors import RecipeError
from tengen.machine import core_count
from tengen.match.folder import Journal
from tengen.match.outcome import Outcome
from tengen.match.settings import MatchSettings
from tengen.match.sprt import Progress, pair_scores
from tengen.match.summary import summarize
from tengen.match.workers import Crew


class Watcher(Protocol):
    """Whoever wants to see a match as it goes."""

    def started(self, earlier: Sequence[Outcome], workers: int) -> None:
        """The players are ready; `earlier` are the games that the folder held already."""

    def played(self, outcome: Outcome, test: Progress | None) -> None:
        """A game has ended; `test` is how far the sequential test is, if there is one."""


def play_match(
    settings: MatchSettings, folder: Path, workers: int | None = None, watcher: Watcher | None = None
) -> dict[str, Any]:
    """Play the games that `folder` does not hold yet, and return the figures of all.

    Players start first: one that does not exist or refuses the conditions raises TengenError before anything is
    written. `workers` games go on at once, as many as `games_at_once` says. A sequential test that is decided ends the
    match, and a pairing whose score is known as well as was asked plays no more. The figures (see `summarize`) and the
    report lie in the folder when the last game has ended, and after an interruption too.
    """
    at_once = games_at_once(settings, workers)
    with Journal(folder) as journal:
        about = settings.about()
        journal.check(about)
        missing = sum(1 for _ in settings.left(journal.outcomes))
        if not missing or _decided(settings, journal.outcomes):
            return _finish(settings, journal)
        with Crew(settings, min(at_once, missing)) as crew:
            journal.begin(about)
            try:
                if watcher is not None:
                    watcher.started(list(journal.outcomes.values()), min(at_once, missing))
                _play(settings, journal, crew, watcher)
            finally:
                figures = _finish(settings, journal)
    return figures


def games_at_once(settings: MatchSettings, workers: int | None = None, cores: int | None = None) -> int:
    """How many games go on at once: as many as the cores bear, unless `workers` says otherwise.

    Where a player's time is limited it is never more than that, or the players would take time from each other. Raises
    RecipeError for less than one.
    """
    if workers is not None and workers < 1:
        raise RecipeError(f"workers must be 1 or more, not {workers}")
    bearable = max(1, (cores or core_count()) // settings.threads)
    if workers is None:
        return bearable
    return min(workers, bearable) if settings.timed else workers


def _play(settings: MatchSettings, journal: Journal, crew: Crew, watcher: Watcher | None) -> None:
    for outcome, sgf in crew.play(settings.left(journal.outcomes)):
        journal.add(outcome, sgf)
        test = _test(settings, journal.outcomes)
        if watcher is not None:
            watcher.played(outcome, test)
        if test is not None and test.accepted:
            return


def _test(settings: MatchSettings, outcomes: Mapping[int, Outcome]) -> Progress | None:
    """How far the sequential test is, if there is one."""
    if settings.sprt is None:
        return None
    return settings.sprt.judge(pair_scores(outcomes.values(), settings.players[0].name))


def _decided(settings: MatchSettings, outcomes: Mapping[int, Outcome]) -> bool:
    test = _test(settings, outcomes)
    return test is not None and test.accepted is not None


def _finish(settings: MatchSettings, journal: Journal) -> dict[str, Any]:
    """Write down what the games so far show; nothing where there are none."""
    from tengen.ratings.report import write_report  # the first drawing takes a second

    outcomes = [journal.outcomes[index] for index in settings.indices() if index in journal.outcomes]
    if not outcomes:
        return {}
    test = _test(settings, journal.outcomes)
    figures = summarize(settings, outcomes, test)
    journal.finish(figures)
    write_report(journal.folder)
    return figures
