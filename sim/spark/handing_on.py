"""How a query spreads over an ideal ring, in both of Meteor's ways of handing on.

Law of this file: pure numpy, no Spark; the decisions are those of `squid.shares` and
`squid.finger_shares`, for many queries at once, and a study, a simulated ring and real peers give
the same (tests/sim/test_study_kernels.py holds every receiver and its hops against that very code).
Pointers are those of an ideal ring, arc caches are empty, holdings are the arcs.  DESIGN section 3;
reference of both ways: squid/finger_shares.py.
"""

from __future__ import annotations

import numpy as np

from sim.spark import published_squid
from sim.spark.lookups import SUCCESSORS, by_node_distance
from sim.spark.rings import Numbers, Rings, bit_lengths
from sim.spark.visits import Queries, Touched, VisitLog, Visits
from squid import Addressing, ArrayRefinement

DEPTH_MAX = 64
"""Hand-ons behind one another: `squid.share_check.HOPS_MAX`."""


def spread(
    refinement: ArrayRefinement, rings: Rings, queries: Queries, addressing: Addressing
) -> Visits:
    """Where each query goes, in the ring of its origin."""
    if addressing is Addressing.FINGERS:
        return by_fingers(rings, queries, published_squid.touched(refinement, rings, queries))
    return by_first_match(refinement, rings, queries)


# -- to the owner of the first matching index


def by_first_match(refinement: ArrayRefinement, rings: Rings, queries: Queries) -> Visits:
    """Each share goes to the owner of its first matching index, whom a lookup finds."""
    log = VisitLog(len(queries))
    grains = rings.grains
    query, seat = np.arange(len(queries)), queries.origins
    visit = np.arange(len(queries))
    first = np.zeros(len(queries), dtype=np.int64)
    last = np.full(len(queries), (1 << rings.index_bits) - 1)
    for hops in range(DEPTH_MAX):
        log.visit(query, seat, hops)
        position, begin, end = rings.outside(seat[visit], first, last)
        at = visit[position]
        at, begin, end = _blocks(refinement, queries, query[at], grains[seat[at]], at, begin, end)
        if not len(at):
            break
        owner = rings.owners(rings.ring_of[seat[at]], begin)
        paths = by_node_distance(rings, seat[at], owner)
        # A lookup costs its hops and the owner's answer.
        log.frame(query[at], paths.hops + 1)
        log.forward(query[at][paths.lookup], paths.forwarder)
        log.forward(query[at], seat[at])
        parent, seat_next, visit, first, last = _messages(at, owner, begin, end)
        query, seat = query[parent], seat_next
        log.message(query)
    return log.result()


def _blocks(
    refinement: ArrayRefinement,
    queries: Queries,
    query: Numbers,
    grain: Numbers,
    visit: Numbers,
    first: Numbers,
    last: Numbers,
) -> tuple[Numbers, Numbers, Numbers]:
    """The shares that each interval is cut into: their visit, first matching and last index."""
    low, high = queries.low, queries.high
    found: list[tuple[Numbers, Numbers, Numbers]] = []
    cursor, active = first, np.arange(len(first))
    while len(active):
        match = refinement.next_matches(low[:, query[active]], high[:, query[active]], cursor)
        hit = (match >= 0) & (match <= last[active])
        active, match = active[hit], match[hit]
        end = _block_ends(match, first[active], last[active], grain[active])
        end = np.minimum(end, last[active])
        found.append((visit[active], match, end))
        rest = end < last[active]
        active, cursor = active[rest], end[rest] + 1
    visits, firsts, lasts = (
        (np.concatenate(column) for column in zip(*found, strict=True))
        if (found)
        else (first[:0], first[:0], first[:0])
    )
    return visits, firsts, lasts


def _block_ends(index: Numbers, first: Numbers, last: Numbers, grain: Numbers) -> Numbers:
    """`squid.dyadic_shares`: the end of the largest dyadic block around the index that keeps
    between first and last, or of one as long as the peer's own arc."""
    size = bit_lengths(index ^ last + 1) - 1
    size = np.where(first > 0, np.minimum(size, bit_lengths(index ^ first - 1) - 1), size)
    size = np.maximum(size, grain)
    end: Numbers = ((index >> size) + 1 << size) - 1
    return end


def _messages(
    visit: Numbers, owner: Numbers, first: Numbers, last: Numbers
) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
    """One message a visit and owner: the visit and owner of each message, and the intervals of
    their jobs (message, first, last), in normal form."""
    order = np.lexsort((first, owner, visit))
    visit, owner, first, last = visit[order], owner[order], first[order], last[order]
    new = np.ones(len(visit), dtype=bool)
    new[1:] = (visit[1:] != visit[:-1]) | (owner[1:] != owner[:-1])
    apart = new.copy()
    apart[1:] |= first[1:] != last[:-1] + 1
    starts = np.flatnonzero(apart)
    ends = np.append(starts[1:], len(visit)) - 1
    message = np.cumsum(new) - 1
    return visit[new], owner[new], message[starts], first[starts], last[ends]


# -- to fingers


def by_fingers(rings: Rings, queries: Queries, touched: Touched) -> Visits:
    """A peer sees to the peers behind it up to the end of its stretch; each contact in it gets the
    stretch up to the next contact, where the box meets any peer of that stretch."""
    log = VisitLog(len(queries))
    query, seat = np.arange(len(queries)), queries.origins
    reach = rings.counts[rings.ring_of[seat]] - 1  # peers behind this one that it sees to
    for hops in range(DEPTH_MAX):
        log.visit(query, seat, hops)
        if not len(query):
            break
        parents, begins, reaches = [], [], []
        for away, until in _contact_distances(int(reach.max())):
            parent = np.flatnonzero(reach >= away)
            end = np.minimum(reach[parent], until - 1)
            begin = rings.along(seat[parent], away)
            met = touched.any_within(rings, query[parent], begin, end - away)
            parents.append(parent[met])
            begins.append(begin[met])
            reaches.append((end - away)[met])
        parent, begin, stretch = map(np.concatenate, (parents, begins, reaches)) if parents else (
            query[:0], query[:0], query[:0],
        )  # fmt: skip
        log.forward(query[parent], seat[parent])
        query, seat, reach = query[parent], begin, stretch
        log.message(query)
    return log.result()


def _contact_distances(reach: int) -> list[tuple[int, int]]:
    """How far away each known peer up to `reach` is, and how far the next one."""
    aways = [away for away in range(1, SUCCESSORS + 1) if away <= reach]
    finger = 1 << SUCCESSORS.bit_length()
    while finger <= reach:
        aways.append(finger)
        finger <<= 1
    return list(zip(aways, [*aways[1:], reach + 1], strict=False))
