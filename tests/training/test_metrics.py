"""Figures on positions whose answers are known."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from training.small_run import random_record

from tengen.data.batch import Batch, Rows
from tengen.data.label_sampler import LabelSampler, TargetMix, evaluation_labels
from tengen.data.record import GameRecord, pack_moves
from tengen.data.sampler import Sampler
from tengen.data.store import Store
from tengen.data.writer import StoreWriter
from tengen.engine.label import Labeller, LabelPlan
from tengen.evaluators import Evaluation, load_evaluator
from tengen.evaluators.evaluation import InputBatch
from tengen.evaluators.evaluator import UniformEvaluator
from tengen.statistics import student95
from tengen.training.card import metric_entries
from tengen.training.metrics import OF_GAMES, Estimate, PredictionResults, agreement, compare, measure


def batch(moves: list[int], values: list[float]) -> Batch:
    result = Batch.empty(len(moves), 1, 1, 3)
    result.policy[:] = moves
    result.value[:] = values
    return result


def evaluation(policy: list[list[float]], value: list[float]) -> Evaluation:
    result = Evaluation.zeros(len(value), 3)
    result.policy[:] = policy
    result.value[:] = value
    return result


def test_ranks_losses_and_values() -> None:
    sure = [0.5, 0.2, 0.1, 0.08, 0.05, 0.04, 0.02, 0.01, 0, 0]
    found = compare(
        evaluation([sure] * 4, [0.8, -0.5, 0.2, 0.0]),
        batch([0, 4, 5, -1], [1, 1, -1, math.nan]),
        np.array([0, 60, 120, 7]),
        np.arange(4),
    )
    np.testing.assert_array_equal(found.top1, [1, 0, 0, math.nan])
    np.testing.assert_array_equal(found.top5, [1, 1, 0, math.nan])
    figures = found.estimates()
    assert figures["top1"].mean == pytest.approx(1 / 3) and figures["top1"].count == 3
    assert figures["cross_entropy"].mean == pytest.approx(-(math.log(0.5) + math.log(0.05) + math.log(0.04)) / 3)
    assert figures["value_mse"].mean == pytest.approx((0.04 + 2.25 + 1.44) / 3)
    assert figures["value_mse_01"].mean == pytest.approx((0.1**2 + 0.75**2 + 0.6**2) / 3)
    assert figures["value_accuracy"].mean == pytest.approx(1 / 3)
    assert {phase: len(part) for phase, part in found.by_phase().items()} == {"0-49": 2, "50-99": 1, "100-149": 1}


def test_a_network_without_a_value_has_no_figures_of_it() -> None:
    found = compare(evaluation([[0.1] * 10] * 2, [0, 0]), batch([7, 3], [1, -1]), *2 * [np.arange(2)], has_value=False)
    unknown = {name for name, figure in found.estimates().items() if not figure.count}
    assert unknown == {"value_mse", "value_mse_01", "value_accuracy"} and found.calibration() == []


class WithoutPass(UniformEvaluator):
    """Every point of the board alike."""

    has_pass = False

    def infer(self, batch: InputBatch) -> Evaluation:
        result = super().infer(batch)
        result.policy[:, -1] = 0
        result.policy[:] /= result.policy.sum(1, keepdims=True)
        return result


def test_of_passes_a_network_without_one_says_nothing(tmp_path: Path) -> None:
    """Neither of those that were played nor of a teacher's: the points are compared alone."""
    shares = [{3: 3 << 14, 49: 1 << 14}, {49: 1 << 15}, {5: 1 << 14, 6: 1 << 14, 49: 1 << 15}]
    visits = tuple(np.array([point | share << 16 for point, share in each.items()], np.uint32) for each in shares)
    with StoreWriter(tmp_path / "labels") as writer:
        writer.add(GameRecord(7, pack_moves([0, 1, 0], [3, 49, 5]), winner=0, visits=visits))
    store, network = Store.open(tmp_path / "labels"), WithoutPass()
    found = measure(network, Sampler(store, "all", batch_size=3, symmetries=False)).estimates()
    assert found["top1"].count == 2 and found["cross_entropy"].mean == pytest.approx(math.log(49), abs=1e-5)
    assert found["value_mse"].count == 3
    rows: list[Rows] = []
    part = Sampler(store, "all", batch_size=2, symmetries=False)
    assert len(measure(UniformEvaluator(), part, 10, rows.append)) == 3
    assert [each.ply.tolist() for each in rows] == [part.rows(0).ply.tolist(), part.rows(1).ply[:1].tolist()]
    with_pass = measure(UniformEvaluator(), Sampler(store, "all", batch_size=3, symmetries=False), 2).estimates()
    assert with_pass["top1"].count == 2, "a network with a pass is evaluated on passes too"
    figures = agreement(network, LabelSampler(store, batch_size=3, symmetries=False, extra=OF_GAMES), 3)
    assert figures["same_move"].count == figures["divergence"].count == 2
    # The teacher's shares of the points are 1, and a half each.
    assert figures["divergence"].mean == pytest.approx(math.log(49) - math.log(2) / 2, abs=1e-5)


