"""The next peers clockwise, nearest first: what keeps a ring one ring when peers die.

Law of this file: a list is adopted whole, in one step, from one live peer; it never reaches past
its owner.  Zave's lists have exactly r entries, padded with identifiers right behind the last one;
here the padding is left out, as it names nobody and skips nobody.  literature.md section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable

from chord.contact import Contact
from chord.identifiers import between

UNKNOWN_VERSION = -1
"""The version of a list that was never seen."""


def clockwise_prefix(own_id: int, contacts: Iterable[Contact], limit: int) -> tuple[Contact, ...]:
    """The leading contacts that run clockwise from `own_id` without passing it, at most `limit`.

    A neighbour's list that comes round to its reader ends there: in a small ring it would
    otherwise wrap and break the order."""
    chosen: list[Contact] = []
    last_id = own_id
    for contact in contacts:
        if len(chosen) == limit or not between(last_id, contact.id, own_id):
            break
        chosen.append(contact)
        last_id = contact.id
    return tuple(chosen)


def passed_over(
    own_id: int, before: Iterable[Contact], now: tuple[Contact, ...], limit: int
) -> tuple[Contact, ...]:
    """Who of an older list is missing in a newer one that reaches past him.

    The newer list's giver has found him dead, or never knew him: then there are two rings."""
    kept = {contact.id for contact in now}
    whole = len(now) < limit  # it reaches round the ring
    return tuple(
        contact
        for contact in before
        if contact.id not in kept and (whole or between(own_id, contact.id, now[-1].id))
    )


class SuccessorList:
    """At most `limit` contacts behind `own_id`, with a version that grows at every change."""

    __slots__ = ("_contacts", "_own_id", "_source", "limit", "version")

    def __init__(self, own_id: int, limit: int) -> None:
        self._own_id = own_id
        self.limit = limit
        self._contacts: tuple[Contact, ...] = ()
        self._source: tuple[Contact, int] | None = None
        self.version = 0

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """The successors, nearest first."""
        return self._contacts

    @property
    def first(self) -> Contact | None:
        """The successor; None for a peer alone."""
        return self._contacts[0] if self._contacts else None

    def version_seen(self, head: Contact) -> int:
        """The version of `head`'s own list that this list is made of, −1 where it is not."""
        source = self._source
        if source is not None and (source[0] is head or source[0] == head):
            return source[1]
        return UNKNOWN_VERSION

    def adopt(self, head: Contact, tail: Iterable[Contact], version: int) -> bool:
        """Become `head` followed by its own list `tail` of that version; whether this changed
        the list."""
        changed = self.install((head, *tail))
        self._source = (head, version)
        return changed

    def install(self, contacts: Iterable[Contact]) -> bool:
        """Become these contacts, cut to order and length; whether this changed the list."""
        chosen = clockwise_prefix(self._own_id, contacts, self.limit)
        self._source = None
        if chosen == self._contacts:
            return False
        self._contacts = chosen
        self.version += 1
        return True

    def drop(self, contact: Contact) -> bool:
        """Lose a dead or departed contact, wherever it stands; whether it stood there.

        A dead entry may go from the middle too: what lay between it and its neighbours in the
        list was nobody, so the wider gap skips nobody alive."""
        kept = tuple(entry for entry in self._contacts if not entry.ended_with(contact))
        return len(kept) != len(self._contacts) and self.install(kept)

    def __contains__(self, contact: Contact) -> bool:
        return any(entry.id == contact.id for entry in self._contacts)

    def __len__(self) -> int:
        return len(self._contacts)
