"""The switch of the analysis: on for a person who has turned it on, or because of a review."""

from __future__ import annotations

from collections.abc import Callable

from tengen.review.game import GameReview
from tengen.web.controller import EngineController
from tengen.web.session import GameSession
from tengen.web.settings import Mode


class AnalysisSwitch:
    """Whether the board shows what is found for the session of `controller`, whose `analyzing` it sets.

    A review that ends turns the analysis on; it then searches only what the review has not. `hides_review` says
    whether the page shows no review now: beside the tools of the editor. Call `follow` whenever the page is drawn.
    """

    def __init__(self, controller: EngineController, hides_review: Callable[[], bool]) -> None:
        self._controller, self._hides_review = controller, hides_review
        self._known: GameReview | None = None  # the last review that was seen
        self._follows = False  # whether the analysis is on because of a review

    @property
    def is_on(self) -> bool:
        """Whether the board shows what is found, as the switch says."""
        return self._controller.analyzing or self._shown_review is not None

    def turn(self, on: bool) -> None:
        """Turn the analysis on or off for a person; no review keeps it on."""
        self._follows, self._controller.analyzing = False, on

    def stay_on(self) -> None:
        """Another network: where a review has turned the analysis on, the review goes, and the analysis stays on."""
        if self._follows and self.is_on:
            self.turn(True)

    def follow(self) -> None:
        """Turn the analysis on for a review that has ended, unless it is on, and search what that review has not."""
        controller, session = self._controller, self._controller.session
        if (review := session.analyses.review) is not self._known:
            self._known = review
            self._follows |= review is not None and not controller.analyzing
        if not self._follows:
            return
        shown = self._shown_review
        searches = shown is not None and session.node not in shown.nodes and not session.game.is_over
        searches &= not controller.failure  # the person may try again
        if searches is not controller.analyzing:
            controller.analyzing = searches
            controller.wake()

    def change_game(self, session: GameSession) -> None:
        """Another game: turn the analysis off that is on because of a review. Only a review that ends from now on turns
        it on again."""
        if self._follows:
            self.turn(False)
        self._known = session.analyses.review

    @property
    def _shown_review(self) -> GameReview | None:
        """The review for which the analysis is on; none where it is hidden."""
        session = self._controller.session
        shown = self._follows and session.mode is Mode.ANALYZE and not self._hides_review()
        return session.analyses.review if shown else None
