"""The games of a match in this process, many at once: each player is asked for its moves in all games together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol, Self

from tengen.engine.clock import TimeControl
from tengen.errors import TengenError
from tengen.gtp.client import ProgramError
from tengen.match.conditions import Conditions
from tengen.match.folder import PlayedRecord
from tengen.match.game import MatchGame
from tengen.match.openings import GamePair, Openings, open_openings
from tengen.match.outcome import Outcome
from tengen.match.player import Choice, Player, Reply, errors_named
from tengen.match.players import open_player
from tengen.match.schedule import Fixture, fixture
from tengen.match.settings import MatchSettings
from tengen.match.spec import PlayerSpec
from tengen.plugins import described

GAMES_AT_ONCE = 512
# Networks that stay open between two games of theirs. Each takes some 20 MB, so that a worker needs up to 640 MB for
# them. A round robin of more networks loads one for almost every pair of games: with 8 kept open, one of 12 networks
# took 14 to 17 s instead of 8 to 10 s.
_IDLE_NETWORKS = 32
# Programs that stay open between two games of theirs. Each may hold a network of gigabytes and memory of a graphics
# card, so a worker keeps few; it starts those of up to four players, two of which play, once. GNU Go starts in 0.01 s.
_IDLE_PROGRAMS = 2


@dataclass(frozen=True)
class FinishedGame:
    """A finished game."""

    outcome: Outcome
    game: MatchGame

    def record(self) -> PlayedRecord:
        """The game as a match folder keeps it."""
        return PlayedRecord(self.outcome, self.game.sgf(self.outcome))


class OpenPlayer(Protocol):
    """Opens a player as `match.players.open_player` does."""

    def __call__(self, spec: PlayerSpec, games: int = 1, threads: int | None = None) -> Player: ...


Check = Callable[[], None]


def never_stop() -> None:
    """The default check: never stop."""


class BatchMatch:
    """Plays the games of a match by their numbers, up to `at_once` of them side by side.

    Each game depends on the conditions, its number and the players alone. Players are opened by `open_player` when they
    are needed. Of the networks and of the programs that play in no game the last few stay open; players of other
    packages all do. `programs` are names and versions of the programs that `start` has opened, by player. `threads` are
    those of searches, and copies of a program that compute at once. `check` is called before each step and may raise,
    to stop. Raises TengenError where openings do not exist.
    """

    def __init__(
        self,
        settings: MatchSettings,
        at_once: int = GAMES_AT_ONCE,
        threads: int | None = None,
        open_player: OpenPlayer = open_player,
        check: Check = never_stop,
    ) -> None:
        if at_once < 1:
            raise ValueError(f"{at_once} games at once are impossible: give 1 or more")
        self.settings = settings
        self.check = check
        self._at_once = at_once
        self._threads = threads
        self._open_player = open_player
        self._specs = {spec.name: spec for spec in settings.players}
        self._controls: Mapping[str, TimeControl] = {
            spec.name: spec.control for spec in settings.players if spec.control is not None
        }
        self._openings: Openings = open_openings(settings.conditions, open_player)
        self._opened: dict[int, list[int]] = {}  # opening by pair, until the second game of the pair has started
        self.players: dict[str, Player] = {}
        self.programs: dict[str, str] = {}
        self._outside = ThreadPoolExecutor(len(self._specs), "external players")
        self._playing: list[MatchGame] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def conditions(self) -> Conditions:
        return self.settings.conditions

    @property
    def at_once(self) -> int:
        """Games that are played side by side, limited by the `max_games` of the open players."""
        limits = (player.max_games for player in self.players.values())
        return min([self._at_once, *(limit for limit in limits if limit is not None)])

    def start(self, names: Iterable[str] | None = None) -> None:
        """Open these players, all unless given; TengenError names one that does not exist or refuses the conditions."""
        for name in self._specs if names is None else names:
            player = self._player(name)
            try:
                with errors_named(name):
                    player.start_game(-1, self.conditions.new_game(), seed=0)
            finally:
                player.end_game(-1)
            if player.program:
                self.programs[name] = player.program
            self._close_idle()

    def play(self, indices: Iterable[int]) -> Iterator[list[FinishedGame]]:
        """Play these games; those that end at the same step come together, in the order of their numbers.

        The next number is asked for when a game has ended and the caller has seen it.
        """
        waiting = iter(indices)
        while True:
            self.check()
            done = self.start_games(waiting)
            if not self._playing and not done:
                return
            done += self._step()
            if done:
                for played in done:
                    played.game.close()
                yield sorted(done, key=lambda played: played.outcome.index)

    def play_records(self, indices: Iterable[int]) -> Iterator[list[PlayedRecord]]:
        """The same, with the records of the games."""
        for batch in self.play(indices):
            yield [one.record() for one in batch]

    def play_all(self, games: int) -> list[FinishedGame]:
        """The games 0 to `games` - 1 in the order of their numbers."""
        played = [one for batch in self.play(range(games)) for one in batch]
        return sorted(played, key=lambda one: one.outcome.index)

    def start_games(self, waiting: Iterator[int]) -> list[FinishedGame]:
        """Fill the free places with new games; those that end with their start are returned."""
        fixtures: list[Fixture] = []
        while len(self._playing) + len(fixtures) < self.at_once and (index := next(waiting, None)) is not None:
            fixtures.append(fixture(self.settings.pairings, index))
            for name in fixtures[-1].pairing:
                self._player(name)
        self._close_idle(fixtures)
        self._draw_openings(fixtures)
        done = []
        for each in fixtures:
            game = MatchGame(self.conditions, each, self.players, self._controls)
            outcome = game.start(self._opening(each))
            if outcome is None:
                self._playing.append(game)
            else:
                done.append(FinishedGame(outcome, game))
        return done

    def close(self) -> None:
        """Close all players, also while they compute; games under way are given up."""
        self._playing.clear()
        for player in self.players.values():
            player.close()
        self.players.clear()
        self._outside.shutdown()

    def _player(self, name: str) -> Player:
        player = self.players.pop(name, None)
        if player is None:
            player = self._open_player(self._specs[name], self._at_once, self._threads)
        self.players[name] = player  # as the last one: the first is closed first
        return player

    def _close_idle(self, starting: Sequence[Fixture] = ()) -> None:
        """Close all networks and programs without a game but the last few of each that were asked for."""
        needed = {name for game in self._playing for name in game.names}.union(*(each.pairing for each in starting))
        idle = [name for name in self.players if name not in needed]
        networks = [name for name in idle if self._specs[name].has_network]
        programs = [name for name in idle if self._specs[name].kind == "program"]
        for names, kept in ((networks, _IDLE_NETWORKS), (programs, _IDLE_PROGRAMS)):
            for name in names[: max(0, len(names) - kept)]:
                self.players.pop(name).close()

    def _draw_openings(self, fixtures: Sequence[Fixture]) -> None:
        new = {each.pair: each for each in fixtures if each.pair not in self._opened}
        pairs = [GamePair(each.round, self._players_of(each)) for each in new.values()]
        self._opened.update(zip(new, self._openings.moves(pairs), strict=True) if pairs else ())

    def _players_of(self, each: Fixture) -> tuple[Player, Player]:
        first, second = each.pairing
        return self.players[first], self.players[second]

    def _opening(self, each: Fixture) -> list[int]:
        return self._opened.pop(each.pair) if each.index % 2 else self._opened[each.pair]

    def _step(self) -> list[FinishedGame]:
        """One move in every game; the games that it ended."""
        by_player: dict[str, list[MatchGame]] = defaultdict(list)
        for game in self._playing:
            by_player[game.to_move].append(game)
        outside = {name: games for name, games in by_player.items() if self.players[name].external}
        if len(by_player) == 1:
            outside = {}  # no other player would compute at the same time
        # Programs think in threads while the players of this process compute.
        answers = {name: self._outside.submit(self._ask, name, games) for name, games in outside.items()}
        done: list[FinishedGame] = []
        for name, games in by_player.items():
            if name not in outside:
                done += self._take(games, *self._ask(name, games))
        for name, answer in answers.items():
            done += self._take(outside[name], *answer.result())
        ended = {id(played.game) for played in done}
        self._playing = [game for game in self._playing if id(game) not in ended]
        return done

    def _ask(self, name: str, games: Sequence[MatchGame]) -> tuple[Sequence[Reply], float]:
        """The replies of a player in all its games, and the seconds of each."""
        started = perf_counter()
        replies = self.players[name].choose([game.turn() for game in games])
        _check_replies(name, replies, len(games))
        return replies, (perf_counter() - started) / len(games)

    def _take(self, games: Sequence[MatchGame], replies: Sequence[Reply], seconds: float) -> list[FinishedGame]:
        outcomes = [game.answer(reply, seconds) for game, reply in zip(games, replies, strict=True)]
        return [
            FinishedGame(outcome, game) for game, outcome in zip(games, outcomes, strict=True) if outcome is not None
        ]


def _check_replies(name: str, replies: Sequence[Reply], wanted: int) -> None:
    """Raise TengenError unless there is one reply to each turn: the player may be of another package."""
    if not isinstance(replies, Sequence) or len(replies) != wanted:
        found = f"{len(replies)} replies" if isinstance(replies, Sequence) else described(replies)
        raise TengenError(f"{name}: choose returned {found} for {wanted} positions, not a Choice for each")
    for reply in replies:
        if not isinstance(reply, Choice | ProgramError):
            raise TengenError(f"{name}: choose returned {described(reply)} ({reply!r}) for a position, no Choice")
