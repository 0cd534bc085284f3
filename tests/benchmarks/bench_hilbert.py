"""How fast points become indexes, beside the `hilbertcurve` package in the same run, and what one
question about a region costs a peer.  One JSON line each; nothing is asserted about time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from random import Random
from time import perf_counter

import numpy as np
import pytest
from hilbertcurve.hilbertcurve import HilbertCurve as PackagedCurve

from squid import Box, HilbertCurve, indexes_from_keys, shares
from tests.benchmarks import measuring

pytestmark = pytest.mark.benchmark

report = partial(measuring.report, "hilbert")
SEED = 1


def seconds(work: Callable[[], object], repeats: int = 15) -> float:
    """The quickest of a few runs, after one that builds the tables: what disturbs a run on a shared
    machine only ever adds."""
    work()
    taken = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        taken.append(perf_counter() - start)
    return min(taken)


@pytest.mark.parametrize(
    ("dimensions", "bits", "packaged"),
    [(3, 20, 1_000_000), (2, 16, 20_000), (3, 32, 20_000), (4, 16, 20_000), (8, 20, 20_000)],
)
def test_a_million_points(dimensions, bits, packaged):
    """3 x 20 bits: the package, too, encodes the whole million; else a part of it.  Its time is
    that of the quickest tenth, times ten."""
    points = np.random.default_rng(SEED).integers(0, 1 << bits, size=(1_000_000, dimensions))
    curve, package = HilbertCurve(dimensions, bits), PackagedCurve(p=bits, n=dimensions)
    keys = curve.encode_array(points)
    encode_s = seconds(lambda: curve.encode_array(points))
    decode_s = seconds(lambda: curve.decode_array(keys))
    distances: list[int] = []
    tenths = []
    for tenth in np.array_split(points[:packaged], 10):
        rows = tenth.tolist()
        start = perf_counter()
        distances.extend(package.distances_from_points(rows))
        tenths.append((perf_counter() - start) * len(points) / len(rows))
    package_s = min(tenths)
    assert indexes_from_keys(keys[:packaged]) == distances
    report(
        what="a million points", dimensions=dimensions, bits=bits,
        encode_s=round(encode_s, 4), decode_s=round(decode_s, 4),
        encoded_per_s=round(1e6 / encode_s), package_s=round(package_s, 2),
        ratio=round(package_s / encode_s),
    )  # fmt: skip


@pytest.mark.parametrize(("dimensions", "bits"), [(2, 16), (3, 20), (3, 32), (4, 16), (8, 20)])
def test_one_point(dimensions, bits):
    points = np.random.default_rng(SEED).integers(0, 1 << bits, size=(3_000, dimensions)).tolist()
    curve, package = HilbertCurve(dimensions, bits), PackagedCurve(p=bits, n=dimensions)
    indexes = [curve.encode(point) for point in points]

    def each_us(call: Callable[[object], object], arguments: list[object]) -> float:
        return seconds(lambda: [call(argument) for argument in arguments]) / len(points) * 1e6

    encode_us, decode_us = each_us(curve.encode, points), each_us(curve.decode, indexes)
    package_us = each_us(package.distance_from_point, points)
    package_decode_us = each_us(package.point_from_distance, indexes)
    report(
        what="one point", dimensions=dimensions, bits=bits, encode_us=round(encode_us, 2),
        package_encode_us=round(package_us, 2), encode_ratio=round(package_us / encode_us, 2),
        decode_us=round(decode_us, 2), package_decode_us=round(package_decode_us, 2),
        decode_ratio=round(package_decode_us / decode_us, 2),
    )  # fmt: skip


REGIONS = {
    "point": [(0.3, 0.3), (0.6, 0.6), (0.1, 0.1)],
    "(comp*, 20-30, *)": [(0.3, 0.3001), (0.4, 0.46), (0, 1)],
    "(*, 20-30, *)": [(0, 1), (0.4, 0.46), (0, 1)],
    "(10%, 10%, 10%)": [(0.31, 0.41), (0.4, 0.5), (0.77, 0.87)],
    "everything": [(0, 1), (0, 1), (0, 1)],
}


@pytest.mark.parametrize("peers", [16, 64, 1000])
@pytest.mark.parametrize("region", REGIONS)
def test_questions_about_a_region(peers, region):
    """Means over all arcs of a ring of random ids, for a job that is the whole curve."""
    curve, source = HilbertCurve(3, 32), Random(SEED)
    top = curve.side - 1
    box = Box.of([(int(low * top), int(high * top)) for low, high in REGIONS[region]])
    ids = sorted(source.randrange(curve.size) for _ in range(peers))
    arcs = [(before + 1, last) for before, last in pairwise(ids)][:100]
    job = ((0, curve.size - 1),)

    def mean_us(work: Callable[[tuple[int, int]], object]) -> float:
        return round(seconds(lambda: [work(arc) for arc in arcs]) / len(arcs) * 1e6, 2)

    report(
        what="one question", region=region, peers=peers,
        has_match_us=mean_us(lambda arc: curve.has_match(box, *arc)),
        next_match_us=mean_us(lambda arc: curve.next_match(box, arc[0])),
        shares_us=mean_us(lambda arc: shares(curve, box, job, (arc,))),
        shares=round(sum(len(shares(curve, box, job, (arc,))) for arc in arcs) / len(arcs), 1),
    )  # fmt: skip
