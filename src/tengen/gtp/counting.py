"""Commands that count a game: its score and the status of its stones.

They take, after their standard arguments, what decides which stones are dead: `network`, `playouts`, `both`, or `dead`
and the vertices of the dead stones (there may be none). Without it the rules decide: `both`, or no stone where the
rules count every stone on the board.
"""

from __future__ import annotations

from collections.abc import Collection

from tengen import coords
from tengen.engine.count import WAYS
from tengen.engine.shapes import Shapes
from tengen.errors import GtpError
from tengen.game import EMPTY
from tengen.gtp.parse import Arguments
from tengen.gtp.session import GtpSession
from tengen.sgf.values import score_text

STATUSES = ("alive", "dead", "seki")


def final_score(session: GtpSession, args: Arguments) -> str:
    """[WAY]: `B+3.5`, `W+0.5`, or `0` for a draw or a game without result, by the rules and komi of the game."""
    score = session.game.score(_dead(session, args, 0))
    return "0" if session.game.is_no_result else score_text(score)


def final_status_list(session: GtpSession, args: Arguments) -> str:
    """STATUS [WAY]: one line of vertices for each chain with that status."""
    args.expect(1, len(args))
    wanted = args.text(0).lower()
    if wanted not in STATUSES:
        raise GtpError(f"invalid status {args.text(0)}: one of {', '.join(STATUSES)} expected")
    game = session.game
    dead = set(_dead(session, args, 1))
    seki = set(game.seki_stones(dead))
    lines = []
    for chain in Shapes(game).chains:
        status = "dead" if chain.stones & dead else "seki" if chain.stones & seki else "alive"
        if status == wanted:
            lines.append(" ".join(coords.to_gtp(point, game.size) for point in sorted(chain.stones)))
    return "\n".join(lines)


def _dead(session: GtpSession, args: Arguments, first: int) -> Collection[int]:
    """The dead stones, by the arguments from index `first` on."""
    if len(args) <= first and not session.game.rules.dead_are_agreed:
        return ()
    way = args.text(first).lower() if len(args) > first else "both"
    if way == "dead":
        points = [args.vertex(index, session.game.size) for index in range(first + 1, len(args))]
        empty = [p for p in points if p == session.game.pass_point or session.game.board.ravel()[p] == EMPTY]
        if empty:
            raise GtpError(f"no stone at {coords.to_gtp(empty[0], session.game.size)}")
        return points
    args.expect(0, first + 1)
    if way not in WAYS:
        raise GtpError(f"invalid way {args.text(first)}: one of {', '.join(WAYS)}, dead expected")
    return session.engine.count(session.game, way).dead
