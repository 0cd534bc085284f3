"""Handing on by fingers: what a peer plans for its contacts is the job, once; whole rings that
follow such plans reach every index, each peer by one message; stale fingers lose nothing."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from chord import Arc, Contact, KnownArc, ideal_ring
from squid import (
    Box,
    HilbertCurve,
    Ledger,
    Stretch,
    Surroundings,
    count_indexes,
    finger_shares,
    intersect,
    merge,
    of_arc,
    subtract,
)

SMALL = [(1, 6), (2, 3), (2, 4), (3, 2), (4, 1)]


class Ring:
    """The peers with these ids, whose pointers are those of an ideal ring, or of an older one."""

    def __init__(
        self, ids: list[int], curve: HilbertCurve, id_bits: int, successors: int = 2
    ) -> None:
        self.ids, self.curve = ids, curve
        self.id_bits, self.shift = id_bits, id_bits - curve.index_bits
        self.owned = {
            ids[at]: of_arc(ids[at - 1], ids[at], curve.index_bits, id_bits)
            for at in range(len(ids))
        }
        places = ideal_ring([Contact(peer_id, "") for peer_id in ids], successors)
        self.known = {place.contact.id: self._arcs(place) for place in places}

    def _arcs(self, place) -> list[KnownArc]:
        after, arcs = place.contact.id, {}
        for contact in place.successors:
            arcs[contact.id] = KnownArc(contact, Arc(after, contact.id))
            after = contact.id
        for finger in place.fingers:
            arcs.setdefault(
                finger.contact.id,
                KnownArc(finger.contact, Arc(finger.predecessor_id, finger.contact.id)),
            )
        own, whole = place.contact.id, 1 << self.id_bits
        return sorted(arcs.values(), key=lambda known: (known.owner.id - own) % whole)

    def owner(self, index: int) -> int:
        return self.ids[bisect_left(self.ids, index << self.shift) % len(self.ids)]

    def around(self, peer: int) -> Surroundings:
        bits = self.curve.index_bits
        return Surroundings(peer, self.known[peer], index_bits=bits, id_bits=self.id_bits)

    def whole_circle(self, peer: int) -> Stretch:
        own = count_indexes(self.owned[peer])
        return Stretch(peer >> self.shift, self.curve.size - own + 1)


def hand_round(ring: Ring, box: Box, origin: int):
    """Route a query by plans alone; its ledger, how often each peer was handed a share, the
    deepest chain, and how many owners had to be looked up."""
    whole = ((0, ring.curve.size - 1),)
    ledger = Ledger(ring.curve, box, whole)
    queue = [(origin, whole, ring.whole_circle(origin), 0)]
    reached, deepest, serial, lookups = Counter(), 0, 0, 0
    while queue:
        peer, job, stretch, depth = queue.pop()
        serial += 1
        assert serial < 1000, "shares go in circles"
        deepest, reached[peer] = max(deepest, depth), reached[peer] + 1
        ledger.report((peer, serial), 0, intersect(job, ring.owned[peer]), (), 0)
        rest = subtract(job, ring.owned[peer])
        batches: dict[tuple[int, Stretch], list] = {}
        for share in finger_shares(ring.curve, box, rest, ring.around(peer), stretch):
            if share.contact is None:
                lookups += 1
            to = ring.owner(share.first) if share.contact is None else share.contact.id
            batches.setdefault((to, share.stretch), []).append(share.interval)
        queue.extend((to, merge(part), end, depth + 1) for (to, end), part in batches.items())
    return ledger, reached, deepest, lookups


@st.composite
def queries(draw):
    """A small curve, a ring of some peers on it, and a box."""
    curve = HilbertCurve(*draw(st.sampled_from(SMALL)))
    id_bits = curve.index_bits + draw(st.integers(0, 2))
    ring_id = st.integers(0, (1 << id_bits) - 1)
    ids = sorted(draw(st.sets(ring_id, min_size=1, max_size=9)))
    cell = st.integers(0, curve.side - 1)
    some = st.tuples(cell, cell).map(lambda ends: (min(ends), max(ends)))
    axis = st.one_of(st.just((0, curve.side - 1)), some)
    return curve, id_bits, ids, Box.of([draw(axis) for _ in range(curve.dimensions)])


def concerned_in(ring: Ring, box: Box) -> set[int]:
    return {
        peer
        for peer, own in ring.owned.items()
        if any(ring.curve.has_match(box, *interval) for interval in own)
    }


@given(queries(), st.data())
def test_fingers_reach_whom_it_concerns_each_by_one_message_and_look_nothing_up(drawn, data):
    curve, id_bits, ids, box = drawn
    ring, origin = Ring(ids, curve, id_bits), data.draw(st.sampled_from(ids))
    ledger, reached, deepest, lookups = hand_round(ring, box, origin)
    note(f"ids {ids}, origin {origin}, reached {dict(reached)}")
    assert ledger.complete
    assert not ledger.counts_twice
    assert concerned_in(ring, box) <= set(reached)
    assert set(reached.values()) == {1}
    # A contact whose arc lies between two indexes is handed nothing, and what it alone knows is
    # looked up; on a curve of 2^60 indexes nobody will see it.
    assert lookups == 0 or not all(count_indexes(ring.owned[peer]) for peer in ids)
    assert deepest <= (len(ids) - 1).bit_length()


@given(queries(), st.data())
def test_stale_fingers_cost_lookups_never_indexes(drawn, data):
    """Pointers of a ring of which some peers have gone and to which others have come."""
    curve, id_bits, ids, box = drawn
    before, ring = Ring(ids, curve, id_bits), Ring(ids, curve, id_bits)
    ring_id = st.integers(0, (1 << id_bits) - 1)
    come = data.draw(st.sets(ring_id, max_size=4))
    gone = data.draw(st.sets(st.sampled_from(ids), max_size=len(ids) // 2))
    living = sorted(set(ids) - gone | come)
    ring = Ring(living, curve, id_bits)
    for peer in set(ids) & set(living):
        ring.known[peer] = [known for known in before.known[peer] if known.owner.id in living]
    note(f"{curve} {id_bits} ids {ids}, living {living}")
    ledger, reached, _, lookups = hand_round(ring, box, data.draw(st.sampled_from(living)))
    note(f"ids {ids}, living {living}, reached {dict(reached)}, {lookups} lookups")
    assert ledger.complete
    assert not ledger.counts_twice
    assert concerned_in(ring, box) <= set(reached)


@pytest.mark.parametrize("peers", [64, 1000])
def test_large_rings_take_few_more_peers_than_it_concerns(peers):
    """At most 1.4 times the peers that it concerns, over queries of a realistic mix."""
    curve, source = HilbertCurve(3, 20), random.Random(peers)
    ring = Ring(
        sorted(source.sample(range(curve.size), peers)), curve, curve.index_bits, successors=8
    )
    top, concerned, handed = curve.side - 1, 0, 0
    for _ in range(10):
        low = [source.randrange(top) for _ in range(3)]
        box = Box.of([(low[0], min(top, low[0] + top // 10)), (0, top), (0, low[2])])
        ledger, reached, deepest, lookups = hand_round(ring, box, source.choice(ring.ids))
        assert ledger.complete
        assert not lookups
        assert deepest <= peers.bit_length()
        concerned += len(concerned_in(ring, box))
        handed += len(reached)
    print(f"{handed} handed for {concerned} concerned")
    assert handed <= 1.4 * (concerned + 10)
