"""The study's routing kernels against the code that peers run, box by box and hop by hop."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import Contact, ideal_ring
from chord.routing import RoutingTable
from sim.spark import handing_on, published_squid
from sim.spark.lookups import SUCCESSORS, by_identifier_distance, by_node_distance
from sim.spark.rings import Rings, bit_lengths, distinct_numbers
from sim.spark.visits import Queries, Visits
from squid import (
    Addressing,
    ArrayRefinement,
    Box,
    CurveError,
    HilbertCurve,
    Intervals,
    intersect,
    merge,
    of_arc,
    shares,
)

CURVES = [(1, 8), (2, 5), (3, 4), (4, 3), (2, 16), (3, 20)]


def drawn_boxes(curve: HilbertCurve, count: int, seed: int) -> list[Box]:
    """Boxes of all shapes: whole axes, single cells, short and long ranges."""
    stream = random.Random(seed)
    boxes = []
    for _ in range(count):
        ranges = []
        for _ in range(curve.dimensions):
            low = stream.randrange(curve.side)
            widest = stream.choice([0, curve.side // 16, curve.side - 1 - low])
            high = min(curve.side - 1, low + stream.randint(0, widest))
            ranges.append((0, curve.side - 1) if stream.random() < 0.4 else (low, high))
        boxes.append(Box.of(ranges))
    return boxes


def columns(boxes: Sequence[Box], origins: Sequence[int]) -> Queries:
    low = np.array([box.low for box in boxes], dtype=np.int64).T
    high = np.array([box.high for box in boxes], dtype=np.int64).T
    return Queries(np.ascontiguousarray(low), np.ascontiguousarray(high), np.array(origins))


def drawn_ring(curve: HilbertCurve, peers: int, seed: int) -> list[int]:
    stream = random.Random(seed)
    return sorted({stream.randrange(curve.size) for _ in range(peers)})


def arcs_of(ring: Sequence[int], curve: HilbertCurve) -> list[Intervals]:
    return [
        of_arc(ring[place - 1], last, curve.index_bits, curve.index_bits)
        for place, last in enumerate(ring)
    ]


def owner_of(ring: Sequence[int], index: int) -> int:
    return next((place for place, last in enumerate(ring) if index <= last), 0)


def first_match_twin(
    curve: HilbertCurve, ring: Sequence[int], box: Box, origin: int
) -> list[tuple[int, int]]:
    """Peer and hops of every share, by the plain function that a router calls."""
    arcs = arcs_of(ring, curve)
    waiting = [(origin, ((0, curve.size - 1),), 0)]
    found = []
    for place, job, hops in waiting:
        found.append((place, hops))
        groups: dict[int, list[tuple[int, int]]] = {}
        for share in shares(curve, box, job, arcs[place]):
            groups.setdefault(owner_of(ring, share.first), []).append(share.interval)
        waiting.extend((owner, merge(parts), hops + 1) for owner, parts in groups.items())
    return sorted(found)


def finger_twin(
    curve: HilbertCurve, ring: Sequence[int], box: Box, origin: int
) -> list[tuple[int, int]]:
    """The limited broadcast, from peer to peer: who knows whom is counted on the ring's list."""
    arcs, count = arcs_of(ring, curve), len(ring)
    contacts = sorted({*range(1, SUCCESSORS + 1), *(2**level for level in range(1, 30))})
    waiting, found = [(origin, count - 1, 0)], []
    for place, reach, hops in waiting:
        found.append((place, hops))
        known = [away for away in contacts if away <= reach]
        for away, following in zip(known, [*known[1:], reach + 1], strict=False):
            stretch = [arcs[(place + step) % count] for step in range(away, following)]
            if any(curve.has_match(box, *part) for arc in stretch for part in arc):
                waiting.append(((place + away) % count, following - away - 1, hops + 1))
    return sorted(found)


def of_query(visits: Visits, query: int) -> list[tuple[int, int]]:
    mine = visits.query == query
    return sorted(zip(visits.seat[mine].tolist(), visits.hops[mine].tolist(), strict=True))


