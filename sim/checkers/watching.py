"""A watch is told of every interest that meets it, and knows whether there is one; an interest that
lives can be attached to (SPEC sections 1 and 4).

Law of this file: within `TOLD_WITHIN_S` of every pair of an acknowledged watch and an acknowledged
interest that lived together for so long it is told that the interest `appeared`, and so after its
deletion was acknowledged that it is `gone`; of nothing that does not meet it; except where every
copy of the place at which both begin was down at once (`History.wounds`).  An interest that changes
hands goes on under its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf

from sim.checkers.notification import TOLD_WITHIN_S
from sim.history import History, Subscription, Watching, within
from sim.places import first_common


@dataclass(frozen=True, slots=True)
class _Life:
    """One interest, whoever had it."""

    first: Subscription
    until_s: float
    """Until when it surely lived."""
    deleted_s: float | None


def violations(history: History) -> list[str]:
    """Every watch that was not told, or wrongly; every interest that was not there."""
    found = [
        f"{name}, which lived, could not be attached to at {at_s:.3f} s: {rule}"
        for at_s, name, rule in history.not_attached
        if not history.wounds and not history.cuts
    ]
    lives = list(_lives(history))
    for watch in history.watches:
        found += _of(watch, lives, history)
    return found


def _lives(history: History) -> Iterator[_Life]:
    by_name: dict[str, list[Subscription]] = {}
    for subscription in history.subscriptions:
        by_name.setdefault(subscription.name, []).append(subscription)
    refused = {name: at_s for at_s, name, _ in history.not_attached}
    for name, same in by_name.items():
        last = same[-1]
        until_s = inf if last.ended_s == inf else last.ended_s
        if last.delete_began_s is not None:
            until_s = last.delete_began_s
        if last.once:  # it is over as soon as it is told
            until_s = last.began_s
        yield _Life(same[0], min(until_s, refused.get(name, inf)), last.deleted_s)


def _of(watch: Watching, lives: list[_Life], history: History) -> Iterator[str]:
    yield from _wrongly_told(watch, {life.first.name: life for life in lives}, history)
    must_be_active = False
    for life in lives:
        if not watch.meets(life.first) or _is_excused(watch, life, history):
            continue
        name = life.first.name
        until_s = max(watch.opened_s, life.first.opened_s) + TOLD_WITHIN_S
        if until_s <= min(life.until_s, history.ended_s):
            must_be_active |= life.until_s == inf
            if not _told(watch, "appeared", life, until_s):
                yield f"{watch.name} was not told by {until_s:.3f} s of {name}"
        gone_by_s = inf if life.deleted_s is None else life.deleted_s + TOLD_WITHIN_S
        knew = _told(watch, "appeared", life, inf)
        if knew and gone_by_s <= history.ended_s and not _told(watch, "gone", life, gone_by_s):
            yield f"{watch.name} was not told by {gone_by_s:.3f} s that {name} is gone"
    if must_be_active and watch.active is False:
        yield f"{watch.name} says that nobody is interested, and somebody is"


def _wrongly_told(watch: Watching, lives: Mapping[str, _Life], history: History) -> Iterator[str]:
    for at_s, kind, name in watch.told:
        life = lives.get(name)  # of what only passes there is no life
        if life is None:
            continue
        if not watch.meets(life.first):
            yield f"{watch.name} was told at {at_s:.3f} s of {name}, which does not meet it"
        if kind == "gone" and at_s < life.until_s and not history.wounds and not history.cuts:
            yield f"{watch.name} was told at {at_s:.3f} s that {name} is gone, which lives"


def _is_excused(watch: Watching, life: _Life, history: History) -> bool:
    region = life.first.region
    at = None if region is None else first_common(watch.region, region)
    if at is None:
        return True
    return any(within(at, where) for where in (watch.missing, life.first.missing, history.wounds))


def _told(watch: Watching, kind: str, life: _Life, until_s: float) -> bool:
    return any(
        told == kind and name == life.first.name and at_s <= until_s
        for at_s, told, name in watch.told
    )
