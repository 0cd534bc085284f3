"""How one peer names another.

A contact is an identifier and an address.  A client has no address: it is reached over the link
that it opened, and when that link closes it is gone.
"""

from __future__ import annotations

from typing import Annotated, Final

from chord.frozen import dataclass

WideInt = Annotated[int, "wide"]
"""A non-negative integer of any size: ring identifiers and curve indexes.  The codec writes it as
big-endian bytes, as msgpack ends at 64 bits."""

UNKNOWN_ID: Final = 0
"""The id of a contact known by its address alone, before it has introduced itself.  A real peer
with id 0 is legal: what tells them apart is `Contact.known`."""


@dataclass(frozen=True, slots=True)
class Contact:
    """A peer's identifier, its address (`host:port`, empty for a client) and its incarnation.

    A restarted peer resumes under its identifier with a higher incarnation: the newer contact
    replaces the older one."""

    id: WideInt
    address: str
    incarnation: int = 0
    known: bool = True

    @classmethod
    def at(cls, address: str) -> Contact:
        """A contact of which only the address is known."""
        return cls(UNKNOWN_ID, address, known=False)

    def ended_with(self, gone: Contact) -> bool:
        """Whether this is what is gone, or an earlier life of it: neither a later one, nor a peer
        at another address that has the identifier now."""
        same = self.id == gone.id and self.address == gone.address
        return same and self.incarnation <= gone.incarnation

    def is_another(self, other: Contact) -> bool:
        """Whether, of two of one address, this is another peer than that: one of them may have
        moved.  Whoever is meant by an address alone is not."""
        return self.known and other.known and self.id != other.id

    def __str__(self) -> str:
        where = self.address or "client"
        return f"{where}#{self.id:x}"[:32] if self.known else where
