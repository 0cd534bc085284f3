"""What the clients of a scenario do, in numbers.

Law of this file: frozen values; what a plan leaves out draws nothing, so that what was there before
keeps its traces.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPlan:
    """What the clients do."""

    clients: int = 3
    """Clients that store, ask and delete, each one thing at a time."""
    pause_s: float = 0.1
    """Mean pause of a client between two posts."""
    asks: float = 0.2
    """Share of posts that ask, ..."""
    deletes: float = 0.1
    """... and that delete, ..."""
    moves: float = 0.0
    """... and that replace something by another content, ..."""
    renewals: float = 0.0
    """... and that renew what is short-lived, ..."""
    clearings: float = 0.0
    """... and that delete a range of values; the others store."""
    short_lived: float = 0.15
    """Share of stored profiles that expire within the run, after 2 to 8 s."""
    places: int = 0
    """Everything is stored at so many places, and asked for there, again and again, as by sensors,
    so that clients go straight to owners; 0: anywhere."""
    watchers: int = 2
    """Clients with an interest each, ..."""
    interests: float = 0.0
    """... and so many more a virtual second, which are told first of what lives already."""
    timeout_s: float = 5.0
    """How long a post may take."""
    cleared: float = 10.0
    """How wide the range of values is that is deleted at once."""
    refills: float = 0.0
    """Share of such deletes after which the same client stores something there at once."""
    first_peer: int = 0
    """With which peer, by its number, the first client is linked; the others follow."""
    wide: float = 0.0
    """Share of stored profiles with a range of values, half of them with a part of a word for their
    type: they lie at many places."""
    partial: float = 0.0
    """Share of questions and interests that name a part of a word, too."""
    overlaps: float = 0.0
    """Share of the deletes of a range that take what reaches out of it, too."""
    twice: float = 0.0
    """Share of posts that store the same at two peers in one moment, ..."""
    again: float = 0.0
    """... and that store once more what was stored before, or deleted."""
    attaches: float = 0.0
    """Times a virtual second at which an interest changes hands: its client lets go of it, or ends
    without a word, and another attaches to it; or it is deleted."""
    onces: float = 0.0
    """Times a virtual second at which somebody becomes interested, is told, and posts that again,
    to be told once."""
    watches: int = 0
    """Clients that are told who is interested."""

    @property
    def peers_min(self) -> int:
        """With how many peers clients are linked at first, by number: no fewer may there be."""
        twins = 2 if self.twice else 0
        return self.first_peer + max(self.clients, self.watchers, twins)
