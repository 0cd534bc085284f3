"""next_match, has_match and clusters against lists of every index, on curves small enough."""

from __future__ import annotations

from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from squid import Box, HilbertCurve

SMALL = [(1, 1), (1, 6), (2, 1), (2, 4), (3, 3), (4, 2), (5, 2), (6, 1), (8, 1)]


@st.composite
def curves_with_boxes(draw):
    """A small curve, and a box whose sides are a point, the whole axis, or anything between."""
    curve = HilbertCurve(*draw(st.sampled_from(SMALL)))
    cell = st.integers(0, curve.side - 1)
    ranges = [
        draw(
            st.one_of(
                st.just((0, curve.side - 1)),
                cell.map(lambda at: (at, at)),
                st.tuples(cell, cell).map(lambda ends: (min(ends), max(ends))),
            )
        )
        for _ in range(curve.dimensions)
    ]
    return curve, Box.of(ranges)


def matching(curve: HilbertCurve, box: Box) -> list[int]:
    axes = (range(low, high + 1) for low, high in zip(box.low, box.high, strict=True))
    return sorted(curve.encode(point) for point in product(*axes))


@given(curves_with_boxes(), st.data())
def test_next_match_is_the_smallest_matching_index_not_below(drawn, data):
    curve, box = drawn
    indexes = matching(curve, box)
    for start in data.draw(st.lists(st.integers(-2, curve.size + 2), min_size=1, max_size=30)):
        assert curve.next_match(box, start) == min(
            (index for index in indexes if index >= start), default=None
        )


@given(curves_with_boxes(), st.data())
def test_has_match_says_whether_an_index_between_matches(drawn, data):
    curve, box = drawn
    indexes = matching(curve, box)
    ends = st.tuples(st.integers(-2, curve.size + 2), st.integers(-2, curve.size + 2))
    for first, last in data.draw(st.lists(ends, min_size=1, max_size=30)):
        found = curve.has_match(box, first, last)
        assert found == any(first <= index <= last for index in indexes)


@given(curves_with_boxes())
def test_clusters_are_exactly_the_matching_indexes_in_curve_order(drawn):
    curve, box = drawn
    clusters = curve.clusters(box)
    indexes = [index for first, last in clusters for index in range(first, last + 1)]
    assert indexes == matching(curve, box)
    assert all(before[1] + 1 < after[0] for before, after in pairwise(clusters))


@given(curves_with_boxes(), st.integers(1, 12))
def test_limited_clusters_cover_the_box_with_at_most_so_many(drawn, limit):
    curve, box = drawn
    exact, limited = curve.clusters(box), curve.clusters(box, limit)
    assert 1 <= len(limited) <= min(limit, len(exact))
    assert all(before[1] + 1 < after[0] for before, after in pairwise(limited))
    covered = {index for first, last in limited for index in range(first, last + 1)}
    assert covered.issuperset(matching(curve, box))
    if len(exact) <= limit:
        assert limited == exact


@given(st.integers(5, 8), st.integers(17, 32), st.data())
def test_wide_curves_answer_for_boxes_whose_clusters_nobody_could_list(dimensions, bits, data):
    curve = HilbertCurve(dimensions, bits)
    cell = st.integers(0, curve.side - 1)
    point = data.draw(st.lists(cell, min_size=dimensions, max_size=dimensions))
    around = [
        (max(0, at - data.draw(cell)), min(curve.side - 1, at + data.draw(cell))) for at in point
    ]
    box, index = Box.of(around), curve.encode(point)
    assert curve.next_match(box, index) == index
    assert curve.has_match(box, index, index)
    first = curve.next_match(box, 0)
    assert first is not None
    assert box.contains(curve.decode(first))
    assert first == 0 or not curve.has_match(box, 0, first - 1)
    after = curve.next_match(box, first + 1)
    assert after is None or not curve.has_match(box, first + 1, after - 1)
    limited = curve.clusters(box, limit=16)
    assert 1 <= len(limited) <= 16
    assert any(low <= index <= high for low, high in limited)


def test_the_whole_box_matches_everywhere_at_once():
    curve = HilbertCurve(8, 20)
    whole = Box.whole(curve)
    assert whole.is_whole(curve)
    assert curve.next_match(whole, 12345) == 12345
    assert curve.clusters(whole) == [(0, curve.size - 1)]
    assert curve.clusters(whole, limit=1) == [(0, curve.size - 1)]
