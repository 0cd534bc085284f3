"""The plan by which a peer hands on what it does not hold.

Law of this file: a plan costs one `next_match` a share, and its shares are dyadic, so that every
hand-on at least halves what is left to route (Squid, section 3.4; reference of the halving:
`squid.state_machine`).
"""

from __future__ import annotations

from typing import NamedTuple

from chord import Contact
from squid.hilbert import HilbertCurve
from squid.intervals import Intervals, intersect, subtract
from squid.region import Box, Interval


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
    longest = max([last - first + 1 for first, last in own]) if has_part else 0
    grain = longest.bit_length()
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
