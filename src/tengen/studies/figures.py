"""The figures of a study, read from its run folders, with 95% intervals: paired where positions are the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from tengen.errors import RecipeError, unknown_name
from tengen.evaluators.installed_networks import is_playout
from tengen.evaluators.network_file import Card, read_card
from tengen.evaluators.playout_file import read_playout_card
from tengen.match.summary import games_of, tally
from tengen.ratings.pool import match_games
from tengen.runs.events import read_events
from tengen.statistics import Z95, wilson
from tengen.studies.runner import StudyFolder
from tengen.studies.study import Figure
from tengen.training.metrics import Estimate, PredictionResults

Numbers = NDArray[np.float64]

COLUMNS: dict[str, Callable[[PredictionResults], Numbers]] = {
    "top1": lambda found: found.top1,
    "top5": lambda found: found.top5,
    "cross_entropy": lambda found: found.loss,
    "value_mse": lambda found: (found.value - found.outcome) ** 2 / 4,
    "value_accuracy": lambda found: np.where(
        found.outcome == 0, np.nan, 0.5 + 0.5 * np.sign(found.value * found.outcome)
    ),
}
"""Figures of held-out positions. `value_mse` is in the 0 to 1 scale of the papers, a quarter of that of -1 to 1."""
SHARES = (
    *("top1", "top5", "value_accuracy", "score"),
    *(f"move{later}_{name}" for later in range(2, 10) for name in ("top1", "top5")),
)
"""Figures that are shares, shown in percent."""

_WINDOW = 1 / 8
"""The share of the validations of a run in a running mean."""


@dataclass(frozen=True)
class Curve:
    """The validations of one run: samples seen and hours of training [n], and a figure with its interval [n]."""

    samples: Numbers
    hours: Numbers
    mean: Numbers
    low: Numbers
    high: Numbers


@dataclass(frozen=True)
class TrainingRun:
    """A finished training run of a study."""

    step: str
    card: Card
    predictions: PredictionResults | None

    def estimate(self, figure: str) -> Estimate | None:
        return None if self.predictions is None else _mean([self.predictions], figure)


def training_run(folder: StudyFolder, step: str) -> TrainingRun | None:
    """The run of a step that trains a network; None for any other step and for one that is not done."""
    path = folder.network(step)
    if folder.state(step) != "done" or path.suffix != ".onnx":
        return None
    return TrainingRun(step, read_card(path), _predictions(folder, step))


def _predictions(folder: StudyFolder, step: str) -> PredictionResults | None:
    path = folder.run_folder(step) / "predictions.npz"
    if not path.exists():
        return None
    found = PredictionResults.load(path)
    # Earlier versions judged one position a game in the order of the store.
    return found.rows(np.argsort(found.game)) if len(np.unique(found.game)) == len(found) else found


def curve(folder: StudyFolder, step: str, figure: str) -> Curve | None:
    """The validations of a run so far; None before the first. Samples are those of the log's steps."""
    path = folder.run_folder(step)
    events = [event for event in read_events(path, "validation") if figure in event]
    training = read_events(path, "train")
    recipe = path / "recipe.yaml"
    if not events or not training or not recipe.exists():
        return None
    batch = yaml.safe_load(recipe.read_text(encoding="utf-8"))["training"]["batch_size"]
    steps = np.array([event["step"] for event in events], float)
    hours = np.interp(steps, [event["step"] for event in training], [event["hours"] for event in training])
    mean, low, high = (
        _unit(figure) * np.array(values, float)
        for values in (
            [event[figure] for event in events],
            [event["intervals"][figure][0] for event in events],
            [event["intervals"][figure][1] for event in events],
        )
    )
    return Curve(batch * steps, hours, mean, low, high)


def _unit(figure: str) -> float:
    """What takes a figure of a run's log to the scale of the page: value_mse is -1 to 1 there, 0 to 1 here."""
    return 0.25 if figure == "value_mse" else 1.0


def _mean(runs: Sequence[PredictionResults], figure: str, minus: Sequence[PredictionResults] = ()) -> Estimate:
    """The mean over runs and positions, less that of `minus` position by position; seeds are averaged first.

    The interval is that of the positions: it says nothing about other seeds. Raises RecipeError for runs that were
    judged on different positions.
    """
    first = runs[0]
    for other in (*runs, *minus):
        if not (np.array_equal(first.ply, other.ply) and np.array_equal(first.outcome, other.outcome, equal_nan=True)):
            raise RecipeError("the runs were judged on different positions: their difference has no paired interval")
    games = min((run.game for run in (*runs, *minus)), key=lambda game: len(np.unique(game)))  # not all know them
    column = np.mean([COLUMNS[figure](run) for run in runs], axis=0)
    if minus:
        column = column - np.mean([COLUMNS[figure](run) for run in minus], axis=0)
    known = ~np.isnan(column)
    # The mean of several seeds varies a little less than a share; its own spread is 0 where all of them are right.
    of_share = figure in SHARES and not minus
    return (Estimate.share if of_share else Estimate.average)(column[known], games[known])


