"""The figures of a study: paired differences, scores of matches, and names that do not exist."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_matches import series, write_match
from studies.small_study import put_network

from tengen.errors import RecipeError
from tengen.statistics import student95, wilson
from tengen.studies.figures import _FIND, Curve, find_figure, shown
from tengen.studies.runner import StudyFolder
from tengen.studies.study import FIGURES, Figure, load_study
from tengen.training.metrics import Estimate, PredictionResults


def results(correct: np.ndarray[Any, Any], ply: np.ndarray[Any, Any], each: int = 1) -> PredictionResults:
    """Of games that are judged at one position, or at `each` one after the other."""
    zeros, hits = np.zeros(len(ply)), correct.astype(float)
    return PredictionResults(hits, hits, zeros, zeros, zeros, ply.astype(float), np.arange(len(ply)) // each)


def test_a_difference_is_paired(path: Path, tmp_path: Path) -> None:
    """On positions where two networks mostly agree the interval is that of the pairs on which they differ."""
    random = np.random.default_rng(0)
    ply = random.integers(0, 200, 4000)
    first = random.random(4000) < 0.5
    second = first ^ (random.random(4000) < 0.05)
    made = load_study(str(path))
    folder = StudyFolder(tmp_path, made)
    for step, correct in (("net-1", first), ("net-2", second)):
        folder.run_folder(step).mkdir()
        results(correct, ply).save(folder.run_folder(step) / "predictions.npz")
        (tmp_path / f"{step}.json").write_text(json.dumps({"command": folder.command(step)}))
    found = find_figure(folder, Figure(figure="top1", of=["net-2"], minus=["net-1"]))
    gained, lost = int((second & ~first).sum()), int((first & ~second).sum())
    n = len(ply)
    assert found is not None and found.mean == pytest.approx((gained - lost) / n)
    variance = ((gained + lost) / n - ((gained - lost) / n) ** 2) / (n - 1)  # of McNemar's pairs
    assert found.high - found.low == pytest.approx(2 * student95(n - 1) * variance**0.5, rel=1e-6)
    # The same positions in another order, as this version has them: of one a game the pairs are found.
    results(second, ply).rows(np.arange(n)[::-1]).save(folder.run_folder("net-2") / "predictions.npz")
    assert find_figure(folder, Figure(figure="top1", of=["net-2"], minus=["net-1"])) == found
    results(first, ply[::-1]).save(folder.run_folder("net-1") / "predictions.npz")
    with pytest.raises(RecipeError, match="different positions"):
        find_figure(folder, Figure(figure="top1", of=["net-2"], minus=["net-1"]))
    # Pairs of a game count as one: with each five times the interval is that of once.
    for step, correct in (("net-1", first), ("net-2", second)):
        results(correct.repeat(5), ply.repeat(5), 5).save(folder.run_folder(step) / "predictions.npz")
    copies = find_figure(folder, Figure(figure="top1", of=["net-2"], minus=["net-1"]))
    assert copies is not None and copies.high - copies.low == pytest.approx(found.high - found.low, rel=1e-6)


def test_the_mean_of_seeds_that_are_always_right_has_an_interval(path: Path, tmp_path: Path) -> None:
    """Of 25 games: that of a single seed, of two it had no width."""
    folder = StudyFolder(tmp_path, load_study(str(path)))
    for step in ("net-1", "net-2"):
        folder.run_folder(step).mkdir()
        results(np.ones(25, bool), np.arange(25)).save(folder.run_folder(step) / "predictions.npz")
        (tmp_path / f"{step}.json").write_text(json.dumps({"command": folder.command(step)}))
    one, both = (find_figure(folder, Figure(figure="top1", of=of)) for of in (["net-1"], ["net-1", "net-2"]))
    assert one == both == Estimate(1.0, pytest.approx(0.8668, abs=1e-4), 1.0, 25)  # type: ignore[arg-type]


def test_a_figure_of_the_training_batches_is_of_the_last_tenth_and_in_the_scale_of_the_page(
    path: Path, tmp_path: Path
) -> None:
    folder = StudyFolder(tmp_path, load_study(str(path)))
    folder.run_folder("net-1").mkdir()
    (tmp_path / "net-1.json").write_text(json.dumps({"command": folder.command("net-1")}))
    events = [{"event": "train", "step": step, "value_mse": 1 - step / 1000} for step in range(50, 1001, 50)]
    log = "".join(json.dumps(event) + "\n" for event in events)
    (folder.run_folder("net-1") / "log.jsonl").write_text(log)
    found = find_figure(folder, Figure(figure="training", of=["net-1"], key="value_mse"))
    assert found is not None and found.mean == pytest.approx(0.025 / 4) and math.isnan(found.low)


def test_seeds_of_a_training_learn_the_same_positions(path: Path, tmp_path: Path) -> None:
    """The last tenth of 1,000 steps of 8 positions is 800, whether one seed was trained or two."""
    folder = StudyFolder(tmp_path, load_study(str(path)))
    training = [{"event": "train", "step": step, "top1": 0.25, "hours": 0.1} for step in range(100, 1001, 100)]
    validation = {"event": "validation", "step": 1000, "top1": 0.2, "intervals": {"top1": [0.1, 0.3]}}
    for step in ("net-1", "net-2"):
        run = folder.run_folder(step)
        run.mkdir()
        (tmp_path / f"{step}.json").write_text(json.dumps({"command": folder.command(step)}))
        (run / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in (*training, validation)))
        (run / "recipe.yaml").write_text("training: {batch_size: 8}\n")
    for of in (["net-1"], ["net-1", "net-2"]):
        found = find_figure(folder, Figure(figure="training", of=of, key="top1"))
        assert found == Estimate(0.25, *wilson(200, 800), 800)


def test_a_figure_that_a_step_does_not_have_is_named(path: Path, tmp_path: Path) -> None:
    folder = StudyFolder(tmp_path, load_study(str(path)))

    def find(figure: str, **fields: str) -> Estimate | None:
        return find_figure(folder, Figure(figure=figure, of=["duel"], **fields))

    def printed(output: object) -> None:
        found = {"command": folder.command("duel"), "seconds": 1, "output": output}
        (tmp_path / "duel.json").write_text(json.dumps(found))

    printed([])  # a command that printed no JSON
    with pytest.raises(RecipeError, match=r"figure output of step duel: unknown key 'foo'; there are: none"):
        find("output", key="foo")
    printed([{"name": "linear", "speed": 3}])
    found = [find("output", key=key) for key in ("0.speed", "linear.speed")]
    assert [each and each.mean for each in found] == [3, 3]
    for key, near in (("linear.sped", "did you mean speed"), ("1.speed", "there are: linear, 0"), ("linear", "linear")):
        with pytest.raises(RecipeError, match=f"unknown key '{key}'; .*{near}"):
            find("output", key=key)
    log = json.dumps({"event": "train", "step": 1, "top1": 0.5}) + "\n"
    folder.run_folder("duel").mkdir()
    (folder.run_folder("duel") / "log.jsonl").write_text(log)
    with pytest.raises(RecipeError, match="figure training of step duel: unknown key 'top2'; did you mean top1"):
        find("training", key="top2")
    write_match(folder.run_folder("duel"), series("one", "three", 1, 1))
    with pytest.raises(RecipeError, match="figure score of step duel: unknown player 'two'; there are: one, three"):
        find("score", player="one", against="two")
    network = put_network(folder, "net-1")
    (tmp_path / "net-1.json").write_text(json.dumps({"command": folder.command("net-1")}))
    assert folder.network("net-1") == network
    with pytest.raises(RecipeError, match="figure card of step net-1: unknown key 'foo'"):
        find_figure(folder, Figure(figure="card", of=["net-1"], key="foo"))


@pytest.mark.parametrize("ends", [{"sprt": {"elo0": 0, "elo1": 200}}, {"within": 12.0}], ids=["sprt", "within"])
def test_a_score_is_that_of_the_games_that_count_as_in_the_figures_of_the_match(
    path: Path, tmp_path: Path, ends: dict[str, Any]
) -> None:
    """Games that were played beside the deciding one stay in the folder and do not count."""
    folder = StudyFolder(tmp_path, load_study(str(path)))
    write_match(folder.run_folder("duel"), series("one", "two", 60, 40), kind="head-to-head", **ends)
    (tmp_path / "duel.json").write_text(json.dumps({"command": folder.command("duel")}))
    found = find_figure(folder, Figure(figure="score", of=["duel"], player="two", against="one"))
    assert found is not None and found.mean == 0 and found.count < 60
    high = 400 * math.log10(found.high / (1 - found.high))
    difference = Figure(figure="elo", of=["duel"], player="two")
    as_elo = find_figure(folder, difference)
    assert as_elo is not None and (as_elo.mean, as_elo.low) == (-math.inf, -math.inf)
    assert as_elo.high == pytest.approx(high)
    assert shown(difference, as_elo) == f"-inf (-inf to {high:+.0f})"


def test_a_score_of_a_match_that_was_interrupted_is_not_shown(path: Path, tmp_path: Path) -> None:
    """It would replace the score of a whole match on the page."""
    folder = StudyFolder(tmp_path, load_study(str(path)))
    write_match(folder.run_folder("duel"), series("one", "two", 1, 1))
    (folder.run_folder("duel") / "summary.json").write_text("{}")
    wanted = Figure(figure="score", of=["duel"], player="one")
    assert find_figure(folder, wanted) is None
    (tmp_path / "duel.json").write_text(json.dumps({"command": folder.command("duel")}))
    found = find_figure(folder, wanted)
    assert found is not None and (found.mean, found.count) == (0.5, 2)


def test_every_figure_of_a_row_can_be_found() -> None:
    assert set(FIGURES) == set(_FIND)


@pytest.mark.parametrize(
    ("wanted", "ends", "text"),
    [
        (Figure(figure="value_mse", of=["a"]), (0.43006, 0.42203, 0.43817), "0.4301 (0.4220 to 0.4382)"),
        (Figure(figure="value_mse", of=["a"]), (0.24991, 0.24952, 0.2503), "0.2499 (0.2495 to 0.2503)"),
        (Figure(figure="training", of=["a"], key="value_mse"), (0.25, math.nan, math.nan), "0.2500"),
        (Figure(figure="cross_entropy", of=["a"]), (2.1, 2.0, 2.2049), "2.10 (2.00 to 2.20)"),
        (Figure(figure="cross_entropy", of=["a"]), (0.0, 0.0, 0.0), "0 (0 to 0)"),
        (
            Figure(figure="cross_entropy", of=["a"], minus=["b"]),
            (0.01234, -0.00391, 0.0286),
            "+0.012 (-0.004 to +0.029)",
        ),
    ],
)
def test_a_figure_has_as_many_decimals_as_its_interval(
    wanted: Figure, ends: tuple[float, float, float], text: str
) -> None:
    assert shown(wanted, Estimate(*ends, 9)) == text


def test_a_speedup_is_a_ratio_and_no_share() -> None:
    twice = Figure(figure="speedup", of=["a"], minus=["b"], key="top1")
    assert shown(twice, Estimate(2.0, math.nan, math.nan, 9)) == "2"


@pytest.mark.parametrize("key", ["top1", "cross_entropy"])
@pytest.mark.parametrize(
    ("speed", "length", "near", "fast"), [(1, 10, 0.02, 40), (3, 10, 0.15, 40), (3, 8, 0.3, 40), (3, 10, 0.2, 18)]
)
def test_a_speedup_is_that_of_the_learning_and_not_of_its_noise(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    speed: int,
    length: int,
    near: float,
    fast: int,
) -> None:
    """Curves of up to 40 validations with a noise of 0.3 points, two seeds each: the same learning has a speedup of 1.

    The first validation is that of a start, before any sample.
    """
    random = np.random.default_rng(5)
    folder = StudyFolder(tmp_path, load_study(str(path)))

    def curve(_folder: StudyFolder, step: str, _figure: str) -> Curve:
        samples = np.arange(0.0, (fast if step in wanted.of else 40) + 1)
        learned = 0.45 - 0.15 * np.exp(-samples * (speed if step in wanted.of else 1) / length)
        mean = learned + random.normal(0, 0.003, len(samples))
        return Curve(samples, samples, mean if key == "top1" else 1 - mean, *np.full((2, len(samples)), math.nan))

    wanted = Figure(figure="speedup", of=["fast-1", "fast-2"], minus=["slow-1", "slow-2"], key=key)
    monkeypatch.setattr("tengen.studies.figures.curve", curve)
    estimates = [_FIND["speedup"](folder, wanted) for _ in range(300)]
    found = np.array([each.mean for each in estimates if each is not None])
    reached = found[~np.isnan(found)]
    assert len(reached) > 0.9 * len(found)
    assert np.median(reached) == pytest.approx(speed, abs=near)
    assert reached.mean() == pytest.approx(speed, rel=0.15)
    assert (reached > 1.2 * speed).mean() < 0.1


def test_a_start_that_is_better_than_the_slow_run_at_its_end_has_a_speedup(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = np.arange(10.0)
    curves = {"one": Curve(samples, samples, samples + 20, *np.full((2, 10), math.nan))}
    curves["other"] = Curve(samples, samples, samples, *np.full((2, 10), math.nan))
    monkeypatch.setattr("tengen.studies.figures.curve", lambda _folder, step, _figure: curves[step])
    wanted = Figure(figure="speedup", of=["one"], minus=["other"])
    found = _FIND["speedup"](StudyFolder(tmp_path, load_study(str(path))), wanted)
    assert found is not None and found.mean == 9


@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_a_speedup_of_few_validations_and_a_level_that_is_never_reached(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    samples = np.arange(1.0, count + 1)
    low, high = (Curve(samples, samples, mean, mean, mean) for mean in (samples / 100, samples / 100 + 0.5))
    folder = StudyFolder(tmp_path, load_study(str(path)))
    wanted = Figure(figure="speedup", of=["one"], minus=["other"])
    curves: dict[str, Curve] = {}
    monkeypatch.setattr("tengen.studies.figures.curve", lambda _folder, step, _figure: curves[step])
    found = []
    for ours, theirs in ((low, low), (low, high), (high, low)):
        curves |= {"one": ours, "other": theirs}
        estimate = _FIND["speedup"](folder, wanted)
        assert estimate is not None
        found.append(estimate.mean)
    width = max(1, count // 8)
    # The curve that begins above the level reaches it at its first running mean.
    assert found == pytest.approx([1, math.nan, (count - (width - 1) / 2) / ((width + 1) / 2)], nan_ok=True)
