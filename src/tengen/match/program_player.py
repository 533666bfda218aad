"""GTP programs as players of matches."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tengen.engine.clock import TimeControl
from tengen.game import Game
from tengen.gtp.client import ProgramError
from tengen.gtp.program import GtpProgram, ProgramSettings
from tengen.match.player import Choice, Player, Reply, Turn, comment_of
from tengen.match.spec import PlayerSpec


class ProgramPlayer(Player):
    """Several copies of a GTP program, one for each game under way, of which `thinking` compute at the same time.

    Copies are started as games need them; one that cannot be started loses its game. A copy that failed is ended with
    its game, and the next game starts a fresh one, also where a copy has ended between two games.
    """

    external = True

    def __init__(self, spec: PlayerSpec, copies: int = 1, thinking: int = 1) -> None:
        self.name = spec.name
        self.max_games = copies
        self._settings = program_settings(spec)
        self._free: list[GtpProgram] = []
        self._playing: dict[int, GtpProgram] = {}
        self._failed: set[int] = set()  # games that a copy lost by a failure, a refused command too
        self._threads = ThreadPoolExecutor(max(1, thinking), "programs") if copies > 1 else None

    def start_game(self, id: int, game: Game, seed: int) -> None:
        if self._free and self._start_with(self._free.pop(), id, game, seed):
            return
        copy = GtpProgram(self._settings)
        self.program = copy.program
        self._playing[id] = copy
        try:
            copy.start_game(game, seed)
        except ProgramError:
            self._failed.add(id)
            raise

    def choose(self, turns: Sequence[Turn]) -> list[Reply]:
        if self._threads is None or len(turns) == 1:
            return [self._reply(turn) for turn in turns]
        return list(self._threads.map(self._reply, turns))

    def dead(self, id: int, game: Game) -> frozenset[int] | None:
        return self._playing[id].dead(game)

    def score(self, id: int, game: Game) -> float | None:
        return self._playing[id].score(game)

    def end_game(self, id: int) -> None:
        copy = self._playing.pop(id, None)
        if copy is None:
            return
        if copy.is_broken or id in self._failed:
            copy.close()
        else:
            self._free.append(copy)
        self._failed.discard(id)

    def close(self) -> None:
        for copy in (*self._free, *self._playing.values()):
            copy.close()
        self._free.clear()
        self._playing.clear()
        if self._threads is not None:
            self._threads.shutdown()

    def _start_with(self, copy: GtpProgram, id: int, game: Game, seed: int) -> bool:
        """Start a game with a copy that has played before; False, and the copy is closed, where its process has ended.

        That it has ended may show at the first command only.
        """
        self._playing[id] = copy
        try:
            copy.start_game(game, seed)
        except ProgramError as error:
            if error.reason != "crash":
                self._failed.add(id)
                raise
            copy.close()
            return False
        return True

    def _reply(self, turn: Turn) -> Reply:
        started = time.perf_counter()
        try:
            move = self._playing[turn.id].choose(turn.game, turn.clock, turn.lag)
        except ProgramError as error:
            self._failed.add(turn.id)
            return error
        info, seconds = move.info, time.perf_counter() - started
        comment = "" if info.winrate is None else comment_of(turn.game.to_play, info.winrate, info.score, info.visits)
        point = turn.game.pass_point if move.point is None else move.point
        return Choice(point, move.point is None, comment, info.visits or 0, seconds)


def program_settings(spec: PlayerSpec) -> ProgramSettings:
    """How the program of a player is run. Seconds a move are Canadian time with one stone in a period."""
    control = spec.control if spec.seconds is None else TimeControl.canadian(0, spec.seconds, 1)
    return ProgramSettings(spec.name, spec.subject, control, spec.move_seconds, spec.startup_seconds)