def _held_out(folder: StudyFolder, wanted: Figure) -> Estimate | None:
    runs = [_predictions(folder, step) for step in wanted.of]
    minus = [_predictions(folder, step) for step in wanted.minus]
    if any(run is None for run in (*runs, *minus)):
        return None
    return _mean([run for run in runs if run], wanted.figure, [run for run in minus if run])


def _training(folder: StudyFolder, wanted: Figure) -> Estimate | None:
    """A figure of the training batches, such as top1, over the last tenth of a run; a share has an interval.

    `value_mse` is in the 0 to 1 scale, as that of held-out positions.
    """
    shares = []
    for step in wanted.of:
        if folder.state(step) != "done":
            return None
        log = read_events(folder.run_folder(step), "train")
        events = [event for event in log if wanted.key in event]
        if not events:
            raise _unknown_key(wanted, step, dict.fromkeys(key for event in log for key in event))
        last = [event[wanted.key] for event in events if event["step"] > 0.9 * events[-1]["step"]]
        found = curve(folder, step, "top1")
        per_event = (found.samples[-1] / len(events)) if found else 0
        shares.append((float(np.mean(last)), per_event * len(last)))
    mean = _unit(wanted.key) * float(np.mean([share for share, _ in shares]))
    count = int(min(number for _, number in shares))  # the seeds train on the same positions
    low, high = wilson(mean * count, count) if wanted.key in SHARES else (math.nan, math.nan)
    return Estimate(mean, low, high, count)


def _card(folder: StudyFolder, wanted: Figure) -> Estimate | None:
    """A metric on the card of the network or playout policy of a step."""
    step = wanted.of[0]
    if folder.state(step) != "done":
        return None
    path = folder.network(step)
    metrics = (read_playout_card(path) if is_playout(str(path)) else read_card(path)).metrics
    numbers = {key: value for key, value in metrics.items() if isinstance(value, int | float)}
    if wanted.key not in numbers:
        raise _unknown_key(wanted, step, numbers)
    low, high = (math.nan if end is None else end for end in metrics.get(f"{wanted.key}_interval", (None, None)))
    return Estimate(numbers[wanted.key], low, high, metrics.get("judged_positions", 1))


def _score(folder: StudyFolder, wanted: Figure) -> Estimate | None:
    """The score of `player` in the match of a step, or its Elo difference, in the games that count.

    Its opponents are `against` or all others.
    """
    step = wanted.of[0]
    path = folder.run_folder(step)
    if folder.state(step) != "done" or not (path / "match.json").exists():
        return None
    games = match_games(path)
    for name in filter(None, (wanted.player, wanted.against)):
        if name not in (players := games.match.names if games.match else ()):
            raise RecipeError(f"figure {wanted.figure} of step {step}: {unknown_name('player', name, players)}")
    met = games_of(games.outcomes, wanted.player, *([wanted.against] if wanted.against else []))
    found = tally(met, wanted.player)
    if not found.games:
        return None
    if wanted.figure == "elo":
        return Estimate(*found.elo(), found.games)
    return Estimate(found.score, *found.interval(), found.games)


def _speedup(folder: StudyFolder, wanted: Figure) -> Estimate | None:
    """How many times fewer samples the runs `of` need for the final `key` (top1 unless given) of the runs `minus`.

    The mean curves of the seeds are compared. It has no interval; NaN where `of` never gets there.
    """
    figure = wanted.key or "top1"
    ours, theirs = ([curve(folder, step, figure) for step in steps] for steps in (wanted.of, wanted.minus))
    if None in (*ours, *theirs):
        return None
    fast, slow = (mean_curve([each for each in curves if each]) for curves in (ours, theirs))
    ratio = _fewer_samples(fast, slow, 1 if figure in SHARES else -1)  # the others are losses
    return Estimate(ratio, math.nan, math.nan, len(fast.samples))


def _fewer_samples(fast: Curve, slow: Curve, sign: int) -> float:
    """The samples of `slow` at its end over those from which `fast` is above its level; NaN where it never is.

    The first of many noisy validations above a level comes too early. Therefore running means are compared, each at
    the mean of its samples, and the level is passed where a rising curve through them would pass it. A level that is
    missed by less than the noise counts as reached at the end. Validations before any sample are left out.
    """
    (samples, means, noise), (ends, levels, other_noise) = (_running_means(each, sign) for each in (fast, slow))
    end, level = float(ends[-1]), levels[-1]
    # The number of means below the level by isotonic regression: there the sum of the distances from it is lowest.
    below = int(np.argmin(np.cumsum([0.0, *(means - level)])))
    if below == 0:
        return end / float(samples[0])
    if below == len(means):
        return end / float(samples[-1]) if level - means[-1] < Z95 * math.hypot(noise, other_noise) else math.nan
    crossing = slice(below - 1, below + 1)
    return end / float(np.interp(level, means[crossing], samples[crossing]))


