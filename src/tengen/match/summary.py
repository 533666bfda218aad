"""The figures of a match, for programs and as lines of text."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tengen.match.length import interval_reach
from tengen.match.outcome import Outcome
from tengen.match.settings import MatchSettings
from tengen.match.sprt import SprtState
from tengen.statistics import Tally

_AFTER_TEST = "the test ended the match, so the score leans towards the decision and its interval is too narrow"


def tally(outcomes: Iterable[Outcome], player: str) -> Tally:
    """The player's wins, draws and losses in these games; a game without result counts as a draw."""
    winners = [outcome.winner for outcome in outcomes]
    wins, draws = winners.count(player), winners.count(None)
    return Tally(wins, draws, len(winners) - wins - draws)


def games_of(outcomes: Iterable[Outcome], *players: str) -> list[Outcome]:
    """The games in which all of these took part."""
    return [outcome for outcome in outcomes if set(players) <= {outcome.black, outcome.white}]


def summarize(settings: MatchSettings, outcomes: Sequence[Outcome], test: SprtState | None = None) -> dict[str, Any]:
    """The figures of a match, ready for JSON; an infinite Elo is null.

    `pairings` are from the side of `a`. `complete` says whether no game is left, or the test is decided.
    """
    endings = Counter(_ending(outcome) for outcome in outcomes)
    by_player: dict[str, list[Outcome]] = defaultdict(list)
    by_pairing: dict[frozenset[str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_pairing[frozenset((outcome.black, outcome.white))].append(outcome)
        for name in (outcome.black, outcome.white):
            by_player[name].append(outcome)
    decided = test is not None and test.accepted is not None
    return {
        "games": len(outcomes),
        "complete": decided or not any(True for _ in settings.left({outcome.index: outcome for outcome in outcomes})),
        "players": [_player(spec.name, by_player[spec.name]) for spec in settings.players],
        "pairings": [_pairing(a, b, by_pairing[frozenset((a, b))]) for a, b in settings.pairings],
        "sprt": None if test is None else test.figures(),
        "within": settings.within,
        "endings": dict(sorted(endings.items())),
        "counted": sum(bool(outcome.counts) for outcome in outcomes),
        "counts_differ": [outcome.index for outcome in outcomes if outcome.counts_differ],
        "disputed": [outcome.index for outcome in outcomes if outcome.disputed],
        "mean_moves": round(_mean([outcome.moves for outcome in outcomes]), 1),
    }


def _player(name: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    visits = [outcome.visits[name] for outcome in outcomes if name in outcome.visits]
    return {
        "name": name,
        **_score(tally(outcomes, name)),
        "seconds": round(sum(outcome.seconds.get(name, 0.0) for outcome in outcomes), 1),
        "mean_visits": round(_mean(visits), 1) if visits else None,
    }


def _pairing(a: str, b: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    whole = tally(outcomes, a)
    return {
        "a": a,
        "b": b,
        **_score(whole),
        "elo": [round(x, 1) if math.isfinite(x) else None for x in whole.elo()],
        "superiority": round(whole.superiority(), 4),
        "a_as_black": _score(tally([outcome for outcome in outcomes if outcome.black == a], a)),
        "a_as_white": _score(tally([outcome for outcome in outcomes if outcome.white == a], a)),
    }


def _score(whole: Tally) -> dict[str, Any]:
    return {
        "games": whole.games,
        "wins": whole.wins,
        "draws": whole.draws,
        "losses": whole.losses,
        "points": whole.points,
        "score": round(whole.score, 4),
        "interval_95": [round(end, 4) for end in whole.interval()],
    }


def _ending(outcome: Outcome) -> str:
    if outcome.winner is None:
        return f"{'draw' if outcome.result == 'Draw' else 'void'} by {outcome.reason}"
    return f"{outcome.winner} by {outcome.reason}"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def score_line(whole: Tally) -> str:
    """The standing of a pairing in one line: `12.5 - 3.5, 78.1% [54.4% to 91.5%], Elo +221 [+31 to +413]`."""
    low, high = whole.interval()
    elo, elo_low, elo_high = whole.elo()
    points = f"{whole.points:g} - {whole.games - whole.points:g}"
    share = f"{whole.score:.1%} [{low:.1%} to {high:.1%}]"
    return f"{points}, {share}, Elo {elo:+.0f} [{elo_low:+.0f} to {elo_high:+.0f}]"


def pairing_line(a: str, b: str, whole: Tally) -> str:
    """The line of `score_line` with the players, and how likely it is that the first one is the stronger."""
    return f"{a} - {b}: {score_line(whole)}, stronger with probability {whole.superiority():.1%}"


def game_line(outcome: Outcome) -> str:
    """A game in one line: `game 12: B+R (resign), one - two, 243 moves, 98 s`, Black first."""
    more = " - the counts differ" if outcome.counts_differ else ""
    return (
        f"game {outcome.index}: {outcome.result} ({outcome.reason}), {outcome.black} - {outcome.white}, "
        f"{outcome.moves} moves, {sum(outcome.seconds.values()):.0f} s{more}"
    )


def report(figures: Mapping[str, Any]) -> str:
    """The figures of a match in a few lines."""
    lines = []
    for pairing in figures["pairings"]:
        black, white = (
            f"{part['points']:g} of {part['games']}" for part in (pairing["a_as_black"], pairing["a_as_white"])
        )
        whole = Tally(pairing["wins"], pairing["draws"], pairing["losses"])
        lines.append(f"{pairing_line(pairing['a'], pairing['b'], whole)}; as Black {black}, as White {white}")
    if len(figures["pairings"]) > 1:
        lines += [
            f"{player['name']}: {player['points']:g} of {player['games']}" for player in ranked(figures["players"])
        ]
    if figures["sprt"] is not None:
        lines.append(figures["sprt"]["words"])
        if figures["sprt"]["accepted"] is not None:
            lines.append(_AFTER_TEST)
        elif figures["complete"]:
            lines.append("undecided: the same command with a larger --games goes on")
    if figures["within"] is not None:
        lines.append(_within(figures["pairings"], figures["within"]))
    lines.append("endings: " + ", ".join(f"{ending} {n}" for ending, n in figures["endings"].items()))
    if figures["counted"]:  # with the dead stones of the players: rules or conditions may say which stones are dead
        lines.append(
            f"{_counted(figures['counted'])}; the players (or one of them and playouts) gave different scores in "
            f"{_games(figures['counts_differ'])}, to different winners in {_games(figures['disputed'])}"
        )
    return "\n".join(lines)


def _counted(games: int) -> str:
    return "1 game was counted" if games == 1 else f"{games} games were counted"


def _within(pairings: Sequence[Mapping[str, Any]], within: float) -> str:
    """The pairings whose score is known within `within` percentage points."""
    reaches = [
        (pairing, interval_reach(Tally(pairing["wins"], pairing["draws"], pairing["losses"]))) for pairing in pairings
    ]
    wide = [
        f"{pairing['a']} - {pairing['b']} within {100 * there:.1f} after {pairing['games']} games"
        for pairing, there in reaches
        if there > within / 100
    ]
    known = f"score known within {within:g} points: {len(pairings) - len(wide)} of {len(pairings)} pairings"
    return f"{known}; {'; '.join(wide)}" if wide else known


def ranked(players: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The players by their share of points, best first."""
    return sorted(players, key=lambda player: -player["score"])


def _games(indices: Sequence[int]) -> str:
    """`none`, or the number of games with the first few indices."""
    if not indices:
        return "none"
    first = ", ".join(map(str, indices[:5])) + (", ..." if len(indices) > 5 else "")
    return f"{len(indices)} (game {first})"
