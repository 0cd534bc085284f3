"""Contacts lost without a good-bye: a partition or a loss of power may give them back.

Law of this file: pure, bounded, and `now` is given.  This memory leads rings together again; that
of `chord.suspicion.Departed` keeps the dead out of lists.  One contact an identifier: a newer
incarnation replaces the older.  DESIGN section 2.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from chord.contact import Contact


class Remembered:
    """At most `limit` contacts, each for `memory_s`; the one lost first makes room."""

    def __init__(self, own_id: int, limit: int, memory_s: float) -> None:
        self._own_id = own_id
        self._limit = limit
        self._memory_s = memory_s
        self._lost: dict[int, tuple[float, Contact]] = {}
        """In the order in which they were lost."""
        self._turns: OrderedDict[int, None] = OrderedDict()
        """In the order in which they are probed."""

    def add(self, contact: Contact, now: float) -> bool:
        """Remember it, next to be probed; whether it was not remembered before."""
        if self._limit <= 0 or not contact.known or not contact.address:
            return False
        known = self._lost.get(contact.id)
        if contact.id == self._own_id or (
            known is not None and known[1].incarnation >= contact.incarnation
        ):
            return False
        self.discard(contact.id)
        self._lost[contact.id] = (now, contact)
        self._turns[contact.id] = None
        self._turns.move_to_end(contact.id, last=False)
        if len(self._lost) > self._limit:
            self.discard(next(iter(self._lost)))
        return known is None

    def discard(self, contact_id: int) -> None:
        """It was found again."""
        self._lost.pop(contact_id, None)
        self._turns.pop(contact_id, None)

    def next_to_probe(self, now: float) -> Contact | None:
        """Whose turn it is: each comes before any comes again; None when nobody is remembered."""
        for contact_id in [i for i, (at, _) in self._lost.items() if now - at >= self._memory_s]:
            self.discard(contact_id)
        if not self._turns:
            return None
        contact_id = next(iter(self._turns))
        self._turns.move_to_end(contact_id)
        return self._lost[contact_id][1]

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """All of them, the one lost last first."""
        return tuple(contact for _, contact in reversed(self._lost.values()))

    def __contains__(self, contact_id: object) -> bool:
        return contact_id in self._lost

    def __len__(self) -> int:
        return len(self._lost)


def distinct(contacts: Iterable[Contact], own: Contact) -> tuple[Contact, ...]:
    """The contacts that have an address, each address once, without our own; order is kept."""
    found: dict[str, Contact] = {}
    for contact in contacts:
        if contact.address and contact.address != own.address:
            found.setdefault(contact.address, contact)
    return tuple(found.values())
