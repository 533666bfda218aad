"""The card of a trained network: what it learned from, and its metrics. Needs no PyTorch."""

import base64
import logging
import math
import platform
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tengen
from tengen.data.batch import Ints
from tengen.data.format import games_digest, read_manifest
from tengen.data.store import Store
from tengen.evaluators.network_file import Card
from tengen.machine import library_versions, processor_name, source_commit
from tengen.training.metrics import Estimate, PredictionResults
from tengen.training.recipe import CardFacts

_logger = logging.getLogger(__name__)
_LIBRARIES = ("numpy", "torch", "onnx", "openvino", "pyarrow")
_SOURCES = 3  # files and folders of an import that a card names
_SAMPLE = 4096  # hashes of games on a card, 43 KB as text


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
    """Each figure with its interval, for a card, without those that could not be measured. None can be below 0."""
    metrics: dict[str, Any] = {}
    for name, figure in {**results.estimates(), **further}.items():
        if not math.isnan(figure.mean):
            metrics[name] = round(figure.mean, 6)
            low, high = figure.interval(6)
            metrics[f"{name}_interval"] = [None if low is None else max(low, 0.0), high]
    metrics["judged_positions"] = len(results)
    return metrics


def facts_of(card: CardFacts, store: Store, rows: Ints, teacher: Mapping[str, str] | None = None) -> CardFacts:
    """The card entries of a recipe; those that it leaves out come from the training games, `rows` of `store`.

    `teacher` has the name and the licence of the network that labels them; that of the store's labels unless given.
    """
    sizes = card.board_sizes or board_sizes(store, rows)
    data = card.data or _described(store)
    if (teacher := teacher or store.manifest.get("teacher")) is not None:
        licence = teacher["licence"] or "licence unknown"
        data += f"; targets of {teacher['name']} ({licence})"
    return card.model_copy(update={"board_sizes": sizes, "data": data})


def _described(store: Store) -> str:
    """What a store was imported from, as far as it says, and whose moves are learned."""
    sources = store.manifest.get("sources") or _labelled(store)
    names = [Path(source).name or source for source in sources]
    more = f" and {len(names) - _SOURCES} more" if len(names) > _SOURCES else ""
    players = store.manifest.get("filters", {}).get("players", [])
    moves = f", the moves of {', '.join(players)}" if players else ""
    return f"the games of {', '.join(names[:_SOURCES]) or store.path.name}{more}{moves}"


def _labelled(store: Store) -> list[str]:
    """The stores whose games a store of labels has; none of another store."""
    parts = store.manifest.get("labels", [])
    parts = [parts] if isinstance(parts, dict) else parts  # as once written, of one command
    return list(dict.fromkeys(source["store"] for part in parts for source in part["stores"]))


def board_sizes(store: Store, rows: Ints) -> list[int]:
    """The board sizes of these games, the smallest first."""
    return [int(size) for size in np.unique(store.column("size")[rows])]


def provenance(
    recipe: Mapping[str, Any], seed: int, games: Sequence[Mapping[str, Any]] = (), stores: Sequence[Path] = ()
) -> dict[str, Any]:
    """What a network is made of: recipe as it was carried out, seed, version and commit of the code, versions of the
    libraries, processor, games.

    `games` as of `games_learned`, those of the networks that it began with too; of `stores` there is `games_digest`.
    """
    return {
        "recipe": dict(recipe),
        "seed": seed,
        "version": tengen.__version__,
        "commit": source_commit(),
        "libraries": library_versions(_LIBRARIES),
        "python": platform.python_version(),
        "processor": processor_name(),
        **({"games": [dict(each) for each in games]} if games else {}),
        **({"stores": {path.name: games_digest(read_manifest(path)) for path in stores}} if stores else {}),
    }


def games_learned(store: Store, rows: Ints, validation_fraction: float | None) -> dict[str, Any]:
    """Games `rows` of `store`, for a card: their key, the share that validated (None: no game of the store),
    the store's `games_digest`, and a sample of the hashes, the smallest ones, by which another store's games are
    recognised."""
    hashes = np.unique(store.hashes[rows])[:_SAMPLE].astype("<u8")
    return {
        "store": store.path.name,
        "key": games_key(store, rows),
        "validation_fraction": validation_fraction,
        "sha256": games_digest(store.manifest),
        "complete": len(hashes) < _SAMPLE,
        "sample": base64.b64encode(hashes.tobytes()).decode(),
    }


def learned_games(provenance: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries `games` of a card's provenance, as of `games_learned`: that of its own run, then those of the
    networks that it began with. A card of an earlier version has one entry, no list."""
    games = provenance.get("games") or []
    return [games] if isinstance(games, dict) else list(games)


def share_learned(games: Mapping[str, Any], hashes: npt.NDArray[np.uint64]) -> float:
    """The estimated share of games, by their hashes, that a network learned from; `games` as of `games_learned`.

    Both sets are sampled by the same limit of the hash, so the share of the sample is that of all.
    """
    sample = np.frombuffer(base64.b64decode(games["sample"]), "<u8")
    compared = hashes if games["complete"] else hashes[hashes <= sample.max(initial=0)]
    return float(np.isin(compared, sample).mean()) if len(compared) else 0.0


def warn_of_learned_games(learned: Store, rows: Ints, validation: Store, validation_rows: Ints) -> None:
    """Log a warning where games `validation_rows` of `validation` are among games `rows` of `learned`."""
    common = int(np.isin(validation.hashes[validation_rows], learned.hashes[rows]).sum())
    if common:
        _logger.warning(
            "warning: %s of the %s games of %s that validate are trained on too: a network predicts them better than "
            "games that it does not know; tengen import --exclude %s makes a store to train on without them",
            *(f"{common:,}", f"{len(validation_rows):,}", validation.path, validation.path),
        )


def warn_of_games_of_start(learned: Sequence[Mapping[str, Any]], validation: Store, validation_rows: Ints) -> None:
    """Log a warning where games that validate are among those of the networks that a run begins with, `learned` as of
    `learned_games`."""
    share = max((share_learned(games, validation.hashes[validation_rows]) for games in learned), default=0.0)
    if share:
        _logger.warning(
            "warning: the start has learned from about %s of the games of %s that validate: it predicts them better "
            "than games that it does not know; choose a validation_store with other games",
            *(f"{share:.0%}", validation.path),
        )


def games_key(store: Store, rows: Ints) -> str:
    """Identifies games `rows` of `store`, their order and whose moves are learned: their number and a checksum."""
    checksum = zlib.crc32(store.hashes[rows].tobytes())
    if np.isin(players := store.column("player")[rows], (0, 1)).any():
        checksum = zlib.crc32(players.tobytes(), checksum)
    return f"{len(rows)} games ({checksum:08x})"
