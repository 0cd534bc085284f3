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

    light: float = 0.75
    """A peer may move when it carries at most this share of the mean of those that it asked, ..."""
    looks: int = 2
    """... so many times in a row; ..."""
    heavy: float = 1.5
    """... to one that carries at least this many times the mean ..."""
    share: float = 0.33
    """... of which its own load is at most this share, ..."""
    load_min: int = 1_000
    """... and at least this many records: for fewer a move costs more than it brings; ..."""
    relief: float = 0.75
    """... if its heir, who takes over what it leaves, then carries at most this share of what the
    heaviest does now."""
    interval_s: float = 60.0
    """Between two looks, give or take a quarter; the first is as long after the start."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a peer saw when it looked at its own load and at others'."""

    is_light: bool
    target: LoadAnswer | None
    """The arc that it should go and halve, if it moves."""
    others: tuple[LoadAnswer, ...] = ()
    """Those worth a move as well, heaviest first: the target may be of one index."""


def look_of(own: int, heir: int, offers: Sequence[LoadAnswer], config: RelocationConfig) -> Look:
    """What a peer that carries `own` records makes of a sample of other peers; `heir` is the load
    of its successor.

    One that was met twice counts twice, as it must in a mean of peers."""
    if not offers:
        return Look(is_light=False, target=None)
    mean = (own + sum(offer.load for offer in offers)) / (1 + len(offers))
    if own > config.light * mean:
        return Look(is_light=False, target=None)
    worth = {
        offer.contact.id: offer
        for offer in offers
        if not offer.granting
        and offer.load >= max(config.heavy * mean, config.load_min)
        and own <= config.share * offer.load
        and own + heir <= config.relief * offer.load
    }
    ordered = sorted(worth.values(), key=lambda one: (one.load, one.contact.id), reverse=True)
    return Look(True, ordered[0] if ordered else None, tuple(ordered[1:]))


class Restraint:
    """Lets move only who has been light for some looks in a row."""

    def __init__(self, looks: int) -> None:
        self._looks = looks
        self._light = 0

    def permits(self, look: Look) -> bool:
        """Note a look; whether what it says may be done."""
        self._light = self._light + 1 if look.is_light else 0
        return self._light >= self._looks
