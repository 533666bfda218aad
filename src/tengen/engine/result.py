"""What a search and a count say, as values."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RootEvaluation:
    """The network's raw output at the root, for its side to move, without temperature and noise.

    policy [size * size + 1] has pass last (0 without a pass logit). Score is 0, and ownership [size, size] and what
    follows are None, where the network does not predict them; they mean what they mean in an Evaluation.
    """

    policy: NDArray[np.float32]
    value: float
    ownership: NDArray[np.float32] | None
    score: float = 0.0
    no_result: float | None = None
    lead: float | None = None
    score_stdev: float | None = None
    value_error: float | None = None
    score_error: float | None = None
    time_left: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One move that was considered; winrate (0..1), score (points) and lcb (0..1) are for the side to move.

    `score` is None where neither network nor playouts know it. `pv` is the principal variation, which begins with
    the move, `pv_visits` are the visits of each of its moves and `pv_node_visits` those of the position after each.

    `visits` and `weight` are those of the move; `node_visits` and `node_weight` those of the position after it, which
    other lines may have visited too where the search shares positions (`transpositions`); else they are the same.

    `utility` is what the search maximises and `utility_lcb` its lower confidence bound; `weight` is what the visits
    count for, and `play_weight` that by which the move is chosen (KataGo's play selection value). `lead` and
    `score_stdev` (points) and `no_result` (0..1) are None where the network or the search do not know them.
    """

    point: int
    visits: int
    winrate: float
    score: float | None
    prior: float
    lcb: float
    pv: tuple[int, ...] = ()
    pv_visits: tuple[int, ...] = ()
    utility: float = 0.0
    utility_lcb: float = -1.0
    weight: float = 0.0
    lead: float | None = None
    score_stdev: float | None = None
    no_result: float | None = None
    play_weight: float = 0.0
    node_visits: int = 0
    node_weight: float = 0.0
    pv_node_visits: tuple[int, ...] = ()

    @classmethod
    def of_columns(cls, **columns: Sequence[Any]) -> list[Candidate]:
        """The moves of a column a field, all fields. The constructor of a frozen class takes ten times as long, for 362
        moves on 19x19 each time that a search is asked."""
        found = [cls.__new__(cls) for _ in columns["point"]]
        for name, column in columns.items():
            deque(map(getattr(cls, name).__set__, found, column), maxlen=0)
        return found


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The outcome of a search, all of it for the side to move, `to_play` (0 black, 1 white).

    `move` is the point to play, pass included; `resign` says that the engine would rather give up. `candidates` are
    the legal moves, best first. `score` (points) is None where neither network nor playouts know it; so is `ownership`,
    float32 [size, size] with +1 for what the side to move will own, which is None before the first visit too.
    `evaluations` and `seconds` are this search's own; `visits` include a kept tree's. `utility` to `no_result` are the
    root's, as in a Candidate; with KataGo's search these, winrate and score weigh each move as it would be explored now
    (its pruned root values). `raw` is the network's own evaluation of the root, None for a kept tree.
    """

    move: int
    resign: bool
    to_play: int
    candidates: tuple[Candidate, ...] = field(repr=False)  # as all that would fill a page
    winrate: float
    score: float | None
    ownership: NDArray[np.float32] | None = field(repr=False)
    visits: int
    evaluations: int
    seconds: float
    utility: float = 0.0
    weight: float = 0.0
    lead: float | None = None
    score_stdev: float | None = None
    no_result: float | None = None
    raw: RootEvaluation | None = field(default=None, repr=False)


def score_lead(found: Candidate | SearchResult | RootEvaluation) -> float | None:
    """The points by which the side to move leads: the lead, or the score where the network knows no lead."""
    return found.score if found.lead is None else found.lead


@dataclass(frozen=True, eq=False)
class Count:
    """A counted position: `score` is Black minus White by the game's rules, komi included, without the dead stones.

    `dead` lists their points. `ownership` is float32 [size, size] in -1..1, +1 Black: how sure each point is.
    `territory` is int8 [size, size]: 0 and 1 what Black and White hold with living stones and surrounded points,
    2 neutral.
    """

    score: float
    dead: tuple[int, ...]
    ownership: NDArray[np.float32] = field(repr=False)
    territory: NDArray[np.int8] = field(repr=False)

    def margin(self, color: int) -> float:
        """Points by which this color leads."""
        return self.score if color == 0 else -self.score
