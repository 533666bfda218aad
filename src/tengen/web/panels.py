"""The smaller parts of the page: the players, the navigation, the status with its buttons, and the moves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nicegui import events, ui

from tengen.game import COLOR_NAMES as NAMES
from tengen.web.components import EventHandler, TreeElement
from tengen.web.session import GameSession, Phase
from tengen.web.settings import Mode
from tengen.web.view import tree_layout

Navigate = Callable[[GameSession], object]
Action = Callable[[], object]
MAX_COMMENT = 20_000

# The name, icon and tooltip of each navigation button, its key, and what it does.
NAVIGATION: tuple[tuple[str, str, str, str, Navigate], ...] = (
    ("first", "first_page", "First position (Home)", "Home", lambda session: session.seek(0)),
    ("back-ten", "keyboard_double_arrow_left", "Ten moves back (Page up)", "PageUp", lambda session: session.step(-10)),
    ("back", "chevron_left", "Back (left arrow)", "ArrowLeft", lambda session: session.step(-1)),
    ("forward", "chevron_right", "Forward (right arrow)", "ArrowRight", lambda session: session.step(1)),
    (
        "forward-ten",
        "keyboard_double_arrow_right",
        "Ten moves forward (Page down)",
        "PageDown",
        lambda session: session.step(10),
    ),
    ("last", "last_page", "Last position (End)", "End", lambda session: session.step(1_000_000)),
)
VARIATIONS: dict[str, Navigate] = {
    "ArrowUp": lambda session: session.sibling(-1),
    "ArrowDown": lambda session: session.sibling(1),
}
MISTAKES: dict[str, Navigate] = {
    "m": lambda session: session.to_mistake(True),
    "M": lambda session: session.to_mistake(False),
}
KEYS: dict[str, Navigate] = {key: navigate for _, _, _, key, navigate in NAVIGATION} | VARIATIONS | MISTAKES


class PlayerCard:
    """A player: name, captures and clock; highlighted when it is the player's turn."""

    def __init__(self, color: int) -> None:
        with ui.element("div").classes("tg-player").props(f"data-testid=player-{NAMES[color].lower()}") as self._card:
            ui.element("div").classes(f"tg-chip tg-chip-{NAMES[color].lower()}")
            with ui.element("div").classes("tg-player-text"):
                self._name = ui.label().classes("tg-player-name")
                self._detail = ui.label().classes("tg-player-more")
            with ui.element("div").classes("tg-captures"):
                ui.element("div").classes(f"tg-chip tg-chip-{NAMES[1 - color].lower()}")
                self._captures = ui.label()
            self._clock = ui.label().classes("tg-clock")

    def show(self, name: str, detail: str, captures: int, turn: bool, thinking: bool) -> None:
        """Show the name, a line below it, the captures, and whether the player is to move or the engine thinks."""
        self._name.set_text(name)
        self._detail.set_text(detail)
        self._captures.set_text(str(captures))
        self._card.classes(add="tg-turn" if turn else "", remove="" if turn else "tg-turn")
        self._card.classes(
            add="tg-player-thinking" if thinking else "", remove="" if thinking else "tg-player-thinking"
        )

    def show_clock(self, face: str, low: bool) -> None:
        """Show the clock, hidden for an empty text; `low` when time is short."""
        self._clock.set_text(face)
        self._clock.set_visibility(bool(face))
        self._clock.classes(add="tg-clock-low" if low else "", remove="" if low else "tg-clock-low")


class Navigation:
    """The navigation buttons and the number of the shown move."""

    def __init__(self, on_navigate: Callable[[Navigate], None]) -> None:
        with ui.element("nav").classes("tg-nav"):
            for index, (name, icon, tooltip, _, navigate) in enumerate(NAVIGATION):
                if index == len(NAVIGATION) // 2:
                    self._where = ui.label().classes("tg-nav-where").props("data-testid=where")
                button("", icon, partial(on_navigate, navigate), name, tooltip)

    def show(self, move: int, moves: int) -> None:
        """Show the number of the move and of all moves of the line."""
        self._where.set_text(f"move {move} / {moves}")