def _running_means(curve: Curve, sign: int) -> tuple[Numbers, Numbers, float]:
    """Samples and figures of the running means of a curve, times `sign`, and the standard deviation of one of them.

    The deviation is that of the validations from their neighbors' trend, in the last half of the curve; 0 of few.
    """
    trained = curve.samples > 0
    columns = curve.samples[trained], sign * curve.mean[trained]
    window = max(1, int(_WINDOW * len(columns[0])))
    samples, means = (np.convolve(column, np.full(window, 1 / window), "valid") for column in columns)
    steps = np.diff(columns[1])[len(columns[1]) // 2 :]
    return samples, means, float(steps.std()) / math.sqrt(2 * window) if len(steps) else 0.0


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean of runs of the same schedule, up to the end of the shortest. Its band is that of the positions."""
    shortest = min(len(each.samples) for each in curves)
    columns = ([getattr(each, field.name)[:shortest] for each in curves] for field in fields(Curve))
    return Curve(*(np.mean(column, axis=0) for column in columns))


def _output(folder: StudyFolder, wanted: Figure) -> Estimate | None:
    """A number in the JSON that a step printed, at the path `key`.

    Its parts are names of a mapping; indices of a list, or a value in one of its rows.
    """
    result = folder.result(wanted.of[0])
    if result is None:
        return None
    value: Any = result if wanted.key == "seconds" else result["output"]
    for part in wanted.key.split("."):
        parts = _parts(value)
        if part not in parts:
            raise _unknown_key(wanted, wanted.of[0], parts)
        value = parts[part]
    if not isinstance(value, int | float):
        raise _unknown_key(wanted, wanted.of[0], [f"{wanted.key}.{part}" for part in _parts(value)])
    return Estimate(float(value), math.nan, math.nan, 1)


def _parts(value: Any) -> dict[str, Any]:
    """What a part of a path in an output may name, in a JSON value."""
    if isinstance(value, dict):
        return value
    rows = value if isinstance(value, list) else []
    named = {
        name: row for row in reversed(rows) if isinstance(row, dict) for name in row.values() if isinstance(name, str)
    }
    return {**named, **{str(index): row for index, row in enumerate(rows)}}


def _unknown_key(wanted: Figure, step: str, known: Iterable[str]) -> RecipeError:
    return RecipeError(f"figure {wanted.figure} of step {step}: {unknown_name('key', wanted.key, known)}")


_FIND: dict[str, Callable[[StudyFolder, Figure], Estimate | None]] = {
    **dict.fromkeys(COLUMNS, _held_out),
    "training": _training,
    "card": _card,
    **dict.fromkeys(("score", "elo"), _score),
    "speedup": _speedup,
    "output": _output,
}


def find_figure(folder: StudyFolder, wanted: Figure) -> Estimate | None:
    """What a row shows, from the steps that are done; None where all of one side are missing.

    Raises RecipeError for a key or a player that a step does not have.
    """
    known = of_done_steps(folder, wanted)
    if known is None or any(folder.state(step) == "changed" for step in (*known.of, *known.minus)):
        return None
    return _FIND[wanted.figure](folder, known)


def of_done_steps(folder: StudyFolder, wanted: Figure) -> Figure | None:
    """The figure of those seeds that are done; None without one. The figure of one step alone is as it is."""
    if len(wanted.of) + len(wanted.minus) == 1:
        return wanted
    of, minus = ([step for step in steps if folder.state(step) == "done"] for steps in (wanted.of, wanted.minus))
    return wanted.model_copy(update={"of": of, "minus": minus}) if of and bool(minus) == bool(wanted.minus) else None


def shown(wanted: Figure, found: Estimate | None) -> str:
    """The cell of a table: `50.1% (49.2 to 51.0)`, in points for a difference of shares; `not run` for None."""
    if found is None:
        return "not run"
    if math.isnan(found.mean):
        return "not reached"
    if wanted.figure != "speedup" and (wanted.figure in SHARES or wanted.key in SHARES):
        sign, unit = ("+", " points") if wanted.minus else ("", "%")
        text = f"{100 * found.mean:{sign}.1f}{unit}"
        ends = [f"{100 * end:{sign}.1f}" for end in (found.low, found.high)]
    else:
        form = wanted.form or _form(wanted, found)
        text, ends = form.format(found.mean), [form.format(end) for end in (found.low, found.high)]
    return text if math.isnan(found.low) else f"{text} ({ends[0]} to {ends[1]})"


def _form(wanted: Figure, found: Estimate) -> str:
    """How a number that is no share, and its interval, are written unless a row says so."""
    if wanted.figure == "elo":
        return "{:+.0f}"
    sign = "+" if wanted.minus and wanted.figure != "speedup" else ""
    if wanted.figure != "speedup" and "value_mse" in (wanted.figure, wanted.key):
        return f"{{:{sign}.4f}}"
    if sign:
        return "{:+.3f}"
    if math.isnan(found.low) or not found.mean:
        return "{:,.3g}"
    return f"{{:,.{max(0, 2 - math.floor(math.log10(abs(found.mean))))}f}}"  # as many decimals at the ends
