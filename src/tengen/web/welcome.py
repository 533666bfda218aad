"""The card that offers a new player, or one with a small screen, a gentle game on 9x9."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from tengen.web.opponents import Opponents
from tengen.web.panels import button
from tengen.web.settings import GameSettings

SMALL_SCREEN = 700
"""CSS pixels of width below which 19x19 has small points."""
WIDTH_SCRIPT = "return window.innerWidth"


class WelcomeCard:
    """Hidden until `show`. `on_start` gets the settings of the offered game."""

    def __init__(self, opponents: Opponents, on_start: Callable[[GameSettings], object]) -> None:
        self._opponents = opponents
        with ui.element("div").classes("tg-card tg-offer").props("data-testid=welcome") as self._card:
            with ui.element("div").classes("tg-grow"):
                self._title = ui.label().classes("tg-line-status")
                self._text = ui.label().classes("tg-note")
            button("Play", "play_arrow", lambda: on_start(opponents.first_game()), "welcome-play").classes("tg-primary")
            button("", "close", self.hide, "welcome-close", "Not now")
        self._card.set_visibility(False)

    def show(self, is_new: bool, width: float, size: int) -> None:
        """Show the card to a new player, and on a screen of a small width for a board of this size."""
        if not is_new and (width >= SMALL_SCREEN or size <= 13):
            return
        settings = self._opponents.first_game()
        self._title.set_text("New here? Begin on 9x9" if is_new else "9x9 fits a small screen")
        self._text.set_text(f"{settings.opponent.title}. The level follows your results.")
        self._card.set_visibility(True)

    def hide(self) -> None:
        """Hide the card."""
        self._card.set_visibility(False)
