"""Runs the steps of a study, each in its own run folder, and goes on where an earlier call stopped."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any, Literal

import tengen
from tengen.disk import locked, write_text
from tengen.errors import RecipeError, TengenError, Terminated, unknown_name
from tengen.runs.folder import RunFolder
from tengen.studies import study_names
from tengen.studies.study import Step, Study, inputs

Run = Callable[[Sequence[str]], int]
"""Carries out a command of `tengen` from its words; returns its exit status."""
CheckCommand = Callable[[Sequence[str]], None]
"""Reads the words of a command of `tengen`; raises TengenError for those that it does not take."""
State = Literal["done", "changed", "begun", "not run"]
"""`changed`: done, by another command than that of the study as it is."""

RUNS = Path("runs") / "studies"
"""The folder of the runs of all studies, unless another one is given."""
_WITH_FOLDER = ("train", "zero", "match", "import")
_RESUME = ("train", "zero", "match", "label")
"""Commands that go on where they were interrupted."""
_WITH_JSON = {"evaluate": ["--json"], "bench": ["--json"], "stats": ["--json"], "rate": ["--json", "-"]}
_CLONE = Path(tengen.__file__).parents[2]
_INTERRUPTED = {130: KeyboardInterrupt, 143: Terminated}


class StudyFolder:
    """The runs of a study: `STEP/` is the run folder of a step, `STEP.json` its command and output once it is done.

    `whole` is the study in full, `study` the same with the share `scale` of the length of each step.
    """

    def __init__(self, path: Path, study: Study, scale: float = 1.0) -> None:
        self.path = path
        self.whole = study
        self.study = study.scaled(scale)
        self.scale = scale

    @classmethod
    def at(cls, path: Path, study: Study, scale: float = 1.0) -> StudyFolder:
        """The folder of the runs with a share of the length of each step: `path`, or `path`-x0.02 beside it."""
        return cls(path if scale == 1 else path.with_name(f"{path.name}-x{scale:g}"), study, scale)

    @property
    def usual_page(self) -> Path:
        """The folder of the page unless another one is given: that of the documentation for a whole shipped study."""
        shipped = self.scale == 1 and self.study.source in study_names()
        return Path("docs") / "studies" if shipped else self.path

    def reduced(self) -> dict[float, StudyFolder]:
        """The folders of reduced runs beside this one, by their share of the length; the longest first."""
        shares = (
            path.name.removeprefix(f"{self.path.name}-x") for path in self.path.parent.glob(f"{self.path.name}-x*")
        )
        found = sorted((float(share) for share in shares if _is_share(share)), reverse=True)
        return {share: self.at(self.path, self.whole, share) for share in found}

    def run_folder(self, step: str) -> Path:
        return self.path / step

    def network(self, step: str) -> Path:
        """The network or playout policy that a step makes; the run folder of a step that makes none."""
        recipe = self.study.steps[step].recipe
        if recipe is None:
            return self.run_folder(step)
        run = RunFolder(self.run_folder(step), kind="")
        # A run that has begun says its name, which the recipe or a setting may give.
        name = (run.saved_recipe() or {}).get("name") or (Path(recipe).stem if recipe.endswith(".yaml") else recipe)
        folder = run.path / "nets"
        found = sorted(path for path in folder.glob(f"{name}.*") if path.stem == name) or sorted(folder.glob("*.*"))
        return found[0] if found else folder / f"{name}.onnx"

    def result(self, step: str) -> dict[str, Any] | None:
        """The command, the seconds and the output of a finished step; None for any other."""
        path = self.path / f"{step}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def state(self, step: str) -> State:
        if (self.path / f"{step}.json").exists():
            return "changed" if self.difference(step) else "done"
        return "begun" if self.run_folder(step).exists() else "not run"

    def difference(self, step: str) -> str:
        """How a finished step was run otherwise than by the study as it is; "" for one that was not.

        A step whose network another one used is a part of that one's command.
        """
        result = self.result(step)
        if result is None:
            return ""
        for name, command in {step: result["command"], **self.used(step, result)}.items():
            if found := _difference(command, self.study.steps[name]):
                return f"step {step} was run {'' if name == step else f'with {name}, which was run '}{found}"
        return ""

    def used(self, step: str, result: Mapping[str, Any]) -> dict[str, list[str]]:
        """The commands of the steps whose networks a step with this result uses, each behind one that uses it."""
        if "inputs" in result:
            return dict(result["inputs"])
        # An earlier version did not write them down: they are those of the folder.
        found: dict[str, list[str]] = {}
        for name in inputs(self.study.steps[step]):
            if other := self.result(name):
                found |= {name: other["command"], **self.used(name, other)}
        return found

    def command(self, step: str) -> list[str]:
        """The words of the command of a step."""
        made = self.study.steps[step]
        words = made.command({name: self.network(name) for name in inputs(made)})
        if made.out or made.verb in _WITH_FOLDER:
            words += ["--out", str(self.run_folder(step))]
        return [*words, *_WITH_JSON.get(made.verb, ())]

    def missing(self, step: str) -> str:
        """What a step needs and this machine lacks, such as `gnugo not installed`; "" where there is all."""
        made = self.study.steps[step]
        found = [f"{name} not installed" for name in made.needs if shutil.which(name) is None]
        if (script := made.script) and not _script(script).is_file():
            found.insert(0, f"{script} not found: start in a folder or a clone that has it")
        return ", ".join(found)


def _difference(command: Sequence[str], step: Step) -> str:
    """How the words of a command differ from those of a step, wherever their folders are; "" if they do not."""
    before, now = list(command), step.command({})
    if (step.out or before[0] in _WITH_FOLDER) and "--out" in before:
        out = len(before) - 1 - before[::-1].index("--out")
        del before[out : out + 2]
    if (added := _WITH_JSON.get(before[0])) and before[-len(added) :] == added:
        del before[-len(added) :]
    if len(before) == len(now) and all(map(_is_word, before, now)):
        return ""
    gone = [word for word in before if not any(_is_word(word, other) for other in now)]
    new = [word for word in now if not any(_is_word(other, word) for other in before)]
    if gone and new:
        return f"with {shlex.join(gone)} instead of {shlex.join(new)}"
    if gone or new:
        return f"with {shlex.join(gone)}" if gone else f"without {shlex.join(new)}"
    return "with the same words in another order"


def _is_word(word: str, wanted: str) -> bool:
    """Whether a word of a command is that of a step, with the network of STEP in any folder for `${STEP}`."""
    network = r"(?:.*[/\\])?{}(?:[/\\]nets[/\\][^/\\]+)?"
    pattern = re.sub(r"\\\$\\\{(.+?)\\\}", lambda found: network.format(found[1]), re.escape(wanted))
    return re.fullmatch(pattern, word, re.DOTALL) is not None


def _script(name: str) -> Path:
    """The script of a step: in the working folder, or in the clone that Tengen runs from."""
    path = Path(name)
    return path if path.is_file() else _CLONE / path


def _is_share(text: str) -> bool:
    try:
        return 0 < float(text) < 1
    except ValueError:
        return False


def run_study(
    folder: StudyFolder,
    run: Run,
    only: Collection[str] = (),
    say: Callable[[str], None] = print,
    check: CheckCommand = lambda _: None,
) -> None:
    """Run the steps that are not done, or those of `only`. The same call goes on after an interruption.

    Raises KeyboardInterrupt where a step was interrupted, RecipeError for an unknown step, one that needs another that
    is not done and one that was run by another command, TengenError where a step fails. The recipes, settings and
    commands (by `check`) of all steps to run, and the stores of training runs, are checked before the first one runs.
    """
    for name, step in _steps_ahead(folder, only, check).items():
        if missing := folder.missing(name):
            say(f"{name}: left out, {missing}")
            continue
        if waiting := [other for other in inputs(step) if folder.state(other) != "done"]:
            if only:
                raise RecipeError(f"step {name} needs {', '.join(waiting)}, not run yet")
            say(f"{name}: left out, {', '.join(waiting)} not run")
            continue
        command = folder.command(name)
        say(f"{name}: {'' if step.verb == 'python' else 'tengen '}{' '.join(command)}")
        _run_step(folder, name, step, command, run)


def _steps_ahead(folder: StudyFolder, only: Collection[str], check: CheckCommand) -> dict[str, Step]:
    """The steps that `run_study` is to run, after its checks."""
    steps = folder.study.steps
    for name in only:
        if name not in steps:
            raise RecipeError(unknown_name("step", name, steps))
    for name in only or steps:
        for other in (*inputs(steps[name]), name):
            if found := folder.difference(other):
                remove = f"remove {other}.json and the folder {other} there"
                raise RecipeError(f"{folder.path}: {found}; give another folder with --out, or {remove}")
    ahead = {name: step for name, step in steps.items() if name in (only or steps) and folder.state(name) != "done"}
    for name, step in ahead.items():
        try:
            step.check()
            if not folder.missing(name):
                _check_stores(folder, name)
            if step.verb != "python":
                check(folder.command(name))
        except TengenError as error:
            raise RecipeError(f"step {name}: {error}") from error
    return ahead


def _check_stores(folder: StudyFolder, name: str) -> None:
    """Raise StoreError for a missing store of a training run, unless an earlier step names it, as one that it makes."""
    steps = folder.study.steps
    step = steps[name]
    own_games = step.words[2:3] and not step.words[2].startswith("-")
    if step.verb != "train" or own_games:
        return
    data = step.load().data
    before = list(steps)[: list(steps).index(name)]
    made = {Path(word) for other in before for word in folder.command(other)}
    if not any("${" in store or Path(store) in made for store in (data.store, data.validation_store or "")):
        data.open_stores()


def _run_step(folder: StudyFolder, name: str, step: Step, command: list[str], run: Run) -> None:
    folder.path.mkdir(parents=True, exist_ok=True)
    with locked(folder.path / f".{name}.step") as free:  # a store in the run folder has its own .lock
        if not free:
            raise RecipeError(f"{folder.path}: another process runs the step {name}; wait for it to end")
        if folder.state(name) != "done":  # another process may have run it since
            _run_locked(folder, name, step, command, run)


def _run_locked(folder: StudyFolder, name: str, step: Step, command: list[str], run: Run) -> None:
    # An interrupted step leaves its seconds to the call that goes on with it; others begin anew.
    goes_on, spent = step.verb in _RESUME, folder.path / f"{name}.seconds"
    before = float(spent.read_text(encoding="utf-8")) if goes_on and spent.exists() else 0.0
    started = time.monotonic()
    printed, status = io.StringIO(), 1
    try:
        if step.verb == "python":
            words = [str(_script(word)) if word == step.script else word for word in command[1:]]
            done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, text=True, check=False)
            status = done.returncode
            printed.write(done.stdout)
        else:
            with redirect_stdout(printed):
                status = run(command)
    finally:
        seconds = round(before + time.monotonic() - started, 1)
        if goes_on:
            with suppress(OSError):  # it would take the place of the step's error
                write_text(spent, str(seconds))
    if status in _INTERRUPTED:
        raise _INTERRUPTED[status]
    if status:
        raise TengenError(f"step {name} of the study failed with exit status {status}")
    result = {
        "command": command,
        "inputs": folder.used(name, {}),
        "seconds": seconds,
        "version": tengen.__version__,
        "output": _output(printed.getvalue()),
    }
    write_text(folder.path / f"{name}.json", json.dumps(result, indent=1) + "\n")
    spent.unlink(missing_ok=True)


def _output(text: str) -> Any:
    """What a command printed, if it is JSON: one value, or a value a line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        lines = []
        for line in text.splitlines():
            try:
                lines.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return lines
