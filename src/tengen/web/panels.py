"""The smaller parts of the page: the players, the navigation, the status with its buttons, and the moves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from unicodedata import east_asian_width

from nicegui import events, ui

from tengen.game import COLOR_NAMES
from tengen.sgf import GameNode
from tengen.web.annotations import remarks
from tengen.web.components import EventHandler, TreeElement
from tengen.web.editor import Tool
from tengen.web.language import N_, _
from tengen.web.session import GameSession, Phase
from tengen.web.settings import Mode
from tengen.web.shortcuts import KEYS, Navigate
from tengen.web.status_text import count, hint, status
from tengen.web.tree_layout import TreeCell, tree_layout

Action = Callable[[], object]
MAX_COMMENT = 100_000  # characters; a longer comment is shown and kept, but not edited
SCROLL_UP = "getHtmlElement({id})?.scrollTo(0, 0)"
MAX_UNBROKEN = 12
"""Characters up to which a part of a player's description stays on one line, since a narrow card would cut longer ones.
Those of East Asian scripts count twice."""

# The name and icon of each navigation button, and its key.
NAVIGATION = (
    ("first", "first_page", "Home"),
    ("back-ten", "keyboard_double_arrow_left", "PageUp"),
    ("back", "chevron_left", "ArrowLeft"),
    ("forward", "chevron_right", "ArrowRight"),
    ("forward-ten", "keyboard_double_arrow_right", "PageDown"),
    ("last", "last_page", "End"),
)
# The same for the buttons that a review adds, before and after the others.
MISTAKES = (("previous-mistake", "arrow_circle_left", "Shift+m"), ("next-mistake", "arrow_circle_right", "m"))
# The icon, the name and the caption of each tool of the editor; stones are drawn, in colors that darkness does not
# change. The caption is a part of the name, so that it can be spoken to choose the tool.
TOOLS: dict[Tool, tuple[str, str, str]] = {
    Tool.BLACK: ("", N_("Black stone"), N_("Black")),
    Tool.WHITE: ("", N_("White stone"), N_("White")),
    Tool.TRIANGLE: ("change_history", N_("Triangle"), N_("Triangle")),
    Tool.SQUARE: ("crop_square", N_("Square"), N_("Square")),
    Tool.CIRCLE: ("adjust", N_("Circle"), N_("Circle")),
    Tool.CROSS: ("close", N_("Cross"), N_("Cross")),
    Tool.LETTER: ("sort_by_alpha", N_("Letters"), N_("Letters")),
    Tool.NUMBER: ("pin", N_("Numbers"), N_("Numbers")),
}


class PlayerCard:
    """A player: name, captures and clock; highlighted when it is the player's turn."""

    def __init__(self, color: int) -> None:
        name, other = COLOR_NAMES[color].lower(), COLOR_NAMES[1 - color].lower()
        with ui.element("div").classes("tg-player").props(f"data-testid=player-{name}") as self._card:
            ui.element("div").classes(f"tg-chip tg-chip-{name}")
            ui.label(_(COLOR_NAMES[color])).classes("tg-said")
            with ui.element("div").classes("tg-player-text"):
                self._name = ui.label().classes("tg-player-name")
                with ui.element("div").classes("tg-player-more"):  # in one place, as high as the higher of them
                    self._detail = ui.element("div").classes("tg-parts")
                    self._activity = ui.element("div").classes("tg-parts tg-activity")
            with ui.element("div").classes("tg-captures"):
                ui.element("div").classes(f"tg-chip tg-chip-{other}")
                ui.label(_("Captures")).classes("tg-said")
                self._captures = ui.label()
            self._clock = ui.label().classes("tg-clock")

    def show(self, name: str, detail: str, activity: str, captures: int, turn: bool, thinking: bool) -> None:
        """Show the name, a line below it, the captures, and whether the player is to move or the engine thinks.

        A text in `activity` is shown instead of `detail`, in the same space, so that the page does not move.
        """
        self._name.set_text(name)
        _show_parts(self._detail, detail)
        _show_parts(self._activity, activity)
        self._captures.set_text(str(captures))
        switch_class(self._card, "tg-turn", turn)
        switch_class(self._card, "tg-player-thinking", thinking)

    def show_clock(self, face: str, low: bool) -> None:
        """Show the clock, hidden for an empty text; `low` when time is short."""
        self._clock.set_text(face)
        self._clock.set_visibility(bool(face))
        switch_class(self._clock, "tg-clock-low", low)


