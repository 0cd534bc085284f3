"""Waiting until nothing else is under way with what is about to be changed.

Law of this file: it waits, and changes nothing; what holds a change up is bounded by others.
"""

from __future__ import annotations

from collections.abc import Sequence

from chord import Runtime
from meteor.copies.replication import Replication
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.placement import Key
from meteor.keeping.shelf import Shelf

FROZEN_PAUSE_S = 0.02


async def undisturbed(
    runtime: Runtime,
    holdings: Holdings,
    shelf: Shelf,
    replication: Replication,
    part: Intervals,
    keys: Sequence[Key],
) -> None:
    """Wait out a hand-off of a part, whose freeze is bounded, and changes of the same records that
    are on their way to the journal."""
    while True:
        if holdings.is_frozen(part):
            await runtime.sleep(FROZEN_PAUSE_S)
        elif not shelf.is_coming(keys):
            return
        elif shelf.is_begun(keys):
            await replication.barrier()
        else:  # what is written later is what a restart finds
            await shelf.barrier()
