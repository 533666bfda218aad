"""A match: games between two players under equal conditions, several at once, interrupted and resumed at will."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from tengen.arena.contest import Outcome
from tengen.arena.crew import Crew
from tengen.arena.journal import Journal
from tengen.arena.summary import summarize
from tengen.arena.table import MatchSettings


class Watcher(Protocol):
    """Whoever wants to see a match as it goes."""

    def started(self, names: Mapping[str, str], earlier: Sequence[Outcome]) -> None:
        """The players are ready; `earlier` are the games that the folder held already."""

    def played(self, outcome: Outcome) -> None: ...


def play_match(
    settings: MatchSettings, folder: Path, workers: int = 1, watcher: Watcher | None = None
) -> dict[str, Any]:
    """Play the games that `folder` does not hold yet, `workers` at a time, and return the figures of all.

    Players start first: one that does not exist or refuses the conditions raises TengenError before anything is
    written. When the last game has ended, the figures (see `summarize`) lie in the folder's `summary.json` too.
    """
    journal = Journal(folder, asdict(settings))
    missing = [index for index in range(settings.games) if index not in journal.outcomes]
    if missing:
        with Crew(settings, min(workers, len(missing))) as crew:
            journal.begin(crew.names)
            if watcher is not None:
                watcher.started(journal.names, list(journal.outcomes.values()))
            for outcome, sgf in crew.play(missing):
                journal.add(outcome, sgf)
                if watcher is not None:
                    watcher.played(outcome)
    outcomes = [journal.outcomes[index] for index in range(settings.games)]
    figures = summarize(outcomes, journal.names)
    journal.finish(figures)
    return figures
