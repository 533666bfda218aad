"""`tengen label`: a teacher's policy, winrate, score and ownership for positions of game stores."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.interruption import report_interruption
from tengen.cli.options import BatchOption, DeviceOption, QuietOption
from tengen.errors import StoreError


def command(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE", help="game stores")],
    teacher: Annotated[str, typer.Option(help="an installed network or a network file, KataGo's too")],
    out: Annotated[Path, typer.Option(help="folder of the new store; one that exists goes on")],
    games: Annotated[int | None, typer.Option(min=1, help="number of games to label; all unless given")] = None,
    per_game: Annotated[int, typer.Option(min=1, help="positions of a game")] = 8,
    visits: Annotated[int, typer.Option(min=1, help="visits of a search; 1: the network alone")] = 1,
    vary_rules: Annotated[
        bool, typer.Option(help="put half of the games under other rules, and half under another komi")
    ] = True,
    licence: Annotated[str, typer.Option(help="licence of the teacher; that on its card unless given")] = "",
    average_symmetries: Annotated[
        bool,
        typer.Option(
            "--average-symmetries", help="label with the mean of the board's eight symmetries, eight times the work"
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="decides games, positions and rules")] = 0,
    add: Annotated[
        bool, typer.Option("--add", help="add to the labels of other games or options in OUT, by the same teacher")
    ] = False,
    device: DeviceOption = "auto",
    batch: BatchOption = 64,
    quiet: QuietOption = False,
) -> None:
    """Write a store of the same games with what a teacher says of some of their positions.

    `tengen train` learns from the labels with `data.teacher` in its recipe. The same command goes on after an
    interruption, and labels more games where `--games` is larger. With `--add` the labels of several commands, with
    other stores or options, come into one store.
    """
    from tengen.data.store import Store
    from tengen.data.writer import StoreAppender
    from tengen.engine.label import Labeller, LabelPlan, check_teacher, games_between_saves
    from tengen.engine.label_store import describe_labels, describe_teacher, enter_labels
    from tengen.evaluators import load_evaluator
    from tengen.evaluators.installed_networks import find_network
    from tengen.runs.interruption import ShutdownFlag
    from tengen.runs.progress import new_bar

    find_network(teacher)  # before the stores are read
    plan = LabelPlan(per_game, visits, vary_rules, seed, average_symmetries)
    if out.resolve() in [store.resolve() for store in stores]:
        raise StoreError(f"{out} is one of the stores to label; choose another folder")
    opened = [Store.open(store) for store in stores]
    sizes = sorted({int(size) for store in opened for size in store.column("size")})
    teacher_facts, labels = describe_teacher(teacher, licence, sizes), describe_labels(opened, plan)
    # Load the teacher, and check that it knows the boards, before the store is made.
    evaluator = load_evaluator(teacher, device, batch=batch)
    check_teacher(teacher_facts["name"], evaluator, sizes, plan)
    labeller = Labeller(opened, evaluator, plan, batch=batch)
    wanted = min(games or len(labeller), len(labeller))
    new = {"teacher": teacher_facts, "labels": [{**labels, "first": 0}]}
    with report_interruption(out), StoreAppender(out, new) as appender, ShutdownFlag() as stop:
        Store.open(out)  # raises for a damaged one, to which nothing is added
        first, end = enter_labels(appender, out, teacher_facts, labels, add)
        done = end - first
        if done < wanted and end < appender.rows:
            raise StoreError(f"{out} has {done:,} of these {wanted:,} games, and other labels after them")
        step = games_between_saves(plan, batch)
        with new_bar(not quiet and sys.stderr.isatty()) as bar:
            task = bar.add_task("labelling", total=wanted, completed=done)
            while done < wanted:
                stop.check()
                appender.append(labeller.label(done, min(step, wanted - done)))
                done = appender.rows - first
                bar.update(task, completed=done)
        others = f", {rows:,} with those before" if (rows := appender.rows) > done else ""
    count = "1 game" if done == 1 else f"{done:,} games"
    print(f"{out}: {count}{others}, {plan.per_game} positions a game, labelled by {teacher_facts['name']}")
