"""From game stores to batches: what training reads."""

from tengen.data.batch import Batch, Prefetcher, Rows, prefetch
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
from tengen.data.record import GameRecord
from tengen.data.sampler import Sampler
from tengen.data.store import Store, StoreWriter
from tengen.data.writer import StoreAppender

__all__ = [
    "Batch",
    "FeatureContext",
    "GameRecord",
    "LabelSampler",
    "MixedSampler",
    "NativePlaneSet",
    "PlaneSet",
    "Prefetcher",
    "PythonPlaneSet",
    "Rows",
    "Sampler",
    "Store",
    "StoreAppender",
    "StoreWriter",
    "TargetMix",
    "encode_game",
    "plane_set",
    "plane_set_names",
    "prefetch",
    "recorded_positions",
    "register_plane_set",
]
