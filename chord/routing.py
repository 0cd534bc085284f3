"""The routing decision for a key: the owner, if it is known here, or the next candidates.

Law of this file: pure.  A table is built once after every change of the pointers and then asked
with one bisection a key.  What a candidate owns is known where the identifier of its predecessor
is: for successors from the list itself, for fingers from their entry.  Chord (ToN 2003) figure 5,
with the successor list taking part (its last ½·log₂ r hops saved).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable

from chord.arc_cache import KnownArc
from chord.contact import Contact
from chord.finger_table import Finger
from chord.frozen import dataclass
from chord.identifiers import Arc, distance

CANDIDATES_MAX = 3
"""Whom a frame may be handed to, best first, when the ones before do not take it."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a key goes next."""

    candidates: tuple[Contact, ...]
    """Whom to try, best first; empty where nobody is known."""
    to_owner: bool
    """Whether the first candidate is believed to own the key."""


class RoutingTable:
    """The contacts of one peer in clockwise order, successors and fingers together."""

    def __init__(
        self,
        own_id: int,
        bits: int,
        successors: Iterable[Contact] = (),
        fingers: Iterable[Finger] = (),
    ) -> None:
        self._own_id = own_id
        self._bits = bits
        known: dict[int, tuple[int, Contact]] = {}
        for finger in fingers:
            away = distance(own_id, finger.contact.id, bits)
            beyond = away
            if finger.predecessor_id is not None:
                beyond = distance(own_id, finger.predecessor_id, bits)
            # A predecessor said to lie behind us would claim keys that we may own.
            known[away] = (min(beyond, away), finger.contact)
        beyond = 0
        for contact in successors:
            away = distance(own_id, contact.id, bits)
            known[away] = (beyond, contact)
            beyond = away
        self._aways = sorted(known)
        """Clockwise distances from the table's owner, ..."""
        self._beyonds = [known[away][0] for away in self._aways]
        """... each of which owns what is farther than this, up to itself (nothing, if equal)."""
        self._contacts = tuple(known[away][1] for away in self._aways)

    def route(
        self, key: int, avoid: Collection[Contact] = (), limit: int = CANDIDATES_MAX
    ) -> Route:
        """Where a key that the table's owner does not own goes next.

        Contacts in `avoid` are not candidates."""
        away = distance(self._own_id, key, self._bits)
        at = bisect_left(self._aways, away)
        contacts, reach = self._contacts, limit + len(avoid)
        before = contacts[max(0, at - reach) : at][::-1]
        owner = contacts[at] if at < len(contacts) and self._beyonds[at] < away else None
        if owner is None:
            ordered = before + contacts[at : at + reach]
        else:
            # Behind a dead owner comes its heir, which may know already that it is.  Not any finger
            # beyond: that would send the key round the ring.
            ordered = contacts[at : at + 1 + self._heirs_behind(at, limit - 2)] + before
        if avoid:
            ordered = tuple(contact for contact in ordered if contact not in avoid)
        candidates = ordered[:limit]
        return Route(candidates, owner is not None and candidates[:1] == (owner,))

    def _heirs_behind(self, at: int, limit: int) -> int:
        """How many contacts behind one own what comes next, each after the other."""
        count = 0
        while count < limit and at + 1 < len(self._aways):
            if self._beyonds[at + 1] != self._aways[at]:
                break
            at, count = at + 1, count + 1
        return count

    def arcs(self) -> tuple[KnownArc, ...]:
        """What each contact owns, nearest first; its identifier alone where no more is known."""
        modulus = 1 << self._bits
        return tuple(
            KnownArc(contact, Arc((self._own_id + min(beyond, away - 1)) % modulus, contact.id))
            for away, beyond, contact in zip(
                self._aways, self._beyonds, self._contacts, strict=True
            )
        )

    def closest_preceding(self, key: int, avoid: Collection[Contact] = ()) -> tuple[Contact, ...]:
        """The contacts strictly before a key, nearest to it first: the steps of an iterative
        search for its predecessor."""
        away = distance(self._own_id, key, self._bits) or 1 << self._bits
        before = self._contacts[: bisect_left(self._aways, away)][::-1]
        return tuple(contact for contact in before if contact not in avoid)[:CANDIDATES_MAX]
