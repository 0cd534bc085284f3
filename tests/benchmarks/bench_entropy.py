"""What comparing a primary with its copy costs: bytes, time, and memory of the fingerprints.

Every figure is one JSON line; nothing is asserted, as the machines are shared.
"""

from __future__ import annotations

import gc
import random
import time
import tracemalloc

import pytest

from meteor.keeping.fingerprints import Fingerprints
from meteor.keeping.placement import Placed
from squid import Box, HilbertCurve
from tests.benchmarks.measuring import report
from tests.meteor.entropy_world import World, placed_of, point, record

CURVE = HilbertCurve(3, 32)
WIDE_SHARE = 20
"""One record in so many is wide."""

pytestmark = pytest.mark.benchmark


def drawn_placed(drawn: random.Random, number: int) -> Placed:
    if number % WIDE_SHARE:
        box = point(drawn.randrange(CURVE.size), CURVE)
    else:
        low = [drawn.randrange(CURVE.side) for _ in range(3)]
        high = [drawn.randrange(first, CURVE.side) for first in low]
        box = Box(tuple(low), tuple(high))
    stem = f"{drawn.getrandbits(128):032x}"
    return placed_of(record(stem, box, CURVE, blob=b"x" * 200), CURVE)


@pytest.mark.parametrize("differing", [0, 1, 100, 10_000])
def test_bytes_of_a_comparison(differing: int) -> None:
    count = 10_000
    drawn, world = random.Random(1), World(CURVE)
    for number in range(count):
        carried = drawn_placed(drawn, number).carried
        world.primary.source.put(carried)
        if number >= differing:
            world.copy.source.put(carried)
    for intervals in (((0, CURVE.size // 4 - 1),), ((0, CURVE.size - 1),)):
        for holder in (world.primary, world.copy):
            while not holder.source.fingerprints.section(intervals).learn(1_000):
                pass
        world.network.reset()
        begun = time.perf_counter()
        found = world.compare(intervals)
        report(
            f"comparing up to {intervals[0][1] / CURVE.size:.2f} of {count} records",
            differ=found.sent,
            bytes=world.network.sent_bytes,
            both_sides_ms=1000 * (time.perf_counter() - begun),
            by_type=world.network.by_type,
        )


@pytest.mark.parametrize("count", [10_000, 100_000])
def test_memory_and_time_of_fingerprints(count: int) -> None:
    """Beside the records themselves, their indexes and their boxes."""
    drawn = random.Random(1)
    placed = [drawn_placed(drawn, number) for number in range(count)]
    gc.collect()
    begun = time.perf_counter()
    prints = Fingerprints(CURVE)
    for one in placed:
        prints.add(one)
    spent_s = time.perf_counter() - begun
    section = prints.section(((0, CURVE.size // 2),))
    while not section.learn(1_000):
        pass
    learned_s = time.perf_counter() - begun - spent_s
    begun = time.perf_counter()
    for _ in range(1_000):
        assert section.whole.records
    digest_s = (time.perf_counter() - begun) / 1_000
    del prints, section
    tracemalloc.start()
    again = Fingerprints(CURVE)
    for one in placed:
        again.add(one)
    bytes_each = tracemalloc.get_traced_memory()[0] / count
    tracemalloc.stop()
    report(
        f"fingerprints of {count} records",
        bytes_a_record=bytes_each,
        add_us=1e6 * spent_s / count,
        learn_a_wide_one_us=1e6 * learned_s / (count / WIDE_SHARE),
        digest_of_half_us=1e6 * digest_s,
    )
