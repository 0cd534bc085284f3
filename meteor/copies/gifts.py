"""Waiting until a taker has begun with what it was given.

Law of this file: it waits, and decides nothing.  Until then the copies of the giver's view are all
that there is of the part beside the giver, and they let go of it by any change of that view; should
giver and taker die together, they have it (DESIGN section 5).
"""

from __future__ import annotations

from typing import Final

from chord import Runtime
from meteor.keeping.views import Views

BEGINS_S: Final = 5.0
"""A taker that was not heard of for so long has begun without this peer, or never will: whoever is
the next to have the interval has asked for it by then."""
LOOK_S: Final = 0.05


async def begun(runtime: Runtime, views: Views) -> None:
    """Wait until all that this peer gave is known to have begun, or was taken over by others."""
    ends_s = runtime.now() + BEGINS_S
    while views.open_gifts() and runtime.now() < ends_s:
        await runtime.sleep(LOOK_S)
