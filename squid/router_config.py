"""How a router goes about it: the two ways of handing on, and its times.

Law of this file: plain values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Addressing(StrEnum):
    """To whom a peer hands on what it does not hold of a region (DESIGN section 3)."""

    FIRST_MATCH = "first match"
    """To the owner of the first matching index, which a lookup finds: only peers whose holding
    meets the region are handed anything, and a lookup travels ahead of each hand-on."""
    FINGERS = "fingers"
    """To the fingers, each the stretch of the ring up to the next one: one message a peer and no
    lookup, and some peers that hold nothing of the region pass a share on."""


@dataclass(frozen=True, slots=True)
class RouterConfig:
    """The way of handing on, and the times of the router, in seconds."""

    reissue_s: float = 1.0
    """How long the origin waits for open gaps before it issues them again; doubled each time up to
    `reissue_s_max`.  Shorter repeats work that is merely slow, longer makes a lost frame dearer."""
    reissue_s_max: float = 8.0
    """Doubled without end, a patient question on a lossy network was asked nine times in 300 s."""
    hand_on_s: float = 0.75
    """Time for one acknowledged hand-on before the next candidate is tried."""
    retry_s: float = 0.05
    """First pause after a hand-on failed; doubled up to `retry_s_max`."""
    retry_s_max: float = 0.4
    addressing: Addressing = Addressing.FINGERS
    """How what this peer originates is handed on; the shares of others say so themselves."""
