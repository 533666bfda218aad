"""The card of a trained network: what it learned from, and its metrics. Needs no PyTorch."""

import math
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

import tengen
from tengen.data.batch import Ints
from tengen.data.store import Store
from tengen.evaluators.network_file import Card
from tengen.training.config import CardFacts
from tengen.training.metrics import Estimate, PredictionResults


def make_card(facts: CardFacts, *, hours: float, **entries: Any) -> Card:
    """A card of a recipe's `facts` and further `entries`, made today by this version."""
    return Card(
        board_sizes=facts.board_sizes,
        rules=facts.rules,
        data=facts.data,
        search=facts.search,
        licence=facts.licence,
        hours=round(hours, 3),
        created=datetime.now(UTC).date().isoformat(),
        version=tengen.__version__,
        **entries,
    )


def metric_entries(results: PredictionResults, further: Mapping[str, Estimate] = {}) -> dict[str, Any]:
    """Each figure with its interval, for a card; figures that could not be measured are left out."""
    metrics: dict[str, Any] = {}
    for name, figure in {**results.estimates(), **further}.items():
        if not math.isnan(figure.mean):
            metrics[name] = round(figure.mean, 4)
            metrics[f"{name}_interval"] = figure.interval(4)
    metrics["judged_positions"] = len(results)
    return metrics


def facts_of(card: CardFacts, store: Store, rows: Ints) -> CardFacts:
    """The card entries of a recipe; those that it leaves out come from the training games, `rows` of `store`."""
    sizes = card.board_sizes or board_sizes(store, rows)
    data = card.data or f"the games of {store.path.name}"
    if (teacher := store.manifest.get("teacher")) is not None:
        licence = teacher["licence"] or "licence unknown"
        data += f"; targets of {teacher['name']} ({licence})"
    return card.model_copy(update={"board_sizes": sizes, "data": data})


def board_sizes(store: Store, rows: Ints) -> list[int]:
    """The board sizes of these games, the smallest first."""
    return [int(size) for size in np.unique(store.column("size")[rows])]


def games_key(store: Store, rows: Ints) -> str:
    """Identifies games `rows` of `store` and their order: their number and a checksum."""
    return f"{len(rows)} games ({zlib.crc32(store.hashes[rows].tobytes()):08x})"
