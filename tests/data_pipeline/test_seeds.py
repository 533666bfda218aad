"""Keys that differ, and hashes as published."""

from __future__ import annotations

import numpy as np

from tengen.data.seeds import derive, mix


def test_keys_do_not_collide() -> None:
    assert len({derive(a, b) for a in range(50) for b in range(50)}) == 2500


def test_words_hash_as_published() -> None:
    """Steele, Lea and Flood 2014: the outputs of the generator that starts at 1234567."""
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [int(mix(np.array([1234567], np.uint64), key)[0]) for key in range(4)] == published
    words = np.array([0, 1, 2**64 - 1], np.uint64)
    assert mix(words, 2**64 - 1).dtype == np.uint64 and len(set(mix(words, 2**64 - 1).tolist())) == 3
    assert derive() == 0 and derive(1, 2) != derive(2, 1) and 0 <= derive(-1) < 2**64
