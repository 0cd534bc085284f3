"""Random numbers that are functions of (seed, stream, number): SplitMix64 as a counter.

Law of this file: pure numpy, no state, no Spark.  Whatever is drawn for a number does not depend on
partitions, batches, retries, or who computes it.  Steele, Lea, Flood 2014, "Fast splittable
pseudorandom number generators"; the finaliser is Stafford's 13th.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
_GOLDEN: Final = 0x9E3779B97F4A7C15
_STREAM: Final = 0xD1B54A32D192ED03
_MASK: Final = (1 << 64) - 1


class Stream(IntEnum):
    """What a number is drawn for; a stream is never used for anything else."""

    PROFILE = 1
    """The attributes of a profile; one stream a dimension from here."""
    PEER = 20
    """A peer's identifier by hash."""
    SAMPLE = 21
    """Whether a profile is in the sample by which a ring grows, by its code."""
    ANCHOR = 30
    """The profile on which a query is made."""
    QUERY = 31
    """The shape of a query; one stream a draw from here."""
    ORIGIN = 60
    """The peer that asks; a stream a size from here, so that origins are independent."""


def words(numbers: npt.NDArray[np.integer], seed: int, stream: int) -> Words:
    """64 random bits for each number."""
    key = np.uint64((seed * _GOLDEN + stream * _STREAM) & _MASK)
    mixed = numbers.astype(np.uint64) * np.uint64(_GOLDEN) + _mixed(np.atleast_1d(key))
    return _mixed(mixed)


def uniform(numbers: npt.NDArray[np.integer], seed: int, stream: int) -> npt.NDArray[np.float64]:
    """A number of [0, 1) for each number, multiples of 2^-53."""
    return (words(numbers, seed, stream) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(numbers: npt.NDArray[np.integer], seed: int, stream: int, limit: int) -> Words:
    """An integer of 0 to limit - 1 for each number; the bias is limit / 2^64."""
    return words(numbers, seed, stream) % np.uint64(limit)


def _mixed(word: Words) -> Words:
    word = (word ^ word >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ word >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return word ^ word >> np.uint64(31)
