"""The constants of the ring protocol, with presets for one machine, one site, and the Internet.

Law of this file: every duration carries its unit and its reason.  `bits`, `successor_count`
and `realm` are ring constants: a joiner with other values is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ChordConfig:
    """How one peer takes part in the ring; the defaults are those of `lan()`."""

    bits: int = 160
    """Width of identifiers; a ring constant."""
    successor_count: int = 8
    """Length r of successor lists; a ring constant, at least twice the copies kept of a record."""
    realm: bytes = b""
    """What the ring is for (`meteor`: the digest of its keyword space); a ring constant, so that a
    peer that comes back where another ring lives now does not become one with it."""
    placement: Literal["load", "hash"] = "load"
    """How a new peer gets its identifier: `load`, where it halves the heaviest arc that the ring
    finds for it; `hash`, by its address.  A founder, and who is told no place, go by the latter."""
    stabilise_interval_s: float = 0.5
    """Mean time between two looks at the successor where something has changed, or somebody is
    doubted: silence is noticed by three of them."""
    stabilise_interval_s_max: float = 2.0
    """The same at rest: it doubles while looks find nothing new.  Who vanishes without a word where
    nobody asks for anything is noticed this much later."""
    finger_interval_s_min: float = 0.5
    """Time to the next refresh of the fingers after one that changed something."""
    finger_interval_s_max: float = 30.0
    """The longest time between refreshes: it doubles while nothing changes."""
    call_timeout_s_min: float = 0.1
    """Floor of a call's time-out, which else is srtt + 4·rttvar of the link."""
    call_timeout_s_initial: float = 0.5
    """Time-out of a call over a link not yet measured; a dial is part of it."""
    call_timeout_s_max: float = 5.0
    """Ceiling of a call's time-out."""
    silence_s: float = 1.5
    """Pointers never change for silence shorter than this ..."""
    misses_max: int = 3
    """... nor for fewer unanswered calls in a row; a refused dial needs neither."""
    lateness_s_max: float = 0.1
    """A peer whose own loop runs later than this counts no misses."""
    lookup_timeout_s: float = 5.0
    """How long a lookup goes on trying by default."""
    lookup_attempt_s: float = 0.25
    """The wait for an owner's answer before the origin hedges through another first hop, while
    neither the link nor earlier lookups say how long answers take; the hedge waits twice that."""
    heir_count: int = 2
    """How many of its next successors an owner names in an answer: who may hold copies."""
    hops_max: int = 96
    """A lookup that was handed on more often is dropped; an ideal ring of 2^64 peers needs 64."""
    arc_cache_max: int = 1024
    """Arcs kept; 0 turns the cache off."""
    join_timeout_s: float = 10.0
    """How long a join goes on trying while the ring is there but does not settle."""
    departed_max: int = 64
    """How many dead or departed contacts are remembered ..."""
    departed_s: float = 5.0
    """... and how long, so that a neighbour's older list does not bring them back."""
    remembered_max: int = 64
    """How many contacts that were lost without a good-bye are remembered, to be found again ..."""
    remembered_s: float = 86_400.0
    """... and how long: a partition may last a night."""
    probe_interval_s_min: float = 0.5
    """Time to the next probe of a remembered contact after one was lost; it doubles ..."""
    probe_interval_s_max: float = 4.0
    """... up to this: rings that find each other are one soon after a partition has healed."""
    place_check_interval_s: float = 60.0
    """Mean time between two looks at one's own place from afar."""
    state_interval_s: float = 1.0
    """The shortest time between two states of the ring given to be kept over a restart."""
    resume_patience_s: float = 3.0
    """How long a peer that restarts waits for others that restart too, before it goes on alone."""

    @classmethod
    def local(cls) -> ChordConfig:
        """All peers in one machine: as `lan`, as processes that share it wait for each other about
        as long as packets travel within a site."""
        return cls()

    @classmethod
    def lan(cls) -> ChordConfig:
        """One site: round trips below some milliseconds."""
        return cls()

    @classmethod
    def wan(cls) -> ChordConfig:
        """The Internet: round trips up to some hundred milliseconds."""
        return cls(
            stabilise_interval_s=1.0,
            stabilise_interval_s_max=4.0,
            finger_interval_s_min=1.0,
            finger_interval_s_max=60.0,
            call_timeout_s_min=0.5,
            call_timeout_s_initial=2.0,
            call_timeout_s_max=10.0,
            silence_s=3.0,
            lateness_s_max=0.5,
            departed_s=15.0,
            probe_interval_s_min=1.0,
            probe_interval_s_max=10.0,
            place_check_interval_s=300.0,
            resume_patience_s=10.0,
            lookup_timeout_s=15.0,
            lookup_attempt_s=1.5,
            join_timeout_s=30.0,
        )
