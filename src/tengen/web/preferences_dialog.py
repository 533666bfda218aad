"""The dialog of what a person prefers: the language of the page, whether a tap must be confirmed, and what the board
shows of the moves."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from tengen.web.dialog import close_button, dialog_buttons, titled_dialog
from tengen.web.language import LANGUAGE_NAMES, Language, _, current_language
from tengen.web.panels import button
from tengen.web.preferences import Preferences
from tengen.web.view import LAST_NUMBERS

CONFIRM = {"auto": None, "on": True, "off": False}


class PreferencesDialog:
    """Calls `on_language` with the chosen language, `on_change` with any other choice as the keyword that `Preferences`
    has for it, and `on_shortcuts` for the list of shortcuts."""

    def __init__(
        self,
        *,
        on_language: Callable[[Language], object],
        on_change: Callable[..., object],
        on_shortcuts: Callable[[], object],
    ) -> None:
        with titled_dialog(_("Preferences"), "preferences-dialog") as self._dialog:
            with ui.element("div").classes("tg-field"):
                ui.label(_("Language")).classes("tg-heading")
                chosen = ui.select(
                    LANGUAGE_NAMES, value=current_language(), on_change=lambda event: on_language(event.value)
                )
                chosen.props("outlined dense options-dense data-testid=language").classes("w-full")
                chosen.props["aria-label"] = _("Language")
            with ui.element("div").classes("tg-field"):
                ui.label(_("Confirm each move")).classes("tg-heading")
                choices = {"auto": _("Small screens"), "on": _("Always"), "off": _("Never")}
                self._confirm = ui.toggle(
                    choices, value="auto", on_change=lambda event: on_change(confirm=CONFIRM[str(event.value)])
                )
                self._confirm.props("no-caps unelevated role=group data-testid=confirm")
                self._confirm.props["aria-label"] = _("Confirm each move")
                about = _("The first tap shows the stone, the second one plays it. Small screens: boards over 13x13.")
                ui.label(about).classes("tg-note")
            with ui.element("div").classes("tg-field"):
                with ui.element("div").classes("tg-row"):
                    ui.label(_("Show variations")).classes("tg-heading tg-grow")
                    self._variations = ui.switch(
                        value=True, on_change=lambda event: on_change(variations=bool(event.value))
                    )
                    self._variations.props("dense color=teal data-testid=show-variations")
                    self._variations.props["aria-label"] = _("Show variations")
                about = _("Off: no tree, and no rings on the moves that follow, so that a problem hides its answer.")
                ui.label(about).classes("tg-note")
            with ui.element("div").classes("tg-field"):
                ui.label(_("Move numbers")).classes("tg-heading")
                some = {"last": _("Last {n}", n=LAST_NUMBERS), "variations": _("Variations")}
                self._numbers = ui.toggle(
                    {"none": _("None"), **some, "all": _("All")},
                    value="none",
                    on_change=lambda event: on_change(numbers=event.value),
                )
                self._numbers.props("no-caps unelevated role=group data-testid=numbers")
                self._numbers.props["aria-label"] = _("Move numbers")
                ui.label(_("Variations: from 1, where the moves leave the main line.")).classes("tg-note")
            with dialog_buttons():
                button(_("Keyboard shortcuts"), "keyboard", on_shortcuts, "shortcuts")
                close_button(self._dialog)

    def remember(self, known: Preferences) -> None:
        """Show what the browser remembers."""
        self._confirm.set_value(next(name for name, value in CONFIRM.items() if value is known.confirm))
        self._variations.set_value(known.variations)
        self._numbers.set_value(known.numbers)

    def open(self) -> None:
        """Show the dialog."""
        self._dialog.open()
