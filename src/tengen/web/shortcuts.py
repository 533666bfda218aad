"""The keyboard shortcuts, and the dialog that lists them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from nicegui import events, ui

from tengen.web.dialog import close_button, dialog_buttons, titled_dialog
from tengen.web.language import N_, _
from tengen.web.session import GameSession

Navigate = Callable[[GameSession], object]


class Shortcut(NamedTuple):
    """A key as browsers name it, as people read it, and what it does in words.

    `key` begins with `Ctrl+` or `Meta+`, and that of a letter then with `Shift+`, where these are held.
    `does` is a way through the game, or the name of an action of the page. `others` has further keys that do the same,
    with their names for people.
    """

    key: str
    shown: str
    text: str
    does: Navigate | str
    others: Mapping[str, str] = {}

    @property
    def tip(self) -> str:
        """What it does, with the key."""
        return f"{_(self.text)} ({self.shown})"


# Not Meta+y, by which some browsers on macOS open their history.
REDO_KEYS = {"Ctrl+Shift+z": "Ctrl+Shift+Z", "Meta+Shift+z": "\u21e7\u2318Z"}
KEYS: dict[str, Shortcut] = {
    row.key: row
    for row in (
        Shortcut("ArrowLeft", "\u2190", N_("Previous move"), lambda session: session.step(-1)),
        Shortcut("ArrowRight", "\u2192", N_("Next move"), lambda session: session.step(1)),
        Shortcut("PageUp", "PgUp", N_("Ten moves back"), lambda session: session.step(-10)),
        Shortcut("PageDown", "PgDn", N_("Ten moves forward"), lambda session: session.step(10)),
        Shortcut("Home", "Home", N_("First position"), lambda session: session.seek(0)),
        Shortcut("End", "End", N_("Last position"), lambda session: session.step(1_000_000)),
        Shortcut("ArrowUp", "\u2191", N_("Previous variation"), lambda session: session.sibling(-1)),
        Shortcut("ArrowDown", "\u2193", N_("Next variation"), lambda session: session.sibling(1)),
        Shortcut("m", "M", N_("Next mistake of a review"), lambda session: session.to_mistake(True)),
        Shortcut("Shift+m", "Shift+M", N_("Previous mistake"), lambda session: session.to_mistake(False)),
        Shortcut("a", "A", N_("Analysis on or off"), "analysis"),
        Shortcut("v", "V", N_("Variations shown or hidden"), "variations"),
        Shortcut("i", "I", N_("Players, rules, komi and result of the game"), "info"),
        Shortcut("Ctrl+z", "Ctrl+Z", N_("Undo the last edit"), "undo", {"Meta+z": "\u2318Z"}),
        Shortcut("Ctrl+y", "Ctrl+Y", N_("Redo the edit"), "redo", REDO_KEYS),
        Shortcut("b", "B", N_("To the board: arrow keys move a cursor, Enter plays, Esc leaves"), "board"),
        Shortcut("?", "?", N_("This list"), "shortcuts"),
    )
}


_ROWS = {key: row for row in KEYS.values() for key in (row.key, *row.others)}
_NAVIGATION = [row.key for row in KEYS.values() if callable(row.does)]
KEEPS_STILL = f"(event) => tengen.keepStill(event, {json.dumps(_NAVIGATION)})"
"""JavaScript for a pressed key: those that go through the game do not scroll the page."""


def shortcut_of(event: events.KeyEventArguments) -> Shortcut | None:
    """The shortcut of a pressed key; None for any other, and while a dialog is open, whose keys they are."""
    if not event.action.keydown or event.modifiers.alt:
        return None
    if any(isinstance(part, ui.dialog) and part.value for part in event.client.elements.values()):
        return None
    name, held = event.key.name, ("Ctrl+" if event.modifiers.ctrl else "") + ("Meta+" if event.modifiers.meta else "")
    if len(name) == 1 and name.isalpha():  # with Caps Lock on, a letter is a capital without Shift
        name, held = name.lower(), held + ("Shift+" if event.modifiers.shift else "")
    return _ROWS.get(held + name)


class ShortcutsDialog:
    """The rows of `KEYS`, in their order."""

    def __init__(self) -> None:
        with titled_dialog(_("Keyboard shortcuts"), "shortcuts-dialog") as self._dialog:
            with ui.element("dl").classes("tg-keys"):
                for row in KEYS.values():
                    with ui.element("dt"):
                        for shown in (row.shown, *row.others.values()):
                            with ui.element("kbd"):
                                ui.label(shown)
                    with ui.element("dd"):
                        ui.label(_(row.text))
            with dialog_buttons():
                close_button(self._dialog)

    def open(self) -> None:
        """Show the list."""
        self._dialog.open()
