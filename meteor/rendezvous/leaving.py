"""Leaving: which orders let a record go from where it was, or was to be.

Law of this file: pure.  Whoever leaves a place leaves word there of where it is (DESIGN section 4).
"""

from __future__ import annotations

from collections.abc import Sequence

from chord import replace
from meteor.keeping.placement import MOVED
from meteor.wire.messages import Amend
from meteor.wire.operations import Carried, Operation, Summary
from meteor.wire.went import last_in


def left_by(amend: Amend, operation: Operation, told: Sequence[Summary]) -> list[Operation]:
    """What lets a record leave the place that the caller knows of, and the one to which it went
    once from where it is to be now, without the caller's hearing of it."""
    leave = replace(operation, verb="cancel", id=amend.id, moved_to=operation.id, document=b"")
    leaves = [] if operation.id == amend.id else [leave]
    went = last_in(told)
    if went is not None and went.id != amend.id:
        leaves.append(replace(leave, id=went.id, came_with=went.version))
    return leaves


def back_to(old_id: str, operation: Operation) -> Operation:
    """What takes a refused replace back from its new place.  Without a tombstone, as what is newer
    may come there yet; with word, as an order to keep it may still be on its way, or lie before a
    peer that is held."""
    version = operation.version + 1
    return replace(operation, verb="cancel", moved_to=old_id, version=version, document=b"")


def word_of(gone: Carried, stays: Carried) -> Carried:
    """As if a delegate's record had come from where that is which it gives way to, and went back
    there: what lets it go leaves word of that."""
    return replace(gone, kind=MOVED, id=stays.id, moved_to=gone.id, blob=b"", route=None, limit=b"")