def test_ties_count_by_chance() -> None:
    """The uniform policy predicts one move in ten here, and five in ten, however numpy would sort it."""
    found = compare(evaluation([[0.1] * 10], [0]), batch([7], [1]), np.array([0]), np.array([0]))
    assert found.top1[0] == pytest.approx(0.1)
    assert found.top5[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)],
)
def test_wilson_intervals_of_the_books(hits: int, count: int, low: float, high: float) -> None:
    """Newcombe (1998), table I, for 81 of 263 and 0 of 10."""
    found = Estimate.share(np.array([1.0] * hits + [0.0] * (count - hits)))
    assert (found.low, found.high) == (pytest.approx(low, abs=2e-4), pytest.approx(high, abs=2e-4))


@pytest.mark.parametrize("count", range(1, 60))
def test_the_mean_lies_in_its_interval_to_the_last_bit(count: int) -> None:
    for hits in (0, count):
        figure = Estimate.share(np.array([1.0] * hits + [0.0] * (count - hits)))
        assert 0 <= figure.low <= figure.mean <= figure.high <= 1


def test_intervals_cover_what_they_claim() -> None:
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        figure = Estimate.average(random.normal(2, 3, 200))
        covered += figure.low < 2 < figure.high
    assert 0.92 < covered / 400 < 0.98


@pytest.mark.parametrize(("games", "least"), [(3, 0.88), (12, 0.9), (80, 0.92)])
def test_positions_of_a_game_are_no_independent_ones(games: int, least: float) -> None:
    """Errors and hits of a game lie together: intervals of independent positions would cover less than half."""
    random = np.random.default_rng(2)
    of, draws, covered = np.repeat(np.arange(games), 40), 300, np.zeros(4)
    for _ in range(draws):
        error = random.normal(2, 1, games)[of] + random.normal(0, 1, len(of))
        hit = (random.random(len(of)) < random.beta(1.4, 0.6, games)[of]).astype(float)  # 0.7 in the mean
        order = random.permutation(len(of))
        found = [
            *((Estimate.average(error[order], of[order]), 2), (Estimate.share(hit[order], of[order]), 0.7)),
            *((Estimate.average(error), 2), (Estimate.share(hit), 0.7)),
        ]
        covered += [figure.low < mean < figure.high for figure, mean in found]
    by_game, alone = covered[:2] / draws, covered[2:] / draws
    assert (by_game > least).all() and (by_game < 0.99).all() and (alone < 0.5).all()


