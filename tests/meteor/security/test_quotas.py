"""Quotas against a dumb twin that recounts everything each time."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meteor.errors import Refused
from meteor.security.policy import Quota
from meteor.security.quotas import LOOK_S, Holding, Ledger

QUOTA = Quota("few", ("anyone",), profiles=3, bytes=100, interests=2)


def holding(kind: Any = "data", size: int = 10, expires_s: float = 1000.0) -> Holding:
    return Holding(kind, size, expires_s, b"")


@given(st.integers(0, 2**32))
def test_the_ledger_against_a_recount(seed: int) -> None:
    drawn = random.Random(seed)
    ledger, twin = Ledger(), dict[tuple[str, bool], Holding]()
    now = 0.0
    for _ in range(60):
        now += LOOK_S * drawn.randrange(3)
        stem = drawn.choice("abcdefg")
        which = drawn.randrange(5)
        if which == 0:
            ledger.release("me", stem)
            for is_data in (True, False):
                twin.pop((stem, is_data), None)
        elif which == 1:
            ledger.renew("me", stem, now + 5)
            for is_data in (True, False):
                if (stem, is_data) in twin:
                    twin[stem, is_data] = twin[stem, is_data].at_least(
                        replace(twin[stem, is_data], expires_s=now + 5)
                    )
        else:
            one = holding(
                drawn.choice(["data", "interest"]), drawn.randrange(40), now + drawn.randrange(1, 9)
            )
            one = replace(one, version=drawn.randrange(2))
            name = stem, one.kind == "data"
            others = [kept for other, kept in twin.items() if other != name] + [one]
            fits = (sum(kept.kind == "data" for kept in others) <= 3 or one.kind != "data") and (
                sum(kept.kind != "data" for kept in others) <= 2 or one.kind == "data"
            )
            fits = fits and sum(kept.size for kept in others) <= 100
            try:
                charge = ledger.charge("me", stem, one, QUOTA, now)
            except Refused:
                assert not fits
                # what has run out counts no more, but is looked for every so often only
                account = ledger._accounts["me"]
                assert now - account.looked_at_s < LOOK_S
            else:
                gone = [key for key in twin if ledger.holding("me", key[0], is_data=key[1]) is None]
                assert all(twin[key].expires_s <= now for key in gone)
                twin = {key: kept for key, kept in twin.items() if key not in gone}
                ends = drawn.randrange(3)
                if ends == 0:  # something further on refuses it
                    ledger.take_back(charge)
                    continue
                ledger.settle(charge, has_replaced=ends == 1)
                before = twin.get(name)
                if before is not None and charge.before is None:
                    assert before.expires_s <= now  # it made room for what takes its place
                    before = None
                if before is not None and before.version == one.version:
                    one = replace(one, expires_s=max(one.expires_s, before.expires_s))
                if ends == 1:
                    other = stem, one.kind != "data"
                    if other in twin and twin[other].version <= one.version:
                        del twin[other]
                    if before is not None and before.version > one.version:
                        one = one.at_least(before)  # it may have come first, and been replaced
                    twin[name] = one
                else:  # the one or the other is there
                    twin[name] = one.at_least(before)
        if "me" in ledger._accounts:
            account = ledger._accounts["me"]
            for key in set(twin) - {key[1:] for key in account.records}:
                del twin[key]
            kept = list(account.records.values())
            assert sorted(map(as_it_counts, kept)) == sorted(map(as_it_counts, twin.values()))
            assert account.data == sum(one.kind == "data" for one in kept)
            assert account.size == sum(one.size for one in kept)
            assert account.interests == len(kept) - account.data


def as_it_counts(one: Holding) -> tuple[str, int, float]:
    return one.kind, one.size, one.expires_s


def settled(ledger: Ledger, name: str, one: Holding, *, instead: str = "") -> None:
    charge = ledger.charge("me", name, one, QUOTA, 0.0, instead)
    ledger.settle(charge, has_replaced=True)


def test_what_was_refused_further_on_is_not_counted() -> None:
    ledger = Ledger()
    for name in "ab":
        settled(ledger, name, holding())
    ledger.take_back(ledger.charge("me", "c", holding(), QUOTA, 0.0))
    settled(ledger, "d", holding())
    ledger.take_back(ledger.charge("me", "d", holding(size=70), QUOTA, 0.0))  # in its own place
    settled(ledger, "a", holding(size=80))
    with pytest.raises(Refused, match="4 profiles are more than 3"):
        ledger.charge("me", "e", holding(), QUOTA, 0.0)
    with pytest.raises(Refused, match="bytes are more than 100"):
        ledger.charge("me", "a", holding(size=81), QUOTA, 0.0)
    ledger.charge("you", "e", holding(), QUOTA, 0.0)


def test_until_it_is_known_which_is_there_the_larger_and_longer_counts() -> None:
    ledger = Ledger()
    settled(ledger, "a", holding(size=50, expires_s=1000.0))
    one = replace(holding(size=10, expires_s=1.0), version=1)
    charge = ledger.charge("me", "a", one, QUOTA, 0.0)
    for has_replaced, counts in ((False, (50, 1000.0)), (True, (50, 1000.0))):
        ledger.settle(charge, has_replaced=has_replaced)  # the second time it says nothing
        known = ledger.holding("me", "a")
        assert known is not None
        assert (known.size, known.expires_s) == counts
    settled(ledger, "a", replace(one, version=2))
    known = ledger.holding("me", "a")
    assert known is not None
    assert (known.size, known.expires_s, known.is_settled) == (10, 1.0, True)


def test_what_is_replaced_elsewhere_makes_room_for_one_alone() -> None:
    ledger = Ledger()
    for name in "abc":
        settled(ledger, name, holding())
    first = ledger.charge("me", "a2", holding(), QUOTA, 0.0, instead="a")
    with pytest.raises(Refused, match="4 profiles"):
        ledger.charge("me", "a3", holding(), QUOTA, 0.0, instead="a")
    ledger.settle(first, has_replaced=False)  # both may be there
    assert {name for name, _ in ledger.settled_of("me")} == {"a", "a2", "b", "c"}
    ledger.release("me", "a")
    settled(ledger, "a3", holding(), instead="a2")
    assert {name for name, _ in ledger.settled_of("me")} == {"a3", "b", "c"}
    ledger.take_back(ledger.charge("me", "a4", holding(), QUOTA, 0.0, instead="a3"))
    assert {name for name, _ in ledger.settled_of("me")} == {"a3", "b", "c"}


def test_a_delete_gives_back_what_is_as_it_was_when_it_began() -> None:
    ledger = Ledger()
    for name in "ab":
        settled(ledger, name, holding())
    charge = ledger.charge("me", "c", holding(), QUOTA, 0.0)
    counted = ledger.settled_of("me")
    assert [name for name, _ in counted] == ["a", "b"]
    ledger.settle(charge, has_replaced=True)
    settled(ledger, "a", holding(size=5))
    ledger.renew("me", "b", 2000.0)
    for name, one in counted:
        ledger.release_this("me", name, one)
    assert [name for name, _ in ledger.settled_of("me")] == ["c", "a", "b"]
    for name, one in ledger.settled_of("me"):
        ledger.release_this("me", name, one)
    assert not ledger.settled_of("me")
    assert len(ledger) == 0


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


def test_strangers_push_nobody_out_and_share_what_is_left() -> None:
    ledger, rate = Ledger(strangers_max=20), Quota("slow", ("anyone",), posts_per_second=1)
    for _ in range(3):
        ledger.charge("member", f"a{_}", holding(), QUOTA, 0.0)
    ledger.spend("member", rate, 0.0)
    for number in range(23):
        ledger.charge(str(number), "a", holding(), QUOTA, 0.0, is_named=False)
    with pytest.raises(Refused, match=r"4 profiles .*with all strangers"):
        ledger.charge("one more", "a", holding(), QUOTA, 0.0, is_named=False)
    for number in range(21):
        ledger.spend(str(number), rate, 0.0, is_named=False)
    with pytest.raises(Refused, match="of all new strangers"):
        ledger.spend("one more", rate, 0.0, is_named=False)
    with pytest.raises(Refused, match="4 profiles"):
        ledger.charge("member", "b", holding(), QUOTA, 0.0)
    with pytest.raises(Refused, match="more than 1 posts"):
        ledger.spend("member", rate, 0.0)
    assert len(ledger) == len(ledger._pace) == 21
    ledger.charge("new member", "a", holding(), QUOTA, 0.0)
    ledger.spend("new member", rate, 0.0)


def test_those_who_share_have_their_own_records_in_it() -> None:
    ledger = Ledger(strangers_max=1)
    for name in ("first", "ann", "bob"):
        charge = ledger.charge(name, "a", holding(), QUOTA, 0.0, is_named=False)
        ledger.settle(charge, has_replaced=True)
    assert [ledger.settled_of(name) for name in ("first", "ann", "bob")] == [
        [("a", replace(holding(), is_settled=True))]
    ] * 3
    ledger.renew("ann", "a", 5000.0)
    ledger.release("bob", "a")
    ann = ledger.holding("ann", "a")
    assert ann is not None
    assert ann.expires_s == 5000.0
    assert ledger.holding("bob", "a") is None
    ledger.take_back(ledger.charge("bob", "b", holding(), QUOTA, 0.0, is_named=False))
    ledger.release_this("ann", "a", ann)
    assert (len(ledger), len(ledger._shared.records), ledger._shared.size) == (1, 0, 0)


def test_who_gets_an_account_brings_what_he_has_among_those_who_share() -> None:
    """A quota's worth here and one there was twice his quota, and what he deleted went on."""
    ledger = Ledger(strangers_max=1)
    ledger.charge("first", "a", holding(), QUOTA, 0.0, is_named=False)
    under_way = ledger.charge("ann", "a", holding(), QUOTA, 0.0, is_named=False)
    ledger.charge("bob", "a", holding(), QUOTA, 0.0, is_named=False)
    ledger.charge("ann", "b", holding(), QUOTA, 0.0, is_named=False)
    ledger.release("first", "a")
    ledger.charge("ann", "c", holding(), QUOTA, 0.0, is_named=False)
    with pytest.raises(Refused, match="4 profiles are more than 3, counted"):
        ledger.charge("ann", "d", holding(), QUOTA, 0.0, is_named=False)
    assert [key[0] for key in ledger._shared.records] == ["bob"]
    ledger.settle(under_way, has_replaced=True)
    assert [name for name, _ in ledger.settled_of("ann")] == ["a"]
    for name in "abc":
        ledger.release("ann", name)
    assert (len(ledger), ledger._shared.data) == (0, 1)


def test_room_is_made_by_what_ran_out_and_by_buckets_that_are_full() -> None:
    ledger, rate = Ledger(strangers_max=3), Quota("slow", ("anyone",), posts_per_second=1)
    for number in range(40):
        now = 10.0 * number
        one = holding(expires_s=now + 15.0)
        ledger.charge(str(number), "a", one, QUOTA, now, is_named=False)
        ledger.spend(str(number), rate, now, is_named=False)
    assert len(ledger) == 3
    assert not ledger._shared.records
    assert len(ledger._pace) <= 3


def test_what_a_quota_does_not_limit_is_not_remembered() -> None:
    """It was never looked through for what ran out: a sensor's ids were kept for good."""
    slow = Quota("slow", (), posts_per_second=1)
    assert not slow.counts("data")
    assert not replace(slow, profiles=1).counts("interest")
    assert replace(slow, profiles=1).counts("data")
    assert replace(slow, interests=1).counts("watch")
    assert replace(slow, bytes=1).counts("data")
