"""Arcs that owners have named lately: most lookups then take one hop.

Law of this file: bounded, pure, and never trusted: a stale entry costs one hop, because the
receiver routes on.  Arcs kept here never overlap; the newer one wins.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict

from chord.contact import Contact
from chord.frozen import dataclass
from chord.identifiers import Arc


@dataclass(frozen=True, slots=True)
class KnownArc:
    """An owner, what it owns, and who would inherit it, nearest first (empty where unknown)."""

    owner: Contact
    arc: Arc
    heirs: tuple[Contact, ...] = ()


class ArcCache:
    """At most `limit` arcs with their owners and these owners' heirs, the longest unused forgotten
    first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._owners: OrderedDict[int, KnownArc] = OrderedDict()
        self._lasts: list[int] = []

    def __len__(self) -> int:
        return len(self._lasts)

    def find(self, key: int) -> Contact | None:
        """Who was last said to own the key."""
        known = self.recall(key)
        return None if known is None else known.owner

    def recall(self, key: int) -> KnownArc | None:
        """The owner of the key with all that it has said of itself."""
        if not self._lasts:
            return None
        last = self._lasts[bisect_left(self._lasts, key) % len(self._lasts)]
        known = self._owners[last]
        if key not in known.arc:
            return None
        self._owners.move_to_end(last)
        return known

    def learn(self, contact: Contact, arc: Arc, heirs: tuple[Contact, ...] = ()) -> None:
        """Keep what an owner said of its arc, instead of all that contradicts it; heirs named
        earlier stand while the arc does."""
        if self._limit <= 0:
            return
        known = self._owners.get(arc.last)
        if not heirs and known is not None and (known.owner, known.arc) == (contact, arc):
            heirs = known.heirs
        for last in self._overlapping(arc):
            self._remove(last)
        if len(self._lasts) == self._limit:
            self._remove(next(iter(self._owners)))
        self._owners[arc.last] = KnownArc(contact, arc, heirs)
        insort(self._lasts, arc.last)

    def forget(self, contact: Contact) -> None:
        """Drop what is kept of a contact; an owner's arc ends at its identifier."""
        if contact.id in self._owners:
            self._remove(contact.id)

    def _overlapping(self, arc: Arc) -> list[int]:
        """The kept arcs that share an identifier with this one: those that end in it, and the
        one behind it if it begins in it."""
        if not self._lasts:
            return []
        if arc.is_whole:
            return list(self._lasts)
        count = len(self._lasts)
        start = bisect_left(self._lasts, arc.after + 1)
        found = []
        for step in range(count):
            last = self._lasts[(start + step) % count]
            if not self._owners[last].arc.overlaps(arc):
                break
            found.append(last)
        return found

    def _remove(self, last: int) -> None:
        del self._owners[last]
        del self._lasts[bisect_left(self._lasts, last)]
