"""What peers say to each other about the links between them.

Law of this file: only frozen values; seconds, and no clock readings.
"""

from __future__ import annotations

from chord import Contact, dataclass


@dataclass(frozen=True, slots=True)
class LinksQuestion:
    """How good are your links?"""


@dataclass(frozen=True, slots=True)
class LinkNote:
    """One link as one of its ends measures it; seconds."""

    contact: Contact
    round_trip_s: float
    deviation_s: float
    frames: int
    """Forwarded frames that were sent over it."""
    silences: int
    """How often such a frame was met by silence."""
    heard_s: float
    """How long ago something came over it; -1 for never."""


@dataclass(frozen=True, slots=True)
class LinksReport:
    """The links of the receiver."""

    links: tuple[LinkNote, ...]


MESSAGES: tuple[type, ...] = (LinksQuestion, LinkNote, LinksReport)