def touched_twin(curve: HilbertCurve, ring: Sequence[int], box: Box) -> list[int]:
    return [
        place
        for place, arc in enumerate(arcs_of(ring, curve))
        if any(curve.has_match(box, *part) for part in arc)
    ]


# -- many boxes at once


@pytest.mark.parametrize(("dimensions", "bits"), CURVES)
def test_next_matches_are_those_of_one_box(dimensions: int, bits: int) -> None:
    curve, stream = HilbertCurve(dimensions, bits), random.Random(bits)
    boxes = drawn_boxes(curve, 200, seed=bits)
    queries = columns(boxes, [0] * len(boxes))
    indexes = [stream.randrange(curve.size + 2) for _ in boxes]
    found = ArrayRefinement(dimensions, bits).next_matches(
        queries.low, queries.high, np.array(indexes)
    )
    wanted = [curve.next_match(box, index) for box, index in zip(boxes, indexes, strict=True)]
    assert [None if index < 0 else index for index in found.tolist()] == wanted


def test_curves_that_do_not_fit_are_refused() -> None:
    for dimensions, bits in [(5, 4), (3, 21), (0, 4), (2, 0)]:
        with pytest.raises(CurveError, match="at once"):
            ArrayRefinement(dimensions, bits)


@given(st.lists(st.integers(0, 2**62 - 1)))
def test_bit_lengths(numbers: list[int]) -> None:
    found = bit_lengths(np.array(numbers, dtype=np.int64))
    assert found.tolist() == [number.bit_length() for number in numbers]
    near = np.array([2**60 - 1, 2**60, 2**31 - 1, 2**31, 0])
    assert bit_lengths(near).tolist() == [60, 61, 31, 32, 0]


# -- rings


@given(st.lists(st.integers(0, 30)))
def test_distinct_numbers(numbers: list[int]) -> None:
    found = distinct_numbers(np.array(numbers, dtype=np.int64))
    assert found.tolist() == sorted(set(numbers))


@given(st.sets(st.integers(0, 255), min_size=1, max_size=12), st.integers(0, 255))
def test_seats_own_what_arcs_own(ids: set[int], index: int) -> None:
    ring, curve = sorted(ids), HilbertCurve(1, 8)
    rings = Rings.of([[7], ring], curve.index_bits)
    (seat,) = rings.owners(np.array([1]), np.array([index])).tolist()
    assert seat - 1 == owner_of(ring, index)
    arcs = arcs_of(ring, curve)
    longest = [max((last - first + 1 for first, last in arc), default=0) for arc in arcs]
    assert rings.grains[1:].tolist() == [length.bit_length() for length in longest]
    for place, arc in enumerate(arcs):
        some = np.array([place + 1])
        _, first, last = rings.outside(some, np.array([index]), np.array([255]))
        pieces = merge(zip(first.tolist(), last.tolist(), strict=True))
        assert set(intersect(pieces, arc)) == set()
        assert merge(pieces, intersect(arc, ((index, 255),))) == ((index, 255),)


@pytest.mark.parametrize("ring", [[], [3, 3], [5, 4], [-1], [256]])
def test_rings_that_are_none_are_refused(ring: list[int]) -> None:
    with pytest.raises(ValueError, match="ring 0"):
        Rings.of([ring], 8)


# -- lookups


def handed_to(ring: Sequence[int], start: int, index: int) -> list[int]:
    """The peers that a lookup is handed to, by the routing tables of the ideal ring."""
    contacts = [Contact(last, str(last)) for last in ring]
    places = ideal_ring(contacts, SUCCESSORS)
    tables = [
        RoutingTable(place.contact.id, 62, place.successors, place.fingers) for place in places
    ]
    found, at = [], start
    while at != owner_of(ring, index):
        at = ring.index(tables[at].route(index).candidates[0].id)
        found.append(at)
    return found


