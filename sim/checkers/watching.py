"""A watch is told of every interest that meets it, and knows whether there is one; an interest that
lives can be attached to, and is found by who deletes it (SPEC sections 1 and 4).

Law of this file: within `TOLD_WITHIN_S` of every pair of an acknowledged watch and an acknowledged
interest that lived together for so long it is told that the interest `appeared`, and so after its
deletion was acknowledged that it is `gone`; of nothing that does not meet it, of none that lives
that it is `gone`, and once that it `appeared`, each time that it was posted.  When the run is over
it knows whether anybody is interested.  Excused is what has to do with a place of which every copy
was down at once (`History.wounds`); while the network is cut and until it is one again, that an
interest is not found, or seems to be gone.  An interest that changes hands goes on under its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf

from sim.checkers.notification import TOLD_WITHIN_S
from sim.history import History, Subscription, Watching, within
from sim.places import SPACE, first_common


@dataclass(frozen=True, slots=True)
class _Life:
    """One interest, whoever had it."""

    first: Subscription
    last: Subscription
    until_s: float
    """Until when it surely lived."""
    posts: int
    """How often it was posted, which to attach to it is not."""

    @property
    def deleted_s(self) -> float | None:
        """When the receipt of its deletion came."""
        return self.last.deleted_s

    @property
    def over_s(self) -> float:
        """Since when it surely lived no more."""
        told_s = [at_s for at_s, _ in self.last.told] if self.last.once else []
        return min([inf if self.deleted_s is None else self.deleted_s, *told_s])


def violations(history: History) -> list[str]:
    """Every watch that was not told, or wrongly; every interest that was not there."""
    lives = list(_lives(history))
    found = list(_not_there(lives, history))
    for watch in history.watches:
        found += _of(watch, lives, history)
    return found


def _not_there(lives: list[_Life], history: History) -> Iterator[str]:
    """Every interest that lived, and was not found."""
    by_name = {life.first.name: life.first for life in lives}
    for at_s, name, rule in history.not_attached:
        if not history.is_cut(at_s) and not _is_wounded(by_name[name], history):
            yield f"{name}, which lived, could not be attached to at {at_s:.3f} s: {rule}"
    for life in lives:
        began_s, ended_s = life.last.delete_began_s, life.last.not_found_s
        if began_s is None or ended_s is None or life.last.once or life.until_s < began_s:
            continue
        cut = history.is_cut(began_s) or history.is_cut(ended_s)
        if not cut and not _is_wounded(life.first, history):
            yield (f"{life.first.name}, deleted at {began_s:.3f} s, was not found, though it lived")


def _is_wounded(subscription: Subscription, history: History) -> bool:
    """Whether every copy was down at once of a place where the interest is."""
    region = subscription.region
    if region is None:
        return bool(history.wounds)
    met = ((SPACE.curve.next_match(region, first), last) for first, last in history.wounds)
    return any(at is not None and at <= last for at, last in met)


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
        posts = sum(one.once or not one.goes_on for one in same)
        yield _Life(same[0], last, min(until_s, refused.get(name, inf)), posts)


def _of(watch: Watching, lives: list[_Life], history: History) -> Iterator[str]:
    yield from _wrongly_told(watch, {life.first.name: life for life in lives}, history)
    must_be_active = False
    may_be_active = any(watch.meets(one) for one in history.unheard.values())
    for life in lives:
        if not watch.meets(life.first):
            continue
        if _is_excused(watch, life, history):
            may_be_active = True
            continue
        may_be_active |= life.over_s + TOLD_WITHIN_S > history.ended_s
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
    if watch.active and not may_be_active:
        yield f"{watch.name} says that somebody is interested, and nobody is"


def _wrongly_told(watch: Watching, lives: Mapping[str, _Life], history: History) -> Iterator[str]:
    appeared: Counter[str] = Counter()
    for at_s, kind, name in watch.told:
        life = lives.get(name)  # of what only passes there is no life
        if life is None:
            continue
        appeared[name] = appeared[name] + 1 if kind == "appeared" else 0
        excused = history.is_cut(at_s) or _is_excused(watch, life, history)
        if appeared[name] > life.posts and not excused:
            yield f"{watch.name} was told at {at_s:.3f} s once more that {name} appeared"
        if not watch.meets(life.first):
            yield f"{watch.name} was told at {at_s:.3f} s of {name}, which does not meet it"
        if kind == "gone" and at_s < life.until_s and not excused:
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
