"""Curve indexes in arrays: 64-bit words where they fit, else rows of big-endian bytes.

Law of this file: numpy integers never leave it for code that expects Python's, as they overflow
in silence; unsigned byte order is curve order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64] | npt.NDArray[np.uint8]
"""Indexes of at most 64 bits: `uint64`, shape (n,).  Wider ones: `uint8`, shape (n, bytes),
big-endian and right-aligned."""

WORD_BITS: Final = 64


def key_bytes(index_bits: int) -> int:
    """Bytes of an index of so many bits."""
    return -(-index_bits // 8)


def keys_from_indexes(indexes: Sequence[int], index_bits: int) -> Keys:
    """Python integers as an array of keys."""
    if index_bits <= WORD_BITS:
        return np.array(indexes, dtype=np.uint64)
    width = key_bytes(index_bits)
    raw = b"".join(index.to_bytes(width, "big") for index in indexes)
    return np.frombuffer(raw, dtype=np.uint8).reshape(len(indexes), width)


def indexes_from_keys(keys: Keys) -> list[int]:
    """An array of keys as Python integers, in the same order."""
    if keys.ndim == 1:
        return [int(key) for key in keys.tolist()]
    raw, width = keys.tobytes(), keys.shape[1]
    return [int.from_bytes(raw[at : at + width], "big") for at in range(0, len(raw), width)]
