"""The dialog that asks who plays on from the shown position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nicegui import ui

from tengen.errors import TengenError
from tengen.web.dialog import dialog_buttons, titled_dialog
from tengen.web.engine import PageEngines
from tengen.web.language import _
from tengen.web.opponents import Opponents
from tengen.web.player_field import PlayerField, Side, network_names
from tengen.web.players import AUTO, PlayerChoice, facing
from tengen.web.settings import GameSettings


class PlayOnDialog:
    """Asks who plays from the shown position on, and calls `on_start` with the players, Black's first."""

    def __init__(
        self, engines: PageEngines, opponents: Opponents, on_start: Callable[[tuple[PlayerChoice, PlayerChoice]], None]
    ) -> None:
        self._engines, self._opponents, self._on_start = engines, opponents, on_start
        with titled_dialog(_("Play on from here"), "play-on-dialog") as self._dialog:
            with ui.element("div").classes("tg-field"):
                ui.label(_("You play")).classes("tg-heading")
                self._color = ui.toggle({0: _("Black"), 1: _("White"), 2: _("Engines play both")}, value=0)
                self._color.props("no-caps unelevated role=group").props["aria-label"] = _("You play")
            names = (
                (_("Opponent"), "play-on-level"),
                (_("Black"), "play-on-black"),
                (_("White"), "play-on-white"),
            )
            self._players = [PlayerField(Side(), *name) for name in names]
            opponent, *both = self._players
            opponent.element.bind_visibility_from(self._color, "value", backward=lambda color: color != 2)
            for field in both:
                field.element.bind_visibility_from(self._color, "value", value=2)
            ui.label(_("The record, its result too, stays; the new moves become a variation.")).classes("tg-note")
            with dialog_buttons(self._dialog):
                ui.button(_("Play"), on_click=self._start).props("unelevated no-caps data-testid=start-play-on")

    def open(self, color: int, settings: GameSettings) -> None:
        """Show the dialog with the person as `color`, and the opponent of the settings."""
        opponent, size = settings.opponent, settings.size
        if opponent.is_automatic:  # the same level by its number: a game that begins here says little of it
            opponent = replace(opponent, key=opponent.key.replace(AUTO, "level"))
        choices = self._opponents.choices(size, automatic=False)
        if not opponent.is_person and opponent.key not in choices:
            choices = {opponent.key: opponent, **choices}
        side, networks = Side.of(opponent) if opponent.key in choices else Side(), network_names(self._engines, size)
        if side.network not in networks:
            side.network = ""
        for field in self._players:
            field.show(choices, networks)  # first: a select sets a value that it does not offer to None
            field.side.copy(side)
        self._color.set_value(color)
        self._dialog.open()

    def _start(self) -> None:
        opponent, black, white = self._players
        color = int(self._color.value or 0)
        try:
            players = (black.player(), white.player()) if color == 2 else facing(opponent.player(), color)
        except TengenError as error:
            ui.notify(str(error), position="top")
            return
        self._dialog.close()
        self._on_start(players)
