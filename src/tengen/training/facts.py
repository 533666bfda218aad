"""What the card of a network says of the games that it learnt from."""

import zlib

import numpy as np

from tengen.data.batch import Ints
from tengen.data.store import Store
from tengen.training.config import CardFacts


def facts_of(card: CardFacts, store: Store, rows: Ints) -> CardFacts:
    """The facts of a recipe's card; what it leaves out is told from the games that are learnt, `rows` of `store`."""
    sizes = card.board_sizes or board_sizes(store, rows)
    return card.model_copy(update={"board_sizes": sizes, "data": card.data or f"the games of {store.path.name}"})


def named(store: Store, rows: Ints) -> str:
    """How many games `rows` of `store` are, and a number that other games, or another order, would not have."""
    return f"{len(rows)} games ({zlib.crc32(store.hashes[rows].tobytes()):08x})"


def board_sizes(store: Store, rows: Ints) -> list[int]:
    """The board sizes of these games, the smallest first."""
    return [int(size) for size in np.unique(store.column("size")[rows])]
