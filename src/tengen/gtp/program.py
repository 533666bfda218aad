"""A GTP program that plays games: the commands sent to it, and the engine information that it writes."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tengen import coords
from tengen.engine.clock import Clock, Overtime, TimeControl
from tengen.errors import TengenError
from tengen.game import BLACK, Game
from tengen.gtp.client import GtpClient, ProgramError
from tengen.rules import RULE_NAMES, Rules

ALLOWANCE = 3.0
"""Seconds beyond its clock for which a program is waited for: the clock itself is the referee's."""

Knows = Callable[[str], bool]

_COLORS = ("b", "w")
_SCORE = re.compile(r"([BW])\+(\d+(?:\.\d+)?)", re.IGNORECASE)
_KGS_RULES = {name: name.replace("-", "_") for name in ("chinese", "aga", "japanese", "new-zealand")}
_KGS_RULES["chinese-ogs"] = "chinese"
# Leela Zero prints a line for each move that it considered and one with the visits of the whole search. KataGo prints
# one line of chat with `ogsChatToStderr = true`, which begins with CHAT before version 1.13. Both speak for the side to
# move (KataGo unless configured otherwise).
_LEELA_ZERO_MOVE = re.compile(r"\s*(?P<move>[A-T]\d+|pass) -> +\d+ \(V: +(?P<winrate>\d+\.\d+)%\)", re.IGNORECASE)
_LEELA_ZERO_END = re.compile(r"(?P<visits>\d+) visits, \d+ nodes")
_KATAGO = re.compile(
    r"(?:CHAT|MALKOVICH):\s*Visits (?P<visits>\d+) Winrate (?P<winrate>\d+\.\d+)%"
    r"(?: ScoreLead (?P<score>-?\d+\.\d+))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ProgramSettings:
    """A GTP program under the `name` that errors have, with its command line.

    It has `startup_seconds` for each command before its first move and, unless it has a clock, `move_seconds` for all
    commands of a move. It is sent the time `control`, unless a game has its own.
    """

    name: str
    command_line: str
    control: TimeControl | None = None
    move_seconds: float = 180.0
    startup_seconds: float = 60.0


@dataclass(frozen=True)
class ProgramMove:
    """A program's move, None where it resigns, with what it wrote about it. The move may be illegal."""

    point: int | None
    info: EngineInfo


class GtpProgram:
    """A process of a program. Each method takes the whole game, and sends what has changed.

    Raises ProgramError when the program cannot be started; so does every method when it fails. After such a failure,
    unless it answered with a question mark, it `is_broken` and fails again. `on_process` is that of `GtpClient`.
    """

    def __init__(
        self, settings: ProgramSettings, on_process: Callable[[GtpClient], object] = lambda client: None
    ) -> None:
        self._settings = settings
        self._control = settings.control
        self._client = GtpClient(settings.command_line, settings.startup_seconds, settings.name, on_process)
        self._sent: list[tuple[int, int]] = []  # the moves of the game, as the program has them

    @property
    def is_broken(self) -> bool:
        return self._client.broken is not None

    @property
    def program(self) -> str:
        """Name and version that the program gives, in one line."""
        return " ".join(f"{self._client.name} {self._client.version}".split())

    def start_game(self, game: Game, seed: int | None = None, control: TimeControl | None = None) -> None:
        """Begin a game like this one, without its moves: size, stones set up, rules, time and komi."""
        patience = self._settings.startup_seconds
        self._control = control or self._settings.control
        self._client.ask(f"boardsize {game.size}", patience)
        self._client.ask("clear_board", patience)
        commands = [rules_command(game.rules, self._client.knows), *time_commands(self._control, self._client.knows)]
        for command in filter(None, commands):
            self._client.ask(command, patience)
        self._send_komi(game.komi, patience)
        if seed is not None and self._client.knows("set_random_seed"):
            self._client.ask(f"set_random_seed {seed % 2**31}", patience)
        self._sent = []
        self._set_up(game, time.monotonic() + patience)

    def choose(self, game: Game, clock: Clock | None = None, lag: float = 0.0) -> ProgramMove:
        """The move for the side to move, which has `clock` left and `lag` seconds that it does not charge."""
        seconds = self._settings.move_seconds if clock is None else clock.max_seconds + lag + ALLOWANCE
        deadline = time.monotonic() + seconds
        color = _COLORS[game.to_play]
        self._follow(game, deadline)
        if clock is not None and self._client.knows("time_left") and time_commands(self._control, self._client.knows):
            self._ask(time_left(clock, color, self._client.knows), deadline)
        answer = self._ask(f"genmove {color}", deadline).lower()
        info = read_engine_info(self._client.remarks, answer)
        if answer == "resign":
            return ProgramMove(None, info)
        point = self._point(answer, game.size)
        self._sent.append((game.to_play, point))
        return ProgramMove(point, info)

    def dead(self, game: Game) -> frozenset[int] | None:
        """The dead stones of a finished game; None where the program cannot name them."""
        if not self._client.knows("final_status_list"):
            return None
        words = self._count(game, "final_status_list dead").split()
        points = frozenset(self._point(word, game.size) for word in words)
        if empty := [word for word in words if not _is_stone(game, self._point(word, game.size))]:
            self._client.reject(f"'{' '.join(empty)}' cannot be dead: there are no stones")
        return points

    def score(self, game: Game) -> float | None:
        """Black's points minus White's of a finished game; None where the program cannot count."""
        if not self._client.knows("final_score"):
            return None
        answer = self._count(game, "final_score")
        if answer.lower() in ("0", "draw", "jigo"):
            return 0.0
        found = _SCORE.fullmatch(answer)
        if found is None:
            self._client.reject(f"'{answer}' is not a score")
        return float(found[2]) if found[1].upper() == "B" else -float(found[2])

    def close(self) -> None:
        """End the program and all that it has started. May be repeated."""
        self._client.close()

    def _send_komi(self, komi: float, seconds: float) -> None:
        """A program that refuses the command has a komi of its own, which is assumed to be 0."""
        try:
            self._client.ask(f"komi {komi:g}", seconds)
        except ProgramError as error:
            if error.reason != "refused" or komi != 0:
                raise

    def _set_up(self, game: Game, deadline: float) -> None:
        """Send the stones set up before the first move. No stone of a legal position is captured on the way there."""
        stones = game.setup_stones
        handicap = len(stones) >= 2 and all(color == BLACK for color, _ in stones)
        if handicap and self._client.knows("set_free_handicap"):
            points = " ".join(coords.to_gtp(point, game.size) for _, point in stones)
            self._ask(f"set_free_handicap {points}", deadline)
            return
        for color, point in stones:
            self._ask(f"play {_COLORS[color]} {coords.to_gtp(point, game.size)}", deadline)

    def _follow(self, game: Game, deadline: float) -> None:
        """Lead the program to this position of its game: take back what was not played, then send the rest."""
        moves = game.moves
        known = min(len(self._sent), len(moves))
        same = next((at for at in range(known) if self._sent[at] != moves[at]), known)
        if same < len(self._sent) and not self._undo(len(self._sent) - same, deadline):
            self._ask("clear_board", deadline)
            self._sent = []
            self._set_up(game, deadline)
        for color, point in moves[len(self._sent) :]:
            self._ask(f"play {_COLORS[color]} {coords.to_gtp(point, game.size)}", deadline)
            self._sent.append((color, point))

    def _undo(self, moves: int, deadline: float) -> bool:
        """Take back moves; False where the program does not, or where playing the others again is shorter."""
        if not self._client.knows("undo") or 2 * moves > len(self._sent):
            return False
        try:
            for _ in range(moves):
                self._ask("undo", deadline)
                self._sent.pop()
        except ProgramError as error:
            if error.reason != "refused":
                raise
            return False
        return True

    def _count(self, game: Game, command: str) -> str:
        deadline = time.monotonic() + self._settings.move_seconds
        self._follow(game, deadline)
        return self._ask(command, deadline)

    def _ask(self, command: str, deadline: float) -> str:
        return self._client.ask(command, max(0.0, deadline - time.monotonic()))

    def _point(self, word: str, size: int) -> int:
        try:
            return coords.from_gtp(word, size)
        except TengenError:
            self._client.reject(f"'{word}' is not a move")


def _is_stone(game: Game, point: int) -> bool:
    return point != game.pass_point and game.board[divmod(point, game.size)] in (0, 1)


@dataclass(frozen=True)
class EngineInfo:
    """Winrate (0..1) and score (points) for the side to move, visits of the whole search; None where unknown."""

    winrate: float | None = None
    score: float | None = None
    visits: int | None = None


def read_engine_info(remarks: Sequence[str], move: str) -> EngineInfo:
    """The information in these lines of stderr about `move`, which is written as in GTP."""
    winrate: float | None = None
    visits: int | None = None
    for line in remarks:
        if found := _KATAGO.search(line):
            score = None if found["score"] is None else float(found["score"])
            return EngineInfo(float(found["winrate"]) / 100, score, int(found["visits"]))
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
