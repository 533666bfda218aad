"""The state of a GTP session between commands: the game, its clocks, the engine and the input."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Protocol

from tengen.engine.clock import Clock, TimeControl
from tengen.engine.count import Way
from tengen.engine.katago_params import NO_COUNT, NO_SECONDS, advantage_overrides
from tengen.engine.katago_settings import KATAGO_SETTINGS, KatagoSettings
from tengen.engine.levels import Level, level
from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams
from tengen.engine.positions import goes_on, resumed, with_turn
from tengen.engine.result import Count, SearchResult
from tengen.engine.search import PV_LENGTH, MoveRestriction
from tengen.engine.style import Style
from tengen.errors import GtpError, NetworkError
from tengen.evaluators.evaluation import Floats
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.human import HumanNetwork
from tengen.game import BLACK, WHITE, Game
from tengen.gtp.streams import InputQueue

Emit = Callable[[str], None]


class GtpEngine(Protocol):
    """The part of `tengen.engine.Engine` that GTP uses."""

    evaluator: Evaluator
    params: SearchParams
    style: Style

    @property
    def asked_params(self) -> SearchParams: ...

    def params_on(self, size: int, asked: SearchParams | None = None) -> SearchParams: ...

    def advice_on(self, size: int) -> Mapping[str, Any]: ...

    def name_on(self, size: int) -> str: ...

    def warm_up(self, size: int) -> None: ...

    def forget(self) -> None: ...

    def set_position(
        self, game: Game, *, restrictions: Sequence[MoveRestriction] = (), overrides: Mapping[str, Any] = ...
    ) -> None: ...

    def ownership_below(self, point: int | None = None) -> tuple[Floats, Floats] | None: ...

    def think(
        self,
        limits: Limits | None = None,
        on_progress: Callable[[SearchResult], None] | None = None,
        *,
        until: Callable[[], bool] | None = None,
        every: float = 0.25,
        cleanup: bool = False,
        decide: bool = True,
        pv_length: int = PV_LENGTH,
    ) -> SearchResult: ...

    def ponder(self, *, limits: Limits) -> None: ...

    def stop(self) -> None: ...

    def count(self, game: Game, by: Way = "both") -> Count: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Stream:
    """An answer in several parts: `run` gets a function that prints a line, and returns the last line or nothing."""

    run: Callable[[Emit], str]


@dataclass(frozen=True)
class GtpOptions:
    """What a session knows from the start: options of the command line, and what the server adds of its engine.

    name: what the program answers to `name`. answer_version: what the program answers to `version` if it is not to be
    the usual answer. limits: of every move; the only field that changes later. ponder: whether to search in the
    opponent's time. level: the opponent of the ladder (`engine.levels`) that the engine plays like, on boards of every
    size; None plays by the other settings. force_komi: whether the komi of the start stays, whatever is asked for.

    The server adds net: the network by the name that the user gave; batch: positions in one batch of it, by default as
    many as suit the device; default_visits: of a move that nothing else limits.
    """

    name: str = "Tengen"
    answer_version: str | None = None
    limits: Limits = field(default_factory=Limits)
    ponder: bool = False
    level: int | None = None
    force_komi: bool = False
    net: str = ""
    batch: int | None = None
    default_visits: int | None = 400


@dataclass(frozen=True, kw_only=True)
class SessionSettings(KatagoSettings):
    """Settings of a session that can be changed at any time, as KataGo's: SESSION_SETTINGS has their names.

    `ponder` searches in the opponent's time, to `ponder_visits`, `ponder_playouts` or `ponder_seconds`; KataGo's
    largest values are no limit. `wide_root_noise` is that of an analysis by KataGo's search;
    `ignore_history` hides the moves before a position from it, and with `conservative_pass` a pass there does not end
    the game. `chat` prints a line about each move for a chat of the game, such as that of OGS.
    """

    pv_length: int = PV_LENGTH - 1
    ponder: bool = False
    ponder_visits: int = NO_COUNT
    ponder_playouts: int = NO_COUNT
    ponder_seconds: float = NO_SECONDS
    wide_root_noise: float = 0.04
    ignore_history: bool = False
    conservative_pass: bool = True
    chat: bool = False

    @property
    def ponder_limits(self) -> Limits:
        return Limits(
            visits=None if self.ponder_visits == NO_COUNT else self.ponder_visits,
            playouts=None if self.ponder_playouts == NO_COUNT else self.ponder_playouts,
            seconds=None if self.ponder_seconds == NO_SECONDS else self.ponder_seconds,
        )


SESSION_SETTINGS = {
    **KATAGO_SETTINGS,
    "ponderingEnabled": "ponder",
    "maxVisitsPondering": "ponder_visits",
    "maxPlayoutsPondering": "ponder_playouts",
    "maxTimePondering": "ponder_seconds",
    "analysisWideRootNoise": "wide_root_noise",
    "analysisIgnorePreRootHistory": "ignore_history",
    "conservativePass": "conservative_pass",
    "ogsChatToStderr": "chat",
}
"""The field of SessionSettings for KataGo's name."""