def test_copies_of_a_position_say_nothing_new() -> None:
    """Means have the interval of the games exactly; a position a game has that of independent positions."""
    random = np.random.default_rng(3)
    values, games = random.random(30), random.permutation(30)
    once = Estimate.average(values)
    assert Estimate.average(values, games) == once and Estimate.share(values, games) == Estimate.share(values)
    copies = Estimate.average(np.tile(values, 7), np.tile(games, 7))
    assert (copies.low, copies.high, copies.count) == (pytest.approx(once.low), pytest.approx(once.high), 210)
    # What never differs shows no dependence: each game counts as one.
    wins, three = Estimate.share(np.ones(60), np.repeat(np.arange(3), 20)), Estimate.share(np.ones(3))
    assert (wins.low, wins.high, wins.count) == (pytest.approx(three.low), 1, 60)
    alone = Estimate.average(values, np.zeros(30, np.int64))
    assert alone.interval(3) == [None, None] and alone.mean == once.mean


def test_predictions_know_their_games(tmp_path: Path) -> None:
    """All figures go by game: with each position four times they have the intervals of once, as nearly as shares can.

    A file of an earlier version knows no games.
    """
    random = np.random.default_rng(4)
    n, zeros = 400, np.zeros(400)
    hits, loss, value = (random.random(n) < 0.4).astype(float), random.random(n), random.random(n)
    outcome = random.choice([-1.0, 0.0, 1.0], n)
    once = PredictionResults(hits, hits, loss, value, outcome, zeros, np.arange(n))
    four = once.rows(np.repeat(np.arange(n), 4))
    for name, figure in four.estimates().items():
        single = once.estimates()[name]
        assert (figure.low, figure.high) == (pytest.approx(single.low, abs=1e-3), pytest.approx(single.high, abs=1e-3))
        assert figure.count == 4 * single.count, name
    for (_, won), (_, alone) in zip(four.calibration(), once.calibration(), strict=True):
        assert (won.low, won.high) == (pytest.approx(alone.low, abs=0.01), pytest.approx(alone.high, abs=0.01))
    four.save(tmp_path / "new.npz")
    assert np.array_equal(PredictionResults.load(tmp_path / "new.npz").game, four.game)
    columns = {name: column for name, column in vars(once).items() if name != "game"}
    np.savez_compressed(tmp_path / "old.npz", **columns)
    assert PredictionResults.load(tmp_path / "old.npz").estimates() == once.estimates()


def test_nothing_known_is_unknown() -> None:
    empty = PredictionResults(*(np.array([math.nan]) for _ in range(5)), np.array([3.0]), np.array([0]))
    assert all(figure.count == 0 and math.isnan(figure.mean) for figure in empty.estimates().values())
    assert empty.calibration() == []


def test_calibration_of_an_honest_value() -> None:
    random = np.random.default_rng(1)
    chance = random.random(20_000)
    chance[0] = 1
    outcome = np.where(random.random(20_000) < chance, 1.0, -1.0)
    zeros = np.zeros(20_000)
    bands = PredictionResults(zeros, zeros, zeros, 2 * chance - 1, outcome, zeros, np.arange(20_000)).calibration()
    assert len(bands) == 10 and sum(won.count for _, won in bands) == 20_000
    for place, (predicted, won) in enumerate(bands):
        assert place / 10 <= predicted <= (place + 1) / 10
        assert won.mean == pytest.approx(predicted, abs=0.04)


def test_copies_of_games_make_no_interval_narrower(tmp_path: Path) -> None:
    """As in a store in which the same games were labelled several times."""
    network = load_evaluator("tygem-b8c64", "cpu", threads=1)
    records = [random_record(seed, size=19) for seed in range(6)]
    found = []
    for copies in (1, 4):
        with StoreWriter(tmp_path / str(copies)) as writer:
            for record in records * copies:
                writer.add(record)
        store = Store.open(tmp_path / str(copies))
        found.append(measure(network, Sampler(store, "all", network.plane_set, symmetries=False)).estimates())
    for name in ("value_mse", "value_accuracy"):  # as alike in each game as its result
        once, often = (figures[name] for figures in found)
        assert often.count == 4 * once.count and often.mean == pytest.approx(once.mean)
        assert often.high - often.mean == pytest.approx(once.high - once.mean, rel=0.02), name


