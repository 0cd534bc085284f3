"""Links to peers at an address at which another one is just being dialled.

Law of this file: bookkeeping, the same for both runtimes.  Nobody has said yet who is there, so
such a link is neither refused nor closed: it waits, at most one for each identifier and one for
whoever is there, until that dial has ended, and what becomes of it then follows from who answered.
What waits is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from chord.contact import Contact
from chord.errors import Busy
from chord.link import LinkEnd

LinkT = TypeVar("LinkT", bound=LinkEnd)

WAITING_MAX: Final = 64
"""Links that may wait for one dial: contacts are named by others, in any number."""


class WaitingLinks(Generic[LinkT]):
    """The links of one peer that wait for the dials of others."""

    __slots__ = ("_behind",)

    def __init__(self) -> None:
        self._behind: dict[LinkT, dict[int | None, LinkT]] = {}
        """By the link that is being dialled, and whom they are for."""

    def __iter__(self) -> Iterator[LinkT]:
        """All of them, in the order in which they came."""
        return iter([link for behind in self._behind.values() for link in behind.values()])

    def of(self, dialled: LinkT, contact: Contact) -> LinkT | None:
        """The link to `contact` where one is being dialled at its address: that one, or one that
        waits for its dial; None without one."""
        whom = _whom(contact)
        if _whom(dialled.contact) == whom:
            return dialled
        behind = self._behind.get(dialled)
        return None if behind is None else behind.get(whom)

    def add(self, dialled: LinkT, link: LinkT) -> None:
        """Let a link wait for the dial of another one.  Raises `Busy` where too many do."""
        behind = self._behind.get(dialled, {})
        if len(behind) >= WAITING_MAX:
            raise Busy(f"{len(behind)} others wait for the dial of {dialled.contact} already")
        behind[_whom(link.contact)] = link
        self._behind[dialled] = behind

    def remove(self, link: LinkT) -> None:
        """Let it wait no more; harmless when it does not."""
        whom = _whom(link.contact)
        for dialled, behind in list(self._behind.items()):
            if behind.get(whom) is link:
                del behind[whom]
                if not behind:
                    del self._behind[dialled]

    def take(self, dialled: LinkT) -> list[LinkT]:
        """The dial of that link has ended: what waited for it, as it came, waits no more."""
        return list(self._behind.pop(dialled, {}).values())

    def take_parted(self, dialled: LinkT, who: Contact) -> tuple[list[LinkT], list[LinkT]]:
        """The dial of that link has ended, as `who` is there: of it and of what waited for it,
        what is for that one or for whoever is there, and what is for others."""
        meant: list[LinkT] = []
        others: list[LinkT] = []
        for link in [dialled, *self.take(dialled)]:
            (others if link.contact.is_another(who) else meant).append(link)
        return meant, others


def _whom(contact: Contact) -> int | None:
    """For whom a link waits: whoever is there is not the peer of identifier 0."""
    return contact.id if contact.known else None
