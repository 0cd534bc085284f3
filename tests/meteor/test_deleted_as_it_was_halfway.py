"""What came halfway is deleted where it was, by a selector that the new one is not in, or as
somebody is just about to finish it: it is not brought back."""

from __future__ import annotations

import random

import pytest

from meteor import Incomplete
from meteor.wire.operations import Operation
from meteor.wire.record_id import stem_of
from sim.simulated_peer import SimPeer
from squid import Wanted
from tests.meteor.copies_world import ask, assert_whole_within, build, primary_of
from tests.meteor.test_replaced_halfway import WIDE, Halfway

SEEDS = [3, 8, *(pytest.param(seed, marks=pytest.mark.long) for seed in (5, 6, 7))]
"""Of the first eight those where a holder of the former region has no part of the new one."""
KINDS = ("oven", "fan", "door", "lam", "lan")


class AtSeveral(Halfway):
    """A region of another type, of which one holder has a part of the new one, and one has not."""

    def __init__(self, seed: int) -> None:
        self.overlay, drawn = build(seed, 9, disk_s=0.001), random.Random(seed)
        assert_whole_within(self.overlay)
        client = self.overlay.client()
        probe = self.overlay.run(client.store(WIDE, ttl=7200)).id
        new, self.first = self.holders(probe), primary_of(self.overlay, probe)
        self.overlay.run(client.cancel(probe))
        for _ in range(30):
            low = drawn.randrange(-40, 120)
            self.at = f"type={drawn.choice(KINDS)} temperature={low}..{drawn.randrange(low, 121)} "
            self.at += f"humidity={drawn.randrange(50)}..{drawn.randrange(50, 100)}"
            self.old = self.overlay.run(client.store(self.at, ttl=7200)).id
            holders = self.holders(self.old)
            both = [peer for peer in holders if peer in new and peer is not self.first]
            if both and len(holders) > 1 and not self.is_at(self.first):
                break
            self.overlay.run(client.cancel(self.old))
        else:
            raise AssertionError("no such place in this ring: take another seed")
        self.peer = both[0]
        self.client = self.overlay.client(peer=self.overlay.peers.index(self.peer))
        self.replace_in_part()
        assert self.old in [self.is_at(peer) for peer in holders]

    def holders(self, full_id: str) -> list[SimPeer]:
        """Who answers for it."""
        found = []
        for peer in self.overlay.living:
            placed = peer.core.shelf.find(("", stem_of(full_id)))
            if placed is not None and peer.core.shelf.meets(
                placed.carried, peer.core.holdings.held
            ):
                found.append(peer)
        return found

    def assert_it_is_gone(self) -> None:
        self.overlay.run_for(20.0)
        assert ask(self.overlay, self.overlay.client()) == (set(), True)
        assert [peer.address for peer in self.overlay.living if self.is_kept(peer)] == []

    def is_kept(self, peer: SimPeer) -> bool:
        return peer.core.shelf.store.get("", stem_of(self.old)) is not None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_delete_says_that_it_may_have_left_it_or_has_not(seed: int) -> None:
    """It waits for the second half, or for another holder's word of what it took."""
    world = AtSeveral(seed)
    try:
        world.overlay.run(world.client.delete_data(world.at, mode="within"))
    except Incomplete:
        return
    assert ask(world.overlay, world.overlay.client()) == (set(), True)
    assert [peer.address for peer in world.overlay.living if world.is_kept(peer)] == []


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_selector_took_where_it_was_is_taken_back_where_it_went(seed: int) -> None:
    world = AtSeveral(seed)
    world.overlay.run(world.client.delete_data(world.at, mode="within", allow_partial=True))
    world.assert_it_is_gone()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_cancelled_as_it_is_about_to_be_finished_stays_so(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = AtSeveral(seed)
    finish = world.peer.core._finishing._carry_out
    told = []

    async def cancelled_first(
        keep: Operation, old_id: str, timeout_s: float, is_wanted: Wanted
    ) -> None:
        told.append(await world.overlay.client().cancel(old_id))
        await finish(keep, old_id, timeout_s, is_wanted)

    for peer in world.overlay.living:
        monkeypatch.setattr(peer.core._finishing, "_carry_out", cancelled_first)
    world.overlay.run_for(10.0)
    assert any(receipt.complete for receipt in told)
    world.assert_it_is_gone()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_deleted_where_it_went_is_deleted_where_it_was(seed: int) -> None:
    world = AtSeveral(seed)
    gone = world.overlay.run(world.overlay.client().cancel(world.is_at(world.peer)))
    assert gone.complete
    world.assert_it_is_gone()
    assert all(len(peer.core.point.halfway) == 0 for peer in world.overlay.peers)
