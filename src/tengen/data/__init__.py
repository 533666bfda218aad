"""From game stores to batches: what training reads."""

from tengen.data.batch import Batch
from tengen.data.planes import PlaneSet, encode_game, plane_set, plane_set_names
from tengen.data.prefetch import Prefetcher, prefetch
from tengen.data.record import GameRecord
from tengen.data.sampler import Rows, Sampler
from tengen.data.store import Store, StoreWriter

__all__ = [
    "Batch",
    "GameRecord",
    "PlaneSet",
    "Prefetcher",
    "Rows",
    "Sampler",
    "Store",
    "StoreWriter",
    "encode_game",
    "plane_set",
    "plane_set_names",
    "prefetch",
]
