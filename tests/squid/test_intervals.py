"""Interval arithmetic against sets, boxes against their cells, arcs against every index."""

from __future__ import annotations

import pickle
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from squid import Box, CurveError, HilbertCurve, intervals

loose = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8)


def members(some) -> set[int]:
    return {index for first, last in some for index in range(first, last + 1)}


def is_normal(some) -> bool:
    return all(first <= last for first, last in some) and all(
        before[1] + 1 < after[0] for before, after in pairwise(some)
    )


drawn = loose | loose.map(tuple) | loose.map(intervals.merge)
"""In any order, as a list or a tuple, and as they come out: for these there are shorter ways."""


@given(drawn, drawn)
def test_union_intersection_and_difference_are_those_of_sets(left, right):
    for found, wanted in (
        (intervals.merge(left, right), members(left) | members(right)),
        (intervals.intersect(left, right), members(left) & members(right)),
        (intervals.subtract(left, right), members(left) - members(right)),
    ):
        assert members(found) == wanted
        assert is_normal(found)


def test_what_one_interval_and_another_one_are_together():
    for first, last, start, end in product(range(6), repeat=4):
        one, other = ((first, last),), ((start, end),)
        for found, wanted in (
            (intervals.merge(one), members(one)),
            (intervals.merge(one + other), members(one) | members(other)),
            (intervals.intersect(one, other), members(one) & members(other)),
            (intervals.subtract(one, other), members(one) - members(other)),
        ):
            assert members(found) == wanted, (one, other)
            assert is_normal(found), (one, other)


@given(loose, st.integers(0, 41))
def test_covers_and_count_are_those_of_sets(some, index):
    assert intervals.covers(some, index) == (index in members(some))
    assert intervals.count(some) == len(members(some))


@given(st.integers(1, 4), st.integers(0, 3), st.data())
def test_an_arc_owns_the_indexes_whose_ring_id_lies_in_it(index_bits, spare_bits, data):
    id_bits = index_bits + spare_bits
    ring_id = st.integers(0, (1 << id_bits) - 1)
    after, last = data.draw(ring_id), data.draw(ring_id)
    found = intervals.of_arc(after, last, index_bits, id_bits)
    assert is_normal(found)

    def owned(index: int) -> bool:
        at = index << spare_bits
        if after == last:
            return True
        return after < at <= last if after < last else at > after or at <= last

    assert members(found) == {index for index in range(1 << index_bits) if owned(index)}


boxes = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda ends: (min(ends), max(ends))),
    min_size=2,
    max_size=2,
).map(Box.of)


def cells(box: Box | None) -> set[tuple[int, ...]]:
    if box is None:
        return set()
    axes = [range(low, high + 1) for low, high in zip(box.low, box.high, strict=True)]
    return set(product(*axes))


@given(boxes, boxes)
def test_box_intersection_is_that_of_its_cells(left, right):
    common = left.intersection(right)
    assert cells(common) == cells(left) & cells(right)
    assert common == right.intersection(left)
    for point in product(range(6), repeat=2):
        assert left.contains(point) == (point in cells(left))
    assert left.is_point == (len(cells(left)) == 1)


def test_boxes_are_values():
    box = Box.of([(1, 2), (3, 3)])
    assert box == Box((1, 3), (2, 3)) == Box.of(box)
    assert pickle.loads(pickle.dumps(box)) == box
    assert {box: 1}[Box((1, 3), (2, 3))] == 1
    assert Box.point([4, 5]).is_point
    assert not box.contains((1,))
    curve = HilbertCurve(2, 2)
    assert Box.whole(curve) == Box((0, 0), (3, 3))
    assert not box.is_whole(curve)


def test_a_box_of_no_dimensions_is_refused():
    with pytest.raises(CurveError):
        Box.of([])


@pytest.mark.parametrize(
    ("low", "high"), [((), ()), ((1,), (1, 2)), ((2,), (1,)), ((-1,), (1,)), ((1, 2), (1,))]
)
def test_boxes_without_a_cell_are_refused(low, high):
    with pytest.raises(CurveError):
        Box(low, high)
