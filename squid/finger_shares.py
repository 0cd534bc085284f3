"""Handing on by fingers: the shares of a job for the contacts that a peer knows.

Law of this file: pure, and clockwise from one peer throughout.  A peer sees to the stretch of the
curve that it was given, from itself on; it cuts that at the arcs of its successors and fingers, and
each of them sees to the stretch up to the next one, so that a peer gets one message (the limited
broadcast of El-Ansary et al. 2003, where it meets the box; reference/hilbert.md section 5).  What
a peer is given that lies behind it, because somebody's fingers were stale, goes to whom a lookup
finds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from chord import Contact, KnownArc, distance
from squid.dyadic_shares import Share, Stretch
from squid.hilbert import HilbertCurve
from squid.intervals import Interval, Intervals, intersect, subtract
from squid.region import Box


class _Cut(NamedTuple):
    """Where the stretch of a contact begins: so many indexes ahead."""

    away: int
    contact: Contact


class Surroundings:
    """A curve's indexes clockwise from one peer, cut where its contacts' arcs begin.

    `arcs` are what the contacts own, nearest first."""

    def __init__(
        self, own_id: int, arcs: Iterable[KnownArc], *, index_bits: int, id_bits: int
    ) -> None:
        shift = id_bits - index_bits
        self.size, self.here = 1 << index_bits, own_id >> shift
        self._cuts: list[_Cut] = []
        end = 0
        for known in arcs:
            behind = distance(own_id, known.arc.after, id_bits)
            up_to = distance(own_id, known.owner.id, id_bits)
            # Two contacts never share an index, whatever an old entry says of where one begins.
            away = max((own_id + behind >> shift) - self.here, end)
            end = (own_id + up_to >> shift) - self.here
            if away < end:
                self._cuts.append(_Cut(away, known.owner))

    def _away(self, index: int) -> int:
        """How far clockwise an index lies behind the first one ahead."""
        return (index - self.here - 1) % self.size

    def ahead(self, stretch: Stretch) -> int:
        """How many indexes of a stretch lie ahead of the peer; none where it is not in it."""
        return max(stretch.size - (self.here - stretch.first) % self.size - 1, 0)

    def intervals(self, count: int) -> list[Interval]:
        """The next so many indexes, in clockwise order."""
        begin = (self.here + 1) % self.size
        end = begin + count
        halves = [(begin, min(end, self.size) - 1), (0, end - self.size - 1)]
        return [(first, last) for first, last in halves if first <= last]

    def sees_to(self, index: int, ahead: int) -> tuple[Contact | None, Stretch]:
        """Who sees to one of the next `ahead` indexes, and its stretch among them."""
        away = self._away(index)
        place = bisect_right(self._cuts, away, key=lambda cut: cut.away)
        contact, begin = None, 0
        if place:
            begin, contact = self._cuts[place - 1]
        if place < len(self._cuts):
            ahead = min(ahead, self._cuts[place].away)
        return contact, Stretch((self.here + 1 + begin) % self.size, ahead - begin)


def finger_shares(
    curve: HilbertCurve, box: Box, job: Intervals, around: Surroundings, stretch: Stretch
) -> list[Share]:
    """What is handed to whom of a job of which the peer itself holds nothing.

    Each matching index is in exactly one share, and each share begins with one.  A contact may have
    several shares, all of one stretch: they make one message."""
    plan: list[Share] = []
    count = around.ahead(stretch)
    ahead = around.intervals(count)
    for part in ahead:
        for first, last in intersect(job, (part,)):
            match = curve.next_match(box, first)
            while match is not None and match <= last:
                contact, theirs = around.sees_to(match, count)
                left = theirs.size - (match - theirs.first) % curve.size
                plan.append(Share(match, min(last, match + left - 1), contact, theirs))
                match = curve.next_match(box, match + left)
    for first, last in subtract(job, ahead):
        match = curve.next_match(box, first)
        if match is not None and match <= last:
            plan.append(Share(match, last, None, Stretch(match, last - match + 1)))
    return plan
