"""The curve against what has been published of it, as exact fractions.

Moon, Jagadish, Faloutsos and Saltz, "Analysis of the clustering properties of the Hilbert
space-filling curve" (2001); the report's figures 3.3 and 3.4; the worked example of the
`hilbert-curve` library's documentation.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from squid import HilbertCurve, keys_from_indexes


def mean_clusters(curve: HilbertCurve, sides: tuple[int, ...]) -> Fraction:
    """The mean number of clusters over all places of a window.

    A cluster begins at each cell whose predecessor is not in the window: cells less steps of the
    curve within, summed over all windows at once."""
    cells = curve.decode_array(keys_from_indexes(range(curve.size), curve.index_bits))
    cells = cells.astype(np.int64)
    low, high = np.minimum(cells[1:], cells[:-1]), np.maximum(cells[1:], cells[:-1])
    side = np.array(sides)
    starts = np.minimum(low, curve.side - side) - np.maximum(high - side + 1, 0) + 1
    within = int(np.clip(starts, 0, None).prod(axis=1).sum())
    places = prod(curve.side - extent + 1 for extent in sides)
    return prod(sides) - Fraction(within, places)


def moon(k: int, n: int) -> Fraction:
    """Their closed form for windows of side 2^k in a grid of side 2^(k+n)."""
    windows = (2 ** (k + n) - 2**k + 1) ** 2
    return Fraction((2**n - 1) ** 2 * 2 ** (3 * k) + (2**n - 1) * 2 ** (2 * k) + 2**n, windows)


@pytest.mark.parametrize(
    ("k", "n", "mean"),
    [
        (1, 1, "14/9"), (1, 2, "88/49"), (1, 3, "428/225"), (1, 4, "1876/961"),
        (2, 1, "82/25"), (2, 2, "628/169"), (2, 3, "3256/841"), (2, 4, "14656/3721"),
        (3, 1, "578/81"), (3, 2, "4804/625"), (3, 3, "25544/3249"), (3, 4, "116176/14641"),
    ],
)  # fmt: skip
def test_mean_clusters_of_windows_by_the_closed_form(k, n, mean):
    assert moon(k, n) == Fraction(mean)
    assert mean_clusters(HilbertCurve(2, k + n), (2**k, 2**k)) == Fraction(mean)


@pytest.mark.parametrize(
    ("dimensions", "bits", "sides", "mean"),
    [
        (2, 6, (2, 2), "7844/3969"), (2, 6, (3, 3), "2860/961"), (2, 6, (4, 4), "14656/3721"),
        (2, 6, (5, 5), "2239/450"), (2, 6, (6, 6), "20600/3481"), (2, 6, (7, 7), "5833/841"),
        (2, 6, (8, 8), "25544/3249"), (2, 6, (10, 10), "29872/3025"),
        (2, 6, (16, 16), "37636/2401"), (2, 6, (32, 32), "33794/1089"),
        (2, 8, (2, 2), "129668/65025"), (2, 8, (3, 3), "48292/16129"),
        (2, 8, (4, 4), "255088/64009"), (2, 8, (8, 8), "494048/62001"),
        (2, 8, (16, 16), "925456/58081"),
        (2, 8, (2, 8), "35214/7055"), (2, 8, (8, 2), "63248/12699"),
        (2, 8, (1, 16), "262229/30848"), (2, 8, (4, 12), "21492/2695"),
        (3, 4, (2, 2, 2), "12584/3375"), (3, 5, (2, 2, 2), "115094/29791"),
        (3, 5, (3, 3, 3), "2669/300"), (3, 5, (4, 4, 4), "380884/24389"),
        (3, 6, (2, 2, 2), "982612/250047"), (3, 6, (4, 4, 4), "3595822/226981"),
        # slabs across the grid: 2^b / 2 in the plane, 4^b / 3 in space, a line 2^b * 2 / 3
        (2, 6, (1, 64), "32"), (2, 6, (64, 1), "2049/64"), (2, 6, (8, 64), "599/19"),
        (3, 5, (1, 32, 32), "341"), (3, 5, (32, 32, 1), "10945/32"), (3, 5, (1, 1, 32), "341/16"),
    ],
)  # fmt: skip
def test_mean_clusters_over_all_placements(dimensions, bits, sides, mean):
    assert mean_clusters(HilbertCurve(dimensions, bits), sides) == Fraction(mean)


@pytest.mark.parametrize(("side", "mean"), [(2, 7.445), (3, 26.67)])
def test_mean_clusters_in_four_dimensions(side, mean):
    found = mean_clusters(HilbertCurve(4, 4), (side,) * 4)
    assert float(found) == pytest.approx(mean, abs=0.005)


@pytest.mark.parametrize(
    ("side", "counts"),
    [
        (2, {1: 324, 2: 406, 3: 184, 4: 47}),
        (3, {2: 186, 3: 572, 4: 142}),
        (4, {1: 81, 2: 94, 3: 190, 4: 165, 5: 109, 6: 202}),
    ],
)
def test_how_many_windows_have_how_many_clusters(side, counts):
    curve = HilbertCurve(2, 5)
    places = range(curve.side - side + 1)
    found = Counter(
        len(curve.clusters([(row, row + side - 1), (column, column + side - 1)]))
        for row, column in product(places, repeat=2)
    )
    assert found == counts


def test_clusters_agree_with_the_closed_form_by_listing_them():
    curve = HilbertCurve(2, 4)
    listed = [
        len(curve.clusters([(row, row + 3), (column, column + 3)]))
        for row, column in product(range(13), repeat=2)
    ]
    assert Fraction(sum(listed), len(listed)) == moon(2, 2)


@pytest.mark.parametrize("codec", ["native", "reference"])
def test_figures_3_3_and_3_4_of_the_report(codec):
    curve = HilbertCurve(2, 3, codec)
    assert curve.encode((2, 1)) == 7
    assert curve.clusters([(2, 3), (1, 5)]) == [(6, 11), (28, 31)]


def test_first_rows_of_the_eight_by_eight_index():
    curve = HilbertCurve(2, 3)
    rows = [[curve.encode((row, column)) for column in range(8)] for row in range(4)]
    assert rows == [
        [0, 1, 14, 15, 16, 19, 20, 21],
        [3, 2, 13, 12, 17, 18, 23, 22],
        [4, 7, 8, 11, 30, 29, 24, 25],
        [5, 6, 9, 10, 31, 28, 27, 26],
    ]
    assert [curve.encode((4, column)) for column in range(8)] == [58, 57, 54, 53, 32, 35, 36, 37]


EXAMPLE = [(3, 8), (3, 10)]


def test_second_golden_box():
    curve = HilbertCurve(2, 5)
    assert curve.encode((3, 4)) == 31
    assert curve.clusters(EXAMPLE) == [
        (10, 10), (26, 28), (31, 48), (51, 53), (69, 69), (122, 124), (127, 128), (131, 132),
        (210, 221), (227, 229),
    ]  # fmt: skip
    assert curve.clusters(EXAMPLE, limit=3) == [(10, 69), (122, 132), (210, 229)]
    assert curve.clusters(EXAMPLE, limit=1) == [(10, 229)]


@pytest.mark.parametrize(
    ("limit", "waste"),
    [(8, 1.08), (6, 1.17), (5, 1.27), (4, 1.58), (3, 1.90), (2, 2.98), (1, 4.58)],
)
def test_waste_of_the_second_golden_box_by_budget(limit, waste):
    covered = sum(last - first + 1 for first, last in HilbertCurve(2, 5).clusters(EXAMPLE, limit))
    assert covered / (6 * 8) == pytest.approx(waste, abs=0.005)
