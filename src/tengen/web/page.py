"""The page of one tab: it draws the session, handles input, and lets the controller run the engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from nicegui import background_tasks, events, ui

from tengen.engine import SearchResult
from tengen.errors import SgfError, TengenError
from tengen.game import COLOR_NAMES as NAMES
from tengen.web.analysis import AnalysisPanel
from tengen.web.components import BoardElement
from tengen.web.controller import EngineController
from tengen.web.counting import in_words
from tengen.web.dialogs import NewGameDialog, OpenDialog
from tengen.web.engine import EngineThread, PageEngines
from tengen.web.panels import KEYS, HistoryPanel, Navigate, Navigation, PlayerCard, StatusPanel, button
from tengen.web.review import ReviewPanel
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings, Mode

POLL_SECONDS = 0.2


class Page:
    """The contents of one tab. `keep` gets every new session of the tab, so that a reload finds it again."""

    def __init__(
        self, engines: PageEngines, settings: GameSettings, keep: Callable[[GameSession], None], min_seconds: float
    ) -> None:
        self._keep = keep
        self._network = engines.network
        self._thread = EngineThread(engines)
        self._controller = EngineController(
            GameSession(settings), self._thread, self.refresh, self._notify, engines.queue, min_seconds
        )
        self._task: asyncio.Task[None] | None = None
        self._build(settings)
        self.refresh()

    @property
    def session(self) -> GameSession:
        """The game that the tab shows."""
        return self._controller.session

    def adopt(self, session: GameSession) -> None:
        """Replace the game."""
        self._controller.new_session(session)
        self._keep(session)
        self.refresh()

    def wake_up(self) -> None:
        """The browser is connected: start the engine."""
        if self._task is None:
            self._task = background_tasks.create(self._controller.run(), name="tengen controller")

    def rest(self) -> None:
        """The browser has disconnected: stop the search, the review and the clocks until it is back."""
        self._controller.stop_review()
        if self._task is not None:
            self._task.cancel()
            self._task = None
            if self.session.clock:
                self.session.clock.stop(time.monotonic())
        self._thread.stop()

    def close(self) -> None:
        """The tab is closed: release the engine."""
        self.rest()
        self._thread.close()

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
            self._navigation = Navigation(self._navigate)
            self._status = StatusPanel(
                self._pass_turn, self._take_back, self._resign_game, self._toggle_pause, self._accept_count
            )
            with ui.element("div").classes("tg-lower"):
                self._analysis = AnalysisPanel(
                    self._switch_analysis,
                    self._poll,
                    self._review_game,
                    self._show_line,
                    self._choose_move,
                    lambda place: self._navigate(lambda session: session.seek(place)),
                )
                self._review = ReviewPanel(self._go)
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
        """Draw everything again."""
        session = self.session
        hover = NAMES[session.game.to_play].lower() if session.may_click else ""
        self._board.show(session.view(), hover, session.phase is Phase.COUNTING)
        self._status.show(session, self._controller.paused)
        line = session.line
        self._navigation.show(session.node.move_number, line[-1].move_number)
        self._draw_graph()
        self._review.show(session.review)
        self._history.show(session)
        self._poll()

    def _draw_graph(self) -> None:
        session = self.session
        mistakes = [(move.node.depth, move.grade) for move in session.mistakes() if move.node in session.line]
        self._analysis.show_line(session.line_analyses(), session.place, len(session.line) - 1, mistakes)

    def _poll(self) -> None:
        """Draw what changes without input: the clocks and the running search."""
        session = self.session
        if self._task is not None and session.tick(time.monotonic()):
            self._controller.wake()
            self._notify(in_words(session.result))
            self.refresh()
            return
        self._draw_players()
        self._draw_search()

    def _draw_players(self) -> None:
        session, activity = self.session, self._controller.activity
        for color, card in enumerate(self._cards):
            turn = session.phase is Phase.PLAYING and session.game.to_play == color and not session.result
            thinking = turn and activity == "thinking"
            detail = session.details[color]
            if thinking:
                latest = self._thread.latest
                detail = f"thinking · {latest.visits:,} visits" if latest is not None else "thinking"
            card.show(session.names[color], detail, session.game.captures[color], turn, thinking)
            clock = session.clock
            card.show_clock(clock.text(color) if clock else "", clock is not None and clock.seconds(color) < 10)

    def _draw_search(self) -> None:
        shown, controller, panel = self._shown_search(), self._controller, self._analysis
        if shown is not None and controller.activity == "analyzing":
            self.session.add_analysis(self.session.node, shown)
            self._draw_graph()
        elif controller.review_progress is not None:
            self._draw_graph()
        self._board.set(thinking=controller.activity in ("thinking", "counting"))
        self._board.show_search(shown, panel.shows_moves, panel.shows_ownership)
        finished = bool(self.session.result) or self.session.settings.mode is not Mode.PLAY
        graph = controller.analyzing or (finished and bool(self.session.line_analyses()))
        panel.show_review(finished and len(self.session.line) > 1, controller.review_progress is not None)
        panel.show(shown, self.session.game.size, self._caption(shown), controller.analyzing, graph)

    def _caption(self, shown: SearchResult | None) -> str:
        if progress := self._controller.review_progress:
            return f"reviewing: {progress[0]} of {progress[1]} positions"
        return f"{NAMES[shown.to_play]} to play · {shown.visits:,} visits" if shown is not None else ""

    def _shown_search(self) -> SearchResult | None:
        """The search result of the shown position, None while the analysis is off."""
        if not self._controller.analyzing or self.session.game.is_over:
            return None
        latest = self._thread.latest if self._controller.activity in ("thinking", "analyzing") else None
        return latest or self.session.search_result

    def _notify(self, message: str) -> None:
        with self._board:
            ui.notify(message, position="top", timeout=3500)

    @contextmanager
    def _errors_shown(self) -> Iterator[None]:
        """Show an error as a message on the page."""
        try:
            yield
        except TengenError as error:
            self._notify(sentence(str(error)))

    # Input

    def _changed(self) -> None:
        self._controller.wake()
        self.refresh()

    def _navigate(self, move: Navigate) -> None:
        before = self.session.node
        move(self.session)
        if self.session.node is not before:
            self._changed()

    def _go(self, node_id: object) -> None:
        self._navigate(lambda session: session.goto(node_id))

    def _tapped(self, point: object) -> None:
        session = self.session
        if session.phase is not Phase.COUNTING and not session.may_click:
            return  # a tap while the engine thinks needs no message
        try:
            if session.phase is Phase.COUNTING:
                session.toggle_dead(point)
            else:
                session.click(point, time.monotonic())
        except TengenError as error:
            if isinstance(point, int) and 0 <= point < session.game.size**2:
                self._board.refuse(point)
            self._notify(sentence(str(error)))
            return
        self._changed()

    def _choose_move(self, point: object) -> None:
        if self.session.settings.mode is Mode.ANALYZE and isinstance(point, int):
            with self._errors_shown():
                self.session.play(point, time.monotonic())
                self._changed()

    def _show_line(self, points: Sequence[int]) -> None:
        self._board.set(line=list(points))

    def _pass_turn(self) -> None:
        with self._errors_shown():
            if not self.session.may_click:
                return
            self.session.pass_turn(time.monotonic())
            self._changed()

    def _take_back(self) -> None:
        if self.session.take_back():
            self._changed()

    def _resign_game(self) -> None:
        with self._errors_shown():
            self.session.resign()
            self._changed()

    def _accept_count(self) -> None:
        with self._errors_shown():
            self.session.agree()
            self._changed()

    def _toggle_pause(self) -> None:
        self._controller.paused = not self._controller.paused
        self._changed()

    def _switch_analysis(self, on: bool) -> None:
        if on != self._controller.analyzing:  # the page itself turns the switch off after a failure
            self._controller.analyzing = on
            self._changed()

    def _review_game(self) -> None:
        self._controller.review()
        self.refresh()

    def _commented(self, comment: str) -> None:
        self.session.node.comment = comment

    def _toggle_sound(self) -> None:
        on = not self._board.props["sound"]
        self._board.set(sound=on)
        self._sound.set_icon("volume_up" if on else "volume_off")

    def _toggle_coordinates(self) -> None:
        self._board.set(coordinates=not self._board.props["coordinates"])

    async def _toggle_dark(self) -> None:
        dark = await ui.run_javascript('document.body.classList.contains("body--dark")', timeout=10)
        self._dark.set_value(not dark)

    def _start(self, settings: GameSettings) -> None:
        self.adopt(GameSession(settings))

    def _load(self, data: bytes) -> None:
        try:
            session, problems = GameSession.from_record(data)
        except SgfError as error:
            self._notify(sentence(f"the file cannot be opened: {error}"))
            return
        self.adopt(session)
        if problems:
            self._notify(sentence(f"part of the record cannot be shown: {problems[0]}"))

    def _save(self) -> None:
        ui.download.content(self.session.to_sgf(), self.session.file_name, "application/x-go-sgf")

    def _key(self, event: events.KeyEventArguments) -> None:
        if not event.action.keydown or event.modifiers.ctrl or event.modifiers.alt or event.modifiers.meta:
            return
        key = event.key.name
        if key in KEYS:
            self._navigate(KEYS[key])
        elif key == "a":
            self._analysis.toggle()


def sentence(text: str) -> str:
    """A message with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
