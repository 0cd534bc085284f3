"""The routing decision for a key: the owner, if it is known here, or the next candidates.

Law of this file: pure.  A table is built once after every change of the pointers and then asked
with one bisection a key.  What a candidate owns is known where the identifier of its predecessor
is: for successors from the list itself, for fingers from their entry.  Chord (ToN 2003) figure 5,
with the successor list taking part (its last ½·log₂ r hops saved).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from chord.contact import Contact
from chord.finger_table import Finger
from chord.identifiers import distance

CANDIDATES_MAX = 3
"""Whom a frame may be handed to, best first, when the ones before do not take it."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a key goes next."""

    candidates: tuple[Contact, ...]
    """Whom to try, best first; empty where nobody is known."""
    to_owner: bool
    """Whether the first candidate is believed to own the key."""


@dataclass(frozen=True, slots=True)
class _Entry:
    away: int
    """Clockwise distance from the table's owner."""
    owned_beyond: int
    """The entry owns the distances above this one up to `away`; `away` where unknown."""
    contact: Contact


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
        known: dict[int, _Entry] = {}
        for finger in fingers:
            away = distance(own_id, finger.contact.id, bits)
            beyond = away
            if finger.predecessor_id is not None:
                beyond = distance(own_id, finger.predecessor_id, bits)
            # A predecessor said to lie behind us would claim keys that we may own.
            known[away] = _Entry(away, min(beyond, away), finger.contact)
        beyond = 0
        for contact in successors:
            away = distance(own_id, contact.id, bits)
            known[away] = _Entry(away, beyond, contact)
            beyond = away
        self._entries = [known[away] for away in sorted(known)]
        self._aways = [entry.away for entry in self._entries]

    def route(
        self, key: int, avoid: Collection[Contact] = (), limit: int = CANDIDATES_MAX
    ) -> Route:
        """Where a key that the table's owner does not own goes next.

        Contacts in `avoid` are not candidates."""
        away = distance(self._own_id, key, self._bits)
        at = bisect_left(self._aways, away)
        owner_known = at < len(self._entries) and self._entries[at].owned_beyond < away
        if owner_known:
            order = [*range(at, min(at + limit - 1, len(self._entries))), *range(at - 1, -1, -1)]
        else:
            order = [*range(at - 1, -1, -1), *range(at, len(self._entries))]
        candidates = tuple(self._pick(order, avoid, limit))
        to_owner = owner_known and bool(candidates) and candidates[0] == self._entries[at].contact
        return Route(candidates, to_owner)

    def closest_preceding(self, key: int, avoid: Collection[Contact] = ()) -> tuple[Contact, ...]:
        """The contacts strictly before a key, nearest to it first: the steps of an iterative
        search for its predecessor."""
        away = distance(self._own_id, key, self._bits) or 1 << self._bits
        order = range(bisect_left(self._aways, away) - 1, -1, -1)
        return tuple(self._pick(order, avoid, CANDIDATES_MAX))

    def _pick(
        self, order: Iterable[int], avoid: Collection[Contact], limit: int
    ) -> Iterable[Contact]:
        count = 0
        for index in order:
            contact = self._entries[index].contact
            if contact in avoid:
                continue
            yield contact
            count += 1
            if count == limit:
                return
