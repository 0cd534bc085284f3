"""The lookups of ideal rings: how many peers each is handed to, and who hands it on.

Law of this file: pure numpy, no Spark; the decisions are those of `chord.routing` where pointers
are ideal, so that node distance alone decides (tests/sim/test_study_lookups.py holds them against
that very code).  Beside it Chord's own rule, with fingers by identifier distance, for the published
Squid: Chord (ToN 2003) figure 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim.spark.rings import Numbers, Rings, bit_lengths

SUCCESSORS = 8
"""As many as a peer knows by default (`chord.ChordConfig.successor_count`)."""


class Paths(NamedTuple):
    """What became of lookups."""

    hops: Numbers
    """By lookup: how many peers it was handed to, the owner included; 0 for one's own index."""
    lookup: Numbers
    """By forwarding peer: the lookup."""
    forwarder: Numbers
    """By forwarding peer: its seat.  Who asks is not one."""


def by_node_distance(rings: Rings, seats: Numbers, owners: Numbers) -> Paths:
    """Lookups of Meteor's rings: from each seat to an owner, over fingers 2, 4, 8 ... peers away
    and the list of successors."""
    left = rings.distances(seats, owners)
    at, hops = seats.copy(), np.zeros(len(seats), dtype=np.int64)
    met: list[tuple[Numbers, Numbers]] = []
    active = np.flatnonzero(left)
    while len(active):
        away = left[active]
        step = np.where(away <= SUCCESSORS, away, np.int64(1) << bit_lengths(away) - 1)
        hops[active] += 1
        left[active] -= step
        at[active] = rings.along(at[active], step)
        active = active[left[active] > 0]
        met.append((active, at[active]))
    return _paths(hops, met)


def by_identifier_distance(rings: Rings, seats: Numbers, indexes: Numbers) -> Paths:
    """Lookups of published Chord: from each seat to the owner of an index, over the successor and
    the owners of the identifiers 2^i away."""
    ring = rings.ring_of[seats]
    owners = rings.owners(ring, indexes)
    at, hops = seats.copy(), np.zeros(len(seats), dtype=np.int64)
    met: list[tuple[Numbers, Numbers]] = []
    active = np.flatnonzero(at != owners)
    while len(active):
        at[active] = _next_hops(rings, ring[active], at[active], owners[active], indexes[active])
        hops[active] += 1
        active = active[at[active] != owners[active]]
        met.append((active, at[active]))
    return _paths(hops, met)


def _next_hops(
    rings: Rings, ring: Numbers, at: Numbers, owners: Numbers, indexes: Numbers
) -> Numbers:
    """The successor where it owns the index, else the closest preceding finger."""
    size = 1 << rings.index_bits
    here = rings.lasts[at]
    gap = (indexes - here) % size
    chosen = rings.along(at, 1)
    todo = np.flatnonzero(chosen != owners)
    level = bit_lengths(gap[todo]) - 1
    while len(todo):
        finger = rings.owners(ring[todo], (here[todo] + (np.int64(1) << level)) % size)
        ahead = (rings.lasts[finger] - here[todo]) % size
        # A finger between here and the index; otherwise a shorter one, at last the successor.
        good = (ahead > 0) & (ahead < gap[todo])
        chosen[todo[good]] = finger[good]
        left = ~good & (level > 0)
        todo, level = todo[left], level[left] - 1
    return chosen


def _paths(hops: Numbers, met: list[tuple[Numbers, Numbers]]) -> Paths:
    empty = np.zeros(0, dtype=np.int64)
    return Paths(
        hops,
        np.concatenate([lookup for lookup, _ in met] or [empty]),
        np.concatenate([seat for _, seat in met] or [empty]),
    )
