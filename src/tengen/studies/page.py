"""The page of a study: Markdown with the published figures beside ours, SVG plots, and the same figures as JSON."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from matplotlib.axes import Axes

from tengen.disk import write_text
from tengen.recipes.loader import network_cost, network_fields
from tengen.runs.plots import INK, PALETTE, save_plot
from tengen.runs.progress import duration
from tengen.studies.figures import (
    SHARES,
    Curve,
    TrainingRun,
    curve,
    find_figure,
    mean_curve,
    of_done_steps,
    shown,
    training_run,
)
from tengen.studies.runner import RUNS, StudyFolder
from tengen.studies.study import Curves, Documented, Figure, Row, Study
from tengen.training.metrics import Estimate

_REDUCED = (
    '!!! warning "Reduced"\n\n    This page is of a run with {share:.3g} of the length of each step. It shows that '
    "the commands work. Its figures say nothing about the published system."
)

_SHORT = (
    "Rows marked with a share of the length come from reduced runs (`--scale`). They show how fast a network learns at "
    "the start. They do not show where it ends."
)
_DONE = "done"
_SPECIAL = frozenset('"$`\\!')  # characters that double quotes do not make plain
Found = TypeVar("Found")


@dataclass(frozen=True)
class _Shown:
    """A figure, the share of the length of its steps, and the steps that it lacks."""

    share: float
    estimate: Estimate
    without: list[str]


@dataclass(frozen=True)
class _Contents:
    """What a page shows of the runs: the rows with their figures, the training runs as the JSON has them, the plots.

    `folders` are by the share of the length of their steps, that of the page itself first. Those of earlier runs may be
    gone.
    """

    folders: Mapping[float, StudyFolder]
    figures: list[tuple[Row, _Shown | None]]
    runs: list[dict[str, Any]]
    plots: dict[str, float]
    states: dict[str, str]


@dataclass(frozen=True)
class _Command:
    """The commands of a study that its page in `out` shows. `folders` are by share, that of the page first."""

    folders: Mapping[float, StudyFolder]
    settings: Sequence[str]
    out: Path

    def of(self, share: float) -> str:
        """The command that runs the study with this share of the length."""
        return self._words(*self._options(share))

    def options(self, share: float, steps: Sequence[str]) -> str:
        """The options of `whole` that run these steps with this share of the length."""
        return _command([*self._options(share), *(word for step in steps for word in ("--only", step))])

    @property
    def whole(self) -> str:
        return self._words()

    def _options(self, share: float) -> list[str]:
        options = [] if share == 1 else ["--scale", f"{share:g}"]
        folder = self.folders.get(share)
        if folder is not None and folder.path != StudyFolder.at(RUNS / folder.study.name, folder.whole, share).path:
            options += ["--out", str(folder.path)]
        if folder is self._first and self.out != folder.usual_page:
            options += ["--page", str(self.out)]
        return options

    @property
    def quick(self) -> str:
        return self._words("--quick")

    @property
    def _first(self) -> StudyFolder:
        return next(iter(self.folders.values()))

    def _words(self, *options: str) -> str:
        settings = [word for setting in self.settings for word in ("--set", setting)]
        return _command(["tengen", "study", self._first.study.source, *settings, *options])


def write_study(folder: StudyFolder, out: Path, settings: Sequence[str] = ()) -> Path:
    """Write `out`/NAME.md, its plots and NAME.json from what the folder holds; return the page.

    Figures of runs that are gone stay as NAME.json has them, where the commands of their steps are the same. The
    commands on the page name the `settings` of the runs, and their folder and that of the page unless they are usual.
    """
    study, scale = folder.study, folder.scale
    out.mkdir(parents=True, exist_ok=True)
    # What was not run in full is shown from the longest reduced run.
    folders = {scale: folder} if scale != 1 else {scale: folder, **folder.reduced()}
    kept = _Kept(out / f"{study.name}.json", folder.whole)
    contents = _Contents(
        folders,
        [
            (row, kept.figure(row.ours, folders) if isinstance(row.ours, Figure) else None)
            for row in study.rows
            if isinstance(row.ours, Figure) or scale == 1
        ],
        [run for step in study.steps if (run := kept.run(step, _longest(folders, partial(training_run, step=step))))],
        {name: share for curves in study.plots for name, share in _plots(folders, curves, out, kept.plots(curves))},
        {step: kept.state(step, _state(folder, step)) for step in study.steps},
    )
    record = json.dumps(_record(folder, contents), indent=1)
    write_text(kept.path, record + "\n", durable=False)
    parts = _parts(folder, contents, _Command(folders, settings, out))
    return write_text(out / f"{study.name}.md", "\n\n".join(part for part in parts if part) + "\n", durable=False)


def _parts(folder: StudyFolder, contents: _Contents, command: _Command) -> list[str]:
    """The paragraphs, tables and pictures of the page in Markdown, in their order; empty ones are left out."""
    study, scale = folder.study, folder.scale
    reduced = scale != 1
    done = sum(state.startswith(_DONE) for state in contents.states.values())
    short = not reduced and any(found and found.share != scale for _, found in contents.figures)
    rows = [
        [
            row.what,
            row.published or "-",
            *_ours(command, row.ours, found, scale),
            _differs(row, found, scale),
        ]
        for row, found in contents.figures
    ]
    return [
        f"# {study.title}",
        study.about.strip(),
        study.paper,
        _REDUCED.format(share=scale) if reduced else "",
        f"```sh\n{command.of(scale)}\n```",
        f"About {study.hours:g} hours on two cores. {done} of {len(study.steps)} steps are done. The same command goes "
        f"on after an interruption; `{command.quick}` runs every step in a small part of its length.",
        _SHORT if short else "",
        "## Results",
        f"Commands that begin with an option are those of `{command.whole}`."
        if any(isinstance(row.ours, Figure) for row, _ in contents.figures)
        else "",
        _table(["what", "published", "ours, 95% interval", "command", "what differs"], rows),
        *(f"![{name}]({name}.svg)" for name in contents.plots),
        *([] if reduced or not study.conclusions else ["## Conclusions", _list(study.conclusions)]),
        *(["## Not measured", _list(study.not_done)] if study.not_done else []),
        "## Steps",
        _table(
            ["step", "network", "parameters", "MMAC", "samples", "hours", "top-1", "top-5", "value MSE, 0 to 1"],
            [_training_row(run, scale) for run in contents.runs],
        )
        if contents.runs
        else "",
        _table(
            ["step", "state", "command"],
            [[step, state, f"`{_words(folder, step)}`"] for step, state in contents.states.items()],
        ),
    ]


def _record(folder: StudyFolder, contents: _Contents) -> dict[str, Any]:
    """The figures of the page for programs, with the commands of all steps in their full length."""
    return {
        "study": folder.study.name,
        "scale": folder.scale,
        "rows": [
            {
                "what": row.what,
                "figure": row.ours.model_dump(exclude_defaults=True),
                "published": row.published,
                "scale": found and found.share,
                **_numbers(found.estimate if found else None),
                "without": found.without if found else [],
            }
            for row, found in contents.figures
            if isinstance(row.ours, Figure)
        ],
        "runs": contents.runs,
        "plots": contents.plots,
        "steps": contents.states,
        "commands": folder.whole.commands(folder.whole.steps),
    }


class _Kept:
    """The figures of the page as it is: of runs whose folders may be gone.

    Those of a step stay while its command, and those of the steps whose networks it uses, are the same. Older pages
    have no commands: nothing tells what their figures are of.
    """

    def __init__(self, path: Path, study: Study) -> None:
        self.path = path
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        before = found.get("commands", {})
        self._same = {
            step
            for step in study.steps
            if all(before.get(name) == command for name, command in study.commands([step]).items())
        }
        self._rows = {
            json.dumps(row["figure"], sort_keys=True): row for row in found.get("rows", ()) if "figure" in row
        }
        self._runs = {run["step"]: run for run in found.get("runs", ()) if run["step"] in self._same}
        self._plots: dict[str, float] = found.get("plots", {})
        self._states = {step: state for step, state in found.get("steps", {}).items() if step in self._same}

    def plots(self, wanted: Curves) -> dict[str, float]:
        """The plots that were drawn of these curves, with the share of the length."""
        return self._plots if self._same.issuperset(step for steps in wanted.of.values() for step in steps) else {}

    def figure(self, wanted: Figure, folders: Mapping[float, StudyFolder]) -> _Shown | None:
        """A figure: of the longer runs, the new ones of two of a length."""
        found = _longest(folders, partial(find_figure, wanted=wanted))
        row = self._rows.get(json.dumps(wanted.model_dump(exclude_defaults=True), sort_keys=True), {})
        known = self._same.issuperset({*wanted.of, *wanted.minus}.difference(row.get("without", ())))
        if known and row.get("scale") and not (found and found[0] >= row["scale"]):
            return _Shown(row["scale"], _estimate(row), row.get("without", []))
        if found is None:
            return None
        done = of_done_steps(folders[found[0]], wanted)
        missing = {*wanted.of, *wanted.minus}.difference(done.of, done.minus) if done else set[str]()
        return _Shown(*found, sorted(missing))

    def state(self, step: str, now: str) -> str:
        """The state of a step; that of one that was done stays."""
        known = self._states.get(step, "")
        return known if known.startswith(_DONE) and not now.startswith(_DONE) else now

    def run(self, step: str, found: tuple[float, TrainingRun] | None) -> dict[str, Any] | None:
        """What is known of a training run, chosen likewise."""
        known: dict[str, Any] | None = self._runs.get(step)
        if known and not (found and found[0] >= known["scale"]):
            return known
        return {"scale": found[0], **_run_record(found[1])} if found else None


def _longest(
    folders: Mapping[float, StudyFolder], find: Callable[[StudyFolder], Found | None]
) -> tuple[float, Found] | None:
    """What the first of the folders holds that has it, with the share of the length of its steps."""
    return next(((share, found) for share, folder in folders.items() if (found := find(folder)) is not None), None)


def _plots(
    folders: Mapping[float, StudyFolder], wanted: Curves, out: Path, drawn: Mapping[str, float]
) -> list[tuple[str, float]]:
    """(name, share of the length) of one SVG for each axis, of the curves of the longest runs that there are.

    Plots that were drawn of longer runs stay. One that shows nothing of the study as it is is removed.
    """
    title = f"{next(iter(folders.values())).study.name}-{wanted.file_name}"
    found = _longest(folders, partial(_lines, wanted=wanted))
    plots = []
    for over in wanted.over:
        name = f"{title}-{over}"
        path = out / f"{name}.svg"
        kept = drawn.get(name, 0.0) if path.exists() else 0.0
        if found and found[0] >= kept:
            kept, lines = found
            note = "" if kept == next(iter(folders)) else f", {kept:.3g} of the length"
            save_plot(path, f"{wanted.title} by {over}{note}", _LABELS[over], _drawing(lines, wanted, over))
        if kept:
            plots.append((name, kept))
        else:
            path.unlink(missing_ok=True)
    return plots


def _lines(folder: StudyFolder, wanted: Curves) -> dict[str, Curve] | None:
    """The curves of a plot by their label; None where no run has begun."""
    lines = {}
    for label, steps in wanted.of.items():
        now = [step for step in steps if folder.state(step) != "changed"]
        if found := [each for step in now if (each := curve(folder, step, wanted.figure))]:
            lines[label] = mean_curve(found)
    return lines or None


_LABELS = {"samples": "million samples", "hours": "hours of training"}
_SCALES = {"value_mse": "mean squared error, 0 to 1"}


def _drawing(lines: dict[str, Curve], wanted: Curves, over: str) -> Callable[[Axes], None]:
    unit = 100 if wanted.figure in SHARES else 1

    def draw(axes: Axes) -> None:
        for (label, line), color in zip(lines.items(), PALETTE * 3, strict=False):
            x = line.samples / 1e6 if over == "samples" else line.hours
            axes.plot(x, unit * line.mean, ".-", color=color, label=label)
            axes.fill_between(x, unit * line.low, unit * line.high, color=color, alpha=0.15)
        if over == "samples":
            axes.set_xlim(0, 1.05 * max(line.samples[-1] for line in lines.values()) / 1e6)
            right = axes.get_xlim()[1]
            for label, points in wanted.published.items():
                inside = [(x / 1e6, y) for x, y in points if x / 1e6 <= right]
                if inside:
                    axes.plot(*zip(*inside, strict=True), "x", color=INK, label=label)
        axes.set_ylabel("percent" if unit == 100 else _SCALES.get(wanted.figure, wanted.figure.replace("_", " ")))

    return draw


def _training_row(run: Mapping[str, Any], scale: float) -> list[str]:
    """The cells of a run. One that was kept may have a `note` in the JSON, such as what its recipe was then."""
    notes = [run["note"]] if "note" in run else []
    if run["scale"] != scale:
        notes.insert(0, f"{run['scale']:.3g} of its length")

    def cell(name: str) -> str:
        if name not in run:
            return "-"
        low, high = run[name]["interval_95"]
        return shown(Figure(figure=name, of=[run["step"]], form="{:.4f}"), Estimate(run[name]["ours"], low, high, 0))

    return [
        ", ".join([run["step"], *notes]),
        f"{run['family']}, `{run['plane_set']}`" if "family" in run else "-",
        f"{run['parameters']:,}",
        f"{run['macs'] / 1e6:,.1f}",
        f"{run['samples']:,}" if run["samples"] else "-",
        f"{run['hours']:.2f}",
        *(cell(name) for name in ("top1", "top5", "value_mse")),
    ]


def _run_record(run: TrainingRun) -> dict[str, Any]:
    parameters, macs = network_cost(network_fields(run.card.config), max(run.card.board_sizes))
    figures = ("top1", "top5", "value_mse") if run.card.has_policy else ("value_mse",)
    found = {figure: run.estimate(figure) for figure in figures}
    return {
        "step": run.step,
        "recipe": run.card.name,
        "family": run.card.family,
        "plane_set": run.card.plane_set,
        "parameters": parameters,
        "macs": macs,
        "samples": run.card.positions or None,  # 0 where the card does not tell
        "hours": run.card.hours,
        **{figure: _numbers(value) for figure, value in found.items() if value is not None and value.count},
    }


def _numbers(found: Estimate | None) -> dict[str, Any]:
    if found is None:
        return {"ours": None}
    ours = round(found.mean, 5) if math.isfinite(found.mean) else None
    return {"ours": ours, "interval_95": None if math.isnan(found.low) else found.interval(5)}


def _estimate(numbers: Mapping[str, Any]) -> Estimate:
    """What `_numbers` wrote: an infinite mean, as of the Elo of a match without a loss, is null and has an interval."""
    mean, ends = numbers["ours"], numbers["interval_95"]
    if ends is None:
        return Estimate(math.nan if mean is None else mean, math.nan, math.nan, 0)
    low, high = -math.inf if ends[0] is None else ends[0], math.inf if ends[1] is None else ends[1]
    return Estimate((low if ends[0] is None else high) if mean is None else mean, low, high, 0)


def _ours(command: _Command, wanted: Figure | Documented, found: _Shown | None, scale: float) -> tuple[str, str]:
    """The cells of our figure, and of the command that measures it."""
    if isinstance(wanted, Documented):
        return wanted.text, f"`{wanted.command}`"
    share = found.share if found else scale
    cell = shown(wanted, found.estimate if found else None)
    return cell, f"`{command.options(share, [*wanted.of, *wanted.minus])}`"


def _differs(row: Row, found: _Shown | None, scale: float) -> str:
    notes = [row.differs]
    if found and found.without:
        notes.insert(0, f"**without {', '.join(found.without)}**")
    if found and found.share != scale:
        notes.insert(0, f"**{found.share:.3g} of the length**")
    return "; ".join(note for note in notes if note)


def _state(folder: StudyFolder, step: str) -> str:
    if changed := folder.difference(step):
        return f"not run: the folder holds another run, {changed}"
    if result := folder.result(step):
        state = f"{_DONE} in {duration(result['seconds'])}" if result["seconds"] else _DONE
        return f"{state}; {test}" if (test := _test(folder.run_folder(step))) else state
    if missing := folder.missing(step):
        return f"not run: {missing}"
    return folder.state(step)


def _test(path: Path) -> str:
    """What the sequential test of a match says; "" for other runs, and for a match without one."""
    summary = path / "summary.json"
    test = json.loads(summary.read_text(encoding="utf-8"))["sprt"] if summary.exists() else None
    return str(test["words"]) if test else ""


def _words(folder: StudyFolder, step: str) -> str:
    command = folder.command(step)
    return _command(command if command[0] == "python" else ["tengen", *command])


def _command(words: Sequence[str]) -> str:
    """A command line for a shell, in double quotes where a word has single ones: `shlex` makes five marks of each."""
    return " ".join(f'"{word}"' if "'" in word and _SPECIAL.isdisjoint(word) else shlex.quote(word) for word in words)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Text in one line whose bars end no cell."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def _list(texts: Sequence[str]) -> str:
    return "\n".join(f"- {' '.join(text.split())}" for text in texts)
