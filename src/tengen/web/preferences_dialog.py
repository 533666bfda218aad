"""The dialog of what a person prefers: the language of the page, and whether a tap must be confirmed."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from tengen.web.dialog import close_button, dialog_buttons, titled_dialog
from tengen.web.language import NAMES, Language, _, current_language
from tengen.web.panels import button

CONFIRM = {"auto": None, "on": True, "off": False}


class PreferencesDialog:
    """Calls `on_language` and `on_confirm` with a choice, and `on_shortcuts` for the list of shortcuts."""

    def __init__(
        self,
        *,
        on_language: Callable[[Language], object],
        on_confirm: Callable[[bool | None], object],
        on_shortcuts: Callable[[], object],
    ) -> None:
        with titled_dialog(_("Preferences"), "preferences-dialog") as self._dialog:
            with ui.element("div").classes("tg-field"):
                ui.label(_("Language")).classes("tg-heading")
                chosen = ui.select(NAMES, value=current_language(), on_change=lambda event: on_language(event.value))
                chosen.props("outlined dense options-dense data-testid=language").classes("w-full")
                chosen.props["aria-label"] = _("Language")
            with ui.element("div").classes("tg-field"):
                ui.label(_("Confirm each move")).classes("tg-heading")
                choices = {"auto": _("Small screens"), "on": _("Always"), "off": _("Never")}
                self._confirm = ui.toggle(
                    choices, value="auto", on_change=lambda event: on_confirm(CONFIRM[str(event.value)])
                )
                self._confirm.props("no-caps unelevated role=group data-testid=confirm")
                self._confirm.props["aria-label"] = _("Confirm each move")
                about = _("The first tap shows the stone, the second one plays it. Small screens: boards over 13x13.")
                ui.label(about).classes("tg-note")
            with dialog_buttons():
                button(_("Keyboard shortcuts"), "keyboard", on_shortcuts, "shortcuts")
                close_button(self._dialog)

    def remember(self, confirm: bool | None) -> None:
        """Show what the browser remembers."""
        self._confirm.set_value(next(name for name, value in CONFIRM.items() if value is confirm))

    def open(self) -> None:
        """Show the dialog."""
        self._dialog.open()
