"""What peers say to each other to resolve a region of the keyword space.

Law of this file: only frozen values.  A `HandOn` is a call, acknowledged before any work; what it
leads to comes to the origin as `ResultFrame`s and one `Report` a part (DESIGN section 3).
"""

from __future__ import annotations

from chord import Arc, Contact, WideInt, dataclass

WireIntervals = tuple[tuple[WideInt, WideInt], ...]
"""Closed intervals of curve indexes, sorted and disjoint."""


@dataclass(frozen=True, slots=True)
class HandOn:
    """A part of an operation: the box asked for, and the indexes that the receiver answers for."""

    operation: bytes
    """16 random bytes drawn by the origin."""
    attempt: int
    origin: Contact
    """To whom frames and reports go."""
    digest: bytes
    """Of the keyword space; another one is refused."""
    low: tuple[int, ...]
    high: tuple[int, ...]
    """The box, inclusive cells, one a dimension."""
    job: WireIntervals
    hops: int
    """How often the job was handed on."""
    remaining_ms: int
    """Time left at the origin when this was sent."""
    body: bytes
    """What the layer above wants done; opaque here."""
    asks: bool = False
    """Whether it changes nothing: who keeps a copy may answer it."""
    stands_in: bool = False
    """The receiver is asked as the keeper of a copy; what it cannot answer for it refuses."""
    stretch: tuple[WideInt, WideInt] | None = None
    """The first index and the number of indexes that the receiver sees to by its fingers; None:
    what it does not hold goes to the owners of first matching indexes (`squid.Addressing`)."""


@dataclass(frozen=True, slots=True)
class HandOnTaken:
    """The receiver has the share and will see to it; its arc corrects a stale arc cache."""

    arc: Arc | None = None


@dataclass(frozen=True, slots=True)
class ResultFrame:
    """One page of what a peer found for an operation."""

    operation: bytes
    attempt: int
    part: int
    """Which of the sender's reports it belongs to."""
    number: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Report:
    """A peer has done its part: these intervals are covered, once all `frames` are in."""

    operation: bytes
    attempt: int
    part: int
    """The sender's own count of the parts that it reports on."""
    covered: WireIntervals
    missing: WireIntervals
    """Indexes for which the peer is responsible, and whose past it does not hold."""
    frames: int
    """How many `ResultFrame`s of this part were sent, numbered from 0."""
    hops: int
    body: bytes
    """The layer above's summary."""
    handed: int = 0
    """How many shares this peer handed on."""
    speaks_for_s: float | None = None
    """So old a question this is an answer to at most, the way back included; None: however old.
    What was done here before may be in it nowhere."""


@dataclass(frozen=True, slots=True)
class IsOpen:
    """Does anybody still wait for this operation of the receiver's?"""

    operation: bytes


@dataclass(frozen=True, slots=True)
class Open:
    """Whether somebody does."""

    so: bool


MESSAGES: tuple[type, ...] = (HandOn, HandOnTaken, ResultFrame, Report, IsOpen, Open)
