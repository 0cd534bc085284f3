"""What lies at several peers runs out at one before the other, as each counts its time from when it
came there.  A renewal that comes between finds it at some of them."""

from __future__ import annotations

import random

import pytest

from meteor.keeping.placement import Key
from sim.clock import ClockPlan
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer
from tests.meteor.building import SPACE
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    primary_of,
    seeds,
)

WIDE = "type=lamp temperature=-40..120"
KEY: Key = ("", "lamp")


def holders(overlay: Overlay, record_id: str) -> list[SimPeer]:
    """Who answers for a part of it."""
    placed = primary_of(overlay, record_id).core.shelf.find(KEY)
    assert placed is not None
    return [
        peer
        for peer in overlay.living
        if peer.core.shelf.meets(placed.carried, peer.core.holdings.held)
    ]


def lives_at(peer: SimPeer) -> bool:
    record = peer.core.shelf.store.get(*KEY)
    return record is not None and record.lives(peer.runtime.now())


@pytest.mark.parametrize("seed", [2, 5, 11, 15, *seeds(2, 40)])
def test_what_is_renewed_lives_on_at_all_of_its_holders_or_the_answer_says_so(seed: int) -> None:
    drawn = random.Random(seed)
    overlay = Overlay(
        peers=9, space=SPACE, seed=seed, copies=3, clocks=ClockPlan(drift_max=0.02),
        ids=[drawn.getrandbits(160) for _ in range(9)],
    )  # fmt: skip
    assert_whole_within(overlay)
    client = overlay.client(peer=drawn.randrange(9))
    stored = overlay.run(client.store(WIDE, id="lamp", ttl=20))
    there = holders(overlay, stored.id)
    while all(map(lives_at, there)):
        overlay.run_for(0.002)
    renewed = overlay.run(client.renew(stored.id, ttl=600, allow_partial=True))
    overlay.run_for(5.0)
    lives = set(map(lives_at, there))
    assert lives == {bool(renewed.matches)} or not renewed.complete
    if not renewed.complete:  # stored again it is there
        overlay.run(client.store(WIDE, id="lamp", ttl=600))
        assert all(map(lives_at, there))


@pytest.mark.parametrize("seed", seeds(4, 30))
def test_what_is_renewed_in_time_is_renewed_everywhere(seed: int) -> None:
    overlay, drawn = build(seed, 9), random.Random(seed)
    assert_whole_within(overlay)
    client = overlay.client(peer=drawn.randrange(9))
    for selector in (WIDE, "type=* temperature=10..60", "type=l* temperature=-40..-39"):
        stored = overlay.run(client.store(selector, ttl=20))
        renewed = overlay.run(client.renew(stored.id, ttl=600))
        assert (renewed.complete, renewed.matches) == (True, 1)
