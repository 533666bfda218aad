"""A study as its YAML file describes it: the steps, which are commands, and the rows and plots of its page."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pydantic import field_validator, model_validator

from tengen.errors import RecipeError, unknown_name
from tengen.recipes.loader import load_run, network_fields, read_recipe, settled
from tengen.studies import FOLDER, study_names
from tengen.training.config import LinearRun, RunConfig, ScheduleConfig
from tengen.training.recipe import FileName, Strict
from tengen.training.recipe import key as field

SCALED = ("games", "positions", "iterations", "cycles")
"""Options and settings that a reduced run scales, besides the lengths of training runs. The time and the visits of a
move are conditions of a match, not its length."""
HELD_OUT = ("top1", "top5", "cross_entropy", "value_mse", "value_accuracy")
"""Figures of held-out positions: of several steps their mean, with `minus` the mean of paired differences."""
_OF_ONE_STEP = ("card", "score", "elo", "output")
FIGURES = (*HELD_OUT, "training", "speedup", *_OF_ONE_STEP)
"""The figures of a row: `tengen.studies.figures` finds them."""
_IN_UNITS = ("at", "every")
"""Lengths in the `unit` of a schedule."""
_IN_EPOCHS = ("patience", "after")
_SAMPLES = ("games", "training.validation_games")
"""What a figure is the mean of. A reduced run takes the root of its share, or the figure would say nothing."""


class Step(Strict):
    """A command with its settings.

    `${STEP}` in it stands for the network of an earlier step, or for the run folder of one that makes no network, such
    as a store. `each: {net: [a, b], seed: [1, 2]}` makes a step of each combination: `{net}` and `{seed}` in the name
    of the step, which needs all of them, and in its values are filled in.
    """

    run: str = field(..., "the words of a command of `tengen`, such as `train betago`, or `python SCRIPT`")
    options: dict[str, Any] = field(
        {}, "options of the command: `games: 400` is `--games 400`, `quiet: true` `--quiet`, false or null nothing"
    )
    set: dict[str, Any] = field({}, "settings of its recipe: `training.seed: 1` is `--set training.seed=1`")
    out: bool = field(
        False, "a script that writes a new folder, such as a store: `--out` names the run folder of the step"
    )
    needs: list[str] = field(
        [],
        "programs without which the step is left out, as it is without its script, which lies in the working folder or "
        "in the clone that Tengen runs from",
    )

    @field_validator("run")
    @classmethod
    def _check_run(cls, run: str) -> str:
        try:
            words = shlex.split(run)
        except ValueError as error:
            raise ValueError(f"run {run!r}: {error}") from None
        if not words or (words[0] in ("train", "zero", "python") and len(words) < 2):
            raise ValueError(f"run must be a command with what it needs, such as train betago, not {run!r}")
        return run

    @property
    def words(self) -> list[str]:
        return shlex.split(self.run)

    @property
    def verb(self) -> str:
        return self.words[0]

    @property
    def recipe(self) -> str | None:
        """The recipe that the step trains by, if it does."""
        return self.words[1] if self.verb in ("train", "zero") else None

    @property
    def script(self) -> str | None:
        """The program in Python that the step runs, if it does."""
        return self.words[1] if self.verb == "python" and not self.words[1].startswith("-") else None

    @property
    def settings(self) -> list[str]:
        """`set` as the command line takes it."""
        return [f"{name}={_yaml(value)}" for name, value in self.set.items()]

    def command(self, networks: Mapping[str, Path]) -> list[str]:
        """The words of the command with `networks` in the place of `${STEP}`."""
        words = list(self.words)
        for name, value in self.options.items():
            if value is not False and value is not None:
                words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
        words += [word for setting in self.settings for word in ("--set", setting)]
        for step, path in networks.items():
            words = [word.replace(f"${{{step}}}", str(path)) for word in words]
        return words

    def load(self, settings: Sequence[str] = ()) -> Any:
        """The recipe of the step as the model of its kind, with the settings of the step and further ones."""
        assert self.recipe is not None
        return load_run(self.verb, self.recipe, [*self.settings, *settings])

    def check(self) -> None:
        """Raise RecipeError for a recipe that does not exist, and for a setting that it does not take."""
        if self.recipe is not None and (network := getattr(self.load(), "network", None)):
            network_fields(network)

    def scaled(self, scale: float) -> Step:
        """The same step in a share of its length."""
        if scale == 1:
            return self
        given = {name: value for name, value in self.set.items() if name in SCALED}
        lengths = {**_run_lengths(self), **given} if self.verb == "zero" else given
        if self.verb == "train":
            lengths |= _training_lengths(self)
        options = {name: _scaled(name, value, scale) for name, value in self.options.items() if name in SCALED}
        settings = {name: _scaled(name, value, scale) for name, value in lengths.items()}
        if "cycles" in settings:  # a run may end with the mean of several networks
            settings["cycles"] = max(settings["cycles"], self.load().learn.swa)
        return self.model_copy(update={"options": {**self.options, **options}, "set": {**self.set, **settings}})


def _run_lengths(step: Step) -> dict[str, Any]:
    """The length of a run of `tengen zero`, and those of its schedule."""
    run = step.load()
    schedule = {f"learn.schedule.{name}": value for name, value in _schedule_lengths(run.learn.schedule).items()}
    return {name: getattr(run, name) for name in ("cycles", "iterations") if hasattr(run, name)} | schedule


def _training_lengths(step: Step) -> dict[str, int | float | list[float]]:
    """What decides the length of a training run: settings of the step, or of its recipe."""
    run: RunConfig | LinearRun = step.load()
    if isinstance(run, LinearRun):
        return {"training.games": run.training.games}
    training = run.training
    names = ("steps", "epoch", "max_hours", "validate_every", "validation_games")
    found: dict[str, Any] = {f"training.{name}": getattr(training, name) for name in names}
    if training.epochs is not None and training.epoch is None:  # of all positions
        if run.data.max_positions:  # all of them stay: a network learns a small share by heart
            found["training.epoch"] = run.data.max_positions
        else:
            found |= {"data.games": run.data.games} if run.data.games else {"training.epochs": training.epochs}
    schedule = _schedule_lengths(training.schedule)
    if found["training.epoch"] or "data.games" in found:  # each epoch is shorter, and as many are left
        in_epochs = (*_IN_EPOCHS, *(_IN_UNITS if training.schedule.unit == "epochs" else ()))
        schedule = {name: value for name, value in schedule.items() if name not in in_epochs}
    found |= {f"training.schedule.{name}": value for name, value in schedule.items()}
    return {name: value for name, value in found.items() if value is not None}


def _schedule_lengths(schedule: ScheduleConfig) -> dict[str, Any]:
    """The lengths that a schedule follows; none that its shape does not use."""
    found: dict[str, Any] = {"warmup_steps": schedule.warmup_steps} if schedule.warmup_steps else {}
    if schedule.shape == "steps":
        found["at"] = list(schedule.at)
    if schedule.shape in ("halving", "exponential", "inverse"):
        found["every"] = schedule.every
    if schedule.shape == "plateau":
        found |= {"patience": schedule.patience, "after": schedule.after or None}
    return found


def _scaled(name: str, value: Any, scale: float) -> Any:
    if isinstance(value, list):
        return [each * scale for each in value]
    if isinstance(value, float):
        return value * scale
    if name in _SAMPLES:
        scale = math.sqrt(scale)
    if name == "games":  # even, as each opening is played with both colors
        return max(2, 2 * round(value * scale / 2))
    return max(1, round(value * scale))


def _yaml(value: Any, within: bool = False) -> str:
    """The value as `--set` reads it; texts `within` a list or a mapping have quotes."""
    if isinstance(value, list):
        return f"[{', '.join(_yaml(each, True) for each in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_yaml(name, True)}: {_yaml(each, True)}' for name, each in value.items())}}}"
    if isinstance(value, str) and within:
        return "'" + value.replace("'", "''") + "'"
    words = {None: "null", True: "true", False: "false"}
    return words[value] if value is None or isinstance(value, bool) else str(value)


class Figure(Strict):
    """What of the results a row shows.

    The figures are those of held-out positions (`top1`, `top5`, `cross_entropy`, `value_mse`, from 0 to 1,
    `value_accuracy`); `training`, the figure `key` of the training batches in the last tenth of a run; `card`, the
    metric `key` on the card of the network; `score`, that of `player` in a match, and `elo`, its Elo difference there;
    `speedup`, how many times fewer samples the steps `of` need to reach the level of `key` (`top1` unless given) at the
    end of the steps `minus`, by running means over an eighth of the validations; and `output`, the number at the path
    `key` in the JSON that a step printed, such as `0.speed`, or its `seconds`.
    """

    figure: str = field(..., "one of these figures")
    of: list[str] = field(..., "the step, or the steps whose mean is shown")
    minus: list[str] = field([], "steps whose mean is subtracted, position by position")
    player: str = field("", "of `score` and `elo`: a player of the match")
    against: str = field("", "of `score` and `elo`: its opponent; all others unless given")
    form: str = field("", "how numbers other than shares are written, as Python's `{:.3f}`")
    key: str = field("", "of `training`, `card`, `speedup`, `output`: see above")

    @field_validator("figure")
    @classmethod
    def _known(cls, figure: str) -> str:
        if figure not in FIGURES:
            raise RecipeError(unknown_name("figure", figure, FIGURES))
        return figure

    @field_validator("of", "minus", mode="before")
    @classmethod
    def _listed(cls, steps: Any) -> Any:
        return [steps] if isinstance(steps, str) else steps

    def problem(self) -> str:
        """What no run of the steps could show; "" for a figure that can be."""
        if self.form and not _writes_numbers(self.form):
            return f"form {self.form!r} writes no number, as {{:.3f}} does"
        if self.figure in ("training", "card", "output") and not self.key:
            return f"the figure {self.figure} needs a key"
        if self.figure in ("score", "elo") and not self.player:
            return f"the figure {self.figure} needs a player of the match"
        if not self.of or (self.figure == "speedup" and not self.minus):
            return f"the figure {self.figure} needs a step in {'minus' if self.of else 'of'}"
        if self.figure in _OF_ONE_STEP and len(self.of) > 1:
            return f"the figure {self.figure} is of one step, not of {' and '.join(self.of)}"
        if self.figure == "speedup" and self.key and self.key not in HELD_OUT:
            return f"the figure speedup: {unknown_name('key', self.key, HELD_OUT)}"
        if self.minus and self.figure not in (*HELD_OUT, "speedup"):
            return f"the figure {self.figure} takes no minus: a difference is of {', '.join(HELD_OUT)}"
        return ""


def _writes_numbers(form: str) -> bool:
    try:
        return form.format(0.5) != form.format(-70.25)
    except (ValueError, LookupError, AttributeError, TypeError):
        return False


class Documented(Strict):
    """A figure that was measured before, with the command that measures it."""

    text: str = field(..., "the figure")
    command: str = field(..., "the command")


class Row(Strict):
    """A row of the page: what is measured, the published figure, ours, and what differs."""

    what: str = field(..., "what is measured")
    published: str = field("", "the published figure")
    ours: Figure | Documented = field(..., "the figure of the steps, or one that was measured before")
    differs: str = field("", "what differs from the publication")


class Curves(Strict):
    """A plot of a figure over the training of steps."""

    title: str = field(..., "its heading")
    figure: str = field("top1", "a figure of the validations in the log, such as `top1` or `value_mse`")
    of: dict[str, list[str]] = field(..., "a curve each: its label, and the steps whose mean it is")
    over: list[Literal["samples", "hours"]] = field(["samples", "hours"], "the axes, with a plot each")
    published: dict[str, list[tuple[float, float]]] = field(
        {}, "points over samples: their label, and a list of [samples, value]"
    )

    @property
    def file_name(self) -> str:
        """The title as a part of the names of the plots' files."""
        return re.sub(r"\W+", "-", self.title.lower()).strip("-")


