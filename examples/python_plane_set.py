"""A plane set in Python: seven past boards, the age of stones and the rank of the player to move.

    python examples/python_plane_set.py STORE

prints a batch of the store. A plane set in Python suits experiments: no native code is built, and training, search and
self-play use it like any other set, but encoding takes many times as long.

`register_plane_set` makes the set known in this program. An installed package makes it known to all commands by an
entry point in its pyproject.toml::

    [project.entry-points."tengen.plane_sets"]
    past-and-age = "my_package.planes:PAST_AND_AGE"

The recipe of a network then names it: `network: {family: residual, size: b4c64, plane_set: past-and-age}`.
"""

from __future__ import annotations

import sys

import numpy as np

from tengen.data import FeatureContext, PythonPlaneSet, Sampler, Store, register_plane_set

PAST_BOARDS = 8


def features(f: FeatureContext) -> tuple[np.ndarray, np.ndarray]:
    """Planes [C, size, size] by row and column of the board, and scalars [S], for the side `f.own`."""
    own, opponent = ([f.stones(color, back) for back in range(PAST_BOARDS)] for color in (f.own, f.other))
    moves_ago = len(f.game.moves()) - f.last_played()
    age = np.where(f.stones(f.own) | f.stones(f.other), np.exp(-0.1 * moves_ago), 0)
    # Ranks are numbers: -30..-1 for 30k..1k, 1..9 for 1d..9d, 11..19 for professionals, 0 for unknown.
    scalars = [f.self_komi / 20, f.ranks[f.own] / 20]
    return np.stack([*own, *opponent, age]), np.array(scalars)


PAST_AND_AGE = PythonPlaneSet(
    name="past-and-age",
    planes=(*(f"own_{t}" for t in range(PAST_BOARDS)), *(f"opponent_{t}" for t in range(PAST_BOARDS)), "age"),
    scalars=("self_komi", "own_rank"),
    features=features,
)


def main(path: str) -> None:
    """Draw a batch of the store at `path`."""
    register_plane_set(PAST_AND_AGE)
    batch = Sampler(Store.open(path), "all", "past-and-age", batch_size=32).batch(0)
    print(batch)
    for name, plane in zip(PAST_AND_AGE.planes, batch.planes[0], strict=True):
        print(f"{name:12} {np.count_nonzero(plane):3} points, sum {plane.sum():.2f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
