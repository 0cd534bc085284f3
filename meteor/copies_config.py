"""How many copies there are, and how long peers wait for them.

Law of this file: a frozen value, in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CopiesConfig:
    """How many copies, and how long a peer waits for one; in seconds."""

    copies: int = 3
    """k: the primary and k - 1 others keep every record."""
    silence_s: float = 0.6
    """A copy that is silent for so long is evicted; longer than a link stands still for a collector
    pause, shorter than anybody waits for a store."""
    lease_s: float = 1.0
    """A primary that has heard of none of its copies for so long asks one before it answers: less
    than the silence after which the ring names another owner."""
    lateness_s_max: float = 0.3
    """A peer whose own loop ran later than this asks in any case, and evicts nobody."""
    ask_s_max: float = 8.0
    """Whoever lives and does not answer for so long is no copy any more."""
    tend_s: float = 1.0
    """How often the copies are compared with the ring when nothing is known to have changed."""
    shun_s: float = 3.0
    """A peer that could not become a copy is asked again after this."""
