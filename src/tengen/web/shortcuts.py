"""The dialog that lists the keyboard shortcuts."""

from __future__ import annotations

from nicegui import ui

from tengen.web.language import _
from tengen.web.panels import KEYS


class ShortcutsDialog:
    """The rows of `panels.KEYS`, in their order."""

    def __init__(self) -> None:
        title = _("Keyboard shortcuts")
        with ui.dialog() as self._dialog, ui.card().classes("tg-dialog").props("data-testid=shortcuts-dialog"):
            self._dialog.props["aria-label"] = title
            ui.label(title).classes("tg-dialog-title")
            with ui.element("dl").classes("tg-keys"):
                for row in KEYS.values():
                    with ui.element("dt"), ui.element("kbd"):
                        ui.label(row.shown)
                    with ui.element("dd"):
                        ui.label(_(row.text))
            with ui.row().classes("w-full justify-end gap-2"):
                ui.button(_("Close"), on_click=self._dialog.close).props("unelevated no-caps")

    def open(self) -> None:
        """Show the list."""
        self._dialog.open()