class Study(Strict):
    """An experiment: its steps in order, and what the page shows of them."""

    name: FileName = field(..., "name of the folder of the runs and of the page, no path; the file's name unless given")
    source: str = field("", "set by the command: the study's name or path, for the page")
    title: str = field(..., "heading of the page")
    paper: str = field("", "the publication that the study reruns")
    hours: float = field(..., "hours that all steps take on two cores, about", gt=0)
    about: str = field(..., "the text below the heading")
    quick: float = field(0.02, "share of the length of each step with `--quick`", gt=0, lt=1)
    steps: dict[FileName, Step] = field(..., "the steps by name, in their order")
    rows: list[Row] = field(..., "the table of the results")
    plots: list[Curves] = field([], "curves")
    conclusions: list[str] = field([], "what the figures of the full study show")
    not_done: list[str] = field([], "parts of the published experiment that the study leaves out, and why")

    @model_validator(mode="before")
    @classmethod
    def _expanded(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("steps"), dict):
            data = {**data, "steps": _expand(data["steps"])}
        return data

    @model_validator(mode="after")
    def _known_steps(self) -> Study:
        if self.name in self.steps:
            raise RecipeError(f"step {self.name} has the name of the study, whose figures are in {self.name}.json too")
        for row in self.rows:
            if isinstance(row.ours, Figure):
                self._check([*row.ours.of, *row.ours.minus], f"row {row.what!r}")
                problem = row.ours.problem()
                if not problem and row.ours.player and self.steps[row.ours.of[0]].verb != "match":
                    problem = f"step {row.ours.of[0]} is no match"
                if problem:
                    raise RecipeError(f"row {row.what!r}: {problem}")
        for plot in self.plots:
            self._check([step for steps in plot.of.values() for step in steps], f"plot {plot.title!r}")
            if [other.file_name for other in self.plots].count(plot.file_name) > 1:
                raise RecipeError(f"plot {plot.title!r}: another one has the same title or one too much like it")
        for name, step in self.steps.items():
            before = list(self.steps)[: list(self.steps).index(name)]
            for needed in inputs(step):
                if needed not in before:
                    raise RecipeError(f"step {name} needs {unknown_name('step', needed, before)}")
        return self

    def scaled(self, scale: float) -> Study:
        """The same study with a share of the length of each step."""
        return self.model_copy(update={"steps": {name: step.scaled(scale) for name, step in self.steps.items()}})

    def with_settings(self, settings: Sequence[str], steps: Collection[str] = ()) -> Study:
        """The same study with further settings of its training runs; the conclusions are those of the runs without.

        Raises RecipeError for one that a run of `steps`, or of all unless any are given, does not take.
        """
        training = {name: step for name, step in self.steps.items() if step.verb == "train"}
        if settings and not training:
            raise RecipeError(f"{self.name} trains nothing: leave out --set")
        for name, step in training.items():
            if settings and (not steps or name in steps):
                step.load(settings)
        given = dict(setting.partition("=")[::2] for setting in settings)
        changed = {name: step.model_copy(update={"set": {**step.set, **given}}) for name, step in training.items()}
        conclusions = [] if settings else self.conclusions
        return self.model_copy(update={"steps": {**self.steps, **changed}, "conclusions": conclusions})

    def commands(self, steps: Iterable[str]) -> dict[str, str]:
        """The commands of these steps and of those whose networks they use, with `${STEP}` for a network."""
        found: dict[str, str] = {}
        for name in steps:
            found |= {name: shlex.join(self.steps[name].command({})), **self.commands(inputs(self.steps[name]))}
        return found

    def _check(self, names: Sequence[str], where: str) -> None:
        for name in names:
            if name not in self.steps:
                raise RecipeError(f"{where}: {unknown_name('step', name, self.steps)}")


