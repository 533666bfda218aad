"""The page of one tab: it draws the session, handles input, and lets the controller run the engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from itertools import accumulate

from nicegui import background_tasks, events, ui

from tengen.engine import SearchResult
from tengen.errors import TengenError
from tengen.game import COLOR_NAMES
from tengen.sgf import GameNode
from tengen.web.analyses import search_result
from tengen.web.analysis_dialog import AnalysisDialog
from tengen.web.analysis_panel import AnalysisPanel
from tengen.web.analysis_switch import AnalysisSwitch
from tengen.web.components import BoardElement
from tengen.web.controller import EngineController
from tengen.web.counting import lost_result
from tengen.web.dialog import ask
from tengen.web.editor import Editor
from tengen.web.engine import EngineThread, PageEngines
from tengen.web.files import GameFiles
from tengen.web.game_info_dialog import GameInfoDialog
from tengen.web.language import Language, _, current_language, use
from tengen.web.library import GameLibrary, KeptGame
from tengen.web.new_game_dialog import NewGameDialog
from tengen.web.offers import WIDTH_SCRIPT, RemovalOffer, UnfinishedCard, WelcomeCard
from tengen.web.open_dialog import OpenDialog
from tengen.web.opponents import Opponents
from tengen.web.panels import (
    CommentPanel,
    EditPanel,
    HistoryPanel,
    Navigation,
    PlayerCard,
    StatusPanel,
    button,
    switch_class,
)
from tengen.web.play_on_dialog import PlayOnDialog
from tengen.web.players import PlayerChoice
from tengen.web.preferences import STORED_SCRIPT, Preferences
from tengen.web.preferences_dialog import PreferencesDialog
from tengen.web.review_panel import ReviewPanel
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings, Mode, PageAnalysis
from tengen.web.shortcuts import KEEPS_STILL, Navigate, ShortcutsDialog, shortcut_of
from tengen.web.status_text import notice, spoken
from tengen.web.teaching_panel import TeachingPanel
from tengen.web.view import move_numbers
from tengen.web.words import in_words, sentence, visits_text

POLL_SECONDS = 0.2
SYSTEM_DARK = "String(matchMedia('(prefers-color-scheme: dark)').matches)"
"""Whether the page is dark where nobody has chosen, as an expression of the browser."""


class Page:
    """The contents of one tab. `keep` gets every new session of the tab, so that a reload finds it again.

    `controller` runs the engines for the session, `files` opens and keeps its record. Every change is written to the
    `library`; without one nothing is.
    tab: the id of the browser's tab, empty before it has connected; it stays when the connection is lost.
    is_live: False once the page is closed or another one has taken over its tab.
    """

    def __init__(
        self,
        engines: PageEngines,
        settings: GameSettings,
        keep: Callable[[GameSession], None],
        min_seconds: float,
        library: GameLibrary | None = None,
    ) -> None:
        self.tab = ""
        self.is_live = True
        self._keep = keep
        self.files = GameFiles(
            library,
            session=lambda: self.session,
            adopt=self.adopt,
            notify=self._notify,
            tab=lambda: self.tab,
            is_live=lambda: self.is_live,
        )
        self._engines = engines
        self._editing = False
        self._preferences = Preferences()
        self._opponents = Opponents(engines.network, engines.programs, engines.ladder_network)
        settings = self._opponents.translated(settings)
        self._notice = ""
        self._thread = EngineThread(engines)
        self.controller = EngineController(
            GameSession(settings),
            self._thread,
            engines,
            changed=self.refresh,
            notify=self._notify,
            min_seconds=min_seconds,
        )
        self._switch = AnalysisSwitch(self.controller, hides_review=lambda: self._editing)
        self._task: asyncio.Task[None] | None = None
        self._actions: dict[str, Callable[[], object]] = {
            "analysis": lambda: self._analysis.toggle(),
            "undo": lambda: self._edited(Editor.undo),
            "redo": lambda: self._edited(Editor.redo),
            "board": lambda: self._board.run_method("focus"),
            "variations": self._toggle_variations,
            "info": lambda: self._game_info.open(self.session, self.session.goes_on),
            "shortcuts": lambda: self._shortcuts.open(),
        }
        self._build(settings, library)
        self._show_look()
        self.refresh()

    @property
    def session(self) -> GameSession:
        """The game that the tab shows."""
        return self.controller.session

    def adopt(self, session: GameSession) -> None:
        """Replace the game."""
        self.files.keep(final=True)
        session.settings = self._opponents.translated(session.settings)
        self._editing = False
        self._switch.change_game(session)
        self._removal.close()
        with self._errors_shown():
            session.end_edit()  # of a page that is gone
        self._game_info.close()
        self._offer.hide()
        self._welcome.hide()
        self.controller.new_session(session)
        self._keep(session)
        self.refresh()

    def wake_up(self) -> None:
        """The browser is connected: start the engine."""
        if self._task is None:
            self._task = background_tasks.create(self.controller.run(), name="tengen controller")

    def rest(self) -> None:
        """The browser has disconnected: stop the search and the clocks until it is back. A review goes on."""
        if self._task is not None:
            self.files.keep(final=True)
            self._task.cancel()
            self._task = None
            if self.session.clock:
                self.session.clock.stop(time.monotonic())
        self._thread.stop()

    def close(self) -> None:
        """The tab is closed: release the engine."""
        self.is_live = False
        self.controller.close()
        self.rest()
        self._thread.close()

    @property
    def is_connected(self) -> bool:
        """Whether a browser shows the page."""
        return self._task is not None

    @property
    def _waits_for_game(self) -> bool:
        """Whether a game with the engine is to begin."""
        return self.session.tip.parent is None and self.session.mode is Mode.PLAY

    async def load_preferences(self) -> None:
        """Ask the browser what it remembers, and do as it says."""
        with self._board, suppress(TimeoutError):
            stored = await ui.run_javascript(STORED_SCRIPT, timeout=10)
            self._preferences = known = Preferences.parse(stored)
            self._opponents.kept = known.levels
            self._new_game.remember(known.game)
            self._teaching.remember(*known.teach)
            self.controller.analysis = known.analysis  # what a game that was reloaded has found stays
            self._show_look()
            if known.language not in (None, current_language()):
                ui.run_javascript(known.reload_script())
            if self._waits_for_game:
                width = await ui.run_javascript(WIDTH_SCRIPT, timeout=10)
                # Meanwhile the tab may have been closed, or found its game.
                if width is not None and self._waits_for_game:
                    self._welcome.show(stored is None, float(width), self.session.settings.size)

    def offer(self, game: KeptGame) -> None:
        """Offer to go on with a game that was left."""
        self._offer.show(game)

    # Building

    def _build(self, settings: GameSettings, library: GameLibrary | None) -> None:
        self._dark = ui.dark_mode(None)
        self._build_dialogs(settings, library)
        self._build_top()
        with ui.element("div").classes("tg-main") as self._main:
            with ui.element("div").classes("tg-players"):
                self._cards = (PlayerCard(0), PlayerCard(1))
            with ui.element("div").classes("tg-board-column"):
                with ui.element("div").classes("tg-stage"):
                    self._board = BoardElement(self._tapped).props("data-testid=board")
                    self._notices = ui.element("div").props("role=status data-testid=notice")
                self._navigation = Navigation(self._navigate)
            with ui.element("div").classes("tg-side"):
                self._build_side()
            with ui.element("div").classes("tg-lower"):
                self._build_lower()
        keyboard = ui.keyboard(on_key=self._key, ignore=["input", "select", "textarea"])
        keyboard.on("key", js_handler=KEEPS_STILL)
        self._removal = RemovalOffer(self._undo_removal)
        ui.timer(POLL_SECONDS, lambda: self._poll(paced=True))

    def _build_dialogs(self, settings: GameSettings, library: GameLibrary | None) -> None:
        self._new_game = NewGameDialog(settings, self._engines, self._opponents, self._start)
        self._play_on = PlayOnDialog(self._engines, self._opponents, self._start_play_on)
        self._analysis_dialog = AnalysisDialog(self._engines, self._set_analysis)
        self._game_info = GameInfoDialog(self._describe)
        self._open = OpenDialog(library, on_record=self.files.open, on_kept=self.files.open_kept)
        self._shortcuts = ShortcutsDialog()
        self._preferences_dialog = PreferencesDialog(
            on_language=self._choose_language,
            on_change=self._prefer,
            on_shortcuts=self._shortcuts.open,
        )

    def _build_top(self) -> None:
        with ui.element("header").classes("tg-top"):
            with ui.element("div").classes("tg-brand"):
                ui.element("div").classes("tg-brand-stone")
                ui.label("Tengen").classes("tg-brand-name")
            button(_("New game"), "add", self._new_game.open, "new-game").classes("tg-word")
            button(_("Open"), "folder_open", self._open.open, "open").classes("tg-word")
            saved = _("Save as SGF: moves, variations, comments, marks, result, rules, komi and times; no analysis")
            button(_("Save"), "download", self.files.save, "save", saved).classes("tg-word")
            self._sound = button("", "volume_up", partial(self._toggle, "sound"), "sound", _("Sound of the stones"))
            coordinates = partial(self._toggle, "coordinates")
            self._coordinates = button("", "grid_on", coordinates, "coordinates", _("Coordinates"))
            self._darkness = button("", "dark_mode", self._toggle_dark, "dark", _("Light or dark"))
            button("", "settings", self._preferences_dialog.open, "preferences", _("Preferences"))

    def _build_side(self) -> None:
        """Beside the board: what may be done now."""
        self._tools = EditPanel(
            {
                "turn": lambda: self._edited(Editor.swap_turn),
                "promote": lambda: self._edited(Editor.promote),
                "remove": self._remove_moves,
                "undo": lambda: self._edited(Editor.undo),
                "redo": lambda: self._edited(Editor.redo),
            }
        )
        self._offer = UnfinishedCard(self.files.open_kept)
        self._welcome = WelcomeCard(self._opponents, lambda game: self.adopt(GameSession(game)))
        self._teaching = TeachingPanel(
            self.controller,
            self._thread,
            self._board,
            on_change=self._taught,
            on_line=self._draw_line,
            on_take_back=self._take_back,
            notify=self._notify,
        )
        self._status = StatusPanel(
            {
                "pass": self._pass_turn,
                "take-back": self._take_back,
                "resign": self._resign_game,
                "pause": self._toggle_pause,
                "one-move": self.controller.play_one,
                "cancel-start": self.controller.cancel_starts,
                "accept": self._accept_count,
                "review": self._review_game,
                "rematch": self._rematch,
                "save": self.files.save,
                "analyze": self._analyze_game,
                "play-on": self._ask_play_on,
                "return": lambda: self._go(self.session.tip.id),
                "games": self.files.choose,
            }
        )

    def _build_lower(self) -> None:
        """Below what may be done now: the comment, where it is seen without scrolling, the analysis, the review and the
        moves."""
        self._comment = CommentPanel(self._commented)
        self._analysis = AnalysisPanel(
            on_switch=self._switch_analysis,
            on_settings=lambda: self._analysis_dialog.open(self.controller.analysis, self.session.settings.size),
            on_options=self._poll,
            on_review=self._review_game,
            on_line=self._draw_line,
            on_choose=self._choose_move,
            on_seek=lambda place: self._navigate(lambda session: session.seek(place)),
            on_release=self._board.reveal,
        )
        self._review = ReviewPanel(self._go)
        self._teaching.build()
        self._history = HistoryPanel(on_go=self._go, on_edit=self._toggle_edit, on_info=self._actions["info"])

    # Drawing

    def refresh(self) -> None:
        """Draw everything again."""
        session = self.session
        self._switch.follow()
        hover = COLOR_NAMES[session.game.to_play].lower() if session.may_click and not self._editing else ""
        self._board.show(session.view(), hover, session.phase is Phase.COUNTING, spoken(session))
        self._draw_numbers()
        self._status.show(session, self.controller.paused, self.controller.failure)
        line = session.line
        self._navigation.show(session.node.move_number, line[-1].move_number, bool(session.analyses.mistakes()))
        self._draw_graph(line)
        self._review.show(session.analyses.review, self.controller.review_progress is not None)
        self._comment.show(session)
        self._history.show(session, self._editing)
        self._tools.show(session, self._editing)
        self._teaching.show()
        self._show_notice(self._teaching.notice or notice(session))
        if session.tip.parent is not None:
            self._offer.hide()
            self._welcome.hide()
        if following := self._opponents.count(session):
            self._preferences.levels = self._opponents.kept
            self._remember()
            self._notify(following)
        self._poll()

    def _show_notice(self, text: str) -> None:
        """Show a text over the board for some seconds, when it changes."""
        if text != self._notice:
            self._notice = text
            self._notices.clear()
            if text:
                with self._notices:
                    ui.label(text).classes("tg-notice")

    def _draw_numbers(self) -> None:
        session = self.session
        self._board.set(numbers=move_numbers(session.game, session.node, self._preferences.numbers))

    def _draw_graph(self, line: Sequence[GameNode]) -> None:
        """Draw what is known of the shown line."""
        session, places = self.session, {node: place for place, node in enumerate(line)}
        mistakes = [(places[move.node], move.grade) for move in session.analyses.mistakes() if move.node in places]
        numbers = list(accumulate(int(node.move is not None) for node in line))
        analyses, times = session.line_analyses(line), session.line_times(line)
        self._analysis.graph.show(analyses, session.place, numbers, mistakes, times)

    def _poll(self, paced: bool = False) -> None:
        """Draw what changes without input: the clocks and the running search.

        With `paced` only where the browser has drawn the last of it. Otherwise drawings queue up in a browser that is
        slower than the search, and its answer to a click comes after them.
        """
        session = self.session
        self.files.keep()
        connected = self._task is not None  # a page that was left shares its game with the one that was loaded since
        if connected and self.controller.holds_clock:
            if session.clock:
                session.clock.stop(time.monotonic())
        elif connected and self._ended_on_time():
            return
        if not paced or self._board.is_drawn:
            self._draw_players()
            self._draw_search()
            if paced and (self.controller.activity or self.controller.review_progress is not None):
                self._board.ask_drawn()

    def _ended_on_time(self) -> bool:
        """End the game where the time of the side to move has run out; whether it has."""
        session = self.session
        if not session.tick(time.monotonic()):
            return False
        self.controller.wake()
        self._notify(in_words(session.result))
        self.refresh()
        return True

    def _draw_players(self) -> None:
        session, activity, starts = self.session, self.controller.activity, False
        for color, card in enumerate(self._cards):
            turn = session.phase is Phase.PLAYING and session.game.to_play == color
            thinking = turn and activity == "thinking"
            doing = ""
            if thinking:
                latest = self._thread.latest
                doing = _("thinking")
                if latest is not None:
                    doing += " · " + visits_text(latest.visits)
            if (waited := self.controller.programs.start_seconds(color)) is not None:
                doing = _("starting, no answer for {n} s", n=int(waited))
                starts = True
            name, detail, captures = session.names[color], session.details[color], session.game.captures[color]
            card.show(name, detail, doing, captures, turn, thinking)
            clock = session.clock
            card.show_clock(clock.text(color) if clock else "", clock is not None and clock.seconds(color) < 10)
        self._status.show_start(starts)

    def _draw_search(self) -> None:
        shown, controller, panel = self._shown_search(), self.controller, self._analysis
        analyzed = controller.activity == "analyzing" and controller.analyzed is self.session.node
        if shown is not None and analyzed:
            self.session.analyses.add(self.session.node, shown, controller.search_key)
            self._draw_graph(self.session.line)
        elif controller.review_progress is not None:
            self._draw_graph(self.session.line)
        self._board.set(thinking=controller.activity in ("thinking", "counting"))
        self._board.show_search(shown, panel.shows_moves, panel.shows_ownership)
        finished = self.session.mode is not Mode.PLAY
        graph = controller.analyzing or (finished and panel.graph.has_data)
        reviewing, node = controller.review_progress is not None, self.session.node
        panel.show_review(finished and (node.parent is not None or bool(node.variations)), reviewing)
        self._status.show_review(reviewing)
        position, game = node.position_key, self.session.game
        panel.show(shown, position, game, self._caption(shown), self._switch.is_on, graph)
        self._draw_line()

    def _draw_line(self) -> None:
        """Draw the variation of the pointed move in the list, else the refutation that is asked for."""
        self._board.set(line=list(self._analysis.line or self._teaching.line))

    def _caption(self, shown: SearchResult | None) -> str:
        if progress := self.controller.review_progress:
            return f"{progress[0]} / {progress[1]}"
        return visits_text(shown.visits) if shown is not None else ""

    def _shown_search(self) -> SearchResult | None:
        """The search result of the shown position, None while the analysis is off."""
        if not self._switch.is_on or self.session.game.is_over:
            return None
        latest = self._thread.latest if self.controller.activity in ("thinking", "analyzing") else None
        return latest or search_result(self.session.node)

    def _notify(self, message: str) -> None:
        with self._board:
            timeout = max(3500, 70 * len(message))
            ui.notify(sentence(message), position="top", timeout=timeout, multi_line=len(message) > 80)

    @contextmanager
    def _errors_shown(self) -> Iterator[None]:
        """Show an error as a message on the page."""
        try:
            yield
        except TengenError as error:
            self._notify(str(error))

    # Input

    def _changed(self) -> None:
        self.controller.wake()
        self.refresh()

    def _navigate(self, move: Navigate) -> None:
        before = self.session.node
        with self._errors_shown():
            move(self.session)
        if self.session.node is not before:
            self._changed()

    def _go(self, node_id: object) -> None:
        self._navigate(lambda session: session.goto(node_id))
        self._board.reveal()

    def _tapped(self, point: object) -> None:
        session = self.session
        if self._editing:
            self._edited(lambda editor: editor.apply(self._tools.tool, point))
            return
        if not (session.counted if session.phase is Phase.COUNTING else session.may_click):
            return  # a tap while the engine thinks or counts needs no message
        if self._ended_on_time():
            return
        try:
            if session.phase is Phase.COUNTING:
                session.toggle_dead(point)
            else:
                session.click(point, time.monotonic())
        except TengenError as error:
            if isinstance(point, int) and 0 <= point < session.game.size**2:
                self._board.refuse(point)
            self._notify(str(error))
            return
        self._changed()

    def _choose_move(self, point: object) -> None:
        if self.session.mode is Mode.ANALYZE and isinstance(point, int):
            with self._errors_shown():
                self.session.play(point, time.monotonic())
                self._changed()

    def _pass_turn(self) -> None:
        with self._errors_shown():
            if not self.session.may_click or self._ended_on_time():
                return
            self.session.pass_turn(time.monotonic())
            self._changed()

    def _take_back(self) -> None:
        if self.session.take_back():
            self._removal.close()
            if self._editing and self.session.live:
                self.session.begin_edit()  # a game that has ended goes on after the editor
            self._changed()

    async def _resign_game(self) -> None:
        session = self.session
        note = in_words(lost_result(session.settings.human, "R"))
        choices = {"stay": _("Go on playing"), "resign": _("Resign")}
        answer = await ask(_("Resign this game?"), note, choices, "ask-resign")
        if answer == "resign" and self.session is session:
            with self._errors_shown():
                session.resign()
                self._changed()

    def _accept_count(self) -> None:
        with self._errors_shown():
            self.session.agree()
            self._changed()

    def _toggle_pause(self) -> None:
        self.controller.paused = not self.controller.paused
        self._changed()

    def _switch_analysis(self, on: bool) -> None:
        if on != self._switch.is_on:  # the page itself turns the switch, for a review or after a failure
            self._switch.turn(on)
            self._changed()

    def _set_analysis(self, settings: PageAnalysis) -> None:
        if settings.network != self.controller.analysis.network:
            self._switch.stay_on()
        self.controller.set_analysis(settings)
        self._preferences.analysis = settings
        self._remember()
        self.refresh()

    def _review_game(self) -> None:
        self.controller.review()
        self.refresh()

    def _commented(self, node: GameNode, comment: str) -> None:
        self._removal.close()
        was_empty = not node.comment
        Editor(self.session).comment(comment, node)
        if was_empty or not comment:  # the tree marks the nodes that have one
            self._history.show(self.session, self._editing)

    def _describe(self, texts: dict[str, str], rules: str, komi: float) -> None:
        self._removal.close()
        Editor(self.session).describe(texts, rules, komi)
        self._changed()

    # Playing, analyzing and editing one game

    def _analyze_game(self) -> None:
        self.session.analyze()
        self._switch.turn(True)
        self.controller.paused = False
        self._changed()

    def _ask_play_on(self) -> None:
        settings = self.session.settings
        color = settings.human if settings.mode is Mode.PLAY else self.session.game.to_play
        self._play_on.open(color, settings)

    def _start_play_on(self, players: tuple[PlayerChoice, PlayerChoice]) -> None:
        with self._errors_shown():
            self.session.play_on(players)
            self._switch.turn(False)
            self.controller.paused = self._editing = False
            self._changed()

    def _rematch(self) -> None:
        self.adopt(GameSession(self._opponents.again(self.session.settings)))

    def _toggle_edit(self) -> None:
        self._editing = not self._editing
        if self._editing:
            self.session.begin_edit()
        else:
            self._end_edit()
        self._changed()

    def _end_edit(self) -> None:
        with self._errors_shown():
            self.session.end_edit()

    def _edited(self, edit: Callable[[Editor], None]) -> None:
        self._removal.close()
        with self._errors_shown():
            edit(Editor(self.session))
            self._changed()

    def _remove_moves(self) -> None:
        """Remove the shown move with all that follow, and offer to undo it."""
        node, tree = self.session.node, self.session.tree
        moves = sum(one.move is not None for one in tree.walk(node))
        self._edited(Editor.remove)
        if node in tree:
            return
        with self._board:
            self._removal.open(moves)

    def _undo_removal(self) -> None:
        self._edited(Editor.undo)
        if not self._editing:  # it was left meanwhile
            self._end_edit()
            self._changed()

    # What the browser remembers

    def _show_look(self) -> None:
        """Show the page as it is preferred."""
        known = self._preferences
        self._dark.set_value(known.dark)
        self._board.set(sound=known.sound, coordinates=known.coordinates, confirm=known.confirm)
        self._board.set(variations=known.variations)
        switch_class(self._main, "tg-no-variations", not known.variations)
        self._draw_numbers()
        self._preferences_dialog.remember(known)
        self._sound.set_icon("volume_up" if known.sound else "volume_off")
        self._sound.props["aria-pressed"] = str(known.sound).lower()
        self._coordinates.props["aria-pressed"] = str(known.coordinates).lower()
        self._darkness.props[":aria-pressed"] = SYSTEM_DARK if known.dark is None else f"'{str(known.dark).lower()}'"

    def _prefer(self, **changes: object) -> None:
        """Change preferences, and show and store them where they differ: what is shown changes the dialog, which then
        reports its choices again."""
        changes = {name: value for name, value in changes.items() if value != getattr(self._preferences, name)}
        for name, value in changes.items():
            setattr(self._preferences, name, value)
        if changes:
            self._show_look()
            self._remember()

    def _toggle(self, name: str) -> None:
        """Change a preference that is on or off."""
        self._prefer(**{name: not getattr(self._preferences, name)})

    async def _toggle_dark(self) -> None:
        dark = await ui.run_javascript('document.body.classList.contains("body--dark")', timeout=10)
        self._prefer(dark=not dark)

    def _toggle_variations(self) -> None:
        """Show or hide them by the key, and say so: not every position has any."""
        self._toggle("variations")
        self._notify(_("Variations are shown") if self._preferences.variations else _("Variations are hidden"))

    def _choose_language(self, chosen: Language) -> None:
        self._preferences.language = chosen
        use(chosen)
        if self.session.untouched and self.session.live:  # its record names the players
            self.adopt(GameSession(self._opponents.translated(self.session.settings)))
        with self._board:
            ui.run_javascript(self._preferences.reload_script())

    def _taught(self) -> None:
        teacher = self.controller.teacher
        if self._preferences.teach != (teacher.on, teacher.threshold):
            self._preferences.teach = teacher.on, teacher.threshold
            self._remember()
        self._changed()

    def _remember(self) -> None:
        with self._board:
            ui.run_javascript(self._preferences.script())

    # Other games

    async def _start(self, settings: GameSettings) -> None:
        if await self.files.may_replace():
            self._preferences.game = asdict(self._new_game.form)
            self._remember()
            self.adopt(GameSession(settings))

    async def open_record(self, data: bytes) -> None:
        """Show a record that the page did not ask for itself."""
        with self._main:
            await self.files.open(data)

    def _key(self, event: events.KeyEventArguments) -> None:
        row = shortcut_of(event)
        if row is None or (row.does in ("undo", "redo") and not self._editing):
            return
        if isinstance(row.does, str):
            self._actions[row.does]()
        else:
            self._navigate(row.does)
