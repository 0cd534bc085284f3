"""Links to peers at an address at which another one is just being dialled.

Law of this file: bookkeeping, the same for both runtimes.  Nobody has said yet who is there, so
such a link is neither refused nor closed: it waits, at most one for each identifier, until that
dial has ended, and what becomes of it then follows from who answered.  What waits is bounded.
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
        self._behind: dict[LinkT, dict[int, LinkT]] = {}
        """By the link that is being dialled, and the identifiers of whom they are for."""

    def __iter__(self) -> Iterator[LinkT]:
        """All of them, in the order in which they came."""
        return iter([link for behind in self._behind.values() for link in behind.values()])

    def of(self, dialled: LinkT, contact: Contact) -> LinkT | None:
        """The one to `contact` that waits for the dial of another link; None without one."""
        behind = self._behind.get(dialled)
        return behind.get(contact.id) if behind is not None and contact.known else None

    def add(self, dialled: LinkT, link: LinkT) -> None:
        """Let a link wait for the dial of another one.  Raises `Busy` where too many do."""
        behind = self._behind.get(dialled, {})
        if len(behind) >= WAITING_MAX:
            raise Busy(f"{len(behind)} others wait for the dial of {dialled.contact} already")
        behind[link.contact.id] = link
        self._behind[dialled] = behind

    def remove(self, link: LinkT) -> None:
        """Let it wait no more; harmless when it does not."""
        for dialled, behind in list(self._behind.items()):
            if behind.get(link.contact.id) is link:
                del behind[link.contact.id]
                if not behind:
                    del self._behind[dialled]

    def take(self, dialled: LinkT) -> dict[int, LinkT]:
        """The dial of that link has ended: what waited for it, by identifier, waits no more."""
        return self._behind.pop(dialled, {})
