"""Who was a copy of two holders has a renewal from one of them, and takes the place of the other,
which never had it: before it says that the record is renewed there, its copies have that too."""

from __future__ import annotations

import pytest

from meteor.copies.entropy import AntiEntropy
from meteor.copies.entropy_schedule import Outcome
from meteor.copies.paying import Paying
from tests.meteor.copies_world import crash
from tests.meteor.security.signers import ALICE
from tests.meteor.test_deleted_beside_another_holder import WIDE
from tests.meteor.test_owed_to_ones_copies import SEEDS, Ring


def not_renewed(ring: Ring, owner: str) -> list[str]:
    """Who has a part of it as it was before."""
    found = []
    for peer in ring.overlay.living:
        placed = peer.core.shelf.find((owner, "lantern"))
        if placed is not None and not placed.carried.renewed:
            found.append(peer.address)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_renewal_that_an_heir_finds_done_is_with_all_copies(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def equal(*_: object) -> Outcome:
        return "equal"

    monkeypatch.setattr(AntiEntropy, "_outcome", equal)
    monkeypatch.setattr(Paying, "look", lambda self: None)
    ring = Ring(seed)
    overlay = ring.overlay
    client = overlay.client(peer=overlay.living.index(ring.holders[0]), identity=ALICE)
    full_id = overlay.run(client.store(WIDE, id="lantern", ttl=7200)).id
    ring.deaf(monkeypatch)

    async def renew() -> None:
        await client.renew(full_id, ttl=14_400, timeout=20)

    renewing = overlay.kernel.spawn(renew())
    overlay.run_for(0.3)
    crash(ring.last)
    overlay.kernel.run_until(renewing)
    overlay.run_for(0.01)
    assert not_renewed(ring, ALICE.key) == []
