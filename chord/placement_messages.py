"""What peers say to each other about their load, for joiners and for those that move.

Law of this file: only frozen values; new fields are added at the end, with defaults.
"""

from __future__ import annotations

from typing import Final

from chord.contact import Contact, WideInt
from chord.frozen import dataclass


@dataclass(frozen=True, slots=True)
class FindPlace:
    """Request of a joiner to any member → `PlaceFound`, or the fault `NoPlace`."""

    seed: WideInt
    """Whatever is drawn to find the place follows from it."""


@dataclass(frozen=True, slots=True)
class PlaceFound:
    """Reply: the identifier under which to join, kept free for some seconds."""

    id: WideInt


@dataclass(frozen=True, slots=True)
class LoadQuestion:
    """Request → `LoadAnswer`: how much do you carry, and whom should I ask next?"""

    draw: int
    """Chooses among the peers that the receiver knows."""
    public: bool = False
    """Count only what everybody may know of: a joiner is anybody, and the place that he is told
    says what it was made of."""


@dataclass(frozen=True, slots=True)
class LoadAnswer:
    """Reply: what the receiver carries."""

    contact: Contact
    load: int
    """Records in its arc."""
    length: WideInt
    """Identifiers in its arc."""
    granting: bool
    """A change of its arc is agreed to: it grants none now."""
    onward: Contact | None
    """Another peer to ask."""


@dataclass(frozen=True, slots=True)
class SplitRequest:
    """Request → `PlaceFound`, or the faults `Busy` and `NoPlace`: name me a place in your arc."""

    public: bool = False
    """As in `LoadQuestion`."""


@dataclass(frozen=True, slots=True)
class MakeWay:
    """Request of a predecessor → `WayMade`, or the fault `Busy`: I would leave and move elsewhere;
    let nothing else happen to your arc meanwhile."""


@dataclass(frozen=True, slots=True)
class WayMade:
    """Reply: leave."""


MESSAGES: Final = (
    FindPlace, PlaceFound, LoadQuestion, LoadAnswer, SplitRequest, MakeWay, WayMade,
)  # fmt: skip
"""Every message of placement, for the codec."""
