"""`tengen study`: published experiments, rerun by one command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.interruption import report_interruption
from tengen.cli.options import settings_option
from tengen.cli.tables import new_table, print_table
from tengen.errors import RecipeError
from tengen.studies import study_names

if TYPE_CHECKING:
    from tengen.studies.runner import StudyFolder


def command(
    study: Annotated[
        str | None, typer.Argument(help=f"a study's path or name: {', '.join(study_names())}; all are listed without")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(metavar="STEP", help="only this step; repeat for more")] = None,
    hours: Annotated[float | None, typer.Option(min=0, help="maximum hours; the next call goes on")] = None,
    scale: Annotated[
        float | None, typer.Option(min=1e-6, max=1, help="run this share of the length of each step, in another folder")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="the same with the study's own small share: minutes")] = False,
    settings: Annotated[
        list[str] | None, settings_option("change a setting of all training runs: data.store=mine")
    ] = None,
    report: Annotated[bool, typer.Option("--report", help="run nothing; write the page from the runs so far")] = False,
    out: Annotated[Path | None, typer.Option(help="folder of the runs [runs/studies/NAME]")] = None,
    page: Annotated[
        Path | None,
        typer.Option(help="folder of the page [docs/studies; of a reduced study and of your own that of the runs]"),
    ] = None,
) -> None:
    """Rerun a published experiment, or run one of your own, and write a page with its figures.

    The steps of a study are training runs, matches and measurements. Each lies in a run folder of its own. The same
    command goes on after an interruption. The page has `not run` where a step is missing.
    """
    from tengen.studies.runner import RUNS, StudyFolder
    from tengen.studies.study import load_study

    if study is None:
        if only or settings or quick or report or any(given is not None for given in (hours, scale, out, page)):
            raise RecipeError(f"the options are those of one study: give its name or path, such as {study_names()[0]}")
        _list()
        return
    if report and (only or hours is not None):
        raise RecipeError("--report runs nothing: leave out --only and --hours")
    if quick and scale is not None:
        raise RecipeError(f"--quick and --scale {scale:g} both say how long the steps are: give one of them")
    made = load_study(study).with_settings(settings or [], only or [])
    share = scale if scale is not None else made.quick if quick else 1.0
    folder = StudyFolder(out, made, share) if out else StudyFolder.at(RUNS / made.name, made, share)
    # Before the steps: a time limit that ends in the middle of an import leaves half of matplotlib behind.
    from tengen.studies.page import write_study

    if not report:
        _run(folder, only or [], hours)
    print(f"page: {write_study(folder, page or folder.usual_page, settings or ())}")


def _run(folder: StudyFolder, only: list[str], hours: float | None) -> None:
    from tengen.cli.app import check_command, main
    from tengen.runs.interruption import interrupt_after, sigterm_interrupts
    from tengen.studies.runner import run_study

    limit = None if hours is None else 3600 * hours
    with sigterm_interrupts(), interrupt_after(limit) as time_is_up, report_interruption(folder.path):
        try:
            run_study(folder, main, only, lambda line: print(line, file=sys.stderr, flush=True), check_command)
        except KeyboardInterrupt:
            if not time_is_up.is_set():
                raise
            print(f"stopped after {hours:g} hours; the same command goes on", file=sys.stderr)


def _list() -> None:
    from tengen.studies.runner import RUNS, StudyFolder
    from tengen.studies.study import load_study

    table = new_table("name", "paper", "hours", "steps done", left={"name", "paper"}, title="Studies")
    for name in study_names():
        study = load_study(name)
        folder = StudyFolder(RUNS / name, study)
        done = sum(folder.state(step) == "done" for step in study.steps)
        table.add_row(name, study.paper, f"{study.hours:g}", f"{done} of {len(study.steps)}")
    print_table(table)
