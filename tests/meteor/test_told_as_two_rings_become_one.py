"""Two rings that were founded apart become one: who is interested in all is told of all.

A reader was never told of some of what the other ring had, with no fault at all.  A peer that had
been passed over and took its interval back counted what it had itself as told, as the marks that
came with the interval were drawn over the numbers of the other ring.  So did who took the interval
over as a peer fell in those moments, of what lay there, as a copy, under a number of its own ring;
and what had been kept for a rival all the time was told to nobody as the rival was merged.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from meteor.keeping.placement import GONE, Admission
from sim.overlay import Overlay, SimPeer
from tests.meteor.building import SPACE
from tests.meteor.copies_world import ask, assert_whole_within, crash, store_some
from tests.meteor.test_how_far_clients_are import Teller
from tests.meteor.test_shelf import carried

EACH = 5
AFTERWARDS_S = 60.0
"""Longer than the longest pause before a notice is sent again."""


class TwoRings:
    """A client in each, that is interested in all, and what both stored."""

    def __init__(self, seed: int) -> None:
        self.overlay, self.founder = _two_rings(seed)
        self.clients = [self.overlay.client(peer=0), self.overlay.client(peer=EACH)]
        self.told: list[list[str]] = [[], []]
        for number in range(2):
            self.overlay.run(self._watch(number))
        self.drawn = random.Random(seed)
        self.stored = set[str]()
        for client in self.clients:
            self.stored |= set(store_some(self.overlay, client, self.drawn, 15))

    async def _watch(self, number: int) -> None:
        interest = await self.clients[number].notify_data(
            "type=*", id=f"watch{number}", ttl=900, queue=10_000, everywhere=True
        )

        async def listen() -> None:
            async for notification in interest:
                self.told[number].append(notification.id)

        self.overlay.kernel.spawn(listen())

    def meet(self) -> None:
        self.founder.core.meet([self.overlay.peers[0].contact])

    def one_of_them(self) -> SimPeer:
        """A peer that no client is linked to."""
        linked = {client.peer_address for client in self.clients}
        return self.drawn.choice([one for one in self.overlay.living if one.address not in linked])

    def assert_told(self) -> None:
        self.overlay.run_for(AFTERWARDS_S)
        assert_whole_within(self.overlay)
        assert ask(self.overlay, self.clients[0]) == (self.stored, True)
        for told in self.told:
            assert len(told) == len(set(told)), "told twice"
            missed = self.stored - set(told)
            assert not missed, f"never told of {len(missed)} of {len(self.stored)}"


def _two_rings(seed: int) -> tuple[Overlay, SimPeer]:
    print(f"seed {seed}")
    drawn = random.Random(seed)
    ids = [drawn.getrandbits(160) for _ in range(2 * EACH)]
    overlay = Overlay(EACH, space=SPACE, seed=seed, ids=ids)
    founder = overlay.new_peer()
    overlay.run(founder.core.start())
    for _ in range(EACH - 1):
        peer = overlay.new_peer()
        overlay.run(peer.core.start([founder.contact]))
        overlay.run(peer.core.settled(30.0))
    return overlay, founder


@pytest.mark.parametrize("seed", [6, 16, 19, 25])
def test_an_interest_is_told_of_what_the_other_ring_had(seed: int) -> None:
    world = TwoRings(seed)
    world.meet()
    world.assert_told()


@pytest.mark.parametrize(("seed", "after_s"), [(18, 0.3), (40, 0.3), (125, 0.2), (143, 0.6)])
def test_so_it_is_where_a_peer_falls_meanwhile(seed: int, after_s: float) -> None:
    world = TwoRings(seed)
    world.meet()
    world.overlay.run_for(after_s)
    crash(world.one_of_them())
    world.assert_told()


def test_what_the_giver_did_not_have_is_told_whatever_its_marks_say() -> None:
    """Nor does the giver's mark count for a version that it did not have."""
    teller, came = Teller(), Admission()
    alone = [
        carried("alone", "type=a temperature=3", number=20),
        carried("newer", "type=a temperature=4", number=30, version=2),
        replace(carried("gone", "type=a temperature=5", number=2), kind=GONE, blob=b""),
        carried("both", "type=a temperature=6", number=10),
    ]
    teller.run(teller.shelf.admit(alone, Admission()))
    asks = carried("asks", "temperature=0..10", kind="interest", number=3, acknowledged=50)
    theirs = [asks, carried("newer", "type=a temperature=4", number=40), alone[3]]
    teller.run(teller.shelf.admit(theirs, came))
    for placed in teller.shelf.table:
        came.beside(placed)
    assert came.latest() == 50, "what is written from now on has later numbers"
    teller.gain(came)
    assert teller.pending("asks") == {"asks:alone:1", "asks:newer:2"}


def test_a_copy_counts_what_it_has_by_the_later_number_of_its_primary() -> None:
    """It had that before, in a ring of its own."""
    teller = Teller()
    mine = carried("both", "type=a temperature=6", number=3)
    teller.run(teller.shelf.admit([mine], Admission()))
    theirs = carried("both", "type=a temperature=6", number=15)
    for one in (theirs, mine):
        teller.run(teller.shelf.admit([one], Admission()))
    for shelf in (teller.shelf, teller.restarted()):
        placed = shelf.find(("", "both"))
        assert placed is not None
        assert placed.number == placed.carried.number == 15
