"""What takes the place of something that would have lived longer leaves word of that.

Law of this file: pure.  What runs out leaves no trace, so whoever has the state before, and was
away as it was followed, would bring it back for the rest of its own time.  The word is that of a
move which goes nowhere: it stands beside the record, under its whole id, and keeps every earlier
state out; it travels, and is written down, as such a word is.
"""

from __future__ import annotations

from typing import Final

from chord import replace
from meteor.keeping.placement import GONE, MOVED
from meteor.keeping.standing import standing_of, supersedes
from meteor.wire.operations import Carried

SPARE_MS: Final = 60_000
"""Durations travel, and count from when they arrive: what another holder has is over later by what
they lay on a link ..."""
SPARE_SHARE: Final = 100
"""... and by one part in so many, as clocks do not run alike."""


def outlasting_ms(left_ms: int) -> int:
    """How long whatever is to keep away what has `left_ms` to live has to stand here."""
    return left_ms + SPARE_MS + left_ms // SPARE_SHARE


def word_over(
    carried: Carried, known: Carried | None, left: Carried | None, now_ms: int
) -> Carried | None:
    """The word that a state leaves of one that is `known` and which it follows, where that would
    outlive it; `left` is the word that stands there already, whose time it has at least."""
    if known is None or {carried.kind, known.kind} & {GONE, MOVED} or carried.id != known.id:
        return None
    is_next = supersedes(standing_of(carried), standing_of(known))
    if not is_next or known.ttl_ms <= max(carried.ttl_ms, now_ms):
        return None
    until_ms = now_ms + outlasting_ms(known.ttl_ms - now_ms)
    if left is not None:
        until_ms = max(until_ms, left.ttl_ms)
    return replace(
        carried,
        kind=MOVED, ttl_ms=until_ms, blob=b"", acknowledged=0, route=None, operation=b"", limit=b"",
    )  # fmt: skip
