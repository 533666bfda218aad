"""`tengen label`: a teacher's policy, winrate, score and ownership for positions of game stores."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.cli.interruption import report_interruption
from tengen.cli.nets import find_file, warn_of_boards
from tengen.data.store import Store
from tengen.data.writer import StoreAppender
from tengen.engine.label import Labeller, LabelPlan
from tengen.errors import StoreError
from tengen.evaluators import load_evaluator
from tengen.evaluators.network_file import Card, read_card
from tengen.machine import Device
from tengen.runs.interruption import ShutdownFlag
from tengen.runs.progress import new_bar

_GAMES_AT_ONCE = 64


def command(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE...", help="game stores")],
    teacher: Annotated[str, typer.Option(help="an installed network or a network file, KataGo's too")],
    out: Annotated[Path, typer.Option(help="folder of the new store; one that exists goes on")],
    games: Annotated[int | None, typer.Option(min=1, help="label so many games; all unless given")] = None,
    per_game: Annotated[int, typer.Option(min=1, help="positions of a game")] = LabelPlan.per_game,
    visits: Annotated[int, typer.Option(min=1, help="visits of a search; 1: the network alone")] = LabelPlan.visits,
    vary_rules: Annotated[
        bool, typer.Option(help="put half of the games under other rules, and half under another komi")
    ] = LabelPlan.vary_rules,
    licence: Annotated[str, typer.Option(help="licence of the teacher; that on its card unless given")] = "",
    seed: Annotated[int, typer.Option(help="decides games, positions and rules")] = 0,
    device: Annotated[Device, typer.Option(help="device that runs the teacher; auto: the fastest")] = "auto",
    batch: Annotated[int, typer.Option(min=1, help="positions evaluated at once")] = 64,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress bar")] = False,
) -> None:
    """Write a store of the same games with what a teacher says of some of their positions.

    `tengen train` learns from the labels with `data.teacher` in its recipe. The same command goes on after an
    interruption, and labels more games where `--games` is larger.
    """
    path = find_file(teacher)
    card = read_card(path)
    plan = LabelPlan(per_game, visits, vary_rules, seed)
    opened = [Store.open(store) for store in stores]
    facts = _facts(opened, card, licence, plan)
    # Load the teacher, and check that it knows the boards, before the store is made.
    evaluator = load_evaluator(teacher, device)
    sizes = {int(size) for store in opened for size in store.column("size")}
    for size in sizes:
        evaluator.on(size)
    warn_of_boards(teacher, sizes)
    labeller = Labeller(opened, evaluator, plan, batch=batch)
    wanted = min(games or len(labeller), len(labeller))
    with report_interruption(out), StoreAppender(out, facts) as appender, ShutdownFlag() as stop:
        _check_same(out, dict(appender.facts), facts)
        with new_bar(not quiet and sys.stderr.isatty()) as bar:
            task = bar.add_task("labelling", total=wanted, completed=appender.rows)
            while appender.rows < wanted:
                stop.check()
                appender.append(labeller.label(appender.rows, min(_GAMES_AT_ONCE, wanted - appender.rows)))
                bar.update(task, completed=appender.rows)
        done = appender.rows
    print(f"{out}: {done:,} games, {plan.per_game} positions a game, labelled by {card.name}")


def _facts(stores: list[Store], card: Card, licence: str, plan: LabelPlan) -> dict[str, Any]:
    """What decides the labels, for the manifest."""
    teacher = {"name": card.name, "licence": licence or card.licence, "created": card.created, "version": card.version}
    sources = [{"store": str(store.path), "games": len(store)} for store in stores]
    return {"teacher": teacher, "labels": {**asdict(plan), "stores": sources}}


def _check_same(out: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Raise StoreError for a store with labels of another teacher, plan or stores."""
    for name in ("teacher", "labels"):
        if found.get(name) != wanted[name]:
            has = found.get(name)
            if not has:
                raise StoreError(f"{out} is a store without labels; choose another folder")
            other = [key for key, value in wanted[name].items() if has.get(key) != value]
            told = ", ".join(f"{key.replace('_', ' ')} {has.get(key)}, not {wanted[name][key]}" for key in other)
            raise StoreError(f"{out} has other labels ({name}: {told}); choose another folder")
