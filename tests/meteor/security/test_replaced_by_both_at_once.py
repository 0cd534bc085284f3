"""A delegate replaces what its owner moves at that moment to where the delegation does not reach.

What the delegate is refused goes from its new place; what the owner was told of is the same record,
and stays."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from meteor import ActingFor, Receipt, Refused
from sim.clock import EPOCH_S
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE, BOB

LATER = datetime.fromtimestamp(EPOCH_S + 3600, UTC)
TYPES = (
    "ant", "bee", "cat", "dog", "hen", "kite", "light", "mole", "owl", "pig", "rat", "siren", "yak",
    "zebra",
)  # fmt: skip
PEERS = 5


@pytest.mark.parametrize("delay_s", [0.001, 0.002, 0.003, 0.004, 0.006, 0.008])
@pytest.mark.parametrize("seed", range(1, 7))
def test_what_the_owner_posted_last_stays(seed: int, delay_s: float) -> None:
    """It was taken with a tombstone, which whoever has both places took for the owner's delete."""
    drawn = random.Random(seed)
    hers, his = drawn.sample(TYPES, 2)
    ids = [int((number + drawn.random() * 0.9) / PEERS * (1 << 160)) for number in range(PEERS)]
    overlay = Overlay(peers=PEERS, space=SPACE, seed=seed, ids=ids)
    words = ALICE.delegate(BOB.key, ("replace",), until=LATER, selector=f"type={his}")
    alice = overlay.client(identity=ALICE)
    bob = overlay.client(peer=1, identity=ActingFor(BOB, words))
    full_id = overlay.run(alice.store(f"type={his} temperature=10", b"before")).id

    async def by_him() -> str:
        try:
            await bob.replace(full_id, f"type={his} temperature=90", b"his")
        except Refused as error:
            return error.rule
        return ""

    async def by_her() -> Receipt:
        await overlay.peers[0].runtime.sleep(delay_s)
        return await alice.replace(full_id, f"type={hers} temperature=10", b"hers")

    began = [overlay.kernel.spawn(by_him()), overlay.kernel.spawn(by_her())]
    refused = overlay.kernel.run_until(began[0])
    assert overlay.kernel.run_until(began[1]).complete
    overlay.run_for(10.0)
    assert refused in {"", "delegation", "older"}
    found = [overlay.run(alice.retrieve(f"type={one}").all()) for one in (hers, his)]
    assert [match.data for matches in found for match in matches] == [b"hers"]
