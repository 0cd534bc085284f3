"""Who belongs to another ring than whoever speaks to it.

Law of this file: pure, and bounded.  A peer of another realm may stand where one of ours has just
fallen, at its address and under its identifier: what is meant for the fallen one comes to it, and
the other way round.  To who asks it is no member, which takes it out of all pointers
(`chord.watch`).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from chord.errors import Fault, NotJoined

if TYPE_CHECKING:
    from chord.contact import Contact

STRANGERS_MAX: Final = 256
"""Contacts of other realms that are known at a time."""


class Strangers:
    """Contacts that said last that they are of another realm than `own`, a member of this one."""

    __slots__ = ("_contacts", "_own", "_realm")

    def __init__(self, realm: bytes, own: Contact) -> None:
        self._realm, self._own = realm, own
        self._contacts: OrderedDict[Contact, None] = OrderedDict()

    def refuse(self, sender: Contact, realm: bytes) -> None:
        """Raise `Fault` for what comes from another realm; empty where its sender does not say."""
        if realm == self._realm:
            if self._contacts:
                self._contacts.pop(sender, None)
        elif realm:
            self._contacts[sender] = None
            if len(self._contacts) > STRANGERS_MAX:
                self._contacts.popitem(last=False)
            what = f"{self._own} is a member of a ring of another realm"
            raise Fault(NotJoined.__name__, what)

    def __contains__(self, contact: object) -> bool:
        return contact in self._contacts

    def __len__(self) -> int:
        return len(self._contacts)
