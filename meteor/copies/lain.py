"""What a copy keeps of a write that lay on its way: records that have lived for so long already.

Law of this file: pure.  A copy beyond a cut gets what its primary gave up; refusing it would be
read as a copy that is none any more, and what was late in truth alone shortens a life
(`chord.transit`).
"""

from __future__ import annotations

from chord import replace
from meteor.keeping.expiry_clock import HELD_S, overlives
from meteor.wire.copy_messages import Keep
from meteor.wire.operations import Carried


def having_lain(message: Keep, late_s: float) -> Keep:
    """The write as it is to be kept after `late_s` seconds on its way, without what is over."""
    if late_s <= HELD_S:
        return message
    late_ms = round(late_s * 1000)
    left = [
        _aged(one, late_ms) if overlives(one.ttl_ms, late_s) else one
        for one in message.carried
        if one.ttl_ms > late_ms or not overlives(one.ttl_ms, late_s)
    ]
    return replace(message, carried=tuple(left))


def _aged(carried: Carried, late_ms: int) -> Carried:
    return replace(carried, ttl_ms=carried.ttl_ms - late_ms)
