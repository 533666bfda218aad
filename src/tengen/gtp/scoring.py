"""Commands that count: the score, and which stones live, died or stand in seki."""

from __future__ import annotations

from tengen import coords
from tengen.engine.shapes import Shapes, seki_stones
from tengen.errors import GtpError
from tengen.gtp.parse import Arguments
from tengen.gtp.session import Session

STATUSES = ("alive", "dead", "seki")


def final_score(session: Session, args: Arguments) -> str:
    """`B+3.5`, `W+0.5`, or `0` for a draw: by the rules and komi of the game, without the dead stones."""
    args.expect(0)
    score = session.engine.count(session.game).score
    if score == 0:
        return "0"
    return f"{'B' if score > 0 else 'W'}+{abs(score):g}"


def final_status_list(session: Session, args: Arguments) -> str:
    """STATUS: a line of vertices for each chain of that status."""
    args.expect(1)
    wanted = args.text(0).lower()
    if wanted not in STATUSES:
        raise GtpError(f"invalid status {args.text(0)}: one of {', '.join(STATUSES)} expected")
    game = session.game
    dead = set(session.engine.count(game).dead)
    seki = seki_stones(game, dead)
    lines = []
    for chain in Shapes(game).chains:
        status = "dead" if chain.stones & dead else "seki" if chain.stones & seki else "alive"
        if status == wanted:
            lines.append(" ".join(coords.to_gtp(point, game.size) for point in sorted(chain.stones)))
    return "\n".join(lines)
