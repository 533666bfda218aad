"""The outputs of a network for one position without search, as KataGo prints them (`kata-raw-nn`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.data.planes import plane_set
from tengen.evaluators.evaluation import Floats
from tengen.evaluators.evaluator import RAW_OPTIMISM, Evaluator, legal_policy
from tengen.evaluators.symmetric import SYMMETRIES, infer_under
from tengen.game import WHITE, AnyGame, native_game

UNKNOWN = -1.0
"""Stands for an error or a time that the network does not predict."""


@dataclass(frozen=True, eq=False)
class RawOutput:
    """What a network says of a position that it saw in one symmetry; the arrays are turned back.

    Values, scores and ownership [size, size] are White's; `policy` [size, size] is that of the side to move, NaN where
    a move is illegal. What the network does not predict is 0; errors and time are -1 then.
    """

    symmetry: int
    white_win: float
    white_loss: float
    no_result: float
    white_lead: float
    white_score: float
    white_score_square: float
    time_left: float
    value_error: float
    score_error: float
    policy: NDArray[np.float32]
    policy_pass: float
    white_ownership: NDArray[np.float32]

    def text(self, *, human: bool = False) -> str:
        """The lines of `kata-raw-nn`, or those of `kata-raw-human-nn`."""
        lines = [f"symmetry {self.symmetry}"]
        numbers = self._numbers()
        if human:
            shown = (number for number in numbers if number[0] not in ("whiteLead", "varTimeLeft"))
            numbers = [(name.replace("Selfplay", ""), value, digits) for name, value, digits in shown]
        lines += [f"{name} {value:.{digits}f}" for name, value, digits in numbers]
        lines.append("policy")
        lines += ["".join("    NAN " if np.isnan(x) else f"{x:8.6f} " for x in row) for row in self.policy]
        lines += [f"policyPass {self.policy_pass:8.6f} ", "whiteOwnership"]
        lines += ["".join(f"{x:9.7f} " for x in row) for row in self.white_ownership]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """The same numbers by KataGo's names; the probability of an illegal move is None."""
        return {
            "symmetry": self.symmetry,
            **{name: round(value, digits) for name, value, digits in self._numbers()},
            "policy": [[None if np.isnan(x) else round(float(x), 6) for x in row] for row in self.policy],
            "policyPass": round(self.policy_pass, 6),
            "whiteOwnership": [[round(float(x), 7) for x in row] for row in self.white_ownership],
        }

    def _numbers(self) -> list[tuple[str, float, int]]:
        """Name, value and digits of the single numbers."""
        return [
            ("whiteWin", self.white_win, 6),
            ("whiteLoss", self.white_loss, 6),
            ("noResult", self.no_result, 6),
            ("whiteLead", self.white_lead, 3),
            ("whiteScoreSelfplay", self.white_score, 3),
            ("whiteScoreSelfplaySq", self.white_score_square, 3),
            ("varTimeLeft", self.time_left, 3),
            ("shorttermWinlossError", self.value_error, 3),
            ("shorttermScoreError", self.score_error, 3),
        ]


def raw_outputs(
    evaluator: Evaluator,
    position: AnyGame,
    symmetries: Sequence[int] = range(SYMMETRIES),
    optimism: float = RAW_OPTIMISM,
    advantage: float = 0.0,
) -> list[RawOutput]:
    """The outputs for a position, seen in each of these symmetries (0..7).

    `optimism`, 0 to 1, is the share of the optimistic policy, for networks that have one; `advantage` the doublings of
    visits of the side to move, for networks that read them. Raises NetworkError for a board size that the evaluator
    does not know.
    """
    game = native_game(position)
    chosen, size, count = evaluator.on(game.size), game.size, len(symmetries)
    batch = replace(chosen.encoded([game] * count, size), optimism=np.full(count, optimism, np.float32))
    scalars = plane_set(chosen.plane_set).scalars
    if advantage and "playout_advantage" in scalars:
        batch.scalars[:, scalars.index("playout_advantage")] = 1
        batch.scalars[:, scalars.index("playout_advantage_size")] = advantage / 2
    found = infer_under(chosen, batch, np.array(symmetries, np.intp))
    found = replace(found, policy=legal_policy(found.policy, [game] * count, size))
    illegal = np.ones(size * size, bool)
    illegal[game.legal_points()] = False
    sign = 1 if game.to_play == WHITE else -1

    def number(column: Floats | None, row: int, unknown: float) -> float:
        return unknown if column is None else float(column[row])

    outputs = []
    for row, symmetry in enumerate(symmetries):
        no_result, value = number(found.no_result, row, 0.0), sign * float(found.value[row])
        score, spread = number(found.score, row, 0.0), number(found.score_stdev, row, 0.0)
        policy = found.policy[row, :-1].copy()
        policy[illegal] = np.nan
        ownership = np.zeros((size, size), np.float32) if found.ownership is None else sign * found.ownership[row]
        outputs.append(
            RawOutput(
                symmetry=symmetry,
                white_win=(1 - no_result + value) / 2,
                white_loss=(1 - no_result - value) / 2,
                no_result=no_result,
                white_lead=sign * number(found.lead, row, score),
                white_score=sign * score,
                white_score_square=score**2 + spread**2,
                time_left=number(found.time_left, row, UNKNOWN),
                value_error=number(found.value_error, row, UNKNOWN),
                score_error=number(found.score_error, row, UNKNOWN),
                policy=policy.reshape(size, size),
                policy_pass=float(found.policy[row, -1]),
                white_ownership=ownership,
            )
        )
    return outputs
