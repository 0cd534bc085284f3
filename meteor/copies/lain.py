"""What a copy keeps of a write that lay on its way: records that have lived for so long already.

Law of this file: pure.  A copy beyond a cut gets what its primary gave up; refusing it would be
read as a copy that is none any more, and what was late in truth alone shortens a life
(`chord.transit`).
"""

from __future__ import annotations

from chord import replace
from meteor.keeping.expiry_clock import HELD_S, left_ms
from meteor.wire.copy_messages import Keep


def having_lain(message: Keep, late_s: float) -> Keep:
    """The write as it is to be kept after `late_s` seconds on its way, without what is over."""
    if late_s <= HELD_S:
        return message
    lives = [(one, left_ms(one.ttl_ms, late_s)) for one in message.carried]
    left = [
        one if ttl_ms == one.ttl_ms else replace(one, ttl_ms=ttl_ms)
        for one, ttl_ms in lives
        if ttl_ms is not None
    ]
    return replace(message, carried=tuple(left))
