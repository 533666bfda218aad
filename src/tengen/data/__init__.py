"""From game stores to batches: what training reads."""

from tengen.data.appender import StoreAppender
from tengen.data.batch import Batch
from tengen.data.planes import PlaneSet, encode_game, plane_set, plane_set_names
from tengen.data.prefetch import Prefetcher, prefetch
from tengen.data.record import GameRecord
from tengen.data.sampler import Rows, Sampler
from tengen.data.self_play import MixedSampler, SelfPlaySampler, recorded_positions
from tengen.data.store import Store, StoreWriter

__all__ = [
    "Batch",
    "GameRecord",
    "MixedSampler",
    "PlaneSet",
    "Prefetcher",
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
]
