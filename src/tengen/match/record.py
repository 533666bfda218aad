"""The SGF of a match game: who played, how it ended, and what each player thought at every move."""

from __future__ import annotations

from tengen.game import BLACK, WHITE
from tengen.match.game import Contest
from tengen.match.outcome import Outcome
from tengen.sgf import Result, SgfInfo, write_game

# How SGF and our records call the ways in which a game ends.
_ENDINGS = {"resign": "resign", "time": "time", "timeout": "time", "cycle": "void", "sure": "count"}


def sgf_of(contest: Contest, outcome: Outcome) -> bytes:
    """The game as an SGF file."""
    info = SgfInfo(
        black=outcome.black,
        white=outcome.white,
        komi=contest.game.komi,
        rules=contest.game.rules.text,
        result=_result(outcome),
        event=f"match, game {outcome.index}",
        comment="\n".join(filter(None, [f"{outcome.result}: {outcome.reason}", outcome.detail, *outcome.last_words])),
        application="Tengen",
    )
    return write_game(contest.game, info, comments=contest.comments)


def _result(outcome: Outcome) -> Result:
    winner = {"B": BLACK, "W": WHITE}.get(outcome.result[0], 2)
    if outcome.score is not None:
        return Result(winner, outcome.score, "draw" if winner == 2 else "count")
    return Result(winner, None, _ENDINGS.get(outcome.reason, "forfeit"))
