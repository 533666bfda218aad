"""Games of a match by the workers of a Ray cluster."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tengen.cluster import Cluster, SharedFiles
from tengen.evaluators.portable_network import PortableNetwork
from tengen.match.batch import BatchMatch, Check
from tengen.match.folder import PlayedRecord
from tengen.match.openings import is_record
from tengen.match.player import Player
from tengen.match.players import open_player
from tengen.match.settings import FindNetwork, MatchSettings
from tengen.match.spec import PlayerSpec, check_registered


class MatchWork:
    """Plays the games of a match by their numbers, up to `at_once` side by side: the `Work` of matches.

    Networks and openings that do not come with Tengen are sent along. A program or a player of another package must be
    installed on each machine.
    """

    def __init__(self, settings: MatchSettings, at_once: int, find: FindNetwork) -> None:
        self.at_once = at_once
        self._settings = settings
        self._registered = settings.registered()
        self._networks = {name: PortableNetwork.of(name, path) for name, path in settings.networks(find).items()}
        openings = settings.openings()
        paths = {} if openings is None else {"openings": openings}
        self._openings = SharedFiles.of(paths, is_record)
        self._sources: dict[str, str] = {}  # what loads each network on this machine
        self._match: BatchMatch | None = None

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], list[PlayedRecord]]]:
        """Finished games by their numbers."""
        for batch in self.open().play(items):
            if stop.is_set():
                return
            yield [one.outcome.index for one in batch], [one.record() for one in batch]

    def close(self) -> None:
        if self._match is not None:
            self._match.close()
            self._folder.cleanup()
            self._match = None

    def open(self) -> BatchMatch:
        """The match, made where it is not open yet."""
        if self._match is not None:
            return self._match
        check_registered(self._registered)
        self._folder = tempfile.TemporaryDirectory(prefix="tengen-")
        folder, settings = Path(self._folder.name), self._settings
        for i, (name, network) in enumerate(self._networks.items()):
            self._sources[name] = network.unpack(folder / str(i))
        if found := self._openings.unpack(folder / "openings"):
            place = {"openings": str(found["openings"])}
            settings = settings.model_copy(update={"conditions": settings.conditions.model_copy(update=place)})
        self._match = BatchMatch(settings, self.at_once, open_player=self._open_player)
        return self._match

    def _open_player(self, spec: PlayerSpec, games: int = 1, threads: int | None = None) -> Player:
        source = self._sources.get(spec.subject, spec.subject)
        return open_player(spec, games, threads, None if source == spec.subject else source)


class _OpenPlayers:
    """Opens all players, and plays nothing. Its result are the programs of `BatchMatch`."""

    def __init__(self, work: MatchWork) -> None:
        self._work = work
        self.close = work.close

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], dict[str, str]]]:
        match = self._work.open()
        match.start()
        yield list(items), match.programs


def play_by_cluster(
    cluster: Cluster, work: MatchWork, check: Check, indices: Iterable[int]
) -> Iterator[list[PlayedRecord]]:
    """Play games by their numbers, in the order in which they end. `check` may raise, to stop."""
    for new, games in cluster.run(work, indices, work.at_once, _stop(check)):
        yield [game for game in games if game.outcome.index in new]


def start_players(cluster: Cluster, work: MatchWork, check: Check) -> dict[str, str]:
    """Open all players in one worker, and return the programs of `BatchMatch`.

    Raises TengenError for a player that does not exist or refuses the conditions.
    """
    programs: dict[str, str] = {}
    for _, found in cluster.run(_OpenPlayers(work), [0], stop=_stop(check)):
        programs |= found
    return programs


def _stop(check: Check) -> Callable[[], bool]:
    """`check`, which stops a run by an error, as a condition that never holds."""

    def stop() -> bool:
        check()
        return False

    return stop
