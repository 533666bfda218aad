"""The smaller parts of the page: a card for each player, and its buttons."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nicegui import events, ui

from tengen.game import COLOR_NAMES as NAMES
from tengen.web.components import Heard, TreeElement
from tengen.web.session import Phase, Session
from tengen.web.settings import Mode

Walk = Callable[[Session], object]
Action = Callable[[], object]
MAX_COMMENT = 20_000

# Ways through the game: the name, the icon and the hint of a button, the key that does the same, and the step itself.
WALKS: tuple[tuple[str, str, str, str, Walk], ...] = (
    ("first", "first_page", "First position (Home)", "Home", lambda session: session.seek(0)),
    ("back-ten", "keyboard_double_arrow_left", "Ten moves back (Page up)", "PageUp", lambda session: session.step(-10)),
    ("back", "chevron_left", "Back (left arrow)", "ArrowLeft", lambda session: session.step(-1)),
    ("forward", "chevron_right", "Forward (right arrow)", "ArrowRight", lambda session: session.step(1)),
    (
        "forward-ten",
        "keyboard_double_arrow_right",
        "Ten moves on (Page down)",
        "PageDown",
        lambda session: session.step(10),
    ),
    ("last", "last_page", "Last position (End)", "End", lambda session: session.step(1_000_000)),
)
VARIATIONS: dict[str, Walk] = {
    "ArrowUp": lambda session: session.sibling(-1),
    "ArrowDown": lambda session: session.sibling(1),
}
KEYS: dict[str, Walk] = {key: walk for _, _, _, key, walk in WALKS} | VARIATIONS


class PlayerCard:
    """Who plays a colour: name, captures, clock; lit when it is the player's turn."""

    def __init__(self, color: int) -> None:
        with ui.element("div").classes("tg-player").props(f"data-testid=player-{NAMES[color].lower()}") as self._card:
            ui.element("div").classes(f"tg-chip tg-chip-{NAMES[color].lower()}")
            with ui.element("div").classes("tg-player-text"):
                self._name = ui.label().classes("tg-player-name")
                self._more = ui.label().classes("tg-player-more")
            with ui.element("div").classes("tg-captures"):
                ui.element("div").classes(f"tg-chip tg-chip-{NAMES[1 - color].lower()}")
                self._captures = ui.label()
            self._clock = ui.label().classes("tg-clock")

    def show(self, name: str, more: str, captures: int, turn: bool, thinking: bool) -> None:
        """The name, a line below it, the stones taken, and whether the player is to move or an engine at work."""
        self._name.set_text(name)
        self._more.set_text(more)
        self._captures.set_text(str(captures))
        self._card.classes(add="tg-turn" if turn else "", remove="" if turn else "tg-turn")
        self._card.classes(
            add="tg-player-thinking" if thinking else "", remove="" if thinking else "tg-player-thinking"
        )

    def show_clock(self, face: str, low: bool) -> None:
        """The clock's face, empty for none; `low` when time is short."""
        self._clock.set_text(face)
        self._clock.set_visibility(bool(face))
        self._clock.classes(add="tg-clock-low" if low else "", remove="" if low else "tg-clock-low")


class Navigation:
    """The buttons that walk through the game, and where in it the page is."""

    def __init__(self, on_walk: Callable[[Walk], None]) -> None:
        with ui.element("nav").classes("tg-nav"):
            for place, (name, icon, hint, _, walk) in enumerate(WALKS):
                if place == len(WALKS) // 2:
                    self._where = ui.label().classes("tg-nav-where").props("data-testid=where")
                button("", icon, partial(on_walk, walk), name, hint)

    def show(self, ply: int, moves: int) -> None:
        """The position after `ply` of so many moves."""
        self._where.set_text(f"move {ply} / {moves}")


class StatusPanel:
    """Whose turn it is or how the game ended, what to do about it, and the buttons that do it."""

    def __init__(self, on_pass: Action, on_undo: Action, on_resign: Action, on_pause: Action, on_agree: Action) -> None:
        with ui.element("div").classes("tg-status tg-card"):
            self._status = ui.label().classes("tg-line-status").props("data-testid=status")
            self._hint = ui.label().classes("tg-note").props("data-testid=hint")
            with ui.element("div").classes("tg-actions") as self._playing:
                self._pass = button("Pass", "block", on_pass, "pass")
                self._undo = button("Undo", "undo", on_undo, "undo")
                self._resign = button("Resign", "flag", on_resign, "resign")
                self._pause = button("Pause", "pause", on_pause, "pause")
            with ui.element("div").classes("tg-actions") as self._counting:
                self._agree = button("Agree", "done", on_agree, "agree").classes("tg-primary")
                button("Play on", "undo", on_undo, "play-on")

    def show(self, session: Session, paused: bool) -> None:
        """The state of a game whose engine may be paused; buttons that would do nothing are hidden."""
        phase, mode = session.phase, session.settings.mode
        self._status.set_text(session.status())
        self._hint.set_text(hint(session, paused))
        self._hint.set_visibility(bool(self._hint.text))
        self._playing.set_visibility(phase is not Phase.COUNTING)
        self._counting.set_visibility(phase is Phase.COUNTING)
        self._agree.set_visibility(session.counted)
        self._resign.set_visibility(mode is Mode.PLAY and not session.result)
        self._pass.set_visibility(session.may_click)
        self._undo.set_visibility(mode is not Mode.WATCH)
        self._pause.set_text("Go on" if paused else "Pause")
        self._pause.set_icon("play_arrow" if paused else "pause")
        held = paused and session.engine_to_move  # in any mode: an engine that failed holds the game as a pause does
        self._pause.set_visibility(held or (mode is Mode.WATCH and phase is Phase.PLAYING))


class HistoryPanel:
    """The moves with their variations, and a note on the shown one."""

    def __init__(self, on_go: Heard, on_note: Callable[[str], None]) -> None:
        self._on_note = on_note
        with ui.element("div").classes("tg-card"):
            ui.label("Moves").classes("tg-heading")
            self._tree = TreeElement(on_go).props("data-testid=tree")
            self._comment = (
                ui.textarea(placeholder="A note on this move", on_change=self._commented)
                .classes("tg-comment")
                .props("data-testid=comment")
            )
            self._comment.props(f"borderless dense autogrow maxlength={MAX_COMMENT}")

    def show(self, session: Session) -> None:
        """The tree of a game, and the note on the shown position."""
        self._tree.show(session.tree.drawing(), session.node.id)
        self._comment.set_value(session.node.comment)

    def _commented(self, event: events.ValueChangeEventArguments[str | None]) -> None:
        self._on_note(str(event.value or "")[:MAX_COMMENT])


def hint(session: Session, paused: bool) -> str:
    """A line below the status: what a person may do now, or the last move."""
    if session.phase is Phase.COUNTING:
        return "Tap a group to mark it dead or alive, then agree." if session.counted else ""
    if paused and session.engine_to_move:
        return "The engine is paused."
    return session.last_move() if session.phase is Phase.PLAYING else ""


def button(text: str, icon: str, action: Action, name: str, hint: str = "") -> ui.button:
    """A quiet button; `name` finds it in tests, and a hint takes the place of a missing text."""
    made = ui.button(text, icon=icon, on_click=action, color=None).props(f"flat no-caps data-testid={name}")
    if hint:
        made.tooltip(hint)
        made.props["aria-label"] = hint
    return made
