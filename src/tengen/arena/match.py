"""A match: games between two players under equal conditions, several at once, interrupted and resumed at will."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from tengen.arena.crew import Crew
from tengen.arena.journal import Journal
from tengen.arena.outcome import Outcome
from tengen.arena.summary import summarize
from tengen.arena.table import MatchSettings


class Watcher(Protocol):
    """Whoever wants to see a match as it goes."""

    def started(self, names: tuple[str, str], earlier: Sequence[Outcome]) -> None:
        """The players are ready; `earlier` are the games that the folder held already."""

    def played(self, outcome: Outcome) -> None: ...


def play_match(
    settings: MatchSettings, folder: Path, workers: int = 1, watcher: Watcher | None = None
) -> dict[str, Any]:
    """Play the games that `folder` does not hold yet, `workers` at a time, and return the figures of all.

    Players start first: one that does not exist or refuses the conditions raises TengenError before anything is
    written. When the last game has ended, the figures (see `summarize`) lie in the folder's `summary.json` too.
    """
    journal = Journal(folder)
    missing = [index for index in range(settings.games) if index not in journal.outcomes]
    names = ("", "")
    if journal.about is not None:
        names = (journal.about.names[0], journal.about.names[1])
        journal.check(settings.about(names))
    if missing:
        with Crew(settings, min(workers, len(missing))) as crew:
            names = crew.names
            journal.check(settings.about(names))
            journal.begin(settings.about(names))
            if watcher is not None:
                watcher.started(names, list(journal.outcomes.values()))
            for outcome, sgf in crew.play(missing):
                journal.add(outcome, sgf)
                if watcher is not None:
                    watcher.played(outcome)
    outcomes = [journal.outcomes[index] for index in range(settings.games)]
    figures = summarize(outcomes, names)
    journal.finish(figures)
    return figures
