"""Weaker moves that look human: drawn from the policy, or as costly as a drawn loss, among moves worth a thought."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.engine.passing import is_early
from tengen.engine.shapes import Shapes
from tengen.engine.style import Style
from tengen.evaluators.evaluator import Evaluator
from tengen.game import Game

MAX_ESTIMATED = 8
"""Moves whose loss is estimated: the most probable one and others at even distances in the order of the policy."""
NEAR = 0.5
"""Losses that differ by less, in points, are equal: the network's score is no more exact."""


def weaker_move(
    game: Game, policy: NDArray[np.float64], style: Style, evaluator: Evaluator, random: np.random.Generator
) -> int:
    """A move in the style's `policy_temperature`, `mean_loss` and `policy_floor`; see `Style`.

    `policy` [size * size + 1] has the network's probabilities of the legal moves, pass last. With a mean loss the move
    is as costly as the drawn loss allows: of the moves that lose at most NEAR points more than it, those within NEAR of
    the costliest, by the policy. Passes exactly where `considered` gives pass alone.
    """
    moves = considered(game, policy, style.policy_floor)
    if style.mean_loss is not None and len(moves) > 1:
        moves = moves[np.unique(np.linspace(0, len(moves) - 1, MAX_ESTIMATED).round().astype(int))]
        lost = losses(game, moves, evaluator)
        allowed = lost <= random.exponential(style.mean_loss) + NEAR
        moves = moves[allowed & (lost >= lost[allowed].max() - NEAR)]
    logits = np.log(policy[moves] + 1e-12) / (style.policy_temperature or 1.0)
    weights = np.exp(logits - logits.max())
    return int(random.choice(moves, p=weights / weights.sum()))


def considered(game: Game, policy: NDArray[np.float64], floor: float) -> NDArray[np.intp]:
    """The moves that have at least `floor` times the probability of the best one, most probable first.

    Own true eyes are left out, and pass unless it is the most probable move: then it is the only one, except early in
    a game whose opponent has not passed (`passing.is_early`).
    """
    pass_, shapes = game.pass_point, Shapes(game)
    legal = {*game.legal_points(), pass_}
    ranked = [
        p
        for p in np.argsort(-policy, kind="stable").tolist()
        if p in legal and not shapes.fills_own_eye(p, game.to_play)
    ]
    if ranked[0] == pass_:
        if len(ranked) == 1 or not is_early(game, shapes) or game.last_was_pass:
            return np.array([pass_])
        ranked.remove(pass_)
    minimum = floor * policy[ranked[0]]
    return np.array([p for p in ranked if p != pass_ and policy[p] >= minimum])


def losses(game: Game, moves: NDArray[np.intp], evaluator: Evaluator) -> NDArray[np.float64]:
    """Points [N] that each move loses against the best of them, by the network's score after it; one batch.

    For a network without a score the difference between a sure win and a sure loss counts as 2 x size points.
    """
    found = evaluator.evaluate([game.copy().play(int(point)) for point in moves])
    opponents = found.value * game.size if found.score is None else found.score
    lost: NDArray[np.float64] = (opponents - opponents.min()).astype(np.float64)
    return lost
