"""GTP programs as players: the commands sent to them, and the engine information that they write."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from tengen import coords
from tengen.engine.clock import Clock, Overtime, TimeControl
from tengen.errors import TengenError
from tengen.game import Game
from tengen.gtp.client import GtpClient, ProgramError
from tengen.match.player import Choice, Player, Reply, Turn, comment_of
from tengen.match.spec import PlayerSpec
from tengen.rules import RULE_NAMES, Rules

ALLOWANCE = 3.0
"""Seconds beyond its clock for which a program is waited for: the clock itself is the referee's."""

Knows = Callable[[str], bool]

_COLORS = ("b", "w")
_SCORE = re.compile(r"([BW])\+(\d+(?:\.\d+)?)", re.IGNORECASE)
_KGS_RULES = {name: name.replace("-", "_") for name in ("chinese", "aga", "japanese", "new-zealand")}
_KGS_RULES["chinese-ogs"] = "chinese"
# Leela Zero prints a line for each move that it considered and one with the visits of the whole search. KataGo prints
# one line of chat with `ogsChatToStderr = true`. Both speak for the side to move (KataGo unless configured otherwise).
_LEELA_ZERO_MOVE = re.compile(r"\s*(?P<move>[A-T]\d+|pass) -> +\d+ \(V: +(?P<winrate>\d+\.\d+)%\)", re.IGNORECASE)
_LEELA_ZERO_END = re.compile(r"(?P<visits>\d+) visits, \d+ nodes")
_KATAGO = re.compile(
    r"CHAT:\s*Visits (?P<visits>\d+) Winrate (?P<winrate>\d+\.\d+)% ScoreLead (?P<score>-?\d+\.\d+)", re.IGNORECASE
)


class ProgramPlayer(Player):
    """Several copies of a GTP program, one for each game under way, of which `thinking` compute at the same time.

    Copies are started as games need them, the first at once. A copy that failed is ended with its game, and the next
    game starts a fresh one. Raises ProgramError when the program cannot be started.
    """

    external = True

    def __init__(self, spec: PlayerSpec, copies: int = 1, thinking: int = 1) -> None:
        self.name = spec.name
        self.max_games = copies
        self._spec = spec
        self._free = [_Copy(spec)]
        self._playing: dict[int, _Copy] = {}
        self._threads = ThreadPoolExecutor(max(1, thinking), "programs") if copies > 1 else None

    def start_game(self, id: int, game: Game, seed: int) -> None:
        copy = self._free.pop() if self._free else _Copy(self._spec)
        self._playing[id] = copy
        copy.start_game(game, seed)

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
        if copy.is_broken:
            copy.close()
        else:
            self._free.append(copy)

    def close(self) -> None:
        for copy in (*self._free, *self._playing.values()):
            copy.close()
        self._free.clear()
        self._playing.clear()
        if self._threads is not None:
            self._threads.shutdown()

    def _reply(self, turn: Turn) -> Reply:
        started = time.perf_counter()
        try:
            choice = self._playing[turn.id].choose(turn.game, turn.clock)
        except ProgramError as error:
            return error
        return replace(choice, seconds=time.perf_counter() - started)


class _Copy:
    """One process of the program. It is sent the moves of the opening and of its opponent one by one."""

    def __init__(self, spec: PlayerSpec) -> None:
        self._spec = spec
        self._client = GtpClient(spec.subject, spec.startup_seconds, spec.name)
        self._sent = 0  # moves of the game

    @property
    def is_broken(self) -> bool:
        return self._client.broken is not None

    def start_game(self, game: Game, seed: int) -> None:
        patience = self._spec.startup_seconds
        self._client.ask(f"boardsize {game.size}", patience)
        self._client.ask("clear_board", patience)
        commands = [rules_command(game.rules, self._client.knows), *time_commands(self._control, self._client.knows)]
        for command in filter(None, commands):
            self._client.ask(command, patience)
        self._send_komi(game.komi, patience)
        if self._client.knows("set_random_seed"):
            self._client.ask(f"set_random_seed {seed % 2**31}", patience)
        self._sent = 0

    def choose(self, game: Game, clock: Clock | None = None) -> Choice:
        deadline = time.monotonic() + (self._spec.move_seconds if clock is None else clock.max_seconds + ALLOWANCE)
        color = _COLORS[game.to_play]
        self._send_moves(game, deadline)
        if clock is not None and self._client.knows("time_left") and time_commands(self._control, self._client.knows):
            self._ask(time_left(clock, color, self._client.knows), deadline)
        answer = self._ask(f"genmove {color}", deadline).lower()
        info = read_engine_info(self._client.remarks, answer)
        if answer == "resign":
            return Choice(game.size**2, True, info.comment(game.to_play), info.visits or 0)
        point = self._point(answer, game.size)
        self._sent += 1
        return Choice(point, False, info.comment(game.to_play), info.visits or 0)

    def dead(self, game: Game) -> frozenset[int] | None:
        if not self._client.knows("final_status_list"):
            return None
        words = self._count(game, "final_status_list dead").split()
        points = frozenset(self._point(word, game.size) for word in words)
        if empty := [word for word in words if not _is_stone(game, self._point(word, game.size))]:
            raise self._client.error("invalid answer", f"'{' '.join(empty)}' cannot be dead: there are no stones")
        return points

    def score(self, game: Game) -> float | None:
        if not self._client.knows("final_score"):
            return None
        answer = self._count(game, "final_score")
        if answer.lower() in ("0", "draw", "jigo"):
            return 0.0
        found = _SCORE.fullmatch(answer)
        if found is None:
            raise self._client.error("invalid answer", f"'{answer}' is not a score")
        return float(found[2]) if found[1].upper() == "B" else -float(found[2])

    def close(self) -> None:
        self._client.close()

    @property
    def _control(self) -> TimeControl | None:
        """The time control that is sent: seconds a move are Canadian time with one stone in a period."""
        if self._spec.seconds is not None:
            return TimeControl.canadian(0, self._spec.seconds, 1)
        return self._spec.control

    def _send_komi(self, komi: float, seconds: float) -> None:
        """A program that refuses the command has a komi of its own, which is assumed to be 0."""
        try:
            self._client.ask(f"komi {komi:g}", seconds)
        except ProgramError as error:
            if error.reason != "refused" or komi != 0:
                raise

    def _send_moves(self, game: Game, deadline: float) -> None:
        for color, point in game.moves[self._sent :]:
            self._ask(f"play {_COLORS[color]} {coords.to_gtp(point, game.size)}", deadline)
            self._sent += 1

    def _count(self, game: Game, command: str) -> str:
        deadline = time.monotonic() + self._spec.move_seconds
        self._send_moves(game, deadline)
        return self._ask(command, deadline)

    def _ask(self, command: str, deadline: float) -> str:
        return self._client.ask(command, max(0.0, deadline - time.monotonic()))

    def _point(self, word: str, size: int) -> int:
        try:
            return coords.from_gtp(word, size)
        except TengenError as error:
            raise self._client.error("invalid answer", f"'{word}' is not a move") from error


