"""The eight symmetries of the board on numpy arrays whose last two axes are rows and columns.

Bit 0 flips rows, bit 1 flips columns, bit 2 transposes, in that order, as everywhere in Tengen.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def apply(array: NDArray[Any], symmetry: int) -> NDArray[Any]:
    """A view of `array` [..., n, n] under the symmetry."""
    if symmetry & 1:
        array = array[..., ::-1, :]
    if symmetry & 2:
        array = array[..., ::-1]
    return np.swapaxes(array, -1, -2) if symmetry & 4 else array


def undo(array: NDArray[Any], symmetry: int) -> NDArray[Any]:
    """The view that takes `apply(array, symmetry)` back to `array`."""
    if symmetry & 4:
        array = np.swapaxes(array, -1, -2)
    return apply(array, symmetry & 3)
