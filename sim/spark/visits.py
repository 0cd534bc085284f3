"""What a query costs: who resolves it, what is sent, and who only passes it on.

Law of this file: pure numpy, no Spark; it counts, whatever the way of routing that it is told of.
"Processing", "routing" and "messages" are Squid's words: literature.md section 1.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.spark.rings import Numbers, Rings, distinct_numbers

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Queries:
    """Boxes and where they are asked."""

    low: Numbers
    """One row a dimension, one column a query."""
    high: Numbers
    origins: Numbers
    """By query: the seat of the peer that asks."""

    def __len__(self) -> int:
        return len(self.origins)

    def some(self, at: slice) -> Queries:
        """The queries of a stretch."""
        return Queries(self.low[:, at], self.high[:, at], self.origins[at])


@dataclass(frozen=True, slots=True)
class Visits:
    """Who resolves which query, a row a share: the origin (with 0 hops), and every receiver."""

    query: Numbers
    seat: Numbers
    hops: Numbers
    """How many hand-ons the share has behind it, as `HandOn.hops` says."""
    messages: Numbers
    """By query: shares handed on."""
    frames: Numbers
    """By query: how often anything of it went from one peer to another: shares, and the lookups
    ahead of them with their answers.  Acknowledgements and results are not counted."""
    forwarding: tuple[Numbers, Numbers]
    """Query and seat, a row each: who handed something on, a share or somebody's lookup."""

    @property
    def processing(self) -> tuple[Numbers, Numbers]:
        """Query and seat of each peer that resolves a share, once."""
        return distinct(self.query, self.seat)


def distinct(query: Numbers, seat: Numbers) -> tuple[Numbers, Numbers]:
    """The pairs without repetition, sorted."""
    if not len(query):
        return query, seat
    width = int(seat.max()) + 1
    pairs = distinct_numbers(query * width + seat)
    return pairs // width, pairs % width


class VisitLog:
    """Collects the visits of one batch of queries."""

    def __init__(self, queries: int) -> None:
        self._visits: list[tuple[Numbers, Numbers, Numbers]] = []
        self._forwarding: list[tuple[Numbers, Numbers]] = []
        self._messages = np.zeros(queries, dtype=np.int64)
        self._frames = np.zeros(queries, dtype=np.int64)

    def visit(self, query: Numbers, seat: Numbers, hops: Numbers | int) -> None:
        """Peers resolve a share, having got it after so many hand-ons."""
        self._visits.append((query, seat, np.broadcast_to(np.int64(hops), query.shape)))

    def message(self, query: Numbers, number: Numbers | int = 1) -> None:
        """Shares are handed on, each in one message."""
        np.add.at(self._messages, query, number)
        np.add.at(self._frames, query, number)

    def frame(self, query: Numbers, number: Numbers) -> None:
        """What goes ahead of messages: lookups, answers."""
        np.add.at(self._frames, query, number)

    def forward(self, query: Numbers, seat: Numbers) -> None:
        """Peers hand something on."""
        self._forwarding.append(distinct(query, seat))

    def result(self) -> Visits:
        """All that was told."""
        query, seat, hops = (np.concatenate(column) for column in zip(*self._visits, strict=True))
        empty = (query[:0], seat[:0])
        passed = [np.concatenate(column) for column in zip(empty, *self._forwarding, strict=True)]
        return Visits(
            query, seat, hops, self._messages, self._frames, distinct(passed[0], passed[1])
        )


class Touched:
    """The peers whose arcs meet each query's box: what every way of routing has to reach."""

    def __init__(self, query: Numbers, seat: Numbers, rings: Rings) -> None:
        self.query, self.seat = distinct(query, seat)
        self._width = len(rings.lasts)
        self._pairs = self.query * self._width + self.seat

    def any_within(self, rings: Rings, query: Numbers, begin: Numbers, further: Numbers) -> Flags:
        """Whether the box of a query meets the seat or one of so many behind it in its ring."""
        ring = rings.ring_of[begin]
        top = rings.begins[ring] + rings.counts[ring] - 1
        end = begin + further
        over = np.maximum(end - top, 0)  # those past the last seat go on from the ring's first
        found = self._count(query, begin, np.minimum(end, top))
        found += self._count(query, rings.begins[ring], rings.begins[ring] + over - 1)
        met: Flags = found > 0
        return met

    def _count(self, query: Numbers, first: Numbers, last: Numbers) -> Numbers:
        left = np.searchsorted(self._pairs, query * self._width + first)
        right = np.searchsorted(self._pairs, query * self._width + last, side="right")
        count: Numbers = np.maximum(right - left, 0)
        return count
