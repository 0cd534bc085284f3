"""Three versions of one record, under way at once: when all are answered the latest counts, which
is there; in whatever order they were posted, came to where they are kept, and were answered.  Who
posts the later versions first may have more counted than is there, and never less."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final

import pytest

from arms import Kind
from meteor.security.policy import Quota
from meteor.security.quotas import Holding, Ledger

QUOTA = Quota("many", ("anyone",), profiles=9, interests=9, bytes=1000)
SIZES: Final = (10, 30, 20)
ORDERS: Final = list(itertools.permutations(range(3)))
KINDS: Final[list[tuple[Kind, ...]]] = list(itertools.product(("data", "interest"), repeat=3))


def stored_of(order: Iterable[int]) -> set[int]:
    """Which are taken where they come in this order: none that is older than what is there."""
    stored, latest = set[int](), -1
    for version in order:
        if version > latest:
            stored.add(version)
            latest = version
    return stored


def version_of(number: int, kinds: tuple[Kind, ...]) -> Holding:
    expires_s = 100.0 * (3 - number)  # the later, the sooner it runs out
    return Holding(kinds[number], SIZES[number], expires_s, b"", number)


@pytest.mark.parametrize("kinds", KINDS, ids=map("-".join, KINDS))
@pytest.mark.parametrize("posted", ORDERS)
def test_the_latest_version_counts(kinds: tuple[Kind, ...], posted: tuple[int, ...]) -> None:
    for arrived, answered in itertools.product(ORDERS, repeat=2):
        ledger, stored = Ledger(), stored_of(arrived)
        charges = {
            number: ledger.charge("me", "id", version_of(number, kinds), QUOTA, 0.0)
            for number in posted
        }
        for number in answered:
            if number in stored:
                ledger.settle(charges[number], has_replaced=True)
            else:
                ledger.take_back(charges[number])
        there, said = version_of(2, kinds), (arrived, answered)
        counted = [one for _, one in ledger.settled_of("me") if one.kind == there.kind]
        assert len(counted) == 1, said
        assert counted[0].size >= there.size, said
        assert counted[0].expires_s >= there.expires_s, said
        assert not ledger._open
        if posted == (0, 1, 2):
            ((_, only),) = ledger.settled_of("me")
            assert (only.version, only.size, only.expires_s) == (2, 20, 100.0), said
        for kind in ("data", "interest"):
            ledger.release("me", "id")
            assert ledger.holding("me", "id", is_data=kind == "data") is None
        assert len(ledger) == 0


@pytest.mark.parametrize("first", ["settled", "answered later", "refused later"])
def test_what_another_kind_replaced_does_not_come_back_with_a_refusal(first: str) -> None:
    kinds: tuple[Kind, ...] = ("data", "interest", "data")
    ledger = Ledger()
    charges = []
    for number in range(3):
        holding = version_of(number, kinds)
        charges.append(ledger.charge("me", "id", holding, QUOTA, 0.0))
        if number == 0 and first == "settled":
            ledger.settle(charges[0], has_replaced=True)
    ledger.settle(charges[1], has_replaced=True)
    if first == "answered later":
        ledger.settle(charges[0], has_replaced=True)
    elif first == "refused later":
        ledger.take_back(charges[0])
    ledger.take_back(charges[2])
    assert [one.version for _, one in ledger.settled_of("me")] == [1]
    assert ledger.holding("me", "id") is None
    assert not ledger._open


def test_what_another_kind_replaced_goes_though_that_was_posted_again_meanwhile() -> None:
    kinds: tuple[Kind, ...] = ("interest", "data", "data")
    ledger = Ledger()
    charges = [
        ledger.charge("me", "id", version_of(number, kinds), QUOTA, 0.0) for number in range(3)
    ]
    for number in (0, 1):
        ledger.settle(charges[number], has_replaced=True)
    ledger.take_back(charges[2])
    assert [one.version for _, one in ledger.settled_of("me")] == [1]
    ledger.release("me", "id")
    assert len(ledger) == 0
