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
