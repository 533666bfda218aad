"""The dialog of how positions are searched for the person."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from tengen.errors import TengenError
from tengen.web.dialog import dialog_buttons, titled_dialog
from tengen.web.engine import PageEngines
from tengen.web.language import _
from tengen.web.player_field import network_names
from tengen.web.players import MAX_VISITS
from tengen.web.settings import MIN_REVIEW_VISITS, PageAnalysis


class AnalysisDialog:
    """Asks how positions are searched for the person, and calls `on_change` with the answer."""

    def __init__(self, engines: PageEngines, on_change: Callable[[PageAnalysis], None]) -> None:
        self._engines, self._on_change = engines, on_change
        with titled_dialog(_("Analysis"), "analysis-dialog") as self._dialog:
            self._network = ui.select({}, label=_("Network")).classes("w-full")
            self._network.props("outlined dense options-dense data-testid=analysis-network")
            with ui.element("div").classes("tg-pair"):
                self._visits, self._review = (
                    ui.number(label=label, min=low, max=MAX_VISITS, precision=0).props(
                        f"outlined dense data-testid={name}"
                    )
                    for label, name, low in (
                        (_("Visits of a position"), "analysis-visits", 1),
                        (_("In a review"), "review-visits", MIN_REVIEW_VISITS),
                    )
                )
            ui.label(_("Another network begins anew: what the last one found is dropped.")).classes("tg-note")
            with dialog_buttons(self._dialog):
                ui.button(_("Apply"), on_click=self._apply).props("unelevated no-caps data-testid=apply-analysis")

    def open(self, settings: PageAnalysis, size: int) -> None:
        """Show the dialog with these settings, and the networks that play on this board size."""
        known = network_names(self._engines, size)
        self._network.set_options(known, value=settings.network if settings.network in known else "")
        self._visits.set_value(settings.visits)
        self._review.set_value(settings.review_visits)
        self._dialog.open()

    def _apply(self) -> None:
        try:
            visits, review = int(self._visits.value or 0), int(self._review.value or 0)
            settings = PageAnalysis(str(self._network.value or ""), visits, review)
        except TengenError as error:
            ui.notify(str(error), position="top")
            return
        self._dialog.close()
        self._on_change(settings)