@pytest.mark.slow
def test_agreement_with_labels_is_that_of_one_position_after_another(tmp_path: Path) -> None:
    """Games on two board sizes; a teacher agrees with itself."""
    teacher, student = (load_evaluator(name, "cpu", threads=1) for name in ("distilled-b8c64-2", "distilled-b8c64"))
    with StoreWriter(tmp_path / "games") as writer:
        for seed in range(12):
            writer.add(random_record(seed, size=7 + seed % 3))
    records = Labeller([Store.open(tmp_path / "games")], teacher, LabelPlan(per_game=3)).label(0, 12)
    with StoreWriter(tmp_path / "labels") as writer:
        for record in records:
            writer.add(record)
    sampler = LabelSampler(Store.open(tmp_path / "labels"), batch_size=16, symmetries=False, extra=OF_GAMES)
    itself, found = (agreement(each, sampler, 1000) for each in (teacher, student))
    assert itself["same_move"].mean == 1 and all(estimate.mean < 2e-3 for estimate in list(itself.values())[1:])
    rows = []
    for record in records:
        assert record.visits is not None
        for ply in [ply for ply, visits in enumerate(record.visits) if len(visits)]:
            first, other = (each.evaluate([record.game(ply)]) for each in (teacher, student))
            assert first.score is not None and other.score is not None
            p, q = first.policy[0].astype(float), other.policy[0].astype(float)
            value, score = first.value[0] - other.value[0], first.score[0] - other.score[0]
            divergence = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
            rows.append((p.argmax() == q.argmax(), divergence, value**2, abs(score)))
    assert [found[name].count for name in found] == [36] * 4 == [len(rows)] * 4
    assert [found[name].mean for name in found] == pytest.approx(np.mean(rows, 0).tolist(), rel=0.01)
    assert agreement(student, sampler, 20)["same_move"].count == 20
    # Three positions of each of the 12 games: the interval is that of the games' means, or of positions if wider.
    columns = np.array([row[1:] for row in rows])
    errors = [part.std(0, ddof=1) / math.sqrt(len(part)) for part in (columns, columns.reshape(12, 3, 3).mean(1))]
    halves = [found[name].high - found[name].mean for name in list(found)[1:]]
    assert halves == pytest.approx((student95(11) * np.maximum(*errors)).tolist(), rel=0.05)


@pytest.mark.parametrize("known", [(), ("value",), ("score",), ("value", "score")], ids=" ".join)
def test_a_label_without_value_or_score_is_not_compared_with_the_result_of_the_game(
    tmp_path: Path, known: tuple[str, ...]
) -> None:
    """As searches of self-play record no score, and a teacher with a policy alone neither of them."""
    network = load_evaluator("distilled-b8c64-2", "cpu", threads=1)
    labels = {name: np.full(24, 0.5, np.float32) for name in known}
    with StoreWriter(tmp_path / "labels") as writer:
        for seed in range(4):
            record = replace(random_record(seed, size=7), winner=0, score=20.5)
            visits = (np.array([1 << 16 | 3], np.uint32),) * 6 + (np.empty(0, np.uint32),) * 18
            values, scores = labels.get("value"), labels.get("score")
            writer.add(replace(record, visits=visits, root_values=values, root_scores=scores))
    store = Store.open(tmp_path / "labels")
    sampler = evaluation_labels(store, "all", 0, "tengen", batch_size=16, extra=OF_GAMES)
    assert sampler is not None
    found = agreement(network, sampler, 100)
    counts = [found[name].count for name in ("same_move", "teacher_value_mse", "teacher_score_error")]
    assert counts == [24, 24 * ("value" in known), 24 * ("score" in known)]
    # Training may put the result in the place of a label; to be evaluated by, it is none.
    mixed = LabelSampler(store, batch_size=16, symmetries=False, mix=TargetMix(value=0.5, score=1), extra=OF_GAMES)
    assert not np.isnan(mixed.batch(0).score).any()
    assert [figure.count for figure in agreement(network, mixed, 100).values()] == [24, *counts]
    on_card = metric_entries(measure(network, Sampler(store, "all", symmetries=False)), found)
    assert ["teacher_value_mse" in on_card, "teacher_score_error" in on_card] == ["value" in known, "score" in known]
