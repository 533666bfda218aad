"""The page of one tab: it draws the session, hears the person, and lets the conductor run the engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from nicegui import background_tasks, events, ui

from tengen.engine import SearchResult
from tengen.errors import SgfError, TengenError
from tengen.game import COLOR_NAMES as NAMES
from tengen.web import record
from tengen.web.analysis import AnalysisPanel
from tengen.web.components import BoardElement
from tengen.web.conductor import Conductor
from tengen.web.counting import in_words
from tengen.web.dialogs import NewGameDialog, OpenDialog
from tengen.web.panels import KEYS, HistoryPanel, Navigation, PlayerCard, StatusPanel, Walk, button
from tengen.web.session import Phase, Session
from tengen.web.settings import GameSettings, Mode
from tengen.web.thinker import PageEngines, Thinker

POLL_SECONDS = 0.2


class Page:
    """All that one tab shows. `keep` is told of every session that the tab begins, so that a reload finds it again."""

    def __init__(
        self, engines: PageEngines, settings: GameSettings, keep: Callable[[Session], None], pace: float
    ) -> None:
        self._keep = keep
        self._network = engines.network
        self._thinker = Thinker(engines)
        self._conductor = Conductor(Session(settings), self._thinker, self.refresh, self._tell, pace)
        self._task: asyncio.Task[None] | None = None
        self._build(settings)
        self.refresh()

    @property
    def session(self) -> Session:
        """The game that the tab shows."""
        return self._conductor.session

    def adopt(self, session: Session) -> None:
        """Show another game instead."""
        self._conductor.new_session(session)
        self._keep(session)
        self.refresh()

    def wake_up(self) -> None:
        """The browser is there: let the engine work."""
        if self._task is None:
            self._task = background_tasks.create(self._conductor.run(), name="tengen conductor")

    def rest(self) -> None:
        """The browser has gone, perhaps for good: end the search, and let no clock run until it is back."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
            if self.session.clock:
                self.session.clock.stop(time.monotonic())
        self._thinker.stop()

    def close(self) -> None:
        """The tab is closed: let the engine go."""
        self.rest()
        self._thinker.close()

    # Building

    def _build(self, settings: GameSettings) -> None:
        self._dark = ui.dark_mode(None)
        self._new_game = NewGameDialog(settings, self._network, self._start)
        self._open = OpenDialog(self._load)
        self._build_top()
        with ui.element("div").classes("tg-main") as main:
            with ui.element("div").classes("tg-players"):
                self._cards = (PlayerCard(0), PlayerCard(1))
            with ui.element("div").classes("tg-stage"):
                self._board = BoardElement(self._tapped).props("data-testid=board")
            self._navigation = Navigation(self._look)
            self._status = StatusPanel(
                self._pass_turn, self._undo_move, self._resign_game, self._toggle_pause, self._agree
            )
            with ui.element("div").classes("tg-lower"):
                self._analysis = AnalysisPanel(
                    self._switch_analysis,
                    self._poll,
                    self._review_game,
                    self._show_line,
                    self._choose_move,
                    lambda ply: self._look(lambda session: session.seek(ply)),
                )
                self._history = HistoryPanel(self._go, self._commented)
        main.on("dragenter", self._open.open, args=[], throttle=1.0)
        ui.keyboard(on_key=self._key, ignore=["input", "select", "textarea"])
        ui.timer(POLL_SECONDS, self._poll)

    def _build_top(self) -> None:
        with ui.element("header").classes("tg-top"):
            with ui.element("div").classes("tg-brand"):
                ui.element("div").classes("tg-brand-stone")
                ui.label("Tengen").classes("tg-brand-name")
            button("New game", "add", self._new_game.open, "new-game").classes("tg-word")
            button("Open", "folder_open", self._open.open, "open").classes("tg-word")
            button("Save", "download", self._save, "save").classes("tg-word")
            self._sound = button("", "volume_up", self._toggle_sound, "sound", "Sound of the stones")
            button("", "grid_on", self._toggle_coordinates, "coordinates", "Coordinates")
            button("", "dark_mode", self._toggle_dark, "dark", "Light or dark")

    # Drawing

    def refresh(self) -> None:
        """Draw everything anew from the session."""
        session = self.session
        hover = NAMES[session.game.to_play].lower() if session.may_click else ""
        self._board.show(session.view(), hover, session.phase is Phase.COUNTING)
        self._status.show(session, self._conductor.paused)
        line = session.tree.line(session.node)
        self._navigation.show(session.ply, len(line))
        self._analysis.show_line(session.line_reports(), session.ply, len(line))
        self._history.show(session)
        self._poll()

    def _poll(self) -> None:
        """Draw what changes by itself: clocks, and the running search."""
        session = self.session
        if self._task is not None and session.tick(time.monotonic()):
            self._conductor.wake()
            self._tell(in_words(session.result))
            self.refresh()
            return
        self._draw_players()
        self._draw_search()

    def _draw_players(self) -> None:
        session, doing = self.session, self._conductor.doing
        for color, card in enumerate(self._cards):
            turn = session.phase is Phase.PLAYING and session.game.to_play == color and not session.result
            thinking = turn and doing == "thinking"
            more = session.abouts[color]
            if thinking:
                latest = self._thinker.latest
                more = f"thinking · {latest.visits:,} positions" if latest is not None else "thinking"
            card.show(session.names[color], more, session.game.captures[color], turn, thinking)
            clock = session.clock
            card.show_clock(clock.face(color) if clock else "", clock is not None and clock.seconds(color) < 10)

    def _draw_search(self) -> None:
        shown, conductor, panel = self._shown_search(), self._conductor, self._analysis
        self._board.set(thinking=conductor.doing in ("thinking", "counting"))
        self._board.show_search(shown, panel.shows_moves, panel.shows_owners)
        judged = bool(self.session.result) or self.session.settings.mode is not Mode.PLAY
        graph = conductor.analysing or (judged and bool(self.session.line_reports()))
        panel.show(shown, self.session.game.size, self._told(shown), conductor.analysing, graph)

    def _told(self, shown: SearchResult | None) -> str:
        if left := len(self._conductor.reviewing):
            return f"judging: {left} positions left"
        return f"{NAMES[shown.to_play]} to play · {shown.visits:,} visits" if shown is not None else ""

    def _shown_search(self) -> SearchResult | None:
        """What is known of the shown position, where a person wants to see it."""
        if not self._conductor.analysing or self.session.game.is_over:
            return None
        latest = self._thinker.latest if self._conductor.doing in ("thinking", "analysing") else None
        report = self.session.node.report
        return latest or (report.result if report is not None else None)

    def _tell(self, message: str) -> None:
        with self._board:
            ui.notify(message, position="top", timeout=3500)

    @contextmanager
    def _gently(self) -> Iterator[None]:
        """Tell a person what cannot be done instead of failing."""
        try:
            yield
        except TengenError as error:
            self._tell(sentence(str(error)))

    # Hearing

    def _changed(self) -> None:
        self._conductor.wake()
        self.refresh()

    def _look(self, move: Walk) -> None:
        before = self.session.node
        move(self.session)
        if self.session.node is not before:
            self._changed()

    def _go(self, node_id: object) -> None:
        self._look(lambda session: session.goto(node_id))

    def _tapped(self, point: object) -> None:
        session = self.session
        if session.phase is not Phase.COUNTING and not session.may_click:
            return  # a hasty tap while the engine thinks needs no lecture
        try:
            if session.phase is Phase.COUNTING:
                session.toggle_dead(point)
            else:
                session.click(point, time.monotonic())
        except TengenError as error:
            if isinstance(point, int) and 0 <= point < session.game.size**2:
                self._board.refuse(point)
            self._tell(sentence(str(error)))
            return
        self._changed()

    def _choose_move(self, point: object) -> None:
        if self.session.settings.mode is Mode.ANALYSE and isinstance(point, int):
            with self._gently():
                self.session.play(point, time.monotonic())
                self._changed()

    def _show_line(self, points: Sequence[int]) -> None:
        self._board.set(line=list(points))

    def _pass_turn(self) -> None:
        with self._gently():
            if not self.session.may_click:
                return
            self.session.pass_turn(time.monotonic())
            self._changed()

    def _undo_move(self) -> None:
        if self.session.undo():
            self._changed()

    def _resign_game(self) -> None:
        with self._gently():
            self.session.resign()
            self._changed()

    def _agree(self) -> None:
        with self._gently():
            self.session.agree()
            self._changed()

    def _toggle_pause(self) -> None:
        self._conductor.paused = not self._conductor.paused
        self._changed()

    def _switch_analysis(self, on: bool) -> None:
        if on != self._conductor.analysing:  # the page sets the switch itself where the conductor gave up
            self._conductor.analysing = on
            self._changed()

    def _review_game(self) -> None:
        self._conductor.review()
        self.refresh()

    def _commented(self, note: str) -> None:
        self.session.node.comment = note

    def _toggle_sound(self) -> None:
        on = not self._board.props["sound"]
        self._board.set(sound=on)
        self._sound.set_icon("volume_up" if on else "volume_off")

    def _toggle_coordinates(self) -> None:
        self._board.set(coordinates=not self._board.props["coordinates"])

    async def _toggle_dark(self) -> None:
        dark = await ui.run_javascript('document.body.classList.contains("body--dark")')
        self._dark.set_value(not dark)

    def _start(self, settings: GameSettings) -> None:
        self.adopt(Session(settings))

    def _load(self, data: bytes) -> None:
        try:
            session, problems = record.load(data)
        except SgfError as error:
            self._tell(sentence(f"this file could not be read: {error}"))
            return
        self.adopt(session)
        if problems:
            self._tell(sentence(f"not all of the record could be read: {problems[0]}"))

    def _save(self) -> None:
        ui.download.content(record.save(self.session), "tengen.sgf", "application/x-go-sgf")

    def _key(self, event: events.KeyEventArguments) -> None:
        if not event.action.keydown or event.modifiers.ctrl or event.modifiers.alt or event.modifiers.meta:
            return
        key = event.key.name
        if key in KEYS:
            self._look(KEYS[key])
        elif key == "a":
            self._analysis.toggle()


def sentence(text: str) -> str:
    """A message with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