def _show_parts(line: ui.element, text: str) -> None:
    """Show a text in its parts, which dots divide; the style draws no dot where the line breaks."""
    parts = text.split(" \u00b7 ") if text else []
    if len(parts) != len(list(line)):
        line.clear()
        with line:
            for _part in parts:
                ui.label()
    for label, part in zip(line, parts, strict=True):
        assert isinstance(label, ui.label)
        label.set_text(part.replace(" ", "\u00a0") if _width(part) <= MAX_UNBROKEN else part)


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "FW" else 1 for letter in text)


class Navigation:
    """The navigation buttons and the number of the shown move; after a review buttons that go to the mistakes."""

    def __init__(self, on_navigate: Callable[[Navigate], None]) -> None:
        with ui.element("nav").classes("tg-nav") as nav:
            nav.props["aria-label"] = _("Moves of the game")
            buttons = [MISTAKES[0], *NAVIGATION, MISTAKES[1]]
            self._mistakes: list[ui.button] = []
            for index, (name, icon, key) in enumerate(buttons):
                if index == len(buttons) // 2:
                    self._where = ui.label().classes("tg-nav-where").props("data-testid=where")
                row = KEYS[key]
                assert callable(row.does)
                made = button("", icon, partial(on_navigate, row.does), name, row.tip)
                switch_class(made, "tg-ten", key.startswith("Page"))  # left out where the page is very narrow
                if (name, icon, key) in MISTAKES:
                    self._mistakes.append(made.classes("tg-to-mistake"))

    def show(self, move: int, moves: int, mistakes: bool) -> None:
        """Show the number of the move and of all moves of the line, and whether there are mistakes to go to."""
        self._where.set_text(_("move {move} / {moves}", move=move, moves=moves))
        for made in self._mistakes:
            made.set_visibility(mistakes)


class StatusPanel:
    """Whose turn it is or how the game ended, and the buttons that apply: `actions` by their names in the page."""

    def __init__(self, actions: Mapping[str, Action]) -> None:
        with ui.element("div").classes("tg-status tg-card"):
            self._status = ui.label().classes("tg-line-status").props("role=status data-testid=status")
            self._count = ui.label().classes("tg-note tg-lines").props("data-testid=count")
            self._hint = ui.label().classes("tg-note").props("data-testid=hint")
            with ui.element("div").classes("tg-actions") as self._playing:
                self._pass = button(_("Pass"), "block", actions["pass"], "pass")
                self._take_back = button(_("Take back"), "undo", actions["take-back"], "take-back")
                self._resign = button(_("Resign"), "flag", actions["resign"], "resign")
                self._pause = button(_("Pause"), "pause", actions["pause"], "pause")
                self._one_move = button(_("One move"), "skip_next", actions["one-move"], "one-move")
                self._cancel = button(_("Cancel"), "close", actions["cancel-start"], "cancel-start")
            with ui.element("div").classes("tg-actions") as self._counting:
                self._agree = button(_("Accept"), "done", actions["accept"], "accept").classes("tg-primary")
                self._continue = button(_("Continue"), "undo", actions["take-back"], "continue")
            with ui.element("div").classes("tg-actions tg-two") as self._over:
                self._review = button(_("Review game"), "insights", actions["review"], "review-end")
                self._review.classes("tg-primary")
                self._rematch = button(_("Rematch"), "replay", actions["rematch"], "rematch")
                button(_("Save"), "download", actions["save"], "save-end")
                self._undo_end = button(_("Take back"), "undo", actions["take-back"], "take-back-end")
            with ui.element("div").classes("tg-actions tg-minor"):
                self._analyze = button(_("Analyze this game"), "search", actions["analyze"], "analyze-game")
                self._play_on = button(_("Play on from here"), "play_arrow", actions["play-on"], "play-on")
                self._return = button(_("To the game"), "last_page", actions["return"], "return")
                self._games = button(_("Games"), "library_books", actions["games"], "games")

    def show(self, session: GameSession, paused: bool, failure: str = "") -> None:
        """Show the state of a game, with the buttons that apply to it, and why the engine has stopped."""
        phase, mode = session.phase, session.mode
        self._status.set_text(status(session))
        self._count.set_text(count(session))
        self._count.set_visibility(bool(self._count.text))
        self._hint.set_text(hint(session, paused, failure))
        self._hint.set_visibility(bool(self._hint.text))
        self._playing.set_visibility(phase is Phase.PLAYING)
        self._over.set_visibility(phase is Phase.OVER)
        self._undo_end.set_visibility(session.ended_here)
        self._rematch.set_visibility(session.settings.mode is not Mode.ANALYZE)
        self._analyze.set_visibility(session.in_progress)
        self._play_on.set_visibility(mode is Mode.ANALYZE and not session.game.is_over)
        self._return.set_visibility(session.in_progress and session.node is not session.tip)
        before, after = session.others
        self._games.set_visibility(bool(before or after))
        self._games.set_text(_("Game {n} of {all}", n=len(before) + 1, all=len(before) + 1 + len(after)))
        self._counting.set_visibility(phase is Phase.COUNTING)
        self._agree.set_visibility(session.may_agree)
        # Passes of a record stay: a take back would only show the position before.
        self._continue.set_visibility(mode is not Mode.ANALYZE or session.may_remove(session.node))
        self._resign.set_visibility(mode is Mode.PLAY)
        self._pass.set_visibility(mode is not Mode.WATCH)
        self._pass.set_enabled(session.may_click)  # and not hidden: the buttons beside it would move
        self._take_back.set_visibility(mode is not Mode.WATCH)
        self._pause.set_text(_("Continue") if paused else _("Pause"))
        self._pause.set_icon("play_arrow" if paused else "pause")
        held = paused and session.engine_to_move  # in any mode: a failed engine pauses the game
        self._one_move.set_visibility(held)
        self._pause.set_visibility(held or (mode is Mode.WATCH and phase is Phase.PLAYING))

    def show_review(self, runs: bool) -> None:
        """Say that the button of the review stops the one that runs."""
        self._review.set_text(_("Stop review") if runs else _("Review game"))

    def show_start(self, starts: bool) -> None:
        """Offer to cancel the start of a program, while there is one."""
        self._cancel.set_visibility(starts)