def _is_stone(game: Game, point: int) -> bool:
    return point < game.size**2 and game.board[divmod(point, game.size)] in (0, 1)


@dataclass(frozen=True)
class EngineInfo:
    """Winrate (0..1) and score (points) for the side to move, visits of the whole search; None where unknown."""

    winrate: float | None = None
    score: float | None = None
    visits: int | None = None

    def comment(self, color: int) -> str:
        """The comment in the record; empty without a winrate."""
        return "" if self.winrate is None else comment_of(color, self.winrate, self.score, self.visits)


def read_engine_info(remarks: Sequence[str], move: str) -> EngineInfo:
    """The information in these lines of stderr about `move`, which is written as in GTP."""
    winrate: float | None = None
    visits: int | None = None
    for line in remarks:
        if found := _KATAGO.search(line):
            return EngineInfo(float(found["winrate"]) / 100, float(found["score"]), int(found["visits"]))
        if (found := _LEELA_ZERO_MOVE.match(line)) and found["move"].lower() == move.lower():
            winrate = float(found["winrate"]) / 100
        elif found := _LEELA_ZERO_END.match(line):
            visits = int(found["visits"])
    return EngineInfo(winrate, None, visits)


def rules_command(rules: Rules, knows: Knows) -> str | None:
    """The command that sets these rules; None where the program has no command that can name them."""
    name = rules.text
    if knows("kata-set-rules"):
        return f"kata-set-rules {name if name in RULE_NAMES else json.dumps(rules.katago)}"
    if knows("kgs-rules") and name in _KGS_RULES:
        return f"kgs-rules {_KGS_RULES[name]}"
    return None


def time_commands(control: TimeControl | None, knows: Knows) -> list[str]:
    """The commands that set a time control; none without a control, or for a program that knows no such command.

    A program without a command for byo-yomi or Fischer time is sent Canadian time with one stone in a period or an
    increment, which is the same time but for further periods. An increment of less than a second is left to
    `time_left`.
    """
    if control is None:
        return []
    main, period = _whole(control.main), _whole(control.period)
    match control.overtime:
        case Overtime.BYOYOMI if knows("kgs-time_settings"):
            return [f"kgs-time_settings byoyomi {main} {period} {control.count}"]
        case Overtime.FISCHER if knows("kata-time_settings"):
            return [f"kata-time_settings fischer {control.main:g} {control.increment:g}"]
    if not knows("time_settings"):
        return []
    match control.overtime:
        case Overtime.BYOYOMI:
            return [f"time_settings {main} {period} 1"]
        case Overtime.CANADIAN:
            return [f"time_settings {main} {period} {control.count}"]
        case Overtime.FISCHER if control.increment >= 1:
            return [f"time_settings {main} {_whole(control.increment)} 1"]
    return [f"time_settings {main} 0 0"]


def time_left(clock: Clock, color: str, knows: Knows) -> str:
    """The command that sets the time left of this color, in terms of the control that the program was sent."""
    if not clock.in_overtime:
        return f"time_left {color} {_whole(clock.main)} 0"
    periods = clock.control.overtime is Overtime.BYOYOMI and not knows("kgs-time_settings")
    return f"time_left {color} {_whole(clock.period)} {1 if periods else clock.count}"


def _whole(seconds: float) -> int:
    """Whole seconds, rounded down, at least 1: GTP has no fractions, and GNU Go refuses them."""
    return max(int(seconds), 1) if seconds > 0 else 0
