"""The numbers of `kata-raw-nn` from outputs that are known, for either side to move."""

from dataclasses import replace

import numpy as np
import pytest

from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator
from tengen.evaluators.raw import raw_outputs
from tengen.game import BLACK, WHITE, Game

OWNERSHIP = np.arange(9, dtype=np.float32).reshape(3, 3) / 10


class Known(UniformEvaluator):
    """Of every position the same for the side to move; keeps the shares of the optimistic policy."""

    def infer(self, batch: InputBatch) -> Evaluation:
        found, rows = super().infer(batch), len(batch)
        self.optimism = batch.optimism
        numbers = {"no_result": 0.1, "lead": 2.0, "score_stdev": 4.0, "value_error": 0.2, "score_error": 1.5}
        return replace(
            found,
            value=np.full(rows, 0.3, np.float32),
            score=np.full(rows, 3.0, np.float32),
            ownership=np.repeat(OWNERSHIP[None], rows, 0),
            **{name: np.full(rows, value, np.float32) for name, value in numbers.items()},
        )


@pytest.mark.parametrize(("color", "sign"), [(WHITE, 1), (BLACK, -1)])
def test_numbers_are_those_of_white_and_the_policy_is_that_of_legal_moves(color: int, sign: int) -> None:
    game, evaluator = Game(3).setup(black=[0], to_play=color), Known()
    [found] = raw_outputs(evaluator, game, [0], optimism=0.25)
    [again] = raw_outputs(evaluator, game.native(), [0], optimism=0.25)
    assert found.as_json() == again.as_json()
    assert evaluator.optimism is not None and evaluator.optimism.tolist() == [0.25]
    told = found.as_json()
    chances = [(1 - 0.1 + sign * 0.3) / 2, (1 - 0.1 - sign * 0.3) / 2, 0.1]
    assert [told[name] for name in ("whiteWin", "whiteLoss", "noResult")] == pytest.approx(chances, abs=1e-6)
    assert (told["whiteLead"], told["whiteScoreSelfplay"], told["whiteScoreSelfplaySq"]) == (2 * sign, 3 * sign, 25)
    errors = (told["varTimeLeft"], told["shorttermWinlossError"], told["shorttermScoreError"])
    assert errors == (-1, 0.2, 1.5), "the time is unknown"
    assert [p for row in told["policy"] for p in row] == [None] + [round(1 / 9, 6)] * 8
    assert told["policyPass"] == round(1 / 9, 6)
    assert np.array(told["whiteOwnership"]) == pytest.approx(sign * OWNERSHIP)
    lines = found.text().split("\n")
    assert lines[lines.index("whiteOwnership") + 2] == "".join(f"{sign * x:9.7f} " for x in (0.3, 0.4, 0.5))
    assert lines[lines.index("policy") + 1] == "    NAN 0.111111 0.111111 "


def test_what_a_network_does_not_predict_is_nothing_or_unknown() -> None:
    class Bare(Known):
        def infer(self, batch: InputBatch) -> Evaluation:
            found = super().infer(batch)
            return Evaluation(found.policy, found.value)

    [found] = raw_outputs(Bare(), Game(3), [0])
    told = found.as_json()
    assert (told["whiteWin"], told["whiteLoss"], told["noResult"]) == pytest.approx((0.35, 0.65, 0))
    assert (told["whiteLead"], told["whiteScoreSelfplay"], told["whiteScoreSelfplaySq"]) == (0, 0, 0)
    assert told["varTimeLeft"] == told["shorttermWinlossError"] == told["shorttermScoreError"] == -1
    assert told["whiteOwnership"] == [[0.0] * 3] * 3
