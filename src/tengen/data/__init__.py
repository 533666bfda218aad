"""From game stores to batches: what training reads."""

from tengen.data.appender import StoreAppender
from tengen.data.batch import Batch, Rows
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
from tengen.data.prefetch import Prefetcher, prefetch
from tengen.data.record import GameRecord
from tengen.data.sampler import Sampler
from tengen.data.self_play import MixedSampler, SelfPlaySampler, recorded_positions
from tengen.data.store import Store, StoreWriter

__all__ = [
    "Batch",
    "FeatureContext",
    "GameRecord",
    "MixedSampler",
    "NativePlaneSet",
    "PlaneSet",
    "Prefetcher",
    "PythonPlaneSet",
    "Rows",
    "Sampler",
    "SelfPlaySampler",
    "Store",
    "StoreAppender",
    "StoreWriter",
    "encode_game",
    "plane_set",
    "plane_set_names",
    "prefetch",
    "recorded_positions",
    "register_plane_set",
]
