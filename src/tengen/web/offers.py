"""What the page offers: the game that was left unfinished, a gentle game on 9x9, and to undo a removal of moves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui

from tengen.web.language import _, ngettext
from tengen.web.library import KeptGame
from tengen.web.open_dialog import when
from tengen.web.opponents import Opponents
from tengen.web.panels import button
from tengen.web.settings import GameSettings
from tengen.web.words import sentence

SMALL_SCREEN = 700
"""CSS pixels of width below which 19x19 has small points."""
WIDTH_SCRIPT = "return window.innerWidth"
REMOVAL_SECONDS = 10
UNDO_REMOVAL = "undoRemoval"
"""The event of the button that brings removed moves back."""


class OfferCard:
    """A card with a title, a text, and buttons that accept it or decline it for good; hidden until `open`. `name` is
    for tests."""

    def __init__(self, name: str, accept: str, accept_name: str, on_accept: Callable[[], object]) -> None:
        with ui.element("div").classes("tg-card tg-offer").props(f"data-testid={name}") as self._card:
            with ui.element("div").classes("tg-grow"):
                self._title = ui.label().classes("tg-line-status")
                self._text = ui.label().classes("tg-note")
            button(accept, "play_arrow", on_accept, accept_name).classes("tg-primary")
            button("", "close", self._decline, f"{name}-close", _("Not now"))
        self._declined = False
        self.hide()

    def open(self, title: str, text: str) -> None:
        """Show the card, unless it was declined: the browser that comes back asks for it again."""
        self._title.set_text(title)
        self._text.set_text(text)
        self._card.set_visibility(not self._declined)

    def hide(self) -> None:
        """Hide the card."""
        self._card.set_visibility(False)

    def _decline(self) -> None:
        self._declined = True
        self.hide()


class UnfinishedCard(OfferCard):
    """Offers a kept game. `on_continue` gets it."""

    def __init__(self, on_continue: Callable[[KeptGame], Awaitable[None]]) -> None:
        super().__init__("offer", _("Continue"), "offer-continue", lambda: on_continue(self._game))
        self._game: KeptGame

    def show(self, game: KeptGame) -> None:
        """Offer this game."""
        self._game = game
        self.open(_("Unfinished game"), f"{game.title}, {game.detail}, {when(game.changed)}")


class WelcomeCard(OfferCard):
    """Offers the first game of `opponents`. `on_start` gets its settings."""

    def __init__(self, opponents: Opponents, on_start: Callable[[GameSettings], object]) -> None:
        super().__init__("welcome", _("Play"), "welcome-play", lambda: on_start(opponents.first_game()))
        self._opponents = opponents

    def show(self, is_new: bool, width: float, size: int) -> None:
        """Offer a game to a new player, and on a screen of a small width (CSS pixels) for a board of this size."""
        if not is_new and (width >= SMALL_SCREEN or size <= 13):
            return
        title = _("New here? Begin on 9x9") if is_new else _("9x9 fits a small screen")
        opponent = self._opponents.first_game().opponent
        follows = opponent.is_automatic  # not without a network
        text = _("{level}. The level follows your results.", level=opponent.title) if follows else opponent.title
        self.open(title, text)


class RemovalOffer:
    """A notification that moves were removed, with a button that undoes it: `on_undo` is called while it is offered."""

    def __init__(self, on_undo: Callable[[], object]) -> None:
        self._on_undo = on_undo
        self._shown: ui.notification | None = None
        ui.on(UNDO_REMOVAL, self._undo, args=[])

    def open(self, moves: int) -> None:
        """Say how many moves were removed, 0 for a position without a move."""
        message = ngettext("{n} move removed", "{n} moves removed", moves) if moves else _("Position removed")
        undo = {"label": _("Undo"), "color": "teal-3", "noCaps": True, ":handler": f"() => emitEvent('{UNDO_REMOVAL}')"}
        self._shown = ui.notification(sentence(message), position="top", timeout=REMOVAL_SECONDS, actions=[undo])

    def close(self) -> None:
        """Take the offer away: the next undo would undo something else."""
        if self._shown is not None and not self._shown.is_deleted:
            self._shown.dismiss()
        self._shown = None

    def _undo(self) -> None:
        if self._shown is not None:
            self._on_undo()
