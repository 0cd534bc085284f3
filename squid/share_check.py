"""What is refused of a share before it is looked at: no peer of this ring would send it.

Law of this file: pure; the bounds of hostile input to the router.
"""

from __future__ import annotations

from chord import Fault
from squid.keyword_space import KeywordSpace
from squid.messages import HandOn

HOPS_MAX = 64
"""A share handed on more often than this goes in circles: it is dropped, and the origin's ledger
shows the gap.  A tree of N peers is about log2 N deep."""

REMAINING_MS_MAX = 600_000
"""Time that a share may still have: nobody waits longer, whatever a hostile message says."""

JOB_INTERVALS_MAX = 4096
"""Intervals in one share: a bound for hostile input, far above what two borders can cut."""


def check_share(share: HandOn, space: KeywordSpace) -> None:
    """Raises `Fault` for what lies outside the space, the curve or the bounds."""
    if share.digest != space.digest:
        raise Fault("SpaceMismatch", "the share was made for another keyword space")
    side, size = space.curve.side, space.curve.size
    if len(share.low) != space.curve.dimensions or len(share.high) != space.curve.dimensions:
        raise Fault("ProtocolError", "the box has the wrong number of dimensions")
    for low, high in zip(share.low, share.high, strict=True):
        if not 0 <= low <= high < side:
            raise Fault("ProtocolError", "the box lies outside the keyword space")
    if not 1 <= len(share.job) <= JOB_INTERVALS_MAX:
        raise Fault("ProtocolError", f"a job has 1 to {JOB_INTERVALS_MAX} intervals")
    if not 0 <= share.remaining_ms <= REMAINING_MS_MAX:
        raise Fault("ProtocolError", f"a share has at most {REMAINING_MS_MAX} ms")
    after = -1
    for first, last in share.job:
        if not after < first <= last < size:
            raise Fault("ProtocolError", "the job's intervals are not sorted and disjoint")
        after = last
    if share.stretch is not None:
        first, count = share.stretch
        if not (0 <= first < size and 0 < count <= size + 1):
            raise Fault("ProtocolError", "the share's stretch lies outside the curve")
    if share.hops > HOPS_MAX:
        raise Fault("ProtocolError", f"handed on more than {HOPS_MAX} times")
