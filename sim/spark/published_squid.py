"""Published Squid: the refinement tree with zero-padded prefixes and aggregated messages.

Law of this file: pure numpy, no Spark; the algorithm as its papers give it and nothing of ours, as
it is the baseline (literature.md section 1.2; Squid, section 3.4).  A cluster is an index prefix;
it goes to the owner of its first index, the prefix followed by zeros.  Who owns all of it stops
there; any other refines it into its 2^d parts, keeps those that meet the box, goes on with its own,
and sends the others on: to each peer the first, whose receiver answers with its identifier, and all
the rest in one message more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sim.spark.lookups import by_identifier_distance
from sim.spark.rings import Numbers, Rings
from sim.spark.visits import Flags, Queries, Touched, VisitLog, Visits
from squid import ArrayRefinement


@dataclass(frozen=True, slots=True)
class _Clusters:
    """Clusters that meet their query's box."""

    visit: Numbers
    """The message that brought each to its peer, by number."""
    prefix: Numbers
    level: Numbers
    """A cluster is `2 ** level` cells wide."""
    state: Numbers
    corner: Numbers
    """One row a dimension."""

    def where(self, kept: Flags | Numbers) -> _Clusters:
        return _Clusters(
            self.visit[kept], self.prefix[kept], self.level[kept], self.state[kept],
            self.corner[:, kept],
        )  # fmt: skip

    def joined(self, others: list[_Clusters]) -> _Clusters:
        every = [self, *others]
        return _Clusters(
            np.concatenate([some.visit for some in every]),
            np.concatenate([some.prefix for some in every]),
            np.concatenate([some.level for some in every]),
            np.concatenate([some.state for some in every]),
            np.concatenate([some.corner for some in every], axis=1),
        )


def spread(refinement: ArrayRefinement, rings: Rings, queries: Queries) -> tuple[Visits, Touched]:
    """Where each query goes; and on the way the peers whose arcs meet its box."""
    return _Spreading(refinement, rings, queries).run()


def touched(refinement: ArrayRefinement, rings: Rings, queries: Queries) -> Touched:
    """The peers whose arcs meet the box of each query."""
    return spread(refinement, rings, queries)[1]


class _Spreading:
    """One batch of queries, hand-on by hand-on."""

    def __init__(self, refinement: ArrayRefinement, rings: Rings, queries: Queries) -> None:
        self._refinement, self._rings, self._queries = refinement, rings, queries
        self._log = VisitLog(len(queries))
        self._met: list[tuple[Numbers, Numbers]] = []
        # By visit: whose query it is, and where.
        self._query = np.arange(len(queries))
        self._seat = queries.origins

    def run(self) -> tuple[Visits, Touched]:
        """Until nobody has anything to hand on."""
        none = np.zeros(len(self._queries), dtype=np.int64)
        level = none + self._refinement.bits
        held = _Clusters(self._query, none, level, none, np.zeros_like(self._queries.low))
        hops = 0
        while len(self._query):
            self._log.visit(self._query, self._seat, hops)
            outgoing, owner, first = self._refine(held)
            held = self._send(outgoing, owner, first)
            hops += 1
        query, seat = (np.concatenate(column) for column in zip(*self._met, strict=True))
        return self._log.result(), Touched(query, seat, self._rings)

    def _refine(self, held: _Clusters) -> tuple[_Clusters, Numbers, Numbers]:
        """Every peer refines what it has as far as its own arc goes: what it sends on, with owner
        and first index of each cluster."""
        none = held.where(np.zeros(len(held.visit), dtype=bool))
        found: list[tuple[_Clusters, Numbers, Numbers]] = [(none, none.visit, none.visit)]
        held = held.where(~self._owned(held)[0])
        while len(held.visit):
            parts = self._parts(held)
            whole, owner, first = self._owned(parts)
            own = owner == self._seat[parts.visit]
            found.append((parts.where(~own), owner[~own], first[~own]))
            held = parts.where(own & ~whole)
        clusters, owners, firsts = zip(*found, strict=True)
        return none.joined(list(clusters)), np.concatenate(owners), np.concatenate(firsts)

    def _parts(self, held: _Clusters) -> _Clusters:
        """The parts of each cluster that meet its box."""
        dimensions = self._refinement.dimensions
        fan = 1 << dimensions
        cells = self._refinement.cell_digits[held.state]
        visit, level = np.repeat(held.visit, fan), np.repeat(held.level - 1, fan)
        query = self._query[visit]
        corner = np.empty((dimensions, len(visit)), dtype=np.int64)
        kept = np.ones(len(visit), dtype=bool)
        for dimension in range(dimensions):
            bit = cells >> dimensions - 1 - dimension & 1
            part = ((held.corner[dimension] << 1)[:, None] | bit).ravel()
            corner[dimension] = part
            kept &= part >= self._queries.low[dimension][query] >> level
            kept &= part <= self._queries.high[dimension][query] >> level
        prefix = ((held.prefix << dimensions)[:, None] | np.arange(fan)).ravel()
        state = self._refinement.next_states[held.state].ravel()
        return _Clusters(visit, prefix, level, state, corner).where(kept)

    def _owned(self, clusters: _Clusters) -> tuple[Flags, Numbers, Numbers]:
        """Whether one peer owns all of each cluster, who owns its first index, and that index."""
        rings, width = self._rings, self._refinement.dimensions * clusters.level
        first = clusters.prefix << width
        last = first + (np.int64(1) << width) - 1
        ring = rings.ring_of[self._seat[clusters.visit]]
        owner = rings.owners(ring, first)
        own_last = rings.lasts[owner]
        # Behind the ring's last identifier all belongs to its first peer, up to the curve's end.
        whole = (first > own_last) | (last <= own_last) | (rings.counts[ring] == 1)
        self._met.append((self._query[clusters.visit[whole]], owner[whole]))
        return whole, owner, first

    def _send(self, clusters: _Clusters, owner: Numbers, first: Numbers) -> _Clusters:
        """Every peer sends on what it has refined: the clusters, by the messages that carry them,
        which are the visits of the next round."""
        order = np.lexsort((first, owner, clusters.visit))
        visit, owner, first = clusters.visit[order], owner[order], first[order]
        leads = np.ones(len(order), dtype=bool)
        leads[1:] = (visit[1:] != visit[:-1]) | (owner[1:] != owner[:-1])
        begins = leads.copy()
        begins[1:] |= leads[:-1]  # behind the first of a peer goes one message with all the rest
        query, sender = self._query[visit], self._seat[visit]
        paths = by_identifier_distance(self._rings, sender[leads], first[leads])
        asked = query[leads]
        self._log.message(query[begins])
        self._log.frame(asked, paths.hops - 1)
        self._log.frame(query[begins & ~leads], np.ones((begins & ~leads).sum(), dtype=np.int64))
        self._log.forward(asked[paths.lookup], paths.forwarder)
        self._log.forward(query, sender)
        self._query, self._seat = query[begins], owner[begins]
        message = np.cumsum(begins) - 1
        moved = clusters.where(order)  # in that order
        return _Clusters(message, moved.prefix, moved.level, moved.state, moved.corner)