def inputs(step: Step) -> list[str]:
    """The steps whose networks a step uses."""
    text = [step.run, *map(str, step.options.values()), *map(str, step.set.values())]
    return list(dict.fromkeys(part.split("}")[0] for words in text for part in words.split("${")[1:]))


def _expand(steps: Mapping[str, Any]) -> dict[str, Any]:
    """Steps with `each: {net: [...], seed: [...]}` once for each combination; `{net}` and `{seed}` are filled in."""
    expanded: dict[str, Any] = {}

    def add(name: str, fields: Any) -> None:
        if name in expanded:
            raise ValueError(f"there are two steps {name}: the name of a step with each needs {{KEY}} for all its keys")
        expanded[name] = fields

    for name, fields in steps.items():
        if not isinstance(fields, dict) or "each" not in fields:
            add(name, fields)
            continue
        fields = dict(fields)
        loops = fields.pop("each")
        if not isinstance(loops, dict) or not all(isinstance(values, list) for values in loops.values()):
            raise ValueError(f"each of step {name} must name lists, such as {{seed: [1, 2]}}, not {loops}")
        for values in product(*loops.values()):
            filled = dict(zip(loops, values, strict=True))
            add(_fill(name, filled), _fill(fields, filled))
    return expanded


def _fill(value: Any, filled: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _fill(inner, filled) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill(inner, filled) for inner in value]
    if not isinstance(value, str):
        return value
    for name, text in filled.items():
        if value == f"{{{name}}}":
            return text
        value = value.replace(f"{{{name}}}", str(text))
    return value


def load_study(name_or_path: str) -> Study:
    """Read a study by name or path. Raises RecipeError for one that does not exist or is invalid."""
    path = FOLDER / f"{name_or_path}.yaml"
    if Path(name_or_path).name != name_or_path or not path.is_file():
        path = Path(name_or_path)
    if not path.is_file() and path.suffix in (".yaml", ".yml"):
        raise RecipeError(f"{path}: there is no such file")
    if not path.is_file():
        raise RecipeError(unknown_name("study", name_or_path, study_names()))
    data = {"name": path.stem, **read_recipe(path), "source": name_or_path}
    return settled(data, None, Study, f"{path}: ")
