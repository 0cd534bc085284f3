"""When a running peer gives its place up for another one.

Law of this file: pure decisions.  A peer far lighter than the mean moves to where it halves an arc
far heavier than the mean; both stand far from the thresholds afterwards, so that nobody moves to
and fro.  DESIGN section 2; Karger and Ruhl, SPAA 2004, item balancing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chord.placement_messages import LoadAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class RelocationConfig:
    """How eager peers are to move."""

    light: float = 0.5
    """A peer moves when it carries at most this share of the mean of those that it asked ..."""
    heavy: float = 1.5
    """... and the heaviest of them at least this many times the mean ..."""
    load_min: int = 1_000
    """... and this many records: for fewer a move costs more than it brings ..."""
    relief: float = 0.75
    """... and if its heir, who takes over what it leaves, then carries at most this share of what
    the heaviest does now."""
    interval_s: float = 60.0
    """Between two looks, give or take a quarter; the first is as long after the start."""
    looks: int = 2
    """It moves when so many looks in a row say so."""


def target_of(
    own: int, heir: int, offers: Sequence[LoadAnswer], config: RelocationConfig
) -> LoadAnswer | None:
    """The arc that a peer carrying `own` records should go and halve; None when it should stay.

    `heir` is the load of its successor.  `offers` is a sample of other peers: one drawn twice
    counts twice, as a mean of peers must."""
    free = [offer for offer in offers if not offer.granting]
    if not free:
        return None
    mean = (own + sum(offer.load for offer in offers)) / (1 + len(offers))
    target = max(free, key=lambda offer: (offer.load, offer.contact.id))
    is_light = own <= config.light * mean
    is_heavy = target.load >= max(config.heavy * mean, config.load_min)
    relieves = own + heir <= config.relief * target.load
    return target if is_light and is_heavy and relieves else None


class Restraint:
    """Lets move only who has wished to for some looks in a row."""

    def __init__(self, looks: int) -> None:
        self._looks = looks
        self._wishes = 0

    def look(self, *, wishes: bool) -> bool:
        """Note what one look said; whether it is time to move."""
        self._wishes = self._wishes + 1 if wishes else 0
        return self._wishes >= self._looks
