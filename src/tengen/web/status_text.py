"""Texts that describe a game on the page: whose turn it is, the last move and the end of the game."""

from __future__ import annotations

from tengen.game import COLOR_NAMES
from tengen.sgf.values import score_text
from tengen.web.counting import points_lines
from tengen.web.language import _
from tengen.web.session import GameSession, Phase
from tengen.web.words import in_words, sentence, vertex


def status(session: GameSession) -> str:
    """Whose turn it is, or how the game ended."""
    if session.phase is Phase.OVER:
        return in_words(session.ending)
    if session.phase is Phase.COUNTING and not session.counted:
        return _("Counting …")
    if session.phase is Phase.COUNTING:
        return _("{result} as counted", result=in_words(score_text(session.score)))
    return _("{color} to play", color=_(COLOR_NAMES[session.game.to_play]))


def count(session: GameSession) -> str:
    """The points of each side, a line each, in a count and at its result; empty elsewhere."""
    counting = session.phase is Phase.COUNTING or session.ending == score_text(session.score)
    return "\n".join(points_lines(session.game, session.dead)) if session.counted and counting else ""


def last_move(session: GameSession) -> str:
    """The move that led to the shown position, as a sentence; empty before the first."""
    node, size = session.node, session.game.size
    if node.point is None or node.color is None:
        return ""
    color = _(COLOR_NAMES[node.color])
    if node.is_pass:
        return _("{color} passed", color=color)
    return _("{color} played {move}", color=color, move=vertex(node.point, size))


def hint(session: GameSession, paused: bool, failure: str = "") -> str:
    """The line below the status: what a person can do now, or the last move."""
    if session.may_agree:
        return _("Tap a group to mark it dead or alive, then accept.")
    if session.phase is Phase.COUNTING and not session.counted:
        return ""
    if paused and session.engine_to_move:
        return sentence(failure) if failure else _("The engine is paused.")
    if session.phase is Phase.OVER:
        tried = _("Tap the board to try other moves; the result stays.")
        return tried if session.node.parent is not None else ""
    if session.in_progress and session.node is not session.tip:
        return _("The game goes on at move {move}.", move=session.tip.move_number)
    return last_move(session)


def notice(session: GameSession) -> str:
    """What the board says for some seconds over its lower edge: a pass, the end of the game."""
    if session.phase is Phase.OVER:
        result = session.ending
        resigned = result.endswith("+R") and COLOR_NAMES["WB".index(result[0])]
        return _("{color} resigns", color=_(resigned)) if resigned else in_words(result)
    return last_move(session) if session.node.is_pass else ""


def spoken(session: GameSession) -> str:
    """What is read to those who do not see the board: the last move, as `White D4`."""
    node = session.node
    if node.point is None or node.color is None:
        return ""
    return f"{_(COLOR_NAMES[node.color])} {vertex(node.point, session.game.size)}"
