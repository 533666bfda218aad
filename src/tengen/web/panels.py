"""The smaller parts of the page: a card for each player, and its buttons."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nicegui import ui

from tengen.game import COLOR_NAMES as NAMES
from tengen.web.session import Session

Walk = Callable[[Session], object]

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


def button(text: str, icon: str, action: Callable[[], object], name: str, hint: str = "") -> ui.button:
    """A quiet button; `name` finds it in tests, and a hint takes the place of a missing text."""
    made = ui.button(text, icon=icon, on_click=action, color=None).props(f"flat no-caps data-testid={name}")
    if hint:
        made.tooltip(hint)
        made.props["aria-label"] = hint
    return made
