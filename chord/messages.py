"""What ring members say to each other.

Law of this file: frozen values only.  Lists of contacts are cut by their receiver to the ring's
successor count.  "Request" messages are answered by the class that their docstring names.
"""

from __future__ import annotations

from typing import Final

from chord.contact import Contact, WideInt
from chord.frozen import dataclass
from chord.identifiers import Arc


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """Reply: done, or already so."""


@dataclass(frozen=True, slots=True)
class Ping:
    """Request → `Acknowledged`: is this process alive, and of the ring of that realm."""

    realm: bytes = b""
    """What the sender's ring is for; a member of another ring refuses (`chord.realms`)."""


@dataclass(frozen=True, slots=True)
class GetNeighbours:
    """Request → `Neighbours`: whom do you point at (ring walks, `meteor ring`)."""


@dataclass(frozen=True, slots=True)
class Notify:
    """Request → `Neighbours`: I take you for my successor (stabilise and notify in one).

    `version_seen` is that of your successor list as I have it: an unchanged list is not sent."""

    version_seen: int = -1
    realm: bytes = b""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Reply: a member's pointers.  `unchanged` means the list that the asker already has."""

    contact: Contact
    predecessor: Contact | None
    successors: tuple[Contact, ...]
    version: int
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class SuccessorsChanged:
    """To a predecessor, one way or as a request → `Acknowledged`: my list is now this one."""

    successors: tuple[Contact, ...]
    version: int
    realm: bytes = b""


@dataclass(frozen=True, slots=True)
class PredecessorChanged:
    """To the predecessor before, one way: this nearer peer precedes me now."""

    predecessor: Contact


@dataclass(frozen=True, slots=True)
class GetFinger:
    """Request → `FingerFound`: your finger of this level, please."""

    level: int
    realm: bytes = b""


@dataclass(frozen=True, slots=True)
class FingerFound:
    """Reply: the finger, None while unknown, its predecessor's id, and the replier's own."""

    finger: Contact | None
    finger_predecessor_id: WideInt | None
    own_predecessor_id: WideInt | None


@dataclass(frozen=True, slots=True)
class FindOwner:
    """Forwarded from peer to peer: the owner of the key answers the origin with `OwnerFound`."""

    key: WideInt
    origin: Contact
    token: int
    hops: int
    """How many peers it has been handed to, the receiver included."""
    to_owner: bool = False
    """The sender believed the receiver to own the key."""
    stepped_back: bool = False
    """It was handed once to the predecessor of a peer wrongly believed the owner."""
    attempt: int = 0
    """How often the origin had asked before under this token."""


@dataclass(frozen=True, slots=True)
class OwnerFound:
    """To the origin, one way: I own the key that you asked for, this is my arc, and these would be
    my heirs.  Or, `suspected`: the owner is silent, this is what I know of its arc and heirs."""

    token: int
    owner: Contact
    arc: Arc
    hops: int
    heirs: tuple[Contact, ...] = ()
    suspected: bool = False


@dataclass(frozen=True, slots=True)
class FindPredecessor:
    """Request → `PredecessorFound`: one step of an iterative search, for joiners and repair."""

    key: WideInt
    bits: int
    successor_count: int
    past_forming: bool = False
    """The asker knows that the ring is formed: do not send it to the keeper."""
    realm: bytes = b""


@dataclass(frozen=True, slots=True)
class PredecessorFound:
    """Reply: the replier's pointers if it is the key's predecessor, else whom to ask next, or the
    keeper of a ring that is still forming."""

    contact: Contact
    found: bool
    successors: tuple[Contact, ...] = ()
    closer: tuple[Contact, ...] = ()
    keeper: Contact | None = None


@dataclass(frozen=True, slots=True)
class Reunite:
    """One way: a living peer whose ring may not have the receiver at its place; look from there."""

    via: Contact


@dataclass(frozen=True, slots=True)
class Leaving:
    """Request → `Acknowledged`: I leave; these were my pointers."""

    predecessor: Contact | None
    successors: tuple[Contact, ...]


@dataclass(frozen=True, slots=True)
class Membership:
    """All members of a ring too small for the ring protocol, as its keeper last knew them."""

    version: int
    keeper: Contact
    members: tuple[Contact, ...]
    complete: bool = False
    """There are enough members: from here on the ring protocol carries."""


@dataclass(frozen=True, slots=True)
class Enter:
    """Request to the keeper → `Entered`: take me in."""

    realm: bytes = b""


@dataclass(frozen=True, slots=True)
class Entered:
    """Reply: whether the asker is installed; if not, who keeps the list, or None when the ring
    is formed and joined by its protocol."""

    installed: bool
    keeper: Contact | None = None


@dataclass(frozen=True, slots=True)
class Install:
    """Request from the keeper → `Acknowledged`: point at these members, in one step."""

    membership: Membership
    realm: bytes = b""


MESSAGES: Final = (
    Acknowledged, Ping, GetNeighbours, Notify, Neighbours, SuccessorsChanged,
    PredecessorChanged, GetFinger, FingerFound, FindOwner, OwnerFound, FindPredecessor,
    PredecessorFound, Reunite, Leaving, Membership, Enter, Entered, Install,
)  # fmt: skip
"""Every message of the ring, for the codec."""
