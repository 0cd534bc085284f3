"""What is measured: the rows of the table, with the workload that every system gets.

Law of this file: plain constants and small functions; both sides of each comparison read them.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator
from statistics import median
from typing import Final

NODES: Final = 64
"""Of the ring that stores and retrieves single records."""
RECORDS: Final = 300
VALUE: Final = bytes(64)
IN_FLIGHT: Final = 16

TOLD: Final = 1500
"""Messages whose way from one client to another is timed, `GAP_S` apart."""
GAP_S: Final = 0.001
RECEIVED: Final = 30_000
"""Messages that one client is to take in as fast as it can."""
FAN_OUT: Final = 10
"""How many interests of one client each message of `received` concerns, in Meteor: the row of
DESIGN section 8 speaks of ten or more.  A broker's client has one subscription a message."""

STORES: Final = 16
"""Peers, or stores, that share the records which queries look through."""
KEYS: Final = 10_000
PLACES: Final = 100
TYPES: Final = ("temperature", "temperament", "humidity", "wind", "smoke")
REPEATS: Final = {"one": 100, "hundred": 20, "partial": 5, "all": 5}
"""How often each query is asked."""


def records() -> Iterator[tuple[str, int, int]]:
    """Type, place and number of every stored record."""
    for number in range(KEYS):
        yield TYPES[number % len(TYPES)], number // len(TYPES) % PLACES, number


def stamped() -> bytes:
    """A message of 64 bytes that says when it was sent."""
    return struct.pack("<q", time.monotonic_ns()) + bytes(56)


def age_ns(message: bytes) -> int:
    """How long ago a stamped message was sent; the clock is one for all processes of a machine."""
    sent_ns: int = struct.unpack_from("<q", message)[0]
    return time.monotonic_ns() - sent_ns


def spread(durations_ns: list[int]) -> dict[str, float]:
    """Median and 99th percentile in milliseconds."""
    ordered = sorted(durations_ns)
    return {
        "p50_ms": median(ordered) / 1e6,
        "p99_ms": ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)] / 1e6,
    }


def load() -> float:
    """The machine's load average over a minute."""
    return round(os.getloadavg()[0], 1)
