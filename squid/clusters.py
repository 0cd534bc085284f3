"""The clusters of a box on the curve: the intervals of indexes that it consists of.

Law of this file: the exact list of clusters is for users and tests, never for routing, as its
length is the surface of the box (Moon et al. 2001); routing has `squid.dyadic_shares`.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Final

from squid.intervals import merge
from squid.refinement import Node, Refinement
from squid.region import Box, Interval

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
