"""What a match showed, as figures for programs and as lines for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tengen.arena.outcome import Outcome
from tengen.arena.statistics import Tally


def tally(outcomes: Iterable[Outcome], player: str) -> Tally:
    """All these games as the player's wins, draws and losses; a game without result counts as a draw."""
    winners = [outcome.winner for outcome in outcomes]
    wins, draws = winners.count(player), winners.count(None)
    return Tally(wins, draws, len(winners) - wins - draws)


def summarize(outcomes: Sequence[Outcome], names: tuple[str, str]) -> dict[str, Any]:
    """The figures of a match of two, from the side of the first (A), ready for JSON; an infinite Elo is null."""
    whole = tally(outcomes, names[0])
    endings = Counter(f"{_color(o)} {o.reason}" if o.winner is None else f"{o.winner} by {o.reason}" for o in outcomes)
    visits = {side: [o.visits[side] for o in outcomes if side in o.visits] for side in names}
    return {
        "a": names[0],
        "b": names[1],
        "games": whole.games,
        "wins": whole.wins,
        "draws": whole.draws,
        "losses": whole.losses,
        "score": round(whole.score, 4),
        "interval_95": [round(end, 4) for end in whole.interval()],
        "elo": [round(x, 1) if math.isfinite(x) else None for x in whole.elo()],
        "superiority": round(whole.superiority(), 4),
        "a_as_black": _colour_score([o for o in outcomes if o.black == names[0]], names[0]),
        "a_as_white": _colour_score([o for o in outcomes if o.white == names[0]], names[0]),
        "endings": dict(sorted(endings.items())),
        "counted": sum(bool(o.counts) for o in outcomes),
        "counted_apart": sum(o.counted_apart for o in outcomes),
        "disputed": sum(o.disputed for o in outcomes),
        "mean_moves": round(sum(o.moves for o in outcomes) / len(outcomes), 1),
        "seconds": {side: round(sum(o.seconds.get(side, 0.0) for o in outcomes), 1) for side in names},
        "mean_visits": {side: round(sum(v) / len(v), 1) for side, v in visits.items() if v},
    }


def score_line(whole: Tally) -> str:
    """The standing in one line: `A 12.5 - 3.5 B, 78.1% [54.4 to 91.5], Elo +221 [+31 to +413]`."""
    low, high = whole.interval()
    elo, elo_low, elo_high = whole.elo()
    share = f"{whole.score:.1%} [{low:.1%} to {high:.1%}]"
    points = f"A {whole.points:g} - {whole.games - whole.points:g} B"
    return f"{points}, {share}, Elo {elo:+.0f} [{elo_low:+.0f} to {elo_high:+.0f}]"


def game_line(outcome: Outcome) -> str:
    """A game in one line: `game 12: B+R (resign), one - two, 243 moves, 98 s`, Black first."""
    more = " - the players' counts differ" if outcome.counted_apart else ""
    return (
        f"game {outcome.index}: {outcome.result} ({outcome.reason}), {outcome.black} - {outcome.white}, "
        f"{outcome.moves} moves, {sum(outcome.seconds.values()):.0f} s{more}"
    )


def report(figures: Mapping[str, Any]) -> str:
    """The figures of a match in a few lines."""
    whole = Tally(figures["wins"], figures["draws"], figures["losses"])
    endings = ", ".join(f"{ending} {n}" for ending, n in figures["endings"].items())
    lines = [
        f"A is {figures['a']}, B is {figures['b']}: {score_line(whole)}",
        f"A is the stronger one with probability {whole.superiority():.1%}",
        f"A as Black {figures['a_as_black']}, as White {figures['a_as_white']}",
        f"endings: {endings}",
        f"{figures['counted']} games were counted; the players' dead stones led to different scores in "
        f"{figures['counted_apart']}, to different winners in {figures['disputed']}",
    ]
    return "\n".join(lines)


def _color(outcome: Outcome) -> str:
    return "draw" if outcome.result == "Draw" else "void"


def _colour_score(outcomes: Sequence[Outcome], player: str) -> str:
    part = tally(outcomes, player)
    return f"{part.points:g} of {part.games}"
