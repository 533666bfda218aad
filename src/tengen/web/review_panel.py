"""The review of the game on the page: figures of both players, and their worst moves."""

from __future__ import annotations

from nicegui import ui

from tengen.review.game import PHASES, GamePhase, GameReview, ReviewedMove, Summary
from tengen.web.components import EventHandler
from tengen.web.language import N_, _
from tengen.web.panels import heading, reveal
from tengen.web.words import color_names, vertex

PHASE_NAMES: dict[GamePhase, str] = {
    "opening": N_("opening"),
    "middle game": N_("middle game"),
    "endgame": N_("endgame"),
}


class ReviewPanel:
    """A card that shows a review, hidden without one. `on_go` gets the id of the node before a tapped mistake."""

    def __init__(self, on_go: EventHandler) -> None:
        self._on_go = on_go
        self._shown: GameReview | None = None
        self._names = "", ""
        self._runs = False
        with ui.element("div").classes("tg-card").props("data-testid=review-result") as self._card:
            with ui.element("div").classes("tg-row"):
                heading(_("Review"))
                ui.label(_("M, Shift+M: next, previous mistake")).classes("tg-note tg-key-hint")
            self._players = ui.element("div").classes("tg-review")
        self._card.set_visibility(False)

    def show(self, review: GameReview | None, runs: bool) -> None:
        """Show a review; nothing for None. One that ends, so that none `runs` any more, is scrolled into view."""
        ended, self._runs = self._runs and not runs, runs
        info = None if review is None else review.tree.info
        names = info.players(color_names()) if info else ("", "")
        if review is self._shown and names == self._names:
            return
        self._shown, self._names = review, names
        self._card.set_visibility(review is not None)
        self._players.clear()
        if review is None:
            return
        with self._players:
            for color in (0, 1):
                with ui.element("div"):
                    self._player(review, color)
        if ended:
            reveal(self._card, unless_busy=True)

    def _player(self, review: GameReview, color: int) -> None:
        ui.label(self._names[color]).classes("tg-review-name")
        summary = Summary.of(review.of(color))
        ui.label(figures(summary) if summary else _("No move")).classes("tg-note")
        ui.label(phase_figures(review, color)).classes("tg-note")
        for move in review.mistakes(color):
            self._mistake(move)

    def _mistake(self, move: ReviewedMove) -> None:
        size, parent = move.node.tree.size, move.node.parent
        assert parent is not None
        played = vertex(move.point, size)
        better = "" if move.best is None else vertex(move.best.point, size)
        lost = f"\u2212{move.cost:.1f}" + ("%" if move.loss is None else "")
        with ui.element("button").classes("tg-mistake").props("type=button data-testid=mistake") as row:
            ui.element("span").classes(f"tg-grade-{move.grade}")
            for text in (str(move.number), played, lost, better and f"\u2192 {better}"):
                ui.label(text)
        values = {"number": move.number, "move": played, "lost": lost[1:]}
        if move.best is None:
            row.tooltip(_("Move {number}: {move} lost {lost}", **values))
        else:
            line = " ".join(vertex(point, size) for point in move.best.pv)
            row.tooltip(_("Move {number}: {move} lost {lost}; better {line}", line=line, **values))
        row.on("click", lambda: self._on_go(parent.id), args=[])


def phase_figures(review: GameReview, color: int) -> str:
    """The mean loss by phase: `opening 0.42 points · middle game 1.31 points`."""
    summaries = ((phase, Summary.of(review.of(color, phase))) for phase in PHASES)
    return " · ".join(f"{_(PHASE_NAMES[phase])} {loss_text(summary)}" for phase, summary in summaries if summary)


def figures(summary: Summary) -> str:
    """`0.84 points a move · 61% in the top five · 38% the engine's choice`."""
    return " · ".join(
        (
            _("{loss} a move", loss=loss_text(summary)),
            _("{share:.0%} in the top five", share=summary.top5),
            _("{share:.0%} the engine's choice", share=summary.best),
        )
    )


def loss_text(summary: Summary) -> str:
    """The mean loss: `0.84 points`, or `3.1% of winrate` where the engine knows no score."""
    if summary.mean_loss is None:
        return _("{loss:.1%} of winrate", loss=summary.mean_winrate_loss)
    return _("{loss:.2f} points", loss=summary.mean_loss)