class StatusPanel:
    """Whose turn it is or how the game ended, and the buttons that apply."""

    def __init__(
        self, on_pass: Action, on_take_back: Action, on_resign: Action, on_pause: Action, on_agree: Action
    ) -> None:
        with ui.element("div").classes("tg-status tg-card"):
            self._status = ui.label().classes("tg-line-status").props("data-testid=status")
            self._hint = ui.label().classes("tg-note").props("data-testid=hint")
            with ui.element("div").classes("tg-actions") as self._playing:
                self._pass = button("Pass", "block", on_pass, "pass")
                self._take_back = button("Take back", "undo", on_take_back, "take-back")
                self._resign = button("Resign", "flag", on_resign, "resign")
                self._pause = button("Pause", "pause", on_pause, "pause")
            with ui.element("div").classes("tg-actions") as self._counting:
                self._agree = button("Accept", "done", on_agree, "accept").classes("tg-primary")
                button("Continue", "undo", on_take_back, "continue")

    def show(self, session: GameSession, paused: bool) -> None:
        """Show the state of a game, with the buttons that apply to it."""
        phase, mode = session.phase, session.settings.mode
        self._status.set_text(session.status())
        self._hint.set_text(hint(session, paused))
        self._hint.set_visibility(bool(self._hint.text))
        self._playing.set_visibility(phase is not Phase.COUNTING)
        self._counting.set_visibility(phase is Phase.COUNTING)
        self._agree.set_visibility(session.counted)
        self._resign.set_visibility(mode is Mode.PLAY and not session.result)
        self._pass.set_visibility(session.may_click)
        self._take_back.set_visibility(mode is not Mode.WATCH)
        self._pause.set_text("Continue" if paused else "Pause")
        self._pause.set_icon("play_arrow" if paused else "pause")
        held = paused and session.engine_to_move  # in any mode: a failed engine pauses the game
        self._pause.set_visibility(held or (mode is Mode.WATCH and phase is Phase.PLAYING))


class HistoryPanel:
    """The tree of variations, and the comment on the shown position."""

    def __init__(self, on_go: EventHandler, on_comment: Callable[[str], None]) -> None:
        self._on_comment = on_comment
        with ui.element("div").classes("tg-card"):
            ui.label("Variations").classes("tg-heading")
            self._tree = TreeElement(on_go).props("data-testid=tree")
            self._comment = (
                ui.textarea(placeholder="Comment", on_change=self._commented)
                .classes("tg-comment")
                .props("data-testid=comment")
            )
            self._comment.props(f"borderless dense autogrow maxlength={MAX_COMMENT}")

    def show(self, session: GameSession) -> None:
        """Show the variations of a game and the comment on the shown position."""
        self._tree.show(tree_layout(session.tree, session.grades()), session.node.id)
        self._comment.set_value(session.node.comment)

    def _commented(self, event: events.ValueChangeEventArguments[str | None]) -> None:
        self._on_comment(str(event.value or "")[:MAX_COMMENT])


def hint(session: GameSession, paused: bool) -> str:
    """The line below the status: what a person can do now, or the last move."""
    if session.phase is Phase.COUNTING:
        return "Tap a group to mark it dead or alive, then accept." if session.counted else ""
    if paused and session.engine_to_move:
        return "The engine is paused."
    return session.last_move() if session.phase is Phase.PLAYING else ""


def button(text: str, icon: str, action: Action, name: str, tooltip: str = "") -> ui.button:
    """A flat button. `name` identifies it in tests; a button without text has a tooltip."""
    made = ui.button(text, icon=icon, on_click=action, color=None).props(f"flat no-caps data-testid={name}")
    if tooltip:
        made.tooltip(tooltip)
        made.props["aria-label"] = tooltip
    return made
