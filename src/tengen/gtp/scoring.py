"""Commands that count: the score, and which stones live, died or stand in seki.

After its standard arguments each takes what decides which stones are dead: `network`, `playouts`, `both`, or `dead` and
the vertices of stones that a person holds dead, of which there may be none. Without it the rules do: `both`, or no
stone where they count all that stands.
"""

from __future__ import annotations

from collections.abc import Collection

from tengen import coords
from tengen.engine.count import WAYS
from tengen.engine.passing import dead_are_agreed
from tengen.engine.shapes import Shapes, seki_stones
from tengen.errors import GtpError
from tengen.game import EMPTY
from tengen.gtp.parse import Arguments
from tengen.gtp.session import Session

STATUSES = ("alive", "dead", "seki")


def final_score(session: Session, args: Arguments) -> str:
    """[WAY]: `B+3.5`, `W+0.5`, or `0` for a draw: by the rules and komi of the game, without the dead stones."""
    score = session.game.score(_dead(session, args, 0))
    if score == 0:
        return "0"
    return f"{'B' if score > 0 else 'W'}+{abs(score):g}"


def final_status_list(session: Session, args: Arguments) -> str:
    """STATUS [WAY]: a line of vertices for each chain of that status."""
    args.expect(1, len(args))
    wanted = args.text(0).lower()
    if wanted not in STATUSES:
        raise GtpError(f"invalid status {args.text(0)}: one of {', '.join(STATUSES)} expected")
    game = session.game
    dead = set(_dead(session, args, 1))
    seki = seki_stones(game, dead)
    lines = []
    for chain in Shapes(game).chains:
        status = "dead" if chain.stones & dead else "seki" if chain.stones & seki else "alive"
        if status == wanted:
            lines.append(" ".join(coords.to_gtp(point, game.size) for point in sorted(chain.stones)))
    return "\n".join(lines)


def _dead(session: Session, args: Arguments, first: int) -> Collection[int]:
    """The dead stones by what the arguments from the one numbered `first` on say."""
    if len(args) <= first and not dead_are_agreed(session.game):
        return ()
    way = args.text(first).lower() if len(args) > first else "both"
    if way == "dead":
        points = [args.vertex(index, session.game.size) for index in range(first + 1, len(args))]
        empty = [p for p in points if p == session.game.size**2 or session.game.board.ravel()[p] == EMPTY]
        if empty:
            raise GtpError(f"no stone at {coords.to_gtp(empty[0], session.game.size)}")
        return points
    args.expect(0, first + 1)
    if way not in WAYS:
        raise GtpError(f"invalid way {args.text(first)}: one of {', '.join(WAYS)}, dead expected")
    return session.engine.count(session.game, way).dead