class HistoryPanel:
    """The tree of variations. `on_go` gets the id of a tapped node, `on_edit` turns the editor on or off, `on_info`
    shows the game info."""

    def __init__(self, *, on_go: EventHandler, on_edit: Action, on_info: Action) -> None:
        self._cells: list[TreeCell] = []
        self._drawn: object = None  # of what the cells are
        with ui.element("div").classes("tg-card"):
            with ui.element("div").classes("tg-row"):
                heading(_("Variations"))
                info = ui.button(_("Game info"), on_click=on_info, color=None).tooltip(KEYS["i"].tip)
                self._edit = ui.button(_("Edit"), on_click=on_edit, color=None)
                for made, name in ((info, "game-info"), (self._edit, "edit")):
                    made.props(f"flat dense no-caps data-testid={name}").classes("tg-link")
            self._tree = TreeElement(on_go).props("data-testid=tree")

    def show(self, session: GameSession, editing: bool) -> None:
        """Show the variations of a game."""
        self._edit.set_text(_("Done") if editing else _("Edit"))
        drawn = session.tree, session.tree.version, session.analyses.review
        if drawn != self._drawn:
            self._drawn, self._cells = drawn, tree_layout(session.tree, session.analyses.grades())
        self._tree.show(self._cells, session.node.id)


class CommentPanel:
    """The name, the annotations and the comment of the shown position: while the comment has the focus, of the position
    that was shown when it got it, since an engine may answer meanwhile. `on_comment` gets a node and its new comment.
    """

    def __init__(self, on_comment: Callable[[GameNode, str], None]) -> None:
        self._on_comment = on_comment
        self._node: GameNode | None = None
        self._written: GameNode | None = None  # whose comment has the focus
        self._drawn: GameNode | None = None  # whose comment the field has
        self._shown = ""
        with ui.element("div").classes("tg-card tg-comment-card"):
            self._remarks = ui.label().classes("tg-remarks").props("data-testid=remarks")
            self._comment = (
                ui.textarea(placeholder=_("Comment"), on_change=self._commented)
                .classes("tg-comment")
                .props("data-testid=comment")
            )
            self._comment.props("borderless dense autogrow").props["aria-label"] = _("Comment")
            self._comment.on("focus", self._entered, args=[])
            self._comment.on("blur", self._left, args=[])

    def show(self, session: GameSession) -> None:
        """Show what the record says of the shown position."""
        self._node = session.node
        if self._written is not None and self._written not in session.tree:
            self._written = None
        if self._written is None:
            self._show_comment(session.node)

    def _show_comment(self, node: GameNode) -> None:
        self._remarks.set_text(remarks(node))
        self._remarks.set_visibility(bool(self._remarks.text))
        if node is not self._drawn:
            if self._shown:  # it may be long, and scrolled
                self._comment.client.run_javascript(SCROLL_UP.format(id=self._comment.id))
            self._drawn = node
        self._shown = node.comment
        whole = len(self._shown) <= MAX_COMMENT
        self._comment.set_value(self._shown if whole else f"{self._shown[:MAX_COMMENT]} \u2026")
        self._comment.set_enabled(whole)

    def _commented(self, event: events.ValueChangeEventArguments[str | None]) -> None:
        text = str(event.value or "")
        if text != self._shown and len(self._shown) <= MAX_COMMENT:  # the page sets the field too
            self._shown = text[:MAX_COMMENT]
            if (node := self._written or self._node) is not None:
                self._on_comment(node, self._shown)

    def _entered(self) -> None:
        self._written = self._node

    def _left(self) -> None:
        self._written = None
        if self._node is not None:
            self._show_comment(self._node)


