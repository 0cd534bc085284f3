"""The clusters of a box on the curve, and the plan by which a peer hands on what it does not hold.

Law of this file: the exact list of clusters is for users and tests, never for routing, as its
length is the surface of the box (Moon et al. 2001).  A routing plan costs one `next_match` a
share, and its shares are dyadic, so that every hand-on at least halves what is left to route
(Squid, section 3.4; reference of the halving: `squid.state_machine`).
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from chord import Contact
from squid.intervals import Intervals, intersect, merge, subtract
from squid.refinement import Node, Refinement
from squid.region import Box, Interval

if TYPE_CHECKING:
    from squid.hilbert import HilbertCurve

_OPEN_NODES_A_CLUSTER: Final = 8
_FEWEST_OPEN_NODES: Final = 256


def exact_clusters(tree: Refinement, box: Box) -> Iterator[Interval]:
    """The clusters of a box, in curve order, as they are found: as many as the box's surface."""
    stack = [tree.root(box)]
    first, last = 0, -1
    while stack:
        node = stack.pop()
        if node.tight and node.free_bits:
            stack.extend(reversed(tree.children(node, box)))
        elif node.first == last + 1:
            last = node.last
        else:
            if first <= last:
                yield first, last
            first, last = node.first, node.last
    yield first, last


def limited_clusters(tree: Refinement, box: Box, limit: int) -> list[Interval]:
    """At most `limit` intervals that cover the box, in curve order.

    The largest nodes are refined first until some multiple of `limit` are open (so the work is
    bounded, not only the output); then neighbours are joined over the smallest gaps."""
    budget = max(_FEWEST_OPEN_NODES, _OPEN_NODES_A_CLUSTER * limit)
    done: list[Interval] = []
    open_nodes: list[tuple[int, int, Node]] = []
    _file(tree.root(box), open_nodes, done)
    while open_nodes and len(open_nodes) + len(done) < budget:
        _, _, node = heappop(open_nodes)
        for child in tree.children(node, box):
            _file(child, open_nodes, done)
    done.extend((node.first, node.last) for _, _, node in open_nodes)
    return _join_smallest_gaps(list(merge(done)), limit)


def _file(node: Node, open_nodes: list[tuple[int, int, Node]], done: list[Interval]) -> None:
    if node.tight and node.free_bits:
        heappush(open_nodes, (-node.free_bits, node.prefix, node))
    else:
        done.append((node.first, node.last))


def _join_smallest_gaps(clusters: list[Interval], limit: int) -> list[Interval]:
    """Join neighbours until `limit` are left."""
    gaps = [
        (after[0] - before[1], place) for place, (before, after) in enumerate(pairwise(clusters))
    ]
    heapify(gaps)
    closed = {heappop(gaps)[1] for _ in range(len(clusters) - limit)}
    joined: list[Interval] = []
    for place, (first, last) in enumerate(clusters):
        if place - 1 in closed:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


class Stretch(NamedTuple):
    """A stretch of the curve, which may run over its end."""

    first: int
    size: int
    """How many indexes it has; one more than the curve where it comes round to a peer that owns no
    index."""


class Share(NamedTuple):
    """A part of a query that some other peer is to take."""

    first: int
    """Its first index in the box: whoever owns this one is handed the share, unless a contact is
    named."""
    last: int
    contact: Contact | None = None
    """Who is handed the share whatever it owns: a finger."""
    stretch: Stretch | None = None
    """What that one sees to by its own fingers; None where no fingers are used."""

    @property
    def interval(self) -> Interval:
        """The indexes to be taken care of."""
        return self.first, self.last


def shares(curve: HilbertCurve, box: Box, job: Intervals, own: Intervals) -> list[Share]:
    """What a peer that owns the indexes `own` hands on of its `job`, in curve order.

    Every index of the job that lies in the box is in `own` or in exactly one share, and every
    share has such an index, its first.  A peer with a part in the job cuts the rest at the borders
    of dyadic blocks at least as long as its own arc (a shorter piece likely has one owner): about
    2 log2(peers) shares, each of them at most half of what the next one cuts.  A peer without a
    part in it passes each interval on whole, as it knows nothing of that neighbourhood."""
    has_part = bool(intersect(job, own))
    grain = max((last - first + 1 for first, last in own), default=0).bit_length()
    plan: list[Share] = []
    match: int | None = -1
    for start, last in subtract(job, own):
        if match is not None and match < start:
            match = curve.next_match(box, start)
        while match is not None and match <= last:
            end = min(last, _block_end(match, start, last, grain)) if has_part else last
            plan.append(Share(match, end))
            match = curve.next_match(box, end + 1)
    return plan


def _block_end(index: int, first: int, last: int, grain: int) -> int:
    """The last index of the largest dyadic block around `index` that keeps between `first` and
    `last`, or of the one of `2 ** grain` indexes where that is larger."""
    size = (index ^ last + 1).bit_length() - 1
    if first > 0:
        size = min(size, (index ^ first - 1).bit_length() - 1)
    size = max(size, grain)
    return ((index >> size) + 1 << size) - 1
