"""How many copies there are, and how long peers wait for them.

Law of this file: a frozen value, in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from chord import ChordConfig
from meteor.wire.view import View
from meteor.wrong_values import checked_whole, said

LOOKS_WITHIN: Final = 0.75
"""Of a lease, between two looks at the successor on the average: they are up to a quarter farther
apart."""


@dataclass(frozen=True, slots=True)
class CopiesConfig:
    """How many copies, and how long a peer waits for one; in seconds."""

    copies: int = 3
    """k: the primary and k - 1 others keep every record."""
    copies_min: int = 0
    """Nothing is acknowledged, and no answer is complete, where fewer hold it.  0: one holder
    answers, and what is acknowledged has two where there is another peer."""
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
    falling_s: float = 3.0
    """Where several holders went within so long, and no more than k peers are left, or fewer know
    of what goes on, nothing is acknowledged as long: a ring that falls has fallen by then."""
    shun_s: float = 3.0
    """A peer that could not become a copy is asked again after this."""

    def is_small(self, view: View) -> bool:
        """Whether a view has too few holders for anything in it to count."""
        return 1 + len(view.copies) < self.copies_min

    @property
    def vouches_s(self) -> float:
        """For how long a peer vouches to clients for an owner that it heard: what that owner
        acknowledges within twice this time it acknowledges with all who have a copy, or before it
        gave one up for its silence, as this peer's side of a cut would have."""
        return self.silence_s / 2

    def in_touch(self, ring: ChordConfig) -> ChordConfig:
        """The ring's configuration for who keeps copies: at rest neighbours look at each other
        before a lease has run out, as one that has costs the next question a round trip."""
        longest_s = max(LOOKS_WITHIN * self.lease_s, ring.stabilise_interval_s)
        if ring.stabilise_interval_s_max <= longest_s:
            return ring
        return replace(ring, stabilise_interval_s_max=longest_s)

    @classmethod
    def beside(cls, ring: ChordConfig, copies: int, copies_min: int = 0) -> CopiesConfig:
        """The waits that fit a ring's own, so that a preset says both: a ring that names another
        owner after twice the silence has copies that are waited for twice as long.

        Left as they are with the Internet's: a copy was given up for the second or so in which a
        packet that was lost is sent again."""
        usual = cls(copies=copies, copies_min=copies_min)
        scale = ring.silence_s / ChordConfig().silence_s
        return replace(
            usual,
            silence_s=usual.silence_s * scale,
            lease_s=usual.lease_s * scale,
            lateness_s_max=usual.lateness_s_max * scale,
            ask_s_max=usual.ask_s_max * scale,
            falling_s=usual.falling_s * scale,
            shun_s=usual.shun_s * scale,
        )


def check_copies(copies: int, config: ChordConfig) -> int:
    """The number itself; raises `ValueError` where the ring's successor lists are too short, and
    `TypeError` for what is no number of copies."""
    most = config.successor_count // 2
    if not 1 <= checked_whole("copies", copies) <= most:
        raise ValueError(
            f"copies: {said(copies)} is not between 1 and {most}, half of the ring's "
            "successor_count"
        )
    return copies


def check_copies_min(copies_min: int | None, copies: int) -> int:
    """The least of holders as the configuration has it; raises `ValueError` for what is not between
    two and all `copies`, and `TypeError` for what is no number."""
    if copies_min is None:
        return 0
    if not 2 <= checked_whole("copies_min", copies_min) <= copies:
        raise ValueError(
            f"copies_min: {said(copies_min)} is not between 2 and {copies}, the number of copies"
        )
    return copies_min
