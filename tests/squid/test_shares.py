"""A peer's routing plan: what it owns and what it hands on are the job, once; and whole rings of
peers that follow such plans reach every index, each once, in few steps."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from itertools import pairwise, product

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from squid import Box, HilbertCurve, Ledger, intersect, intervals, merge, shares

SMALL = [(1, 6), (2, 3), (2, 4), (3, 2), (4, 1), (5, 1)]


@st.composite
def boxes(draw, curve: HilbertCurve) -> Box:
    cell = st.integers(0, curve.side - 1)
    some = st.tuples(cell, cell).map(lambda ends: (min(ends), max(ends)))
    whole = st.just((0, curve.side - 1))
    return Box.of([draw(st.one_of(whole, some)) for _ in range(curve.dimensions)])


@st.composite
def peers_at_work(draw):
    """A curve, a box, a job of some intervals, and an arc that may run over 0 or be nothing."""
    curve = HilbertCurve(*draw(st.sampled_from(SMALL)))
    index = st.integers(0, curve.size - 1)
    ends = st.tuples(index, index).map(lambda pair: (min(pair), max(pair)))
    job = merge(draw(st.one_of(st.just([(0, curve.size - 1)]), st.lists(ends, max_size=4))))
    arc = intervals.of_arc(draw(index), draw(index), curve.index_bits, curve.index_bits)
    return curve, draw(boxes(curve)), job, draw(st.sampled_from([arc, arc, ()]))


def matching(curve: HilbertCurve, box: Box) -> set[int]:
    axes = (range(low, high + 1) for low, high in zip(box.low, box.high, strict=True))
    return {curve.encode(point) for point in product(*axes)}


def members(some) -> list[int]:
    return [index for first, last in some for index in range(first, last + 1)]


@given(peers_at_work())
def test_own_part_and_shares_hold_every_matching_index_of_the_job_once(drawn):
    curve, box, job, own = drawn
    plan = shares(curve, box, job, own)
    mine = intersect(job, own)
    taken = Counter(members(mine) + members([share.interval for share in plan]))
    asked = matching(curve, box)
    assert set(taken) <= set(members(job))
    assert {index for index in taken if index in asked} == asked & set(members(job))
    assert set(taken.values()) <= {1}
    assert all(share.first in asked for share in plan)
    assert all(before.last < after.first for before, after in pairwise(plan))


@given(peers_at_work())
def test_a_peer_without_a_part_in_the_job_cuts_nothing(drawn):
    curve, box, job, own = drawn
    if not intersect(job, own):
        plan = shares(curve, box, job, own)
        assert len(plan) <= len(job)
        assert len(plan) == sum(curve.has_match(box, *interval) for interval in job)


def arcs(ids: list[int], index_bits: int, id_bits: int) -> dict[int, intervals.Intervals]:
    """What each peer of a ring owns, by its id."""
    return {
        ids[place]: intervals.of_arc(ids[place - 1], ids[place], index_bits, id_bits)
        for place in range(len(ids))
    }


def hand_round(curve: HilbertCurve, box: Box, ids: list[int], id_bits: int, origin: int):
    """Route a query by plans alone; returns its ledger, the peers reached and the deepest step."""
    ledger = Ledger(curve, box, [(0, curve.size - 1)])
    owned, shift = arcs(ids, curve.index_bits, id_bits), id_bits - curve.index_bits
    queue, reached, deepest, serial = [(origin, ((0, curve.size - 1),), 0)], Counter(), 0, 0
    while queue:
        peer, job, depth = queue.pop()
        serial += 1
        reached[peer] += 1
        deepest = max(deepest, depth)
        ledger.report((peer, serial), 0, intersect(job, owned[peer]), (), 0)
        batches: dict[int, list] = {}
        for share in shares(curve, box, job, owned[peer]):
            place = bisect_left(ids, share.first << shift)
            batches.setdefault(ids[place % len(ids)], []).append(share.interval)
        queue.extend((owner, merge(batch), depth + 1) for owner, batch in batches.items())
    return ledger, reached, deepest


@given(st.sampled_from(SMALL), st.data())
def test_rings_of_any_size_cover_the_box_once_and_ask_nobody_without_a_stake(shape, data):
    curve = HilbertCurve(*shape)
    id_bits = curve.index_bits + data.draw(st.integers(0, 2))
    ring_id = st.integers(0, (1 << id_bits) - 1)
    ids = sorted(data.draw(st.sets(ring_id, min_size=1, max_size=7)))
    box, origin = data.draw(boxes(curve)), data.draw(st.sampled_from(ids))
    ledger, reached, _ = hand_round(curve, box, ids, id_bits, origin)
    note(f"ids {ids}, origin {origin}, reached {dict(reached)}")
    assert ledger.complete
    assert not ledger.counts_twice
    assert set(ledger.missing) == set()
    concerned = {
        peer
        for peer, own in arcs(ids, curve.index_bits, id_bits).items()
        if any(curve.has_match(box, *interval) for interval in own)
    }
    assert concerned <= set(reached) <= concerned | {origin}


@pytest.mark.parametrize("peers", [64, 1000])
@pytest.mark.parametrize("skewed", [False, True])
def test_large_rings_take_few_steps_also_where_peers_crowd(peers, skewed):
    curve, source = HilbertCurve(3, 20), random.Random(peers)
    spread = curve.size >> 20 if skewed else curve.size
    ids = [*sorted(source.randrange(spread) for _ in range(peers - 1)), curve.size - 1]
    top = curve.side - 1
    selective = Box.of([(top // 4, top // 3), (0, top), (top // 10, top)])
    for box in (Box.whole(curve), selective):
        ledger, reached, deepest = hand_round(curve, box, ids, curve.index_bits, ids[7])
        assert ledger.complete
        assert not ledger.counts_twice
        levels = peers.bit_length() + (20 if skewed else 0)
        assert deepest <= 2 * levels
        assert sum(reached.values()) <= 1.6 * len(reached) + 10


def test_a_plan_is_short_and_grows_with_the_logarithm_of_the_ring():
    curve = HilbertCurve(3, 20)
    for peers in (1, 2, 16, 1024):
        arc = curve.size // peers
        own = ((arc * (peers // 2), arc * (peers // 2) + arc - 1),)
        plan = shares(curve, Box.whole(curve), ((0, curve.size - 1),), own)
        assert len(plan) <= 2 * peers.bit_length()


def test_a_point_is_handed_to_one():
    curve = HilbertCurve(3, 20)
    box = Box.point((1, 2, 3))
    index = curve.encode((1, 2, 3))
    job = ((0, curve.size - 1),)
    assert [share.first for share in shares(curve, box, job, ((5, 9),))] == [index]
    assert shares(curve, box, job, ((index, index),)) == []
    assert shares(curve, box, job, job) == []
    assert shares(curve, box, (), job) == []
