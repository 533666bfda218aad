"""The teaching panel: the warning with its choices, the hint, the policy on the board, and the score estimate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from nicegui import ui

from tengen.coords import pass_point
from tengen.errors import TengenError
from tengen.game import BLACK
from tengen.sgf import GameNode
from tengen.web.components import BoardElement
from tengen.web.controller import EngineController
from tengen.web.engine import EngineThread
from tengen.web.estimate import ScoreEstimate
from tengen.web.language import _, ngettext
from tengen.web.panels import button, heading, reveal, show_pressed
from tengen.web.teaching import DEFAULT_THRESHOLD, THRESHOLDS, MoveWarning
from tengen.web.words import vertex

T = TypeVar("T")
SAID_MOVES = 3
"""The moves of the policy that are read to those who do not see the board."""


class TeachingPanel:
    """The warning stands where the panel is made, the card where `build` is called.

    `on_change` is called after an input that the page must draw, `on_line` after one that changes `line` alone,
    `on_take_back` takes a move back, `notify` shows the message of a failure.
    """

    def __init__(
        self,
        controller: EngineController,
        thread: EngineThread,
        board: BoardElement,
        *,
        on_change: Callable[[], None],
        on_line: Callable[[], None],
        on_take_back: Callable[[], None],
        notify: Callable[[str], None],
    ) -> None:
        self._controller, self._thread, self._board = controller, thread, board
        self._on_change, self._on_line, self._notify = on_change, on_line, notify
        self._refuting = False
        # Of the position by its key; one of them is shown at a time.
        self._policy: tuple[tuple[GameNode, int], list[float]] | None = None
        self._estimated: tuple[tuple[GameNode, int], str, str] | None = None  # the text and the owners
        with ui.element("div").classes("tg-card tg-warning").props("data-testid=warning role=alert") as self._warning:
            self._text = ui.label().classes("tg-line-status")
            with ui.element("div").classes("tg-actions"):
                button(_("Take back"), "undo", on_take_back, "warning-take-back").classes("tg-primary")
                button(_("Refutation"), "visibility", self._refute, "refutation", _("Show what follows on the board"))
                button(_("Keep"), "arrow_forward", self._keep, "keep", _("Keep the move"))
        self._warning.set_visibility(False)

    def build(self) -> None:
        """Make the card."""
        with ui.element("div").classes("tg-card").props("data-testid=teaching"):
            with ui.element("div").classes("tg-row"):
                heading(_("Teaching"))
                losses = {
                    loss: ngettext("Warn from {n} point", "Warn from {n} points", int(loss)) for loss in THRESHOLDS
                }
                self._threshold = ui.select(losses, value=self._controller.teacher.threshold, on_change=self._switched)
                self._threshold.props("dense borderless options-dense data-testid=threshold")
                self._threshold.props["aria-label"] = _("From which loss to warn")
                self._switch = ui.switch(on_change=self._switched)
                self._switch.props("dense color=teal data-testid=teach").props["aria-label"] = _("Teaching")
            with ui.element("div").classes("tg-actions"):
                self._ask_hint = button(_("Hint"), "lightbulb", self._hint, "ask-hint", _("Show the best move"))
                about = _("What the network would play")
                self._ask_policy = button(_("Policy"), "grid_view", self._show_policy, "policy", about)
                self._ask_estimate = button(_("Score estimate"), "calculate", self._estimate, "estimate")
            self._lines = ui.label().classes("tg-note tg-lines").props("data-testid=estimate-lines")
            self._said_hint, self._said_policy = (
                ui.label().classes("tg-said").props(f"role=status data-testid=said-{name}")
                for name in ("hint", "policy")
            )

    def remember(self, on: bool, threshold: float) -> None:
        """Set the switch and the threshold as the browser remembers them."""
        if threshold in THRESHOLDS:
            self._threshold.set_value(threshold)
        self._switch.set_value(on)

    def show(self) -> None:
        """Draw what belongs to the shown position."""
        node, teacher, warning = self._controller.session.node, self._controller.teacher, self._shown_warning
        opens = warning is not None and not self._warning.visible
        self._warning.set_visibility(warning is not None)
        if opens:
            reveal(self._warning)  # the game waits for an answer
        if warning is None:
            self._refuting = False
        else:
            self._text.set_text(warning.text(self._controller.session.game.size))
        position, policy, estimated = node.position_key, self._policy, self._estimated
        known = policy[1] if policy is not None and policy[0] == position else []
        text, owners = estimated[1:] if estimated is not None and estimated[0] == position else ("", "")
        self._lines.set_text(text)
        self._lines.set_visibility(bool(text))
        self._ask_policy.set_visibility(self._controller.has_network)
        show_pressed(self._ask_policy, bool(known))
        show_pressed(self._ask_estimate, bool(text))
        for made in (self._ask_hint, self._ask_estimate):  # the end has a count, which knows the marked stones
            made.set_visibility(not self._controller.session.game.is_over)
        hint = teacher.hint_at(node)
        self._board.set(hint=-1 if hint is None else hint, policy=known, estimate=owners)
        size = node.tree.size
        if hint is None or hint == pass_point(size):  # the notice tells a pass
            self._said_hint.set_text("")
        else:
            self._said_hint.set_text(_("The best move is {move}", move=vertex(hint, size)))
        self._said_policy.set_text(policy_text(known, size))

    @property
    def line(self) -> Sequence[int]:
        """The refutation of the move that the warning is of, while it is asked for; else empty."""
        warning = self._shown_warning
        return warning.refutation if warning is not None and self._refuting else ()

    @property
    def notice(self) -> str:
        """The hint for the shown position where the board cannot show it; empty otherwise."""
        session = self._controller.session
        passes = self._controller.teacher.hint_at(session.node) == session.game.pass_point
        return _("The best move is a pass") if passes else ""

    @property
    def _shown_warning(self) -> MoveWarning | None:
        warning = self._controller.teacher.warning
        return warning if warning is not None and warning.node is self._controller.session.node else None

    def _switched(self) -> None:
        teacher = self._controller.teacher
        teacher.on, teacher.threshold = bool(self._switch.value), float(self._threshold.value or DEFAULT_THRESHOLD)
        if not teacher.on:
            teacher.warning = None
        self._on_change()

    def _refute(self) -> None:
        self._refuting = not self._refuting
        self._on_line()

    def _keep(self) -> None:
        self._controller.teacher.keep()
        self._on_change()

    def _hint(self) -> None:
        self._controller.teacher.ask_hint()
        self._on_change()

    async def _show_policy(self) -> None:
        session, position = self._controller.session, self._controller.session.node.position_key
        if self._policy is not None and self._policy[0] == position:
            self._policy = None
        else:
            found = await self._ask(self._thread.raw(session.game, self._controller.network))
            if found is not None:
                self._policy = position, [round(share, 4) for share in found.policy[0].tolist()]
                self._estimated = None
        self._on_change()

    async def _estimate(self) -> None:
        session, position = self._controller.session, self._controller.session.node.position_key
        if self._estimated is not None and self._estimated[0] == position:
            self._estimated = None
            self._on_change()
            return
        network = self._controller.network
        count = await self._ask(self._thread.count(session.game, network))
        found = await self._ask(self._thread.raw(session.game, network)) if count is not None else None
        if count is not None and session.node.position_key == position:
            # The score of self-play is not the lead: there the leader gives points away, or wins more.
            points = None if found is None else found.score if found.lead is None else found.lead
            lead = None if points is None else float(points[0]) * (1 if session.game.to_play == BLACK else -1)
            estimate = ScoreEstimate.of(session.game, count)
            self._estimated = position, "\n".join(estimate.lines(lead)), estimate.owners
            self._policy = None
        self._on_change()

    async def _ask(self, task: Awaitable[T]) -> T | None:
        """What a task of the thread finds; None where it fails, which is reported."""
        try:
            return await self._controller.ask(task)
        except TengenError as error:
            self._notify(str(error))
            return None


def policy_text(policy: Sequence[float], size: int) -> str:
    """The likeliest moves of a policy, for those who do not see the board; empty without one."""
    likeliest = sorted(range(len(policy)), key=lambda point: -policy[point])[:SAID_MOVES]
    moves = ", ".join(f"{vertex(point, size)} {policy[point]:.0%}" for point in likeliest if policy[point] >= 0.005)
    return _("The network would play {moves}", moves=moves) if moves else ""
