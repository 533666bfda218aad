"""`tengen label`: a teacher's policy, winrate, score and ownership for positions of game stores."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.checksums import file_digest
from tengen.cli.interruption import report_interruption
from tengen.cli.options import BatchOption, DeviceOption, QuietOption
from tengen.engine.label import Labeller, LabelPlan
from tengen.errors import NetworkError, StoreError
from tengen.evaluators import load_evaluator
from tengen.evaluators.board_warnings import boards_not_learned
from tengen.evaluators.evaluator import Evaluator, sees_komi
from tengen.evaluators.installed_networks import default_by_size, find_network, find_network_on
from tengen.evaluators.network_file import read_card
from tengen.evaluators.playout_file import is_playout
from tengen.runs.interruption import ShutdownFlag
from tengen.runs.progress import new_bar

if TYPE_CHECKING:
    from tengen.data.store import Store
    from tengen.data.writer import StoreAppender

_GAMES_A_SAVE = 64
_OF_CARD = ("name", "licence", "created", "version")


def command(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE", help="game stores")],
    teacher: Annotated[str, typer.Option(help="an installed network or a network file, KataGo's too")],
    out: Annotated[Path, typer.Option(help="folder of the new store; one that exists goes on")],
    games: Annotated[int | None, typer.Option(min=1, help="number of games to label; all unless given")] = None,
    per_game: Annotated[int, typer.Option(min=1, help="positions of a game")] = LabelPlan.per_game,
    visits: Annotated[int, typer.Option(min=1, help="visits of a search; 1: the network alone")] = LabelPlan.visits,
    vary_rules: Annotated[
        bool, typer.Option(help="put half of the games under other rules, and half under another komi")
    ] = LabelPlan.vary_rules,
    licence: Annotated[str, typer.Option(help="licence of the teacher; that on its card unless given")] = "",
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

    if is_playout(teacher):
        raise NetworkError(f"{teacher} is a playout policy: a teacher is a network")
    find_network(teacher)  # before the stores are read
    plan = LabelPlan(per_game, visits, vary_rules, seed)
    if out.resolve() in [store.resolve() for store in stores]:
        raise StoreError(f"{out} is one of the stores to label; choose another folder")
    opened = [Store.open(store) for store in stores]
    sizes = sorted({int(size) for store in opened for size in store.column("size")})
    teacher_facts, labels = _teacher(teacher, licence, sizes), _labels(opened, plan)
    # Load the teacher, and check that it knows the boards, before the store is made.
    evaluator = load_evaluator(teacher, device, batch=batch)
    _check_teacher(teacher_facts["name"], evaluator, sizes, plan)
    labeller = Labeller(opened, evaluator, plan, batch=batch)
    wanted = min(games or len(labeller), len(labeller))
    new = {"teacher": teacher_facts, "labels": [{**labels, "first": 0}]}
    with report_interruption(out), StoreAppender(out, new) as appender, ShutdownFlag() as stop:
        Store.open(out)  # raises for a damaged one, to which nothing is added
        first, end = _rows(appender, out, teacher_facts, labels, add)
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
    print(f"{out}: {done:,} games{others}, {plan.per_game} positions a game, labelled by {teacher_facts['name']}")


def games_between_saves(plan: LabelPlan, batch: int) -> int:
    """Games that are labelled before they are saved, and before Ctrl-C is obeyed: fewer the more visits they take, but
    as many as have `batch` positions to search side by side."""
    return min(_GAMES_A_SAVE, max(_GAMES_A_SAVE // plan.visits, -(-batch // plan.per_game)))


def _teacher(name: str, licence: str, sizes: list[int]) -> dict[str, str]:
    """The teacher for the manifest; of `default` all its networks, so that labels of other boards may be added.

    Raises NetworkError for a size that it has not learned: such labels mean nothing.
    """
    by_size = default_by_size(name)
    cards = {path: read_card(path) for path in (find_network(name), *by_size.values())}
    for size in sizes:
        card = cards[find_network_on(name, size)]
        if text := boards_not_learned(card.name, card.board_sizes, [size]):
            raise NetworkError(f"{text}, which are among the games: choose a teacher that learned them")
    # Networks of one name may be of one day; what is converted from another program's file has no date.
    digests = [file_digest(path)[:16] for path, card in cards.items() if card.created]
    facts = {key: _joined(getattr(card, key) for card in cards.values()) for key in _OF_CARD}
    return {**facts, "licence": licence or facts["licence"], "sha256": _joined(digests)}


def _check_teacher(name: str, evaluator: Evaluator, sizes: list[int], plan: LabelPlan) -> None:
    """Raise NetworkError where the teacher does not know a board size, or lacks what the plan needs."""
    for size in sizes:
        if not evaluator.on(size).has_value and plan.visits > 1:
            raise NetworkError(f"{name} has no value, which a search needs: label with --visits 1")
    if plan.vary_rules and sizes and not sees_komi(evaluator, sizes[0]):
        raise NetworkError(
            f"{name} does not see komi and rules, and would label games under others as its own: "
            "label with --no-vary-rules"
        )


def _joined(texts: Iterable[str]) -> str:
    """Different texts, in their order."""
    return ", ".join(text for text in dict.fromkeys(texts) if text)


def _labels(stores: list[Store], plan: LabelPlan) -> dict[str, Any]:
    """What determines the labels besides the teacher, for the manifest."""
    from tengen.data.format import games_digest

    sources = [
        {"store": str(store.path), "games": len(store), "sha256": (games_digest(store.manifest) or "")[:16]}
        for store in stores
    ]
    return {**asdict(plan), "stores": sources}


def _rows(
    appender: StoreAppender, out: Path, teacher: dict[str, Any], labels: dict[str, Any], add: bool
) -> tuple[int, int]:
    """The first row of these labels, and the row after them.

    Enters labels that the store does not have yet into its manifest, in the place of those that got no game. Raises
    StoreError for another teacher, and for other labels unless they may be added to.
    """
    found = appender.facts
    if not found.get("teacher"):
        raise StoreError(f"{out} is a store without labels; choose another folder")
    # Without the digest that earlier versions did not write.
    before = {"sha256": teacher["sha256"], **found["teacher"]}
    _check_same(out, "teacher", before, teacher, "choose another folder")
    parts: list[dict[str, Any]] = found["labels"]
    if isinstance(parts, dict):  # as once written, of one command
        parts = [{**parts, "first": 0}]
    parts = [{**part, "stores": [_with_digest(store, labels) for store in part["stores"]]} for part in parts]
    rows = appender.rows
    ends: list[int] = [*(part["first"] for part in parts[1:]), rows]
    # Without those of a command that was stopped before it saved a game.
    kept = [(part, end) for part, end in zip(parts, ends, strict=True) if part["first"] < end]
    parts_kept = [part for part, _ in kept]
    for part, end in kept:
        first: int = part["first"]
        if {**labels, "first": first} == part:
            if parts_kept != parts:
                appender.set_facts({"labels": parts_kept})
            return first, end
    if kept and not add:
        _check_same(out, "labels", parts_kept[-1], labels, "choose another folder, or --add to them")
    appender.set_facts({"labels": [*parts_kept, {**labels, "first": rows}]})
    return rows, rows


def _with_digest(store: dict[str, Any], labels: dict[str, Any]) -> dict[str, Any]:
    """The store of an entry, which has no digest of its games where an earlier version wrote it."""
    return next((given for given in labels["stores"] if {**given, **store} == given), store)


def _check_same(out: Path, name: str, found: dict[str, Any], wanted: dict[str, Any], advice: str) -> None:
    """Raise StoreError that says what is not as `wanted`."""
    if other := [key for key, value in wanted.items() if found.get(key) != value]:
        differences = ", ".join(f"{key.replace('_', ' ')} {found.get(key)}, not {wanted[key]}" for key in other)
        raise StoreError(f"{out} has other labels ({name}: {differences}); {advice}")
