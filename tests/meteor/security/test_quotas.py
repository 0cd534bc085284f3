"""Quotas against a dumb twin that recounts everything each time."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meteor.errors import Refused
from meteor.security.policy import Quota
from meteor.security.quotas import IDENTITIES_MAX, LOOK_S, Holding, Ledger

QUOTA = Quota("few", ("anyone",), profiles=3, bytes=100, interests=2)


def holding(kind: Any = "data", size: int = 10, expires_s: float = 1000.0) -> Holding:
    return Holding(kind, size, expires_s, b"")


@given(st.integers(0, 2**32))
def test_the_ledger_against_a_recount(seed: int) -> None:
    drawn = random.Random(seed)
    ledger, twin = Ledger(), dict[str, Holding]()
    now = 0.0
    for _ in range(60):
        now += LOOK_S * drawn.randrange(3)
        stem = drawn.choice("abcdefg")
        which = drawn.randrange(5)
        if which == 0:
            ledger.release("me", stem)
            twin.pop(stem, None)
        elif which == 1:
            ledger.renew("me", stem, now + 5)
            if stem in twin:
                twin[stem] = Holding(twin[stem].kind, twin[stem].size, now + 5, b"")
        else:
            one = holding(
                drawn.choice(["data", "interest"]), drawn.randrange(40), now + drawn.randrange(1, 9)
            )
            others = [kept for name, kept in twin.items() if name != stem] + [one]
            fits = (sum(kept.kind == "data" for kept in others) <= 3 or one.kind != "data") and (
                sum(kept.kind != "data" for kept in others) <= 2 or one.kind == "data"
            )
            fits = fits and sum(kept.size for kept in others) <= 100
            try:
                ledger.charge("me", stem, one, QUOTA, now)
            except Refused:
                assert not fits
                # what has run out counts no more, but is looked for every so often only
                account = ledger._accounts["me"]
                assert now - account.looked_at_s < LOOK_S
            else:
                gone = [name for name in twin if ledger.holding("me", name) is None]
                assert all(twin[name].expires_s <= now for name in gone)
                twin = {name: kept for name, kept in twin.items() if name not in gone}
                twin[stem] = one
        account = ledger._accounts.get("me")
        if account is not None:
            for name in set(twin) - set(account.records):
                del twin[name]
            kept = list(account.records.values())
            assert account.data == sum(one.kind == "data" for one in kept)
            assert account.size == sum(one.size for one in kept)
            assert account.interests == len(kept) - account.data


def test_what_was_refused_further_on_is_not_counted() -> None:
    ledger = Ledger()
    for name in "abc":
        ledger.charge("me", name, holding(), QUOTA, 0.0)
    ledger.restore("me", "c", None)
    ledger.charge("me", "d", holding(), QUOTA, 0.0)
    ledger.charge("me", "d", holding(size=70), QUOTA, 0.0)  # in its own place
    ledger.restore("me", "d", holding(size=10))
    ledger.charge("me", "a", holding(size=80), QUOTA, 0.0)
    with pytest.raises(Refused, match="4 profiles are more than 3"):
        ledger.charge("me", "e", holding(), QUOTA, 0.0)
    with pytest.raises(Refused, match="bytes are more than 100"):
        ledger.charge("me", "a", holding(size=81), QUOTA, 0.0)
    ledger.charge("you", "e", holding(), QUOTA, 0.0)


@given(st.lists(st.floats(0, 2), min_size=1, max_size=60), st.sampled_from([0.5, 1.0, 3.0]))
def test_a_rate_is_never_passed(pauses: list[float], rate: float) -> None:
    """In no stretch of time are there more than a second's worth and what the rate allows."""
    ledger, now, passed = Ledger(), 0.0, list[float]()
    quota = Quota("slow", ("anyone",), posts_per_second=rate)
    for pause in pauses:
        now += pause
        try:
            ledger.spend("me", quota, now)
        except Refused:
            ledger.spend("you", Quota("none", ()), now)
        else:
            passed.append(now)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            allowed = max(rate, 1.0) + rate * (passed[last] - passed[first])
            assert last - first + 1 <= allowed + 1e-6


def test_identities_are_forgotten_from_the_idlest_on() -> None:
    ledger = Ledger()
    rate = Quota("slow", ("anyone",), posts_per_second=1)
    for number in range(IDENTITIES_MAX + 5):
        ledger.charge(str(number), "a", holding(), QUOTA, 0.0)
        ledger.spend(str(number), rate, 0.0)
    assert len(ledger) == len(ledger._buckets) == IDENTITIES_MAX
    assert ledger.holding("4", "a") is None
    assert ledger.holding("5", "a") is not None
