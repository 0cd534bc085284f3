"""Carrying out what follows from a match: telling clients, and pages for who asked.

Law of this file: what follows is decided in `arms`; a pair is told of by the holder of the lowest
index that both regions share (DESIGN section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arms import WATCH, Reaction, Record, Return, Tell
from meteor import codec
from meteor.admission import KEPT_KINDS
from meteor.holdings import Intervals
from meteor.messages import Found
from meteor.operations import Carried, FoundPage, Operation
from meteor.placement import MOVED
from meteor.shelf import Shelf
from meteor.telling import Telling, found_of
from squid import covers

PAGE_BYTES = 64 * 1024


class Reactions:
    """What one peer does about the reactions that matching decides on."""

    def __init__(self, shelf: Shelf, telling: Telling) -> None:
        self._shelf, self._telling = shelf, telling

    def carry_out(self, reactions: Sequence[Reaction]) -> list[Found]:
        """Tell whom it concerns; returns what the sender of the operation is to have."""
        found = []
        for reaction in reactions:
            if isinstance(reaction, Tell):
                self._telling.tell(reaction)
            else:
                found.append(found_of(self._shelf, reaction.record))
        return found

    def within(self, part: Intervals) -> Callable[[Record, Record], bool]:
        """Whether a pair is told of for this part."""

        def belongs(asker: Record, asked: Record) -> bool:
            lowest = self._shelf.lowest_common(asker, asked)
            return lowest is not None and covers(part, lowest)

        return belongs


def carried_of(operation: Operation, wall_ms: int) -> Carried:
    """The record that an operation posts, or the word that it leaves."""
    return Carried(
        kind=KEPT_KINDS.get(operation.verb, MOVED),
        id=operation.id,
        owner=operation.owner,
        version=operation.version,
        action=operation.verb,
        ttl_ms=wall_ms + operation.ttl_ms,
        blob=operation.document,
        number=0,
        acknowledged=0,
        route=operation.route,
        visible_to=operation.visible_to,
    )


def met(reactions: Sequence[Reaction], record: Record) -> int:
    """How many pairs a new record made."""
    return sum(
        isinstance(r, Return) or r.kind == "match" or (record.kind == WATCH and r.to is record)
        for r in reactions
    )


def pages_of(found: Sequence[Found]) -> list[bytes]:
    """Pages of at most `PAGE_BYTES`, unless one match alone is larger."""
    pages: list[bytes] = []
    page: list[Found] = []
    size = 0
    for one in found:
        length = len(one.blob) + len(one.id) + 32
        if page and size + length > PAGE_BYTES:
            pages.append(codec.encode(FoundPage(tuple(page))))
            page, size = [], 0
        page.append(one)
        size += length
    if page:
        pages.append(codec.encode(FoundPage(tuple(page))))
    return pages
