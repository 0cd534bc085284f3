"""Renewals while posts are under way: a quota counts in the end as if each had been answered alone,
and longer at most."""

from __future__ import annotations

import itertools

import pytest

from meteor.security.policy import Quota
from meteor.security.quotas import Charge, Holding, Ledger

QUOTA = Quota("few", ("anyone",), profiles=3, bytes=100)


def charged(ledger: Ledger, version: int) -> Charge:
    holding = Holding("data", 10 * version, 100.0 * version, b"", version)
    return ledger.charge("me", "id", holding, QUOTA, 0.0)


@pytest.mark.parametrize("has_replaced", [True, False])
@pytest.mark.parametrize("renewed_s", [1000.0, 150.0, 1.0])
def test_what_is_renewed_while_it_is_posted_is_settled(
    has_replaced: bool, renewed_s: float
) -> None:
    """It was never settled, and no delete by selector gave it back before it ran out."""
    ledger = Ledger()
    charge = charged(ledger, 1)
    ledger.renew("me", "id", renewed_s)
    ledger.settle(charge, has_replaced=has_replaced)
    ((_, holding),) = ledger.settled_of("me")
    assert (holding.size, holding.expires_s) == (10, max(renewed_s, 100.0))
    ledger.release_this("me", "id", holding)
    assert len(ledger) == 0
    assert not ledger._open


@pytest.mark.parametrize("settled_before", [True, False])
def test_what_is_renewed_while_a_post_is_refused_is_as_it_was(settled_before: bool) -> None:
    """The renewal found what was there before: the refused post counted on, as large as both."""
    ledger = Ledger()
    if settled_before:
        ledger.settle(charged(ledger, 1), has_replaced=True)
    refused = charged(ledger, 2)
    ledger.renew("me", "id", 1000.0)
    ledger.take_back(refused)
    holding = ledger.holding("me", "id")
    if settled_before:
        assert holding is not None
        assert (holding.version, holding.size, holding.expires_s) == (1, 10, 1000.0)
        assert holding.is_settled
    else:
        assert holding is None
        assert len(ledger) == 0


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("stored", [None, 0, 1, 2])
@pytest.mark.parametrize("renewed_after", range(4))
def test_posts_of_one_id_and_a_renewal_among_them(
    order: tuple[int, ...], stored: int | None, renewed_after: int
) -> None:
    ledger = Ledger()
    charges = [charged(ledger, version) for version in (1, 2, 3)]
    for number, which in enumerate((*order, None)):
        if number == renewed_after:
            ledger.renew("me", "id", 1000.0)
        if which is None:
            break
        if which == stored:
            ledger.settle(charges[which], has_replaced=True)
        else:
            ledger.take_back(charges[which])
    counted = ledger.settled_of("me")
    assert not ledger._open
    if stored is None:
        assert (counted, len(ledger)) == ([], 0)
    else:
        version = stored + 1
        expected = Holding("data", 10 * version, 1000.0, b"", version, is_settled=True)
        assert counted == [("id", expected)]
