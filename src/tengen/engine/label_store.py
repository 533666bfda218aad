"""The manifest of a store of labels: the teacher, and which rows are the labels of which stores and plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.checksums import file_digest
from tengen.data.format import games_digest
from tengen.engine.label import LabelPlan
from tengen.errors import NetworkError, StoreError
from tengen.evaluators.board_warnings import boards_not_learned
from tengen.evaluators.installed_networks import default_by_size, find_network, find_network_on
from tengen.evaluators.network_file import read_card

if TYPE_CHECKING:
    from tengen.data.store import Store
    from tengen.data.writer import StoreAppender

_OF_CARD = ("name", "licence", "created", "version")


def describe_teacher(name: str, licence: str, sizes: list[int]) -> dict[str, str]:
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


def describe_labels(stores: list[Store], plan: LabelPlan) -> dict[str, Any]:
    """What determines the labels besides the teacher, for the manifest."""
    sources = [
        {"store": str(store.path), "games": len(store), "sha256": (games_digest(store.manifest) or "")[:16]}
        for store in stores
    ]
    return {**asdict(plan), "stores": sources}


def enter_labels(
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
    # With what earlier versions did not write.
    parts = [
        {"average_symmetries": False, **part, "stores": [_with_digest(store, labels) for store in part["stores"]]}
        for part in parts
    ]
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


def _joined(texts: Iterable[str]) -> str:
    """Different texts, in their order."""
    return ", ".join(text for text in dict.fromkeys(texts) if text)