@dataclass
class GtpSession:
    """The state that commands read and change. A command checks all its input before it changes anything."""

    engine: GtpEngine
    game: Game
    lines: InputQueue = field(default_factory=InputQueue)
    options: GtpOptions = field(default_factory=GtpOptions)
    now: Callable[[], float] = time.monotonic
    control: TimeControl | None = None
    clocks: dict[int, Clock] = field(default_factory=dict)
    finished: bool = False
    ponder_next: bool = False
    pondered: Game | None = None
    """The game at which the engine ponders, or did until its last search."""
    played_level: Level | None = None
    """The level of `options` on boards of the size that was set last."""
    searched: tuple[int, int] | None = None
    """Color and move number of the last search whose move was not played."""
    warm_size: int | None = None
    """The board size for which the engine was warmed up last."""
    human: HumanNetwork | None = None
    on_size: Callable[[int], object] = lambda size: None
    """Called with the board size of each game."""
    settings: SessionSettings = field(init=False)
    _set_at: dict[int, float] = field(default_factory=dict, init=False)
    """When `set_clock` set the clock of a color in this game, which had paid for the time before."""
    _searched_at: float = field(default=-math.inf, init=False)
    """When the last search of a move ended."""

    def __post_init__(self) -> None:
        self.settings = SessionSettings(ponder=self.options.ponder)
        self._begin()

    def set_time(self, control: TimeControl | None) -> None:
        """Start both clocks; None for no time limit."""
        self.control = control
        self.clocks = {} if control is None else {BLACK: control.start(), WHITE: control.start()}
        self._set_at = {}
        self._warm_up()

    def set_clock(self, color: int, clock: Clock) -> None:
        """Set the clock of one color, which has run since the line that says so came."""
        self.clocks[color] = clock
        self._warm_up()
        self.clocks[color] = clock.running(self._waited())
        self._set_at[color] = self.now()

    def _waited(self) -> float:
        """Seconds that the command in progress has waited, for the network to be compiled or an analysis to end. What
        it waits for a move is not counted: a script comes as a whole, and its clocks run one after the other."""
        return max(0.0, self.now() - max(self.lines.arrived, self._searched_at))

    def _warm_up(self) -> None:
        """Compile the network for boards of this size if a clock is set, so that no search pays for it."""
        if not self.clocks or self.warm_size == self.game.size:
            return
        with suppress(NetworkError):  # of a size that the network does not know: the search says so
            self.engine.warm_up(self.game.size)
        self.warm_size = self.game.size

    def new_game(self, game: Game) -> None:
        """Replace the game and start the clocks again."""
        self.game = game
        self.set_time(self.control)
        self._begin()

    def _begin(self) -> None:
        """Tell the board size, and take style and visits of the level on it, but where a setting has changed them."""
        self.on_size(self.game.size)
        if self.options.level is None:
            return
        last, found = self.played_level, level(self.game.size, self.options.level)
        style, visits = (Style(), None) if last is None else (last.style, last.visits)
        now = {each.name: getattr(self.engine.style, each.name) for each in fields(Style)}
        kept = {name: value for name, value in now.items() if value != getattr(style, name)}
        self.engine.style = replace(found.style, **kept)
        if self.options.limits.visits == visits:
            self.options = replace(self.options, limits=replace(self.options.limits, visits=found.visits))
        self.played_level = found

    def limits_for(self, color: int) -> Limits:
        """The limits of a move of this color: those of the command line, and its clock."""
        clock = self.clocks.get(color)
        limits = replace(self.options.limits, clock=clock).for_move()
        bounded = any(bound is not None for bound in (limits.visits, limits.playouts, limits.seconds, clock))
        return limits if bounded else replace(limits, visits=self.options.default_visits)

    def overrides(self, color: int, analyzed: Game | None = None) -> dict[str, Any]:
        """Settings of the search for a position in which this color moves; `analyzed` is that of an analysis.

        KataGo's search is wider in an analysis. Its doubling advantage belongs to one color if that was named.
        """
        params = self.engine.params_on(self.game.size)
        found: dict[str, Any] = {}
        if analyzed is not None and self.settings.ignore_history:
            found["hide_history"] = True
        # Only where it matters: elsewhere an analysis and the moves of the engine share their tree.
        if analyzed is not None and self.settings.conservative_pass and analyzed.native().pass_ends:
            found["conservative_pass"] = True
        if analyzed is not None and params.selection == "puct-katago":
            found["wide_root_noise"] = self.settings.wide_root_noise
        return found | advantage_overrides(params, self.settings.advantage_owner, color)

    def search(
        self,
        color: int,
        on_progress: Callable[[SearchResult], None] | None = None,
        *,
        every: float = 0.25,
        cleanup: bool = False,
        restrictions: Sequence[MoveRestriction] = (),
        overrides: Mapping[str, Any] = MappingProxyType({}),
        until: Callable[[], bool] | None = None,
    ) -> SearchResult:
        """Search a move of this color within its limits, or until `until()` (`stop`), and charge its clock."""
        started = self.now()
        if color in self.clocks:
            waited = min(self._waited(), started - self._set_at.get(color, -math.inf))
            running = self.clocks[color].running(waited)
            # A clock that nobody tells would never recover from a wait that uses it up.
            if color in self._set_at or not running.flagged:
                self.clocks[color] = running
        self.lines.search_begins()
        self.set_position(color, restrictions=restrictions, overrides=overrides)
        until = until or self.lines.stop_requested
        result = self.engine.think(
            self.limits_for(color),
            on_progress,
            until=until,
            every=every,
            cleanup=cleanup,
            pv_length=self.settings.pv_moves,
        )
        self._searched_at = self.now()
        if color in self.clocks:
            self.clocks[color] = self.clocks[color].spend(self._searched_at - started)
        return result

    def set_position(
        self,
        color: int,
        game: Game | None = None,
        *,
        restrictions: Sequence[MoveRestriction] = (),
        overrides: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Make the engine search the game for this color from now on, or, as an analysis, another `game` of this color.

        Raises GtpError for settings that its search cannot have.
        """
        wanted = {**self.overrides(color, game), **overrides}
        if game is None:
            game = with_turn(self.game, color)
            restrictions = (*restrictions, *self._bans(color, game))
        try:
            self.engine.set_position(game, restrictions=restrictions, overrides=wanted)
        except NetworkError:
            raise
        except ValueError as error:
            raise GtpError(f"the search cannot do this: {error}") from error

    def _bans(self, color: int, position: Game) -> Sequence[MoveRestriction]:
        """What superko forbids in the game and not in the position searched for it, which may have no history."""
        if position is self.game and not position.is_over:
            return ()
        searched = resumed(position) if position.is_over else position
        banned = set(searched.legal_points()) - set(self.game.legal_points(color))
        return (MoveRestriction(color, sorted(banned)),) if banned else ()

    def after_command(self) -> None:
        """Ponder if the command made a move and no input is waiting. Pondering ends when the game does not go on."""
        enabled = self.settings.ponder and not self.game.is_over
        if self.ponder_next and enabled and not self.finished and not self.lines.pending():
            self.engine.set_position(self.game, overrides=self.overrides(self.game.to_play))
            self.engine.ponder(limits=self.settings.ponder_limits)
            self.pondered = self.game.copy()
        elif self.pondered is not None and not (enabled and goes_on(self.pondered, self.game)):
            self.engine.stop()
            self.pondered = None
        self.ponder_next = False
