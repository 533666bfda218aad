"""How well an evaluator predicts game records: one measure for networks in training and for any network file.

Needs no PyTorch.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tengen.data.batch import Batch, Rows
from tengen.data.encoder import Target
from tengen.data.label_sampler import LabelSampler
from tengen.data.sampler import Sampler
from tengen.disk import write_whole
from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.evaluators.evaluator import Evaluator
from tengen.statistics import Z95, design_effect, student95, wilson

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
_PHASE = 50  # moves of a phase of the game
_BANDS = 10  # of the predicted winning chance, for the calibration
OF_GAMES: Mapping[str, Target] = {"game": lambda store, rows, _edge: store.first_rows[rows.game]}
"""The further targets of a sampler of labels for `agreement`."""


@dataclass(frozen=True)
class Estimate:
    """A mean over `count` positions with its 95% interval.

    The positions of a game are no independent ones: `games` are numbers of their games, [count]; None: of a game each.
    """

    mean: float
    low: float
    high: float
    count: int

    @staticmethod
    def share(hits: Numbers, games: Integers | None = None) -> "Estimate":
        """The estimate of a share (values 0..1): the Wilson interval, which holds near 0 and 1 and with few positions.

        It is that of the effective number of positions: theirs by the design effect of the games, which few games tell
        roughly: Student's t in place of the normal distribution.
        """
        count = len(hits)
        if not count:
            return Estimate(math.nan, math.nan, math.nan, 0)
        mean = float(hits.mean())
        effect = 1.0 if games is None else design_effect(hits, games)
        groups = count if games is None else len(np.unique(games))
        if effect > 1 and groups > 1 and np.ptp(hits) > 0:
            effect *= (student95(groups - 1) / Z95) ** 2
        low, high = wilson(float(hits.sum()) / effect, count / effect)
        return Estimate(mean, min(mean, max(0.0, low)), max(mean, min(1.0, high)), count)

    @staticmethod
    def average(values: Numbers, games: Integers | None = None) -> "Estimate":
        """The estimate of a mean of any values: the interval of Student's t, by the variance between games."""
        count = len(values)
        if not count:
            return Estimate(math.nan, math.nan, math.nan, 0)
        mean = float(values.mean())
        groups = count if games is None else len(np.unique(games))
        if groups == 1:
            return Estimate(mean, -math.inf, math.inf, count)
        effect = 1.0 if games is None else design_effect(values, games)
        half = student95(groups - 1) * float(values.std(ddof=1)) * math.sqrt(effect) / math.sqrt(count)
        return Estimate(mean, mean - half, mean + half, count)

    def interval(self, digits: int) -> list[float | None]:
        """[low, high], rounded, as JSON can hold them: None where there is no bound, as with a single position."""
        return [round(end, digits) if math.isfinite(end) else None for end in (self.low, self.high)]

    def __str__(self) -> str:
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True)
class PredictionResults:
    """What was found at each of N positions, float64 [N] each but `game`; NaN where the target is unknown.

    top1, top5: 1 when the move played was among the 1 or 5 likeliest, its chance to be where moves tie. loss: minus
    the log of its probability. value, outcome: predicted and real, side to move; value is NaN for a network without
    one. ply: moves played before. game: number of the game in its store, that of its first row, int64 [N].
    """

    top1: Numbers
    top5: Numbers
    loss: Numbers
    value: Numbers
    outcome: Numbers
    ply: Numbers
    game: Integers

    def __len__(self) -> int:
        return len(self.top1)

    def save(self, path: Path) -> None:
        """Write the columns as an .npz file, under a temporary name first."""
        with write_whole(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **vars(self))

    @staticmethod
    def load(path: Path) -> "PredictionResults":
        """Read what `save` wrote. Earlier versions did not write the game: each position then counts as one."""
        with np.load(path) as columns:
            return PredictionResults(**{"game": np.arange(len(columns["ply"])), **columns})

    def rows(self, chosen: NDArray[np.bool_] | Integers) -> "PredictionResults":
        return PredictionResults(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def estimates(self) -> dict[str, Estimate]:
        """The figures by name: top1, top5, cross_entropy; value_mse, with values in -1..1; value_mse_01, the same with
        values in 0..1, as many papers have it; value_accuracy (who wins, of decided games)."""
        known = self.value_known
        value, outcome = self.value[known], self.outcome[known]
        decided = outcome != 0
        right = 0.5 + 0.5 * np.sign(value[decided] * outcome[decided])
        played = ~np.isnan(self.loss)
        of_moves, of_values = self.game[played], self.game[known]
        return {
            "top1": Estimate.share(self.top1[played], of_moves),
            "top5": Estimate.share(self.top5[played], of_moves),
            "cross_entropy": Estimate.average(self.loss[played], of_moves),
            "value_mse": Estimate.average((value - outcome) ** 2, of_values),
            "value_mse_01": Estimate.average((value - outcome) ** 2 / 4, of_values),
            "value_accuracy": Estimate.share(right, of_values[decided]),
        }

    def without_policy(self) -> "PredictionResults":
        """The same of a network without a policy, whose file gives all moves the same probability: NaN of moves."""
        unknown = np.full(len(self), np.nan)
        return replace(self, top1=unknown, top5=unknown, loss=unknown)

    @property
    def value_known(self) -> NDArray[np.bool_]:
        """Where both the value and the outcome are known, [N]."""
        return ~np.isnan(self.value) & ~np.isnan(self.outcome)

    def by_phase(self) -> dict[str, "PredictionResults"]:
        """The positions after 0 to 49 moves, after 50 to 99, and so on."""
        number = (self.ply // _PHASE).astype(int)
        return {
            f"{phase * _PHASE}-{phase * _PHASE + _PHASE - 1}": self.rows(number == phase) for phase in np.unique(number)
        }

    def calibration(self) -> list[tuple[float, Estimate]]:
        """For each band of predicted winning chance that occurs: (mean prediction, share of games won, a draw half)."""
        known = self.value_known
        chance, won, game = (self.value[known] + 1) / 2, (self.outcome[known] + 1) / 2, self.game[known]
        band = np.minimum((chance * _BANDS).astype(int), _BANDS - 1)
        inside = (band == b for b in np.unique(band))
        return [(float(chance[there].mean()), Estimate.share(won[there], game[there])) for there in inside]


def measure(
    evaluator: Evaluator, sampler: Sampler, positions: int | None = None, seen: Callable[[Rows], None] = lambda _: None
) -> PredictionResults:
    """Evaluate the first positions of a sampler, one epoch at most, and compare with the records.

    `seen` is called after each batch with those of its positions that count, its first ones.
    """
    wanted = sampler.positions if positions is None else min(positions, sampler.positions)
    parts = []
    for step in range(-(-wanted // sampler.batch_size)):
        rows = sampler.rows(step)
        batch = sampler.encode(rows)
        inputs = InputBatch(sampler.plane_set.name, batch.planes, batch.scalars, batch.mask)
        network = evaluator.on(sampler.edge)
        evaluation = network.infer(inputs)
        heads = {"has_value": network.has_value, "has_pass": network.has_pass}
        parts.append(compare(evaluation, batch, rows.ply, sampler.store.first_rows[rows.game], **heads))
        seen(rows.first(wanted - step * sampler.batch_size))
    joined = (np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(PredictionResults))
    return PredictionResults(*(column[:wanted] for column in joined))


def compare(
    evaluation: Evaluation, batch: Batch, ply: Integers, game: Integers, has_value: bool = True, has_pass: bool = True
) -> PredictionResults:
    """Compare one evaluation with the moves that were played, at `ply` of `game` [B], and with how the games ended.

    Of passes a network without one says nothing, as in training.
    """
    move, last = batch.policy, evaluation.policy.shape[1] - 1
    top1, top5, loss = compare_moves(evaluation.policy, move if has_pass else np.where(move == last, -1, move))
    return PredictionResults(
        top1=top1,
        top5=top5,
        loss=loss,
        value=evaluation.value.astype(np.float64) if has_value else np.full(len(batch.value), np.nan),
        outcome=batch.value.astype(np.float64),
        ply=ply.astype(np.float64),
        game=game.astype(np.int64),
    )


def compare_moves(policy: NDArray[np.float32], move: Integers) -> tuple[Numbers, Numbers, Numbers]:
    """(top1, top5, loss), float64 [B] as in PredictionResults, of probabilities [B, A]; NaN where `move` [B] is -1."""
    played = move >= 0
    exact = policy.astype(np.float64)
    chosen = exact[np.arange(len(exact)), np.where(played, move, 0)]
    ahead = (exact > chosen[:, None]).sum(1)
    ties = (exact == chosen[:, None]).sum(1)
    unknown = np.where(played, 0.0, np.nan)
    top1, top5 = (np.clip((best - ahead) / ties, 0, 1) + unknown for best in (1, 5))
    return top1, top5, -np.log(np.maximum(chosen, 1e-12)) + unknown


def agreement(
    evaluator: Evaluator, sampler: LabelSampler, positions: int, has_policy: bool = True
) -> dict[str, Estimate]:
    """Compare with the labels of a teacher at the first positions of a sampler, one epoch at most.

    Its further targets are to be OF_GAMES; its mix is not used, since the record says nothing of a teacher. Figures:
    same_move, the same best move; divergence of the policy from the teacher's (Kullback-Leibler, nats);
    teacher_value_mse, with values in -1..1; teacher_score_error, the difference in points. Without positions where
    network and teacher both have one, its count is 0, as is that of the first two without `has_policy`. Of a network
    without pass the points alone are compared, as in training.
    """
    wanted, network = min(positions, sampler.positions), evaluator.on(sampler.edge)
    found: dict[str, list[tuple[Numbers, Integers]]] = {}
    for start in range(0, wanted, sampler.batch_size):
        batch = sampler.draw(start, min(sampler.batch_size, wanted - start), labels_alone=True)
        inputs = InputBatch(sampler.plane_set.name, batch.planes, batch.scalars, batch.mask)
        evaluation, target = network.infer(inputs), batch.target
        assert target is not None
        teacher, student = target.astype(np.float64), evaluation.policy.astype(np.float64)
        if not network.has_pass:
            teacher[:, -1] = 0
            with np.errstate(invalid="ignore"):  # no number where the teacher passes
                teacher /= teacher.sum(1, keepdims=True)
        logs = np.log(np.where(teacher > 0, teacher, 1)) - np.log(np.maximum(student, 1e-12))
        unknown = np.full(len(teacher), np.nan)
        columns = {
            "same_move": np.where(np.isnan(teacher[:, 0]), np.nan, teacher.argmax(1) == student.argmax(1)),
            "divergence": (teacher * logs).sum(1),
            "teacher_value_mse": (evaluation.value - batch.value) ** 2.0 if network.has_value else unknown,
            "teacher_score_error": unknown if evaluation.score is None else np.abs(evaluation.score - batch.score),
        }
        if not has_policy:
            columns |= {"same_move": unknown, "divergence": unknown}
        for name, column in columns.items():
            known = ~np.isnan(column)
            found.setdefault(name, []).append((column[known].astype(np.float64), batch.extra["game"][known]))
    figures: dict[str, Estimate] = {}
    for name, parts in found.items():
        column, games = (np.concatenate(each) for each in zip(*parts, strict=True))
        figures[name] = (Estimate.share if name == "same_move" else Estimate.average)(column, games)
    return figures