@pytest.mark.parametrize("peers", [1, 2, 5, 9, 10, 33, 150])
def test_lookups_are_those_of_the_routing_tables(peers: int) -> None:
    stream = random.Random(peers)
    ring = sorted(stream.sample(range(2**62), peers))
    rings = Rings.of([ring], 62)
    starts = [stream.randrange(peers) for _ in range(100)]
    keys = [stream.choice([stream.choice(ring), stream.randrange(2**62)]) for _ in range(100)]
    owners = rings.owners(np.zeros(100, dtype=int), np.array(keys))
    paths = by_node_distance(rings, np.array(starts), owners)
    for number, (start, key) in enumerate(zip(starts, keys, strict=True)):
        wanted = handed_to(ring, start, key)
        assert paths.hops[number] == len(wanted)
        between = paths.forwarder[paths.lookup == number].tolist()
        assert between == wanted[:-1]


def test_published_lookups_take_half_of_log2_n_on_even_rings() -> None:
    stream = random.Random(1)
    ring = sorted(stream.sample(range(2**60), 1024))
    rings = Rings.of([ring], 60)
    starts = np.array([stream.randrange(1024) for _ in range(2000)])
    keys = np.array([stream.randrange(2**60) for _ in range(2000)])
    paths = by_identifier_distance(rings, starts, keys)
    assert 4.5 <= paths.hops.mean() <= 6.0  # half the bits, and the last hop
    assert len(paths.lookup) == np.maximum(paths.hops - 1, 0).sum()


# -- queries


@pytest.mark.parametrize(("dimensions", "bits"), CURVES)
@pytest.mark.parametrize("peers", [1, 2, 7, 60])
def test_every_share_goes_where_a_router_hands_it(dimensions: int, bits: int, peers: int) -> None:
    curve, refinement = HilbertCurve(dimensions, bits), ArrayRefinement(dimensions, bits)
    tiny = drawn_ring(curve, 3, seed=peers + 100)
    ring = drawn_ring(curve, peers, seed=peers)
    rings = Rings.of([tiny, ring], curve.index_bits)
    boxes = drawn_boxes(curve, 25, seed=peers * 31 + bits)
    stream = random.Random(peers)
    origins = [stream.randrange(len(ring)) for _ in boxes]
    queries = columns(boxes, [len(tiny) + origin for origin in origins])
    by_match = handing_on.spread(refinement, rings, queries, Addressing.FIRST_MATCH)
    by_finger = handing_on.spread(refinement, rings, queries, Addressing.FINGERS)
    tree, touched = published_squid.spread(refinement, rings, queries)
    for number, (box, origin) in enumerate(zip(boxes, origins, strict=True)):
        shift = len(tiny)
        twin = first_match_twin(curve, ring, box, origin)
        wanted = [(place + shift, hops) for place, hops in twin]
        assert of_query(by_match, number) == wanted
        assert by_match.messages[number] == len(wanted) - 1
        wanted = [(place + shift, hops) for place, hops in finger_twin(curve, ring, box, origin)]
        assert of_query(by_finger, number) == wanted
        assert by_finger.frames[number] == by_finger.messages[number] == len(wanted) - 1
        floor = {place + shift for place in touched_twin(curve, ring, box)}
        assert set(touched.seat[touched.query == number].tolist()) == floor
        everywhere = {origin + shift} | floor
        assert {seat for seat, _ in of_query(by_match, number)} == everywhere
        assert everywhere <= {seat for seat, _ in of_query(by_finger, number)}
        assert everywhere <= {seat for seat, _ in of_query(tree, number)}


def test_who_only_passes_on_is_told_apart() -> None:
    """In a ring of 60, with first matches, lookups pass peers that never see a share."""
    curve, refinement = HilbertCurve(2, 16), ArrayRefinement(2, 16)
    ring = drawn_ring(curve, 60, seed=1)
    rings = Rings.of([ring], curve.index_bits)
    queries = columns([Box.of([(0, 0), (0, 9)])], [40])
    visits = handing_on.spread(refinement, rings, queries, Addressing.FIRST_MATCH)
    assert of_query(visits, 0) == [(0, 1), (40, 0)]
    way = handed_to(ring, 40, 0)
    assert visits.forwarding[1].tolist() == sorted([40, *way[:-1]])
    assert visits.frames[0] == len(way) + 1 + 1  # there, the answer, the share
