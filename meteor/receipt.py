"""What became of a post.

Law of this file: a value that stands on nothing of meteor's, as errors carry it too.
"""

from __future__ import annotations

from dataclasses import dataclass

from meteor.described import described
from squid import Interval


@described
@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a post."""

    id: str
    """The full id, `<stem>.<region>`: renew, cancel and replace by it."""
    complete: bool
    """Whether every interval of the region answered."""
    missing: tuple[Interval, ...] = ()
    """Intervals of curve indexes, both ends included, that did not."""
    matches: int = 0
    """How many matched (of a store or replace: the interests that it met), or, of a delete, renew
    or cancel, were changed.  Exact for a retrieve without a ttl and for `dry_run`; else what is
    changing peers, or is replaced, in that moment may count twice."""
    peers: int = 0
    """How many peers took part."""
    hops: int = 0
    """The longest way of the post through the ring."""
    ttl: float = 0.0
    """The lifetime that took effect, in seconds."""
    troubles: tuple[str, ...] = ()
    """Of an application's action: why peers did not run it, the first few."""
