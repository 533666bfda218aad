"""From game stores to batches: what training reads.

The names are imported when they are first asked for: planes and records need no pyarrow, stores do (extra `data`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tengen.data.batch import Batch, Rows
    from tengen.data.label_sampler import LabelSampler, MixedSampler, TargetMix, recorded_positions
    from tengen.data.planes import (
        FeatureContext,
        NativePlaneSet,
        PlaneSet,
        PythonPlaneSet,
        encode_game,
        plane_set,
        plane_set_names,
        register_plane_set,
    )
    from tengen.data.prefetcher import Prefetcher
    from tengen.data.record import GameRecord, game_hash, pack_moves
    from tengen.data.sampler import OnePerGame, PositionChoice, Sampler
    from tengen.data.store import Store, StoreWriter
    from tengen.data.writer import StoreAppender

_NAMES = {
    "batch": ("Batch", "Rows"),
    "label_sampler": ("LabelSampler", "MixedSampler", "TargetMix", "recorded_positions"),
    "planes": (
        *("FeatureContext", "NativePlaneSet", "PlaneSet", "PythonPlaneSet"),
        *("encode_game", "plane_set", "plane_set_names", "register_plane_set"),
    ),
    "prefetcher": ("Prefetcher",),
    "record": ("GameRecord", "game_hash", "pack_moves"),
    "sampler": ("OnePerGame", "PositionChoice", "Sampler"),
    "store": ("Store", "StoreWriter"),
    "writer": ("StoreAppender",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Batch",
    "FeatureContext",
    "GameRecord",
    "LabelSampler",
    "MixedSampler",
    "NativePlaneSet",
    "OnePerGame",
    "PlaneSet",
    "PositionChoice",
    "Prefetcher",
    "PythonPlaneSet",
    "Rows",
    "Sampler",
    "Store",
    "StoreAppender",
    "StoreWriter",
    "TargetMix",
    "encode_game",
    "game_hash",
    "pack_moves",
    "plane_set",
    "plane_set_names",
    "recorded_positions",
    "register_plane_set",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tengen.data' has no attribute {name!r}")
    return getattr(import_module(f"tengen.data.{_HOMES[name]}"), name)
