"""A client is told of each match exactly once (DESIGN section 4).

Law of this file: never twice, never of what does not match, never with other data than was stored,
and within `TOLD_WITHIN_S` of every pair of an acknowledged interest and an acknowledged profile
that lived together for so long; except where every
copy of the profile's place was down at once, with all that it knew (`History.wounds`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import inf

from sim.history import History, Subscription, Write, within

TOLD_WITHIN_S = 15.0
"""How long telling may take while peers die and clients find new ones."""


def violations(history: History, *, excuse: bool = True) -> list[str]:
    """Every pair that was told twice, wrongly, or not at all; where `excuse` is False, also in
    places that lost their holder."""
    return [
        text
        for subscription in history.subscriptions
        for text in _of(subscription, history, excuse=excuse)
    ]


def _of(subscription: Subscription, history: History, *, excuse: bool) -> Iterator[str]:
    told = Counter(stem for _, stem in subscription.told)
    if subscription.once and len(subscription.told) > 1:
        yield f"{subscription.name}, to be told once, was told {len(subscription.told)} times"
    for stem, times in told.items():
        write = history.writes.get(stem)
        if times > 1 + (0 if write is None else write.reposts):
            yield f"{subscription.name} was told {times} times of {stem}"
        if write is None:
            yield f"{subscription.name} was told of {stem}, which was never stored"
        elif not subscription.selects(write):
            yield f"{subscription.name} was told of {stem} with the value {write.value:g}"
    for stem in subscription.garbled:
        yield f"{subscription.name} was told of {stem}, which is not as it was stored"
    if not (subscription.once and told):
        yield from _too_late(subscription, history, excuse=excuse)


def _too_late(subscription: Subscription, history: History, *, excuse: bool) -> Iterator[str]:
    first_s: dict[str, float] = {}
    for at_s, stem in subscription.told:
        first_s.setdefault(stem, at_s)
    for write in history.writes.values():
        until_s = _told_until_s(subscription, write, history)
        if until_s is None or first_s.get(write.stem, inf) <= until_s:
            continue
        at = write.index_for(subscription.region)
        if within(at, subscription.missing) or (excuse and within(at, history.wounds)):
            continue
        if write.stem not in first_s:
            yield f"{subscription.name} was never told of {write.stem}"
        else:
            at_s = first_s[write.stem]
            yield f"{subscription.name} was told of {write.stem} only at {at_s:.3f} s"


def _told_until_s(subscription: Subscription, write: Write, history: History) -> float | None:
    """Until when it must have been told; None if it need not."""
    if not subscription.selects(write) or write.acknowledged_s is None:
        return None
    both_s = max(write.acknowledged_s, subscription.opened_s)
    until_s = both_s + TOLD_WITHIN_S
    lived = until_s <= min(history.ended_s, subscription.ended_s) and write.surely_lives(
        both_s, until_s, 0.0
    )
    return until_s if lived else None
