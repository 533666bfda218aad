"""Which games of a match are left: all that it asks for, but those of pairings whose score is known well enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from tengen.arena.outcome import Outcome
from tengen.arena.schedule import fixture
from tengen.arena.statistics import Tally

Pairing = tuple[str, str]


def left(
    pairings: Sequence[Pairing], games: int, within: float | None, outcomes: Mapping[int, Outcome]
) -> Iterator[int]:
    """The numbers of the games to play, in their order, where each pairing meets `games` times at most.

    With `within`, in percentage points, a pairing ends as soon as the 95% interval of its score reaches no further
    than that to either side; a pair of games that was begun is played to its end. `outcomes` are the games that were
    played; they may grow while this goes on, and are looked at again for every number.
    """
    closed: set[Pairing] = set()
    begun = {outcome.pair for outcome in outcomes.values()}
    for index in range(games // 2 * 2 * len(pairings)):
        game = fixture(pairings, index)
        pairing = pairings[game.pair % len(pairings)]
        if index in outcomes:
            continue
        if within is not None and pairing not in closed and _is_known(pairing, within / 100, outcomes):
            closed.add(pairing)
        if pairing not in closed or game.pair in begun:
            begun.add(game.pair)
            yield index


def _is_known(pairing: Pairing, within: float, outcomes: Mapping[int, Outcome]) -> bool:
    """Whether the score was known well enough after some round.

    Rounds count in their order up to the first that is not complete, and what follows the deciding one changes
    nothing: so neither games that end out of turn nor an interruption can.
    """
    rounds: dict[int, list[Outcome]] = defaultdict(list)
    for outcome in outcomes.values():
        if {outcome.black, outcome.white} == set(pairing):
            rounds[outcome.round].append(outcome)
    wins = draws = losses = 0
    number = 0
    while len(both := rounds.get(number, [])) == 2:
        wins += sum(outcome.winner == pairing[0] for outcome in both)
        draws += sum(outcome.winner is None for outcome in both)
        losses += sum(outcome.winner == pairing[1] for outcome in both)
        if reach(Tally(wins, draws, losses)) <= within:
            return True
        number += 1
    return False


def reach(tally: Tally) -> float:
    """How far the 95% interval reaches from the score, on its wider side; 0..1."""
    low, high = tally.interval()
    return max(high - tally.score, tally.score - low)
