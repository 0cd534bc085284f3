"""Posts of one id at once: what counts when all are answered is what each one's answer said."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from meteor.security.policy import Quota
from meteor.security.quotas import Charge, Holding, Ledger

QUOTA = Quota("few", ("anyone",), profiles=3, bytes=100)


def charged(ledger: Ledger, version: int) -> Charge:
    holding = Holding("data", 10 * version, 1000.0, b"", version)
    return ledger.charge("me", "id", holding, QUOTA, 0.0)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_posts_that_are_all_refused_leave_nothing(order: tuple[int, ...]) -> None:
    ledger = Ledger()
    charges = [charged(ledger, version) for version in (1, 2, 3)]
    for which in order:
        ledger.take_back(charges[which])
    assert ledger.holding("me", "id") is None
    assert len(ledger) == 0
    assert not ledger._open


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("stored", range(3))
@pytest.mark.parametrize("has_replaced", [True, False])
def test_what_one_post_stored_is_settled_beside_others_that_are_refused(
    order: tuple[int, ...], stored: int, has_replaced: bool
) -> None:
    ledger = Ledger()
    charges = [charged(ledger, version) for version in (1, 2, 3)]
    for which in order:
        if which == stored:
            ledger.settle(charges[which], has_replaced=has_replaced)
        else:
            ledger.take_back(charges[which])
            ledger.settle(charges[which], has_replaced=False)  # as the gatekeeper does
    ((full_id, holding),) = ledger.settled_of("me")
    assert full_id == "id"
    assert holding.version == stored + 1
    assert holding.size == 10 * holding.version
    assert not ledger._open


def test_who_replaces_and_is_overtaken_leaves_what_it_replaced() -> None:
    """It was done, and the old id counted until it ran out."""
    for order in itertools.permutations(range(2)):
        ledger = Ledger()
        old = Holding("data", 10, 1000.0, b"")
        ledger.settle(ledger.charge("me", "old", old, QUOTA, 0.0), has_replaced=True)
        charges = [
            ledger.charge("me", "id", replace(old, version=1), QUOTA, 0.0, instead="old"),
            ledger.charge("me", "id", replace(old, version=2), QUOTA, 0.0),
        ]
        for which in order:
            ledger.settle(charges[which], has_replaced=True)
        assert [full_id for full_id, _ in ledger.settled_of("me")] == ["id"]
        assert not ledger._open
