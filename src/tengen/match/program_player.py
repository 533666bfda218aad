"""A GTP program at the table: told of the game in its own words, and held to them."""

from __future__ import annotations

import re
import time

from tengen import coords
from tengen.engine.clock import Clock, TimeControl
from tengen.errors import TengenError
from tengen.game import Game
from tengen.gtp.client import GtpClient, ProgramError
from tengen.match.engine_info import read_thoughts
from tengen.match.player import Choice
from tengen.match.program_terms import rules_command, time_commands, time_left
from tengen.match.spec import PlayerSpec

ALLOWANCE = 3.0
"""Seconds beyond its clock after which a program is not waited for: the clock itself is the referee's."""

_COLORS = ("b", "w")
_SCORE = re.compile(r"([BW])\+(\d+(?:\.\d+)?)", re.IGNORECASE)


class ProgramPlayer:
    """A GTP program; it is told the moves of the opening and of its opponent one by one.

    A program that failed is started afresh when the next game begins. Raises ProgramError when it cannot be started.
    """

    def __init__(self, spec: PlayerSpec) -> None:
        self.name = spec.name
        self._spec = spec
        self._client = self._start()
        self._told = 0

    def begin(self, game: Game, seed: int) -> None:
        if self._client.broken is not None:
            self._client.close()
            self._client = self._start()
        patience = self._spec.startup_seconds
        self._client.ask(f"boardsize {game.size}", patience)
        self._client.ask("clear_board", patience)
        told = [rules_command(game.rules, self._client.knows), *time_commands(self._control, self._client.knows)]
        for command in filter(None, told):
            self._client.ask(command, patience)
        self._tell_komi(game.komi, patience)
        if self._client.knows("set_random_seed"):
            self._client.ask(f"set_random_seed {seed % 2**31}", patience)
        self._told = 0

    def choose(self, game: Game, clock: Clock | None = None) -> Choice:
        deadline = time.monotonic() + (self._spec.move_seconds if clock is None else clock.max_seconds + ALLOWANCE)
        color = _COLORS[game.to_play]
        self._tell(game, deadline)
        if clock is not None and self._client.knows("time_left") and time_commands(self._control, self._client.knows):
            self._ask(time_left(clock, color, self._client.knows), deadline)
        answer = self._ask(f"genmove {color}", deadline).lower()
        thoughts = read_thoughts(self._client.remarks, answer)
        if answer == "resign":
            return Choice(game.size**2, True, thoughts.comment(game.to_play), thoughts.visits or 0)
        point = self._point(answer, game.size)
        self._told += 1
        return Choice(point, False, thoughts.comment(game.to_play), thoughts.visits or 0)

    def policy(self, game: Game) -> None:
        return None

    def dead(self, game: Game) -> frozenset[int] | None:
        if not self._client.knows("final_status_list"):
            return None
        words = self._count(game, "final_status_list dead").split()
        points = frozenset(self._point(word, game.size) for word in words)
        if empty := [word for word in words if not _is_stone(game, self._point(word, game.size))]:
            raise self._client.error("nonsense", f"'{' '.join(empty)}' cannot be dead: no stones")
        return points

    def score(self, game: Game) -> float | None:
        if not self._client.knows("final_score"):
            return None
        answer = self._count(game, "final_score")
        if answer.lower() in ("0", "draw", "jigo"):
            return 0.0
        found = _SCORE.fullmatch(answer)
        if found is None:
            raise self._client.error("nonsense", f"'{answer}' is no score")
        return float(found[2]) if found[1].upper() == "B" else -float(found[2])

    def close(self) -> None:
        self._client.close()

    @property
    def _control(self) -> TimeControl | None:
        """What the program is told about time: a number of seconds a move is one stone in a period of Canadian time."""
        if self._spec.seconds is not None:
            return TimeControl.canadian(0, self._spec.seconds, 1)
        return self._spec.control

    def _start(self) -> GtpClient:
        return GtpClient(self._spec.subject, self._spec.startup_seconds, self.name)

    def _tell_komi(self, komi: float, seconds: float) -> None:
        """A program that cannot be told plays by a komi of its own, which is taken for none."""
        try:
            self._client.ask(f"komi {komi:g}", seconds)
        except ProgramError as error:
            if error.reason != "refused" or komi != 0:
                raise

    def _tell(self, game: Game, deadline: float) -> None:
        for color, point in game.moves[self._told :]:
            self._ask(f"play {_COLORS[color]} {coords.to_gtp(point, game.size)}", deadline)
            self._told += 1

    def _count(self, game: Game, command: str) -> str:
        deadline = time.monotonic() + self._spec.move_seconds
        self._tell(game, deadline)
        return self._ask(command, deadline)

    def _ask(self, command: str, deadline: float) -> str:
        return self._client.ask(command, max(0.0, deadline - time.monotonic()))

    def _point(self, word: str, size: int) -> int:
        try:
            return coords.from_gtp(word, size)
        except TengenError as error:
            raise self._client.error("nonsense", f"'{word}' is no move") from error


def _is_stone(game: Game, point: int) -> bool:
    return point < game.size**2 and game.board[divmod(point, game.size)] in (0, 1)