class EditPanel:
    """The tools of the editor, below the board while it is on."""

    def __init__(self, actions: Mapping[str, Action]) -> None:
        self.tool = Tool.BLACK
        self._tools: dict[Tool, ui.button] = {}
        with ui.element("div").classes("tg-edit").props("data-testid=editor") as self._panel:
            for tool, (icon, name, caption) in TOOLS.items():
                choose = partial(self._choose, tool)
                self._tools[tool] = button("", icon, choose, f"tool-{tool}", _(name), _(caption))
                if not icon:
                    with self._tools[tool]:
                        ui.element("div").classes(f"tg-chip tg-chip-{tool}")
            ui.element("div").classes("tg-edit-gap")
            turn, promote = _("The other color plays next"), _("Make this variation the main line")
            button("", "swap_horiz", actions["turn"], "edit-turn", turn, _("Other color"))
            button("", "arrow_upward", actions["promote"], "edit-promote", promote, _("Main line"))
            remove = _("Delete this move and all that follow")
            button("", "delete_outline", actions["remove"], "edit-remove", remove, _("Delete"))
            self._undo = button("", "undo", actions["undo"], "edit-undo", KEYS["Ctrl+z"].tip, _("Undo"))
            self._redo = button("", "redo", actions["redo"], "edit-redo", KEYS["Ctrl+y"].tip, _("Redo"))
        self._choose(self.tool)

    def show(self, session: GameSession, editing: bool) -> None:
        """Show the tools, or hide them."""
        self._panel.set_visibility(editing)
        self._undo.set_enabled(session.history.can_undo)
        self._redo.set_enabled(session.history.can_redo)

    def _choose(self, tool: Tool) -> None:
        self.tool = tool
        for known, made in self._tools.items():
            show_pressed(made, known is tool)


def switch_class(element: ui.element, name: str, on: bool) -> None:
    """Give an element a CSS class, or take it away."""
    element.classes(add=name if on else "", remove="" if on else name)


def show_pressed(made: ui.button, on: bool) -> None:
    """Show whether a button that stays pressed is."""
    switch_class(made, "tg-chosen", on)
    made.props(f"aria-pressed={str(on).lower()}")


def heading(text: str) -> ui.label:
    """The heading of a card, at the left of its first row."""
    return ui.label(text).classes("tg-heading tg-grow").props("role=heading aria-level=2")


def reveal(element: ui.element, unless_busy: bool = False) -> None:
    """Scroll an element that has just been shown into view, once the browser has drawn it.

    `unless_busy` leaves the page where it is while a person writes or aims at the board.
    """
    element.client.run_javascript(f"tengen.reveal({element.id}, {json.dumps(unless_busy)})")


def button(text: str, icon: str, action: Action, name: str, tooltip: str = "", caption: str = "") -> ui.button:
    """A flat button. `name` identifies it in tests; a button without text has a tooltip, perhaps with a short `caption`
    below the icon."""
    made = ui.button(text, icon=icon or None, on_click=action, color=None).props(f"flat no-caps data-testid={name}")
    if tooltip:
        made.tooltip(tooltip)
    if not text:
        made.props["aria-label"] = tooltip
    if caption:
        with made:
            ui.label(caption).classes("tg-caption")
    return made
