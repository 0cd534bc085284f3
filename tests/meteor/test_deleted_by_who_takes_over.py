"""A delete whose own peer is about to take over its place takes nothing that came since."""

from __future__ import annotations

import pytest

from chord import Contact, identifier
from meteor import Client
from sim.overlay import Overlay, SimPeer
from sim.runtime import SimRuntime
from squid import covers
from tests.meteor.building import SPACE
from tests.meteor.copies_world import build, index_of, primary_of
from tests.meteor.test_deletes_late import ALARM, deleted, found_by


def client_of(overlay: Overlay, *known: SimPeer) -> Client:
    """A client that knows these alone."""
    contact = Contact(identifier("who deletes", overlay.config.bits), "")
    runtime = SimRuntime(overlay.kernel, overlay.network, contact)
    addresses = [Contact.at(peer.address) for peer in known]
    clock = overlay.clocks.clock_of(overlay.kernel, "who deletes")
    client = Client(
        runtime, addresses, first_version=int(clock.wall() * 1_000_000), wall_clock=clock.wall
    )
    overlay.run(client.open())
    return client


FOUND = [7, 9]
"""Seeds by which it was taken."""


@pytest.mark.parametrize(
    "seed", [*FOUND, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(10, 21))]
)
def test_it_asks_once_more_whether_it_is_wanted_as_it_has_the_place(seed: int) -> None:
    """Who held the place left it to the second next, as the next one did not hear of that, which
    has it by the ring.  A delete of its client's waits there until it has it indeed; the client
    goes to the other one, which does it and stores for it.  What was stored came with the place,
    and the share that had waited took it: holders asked their origins, and nobody asked himself."""
    overlay = build(seed, 8, disk_s=0.0)
    index = index_of(overlay.run(overlay.client().store(ALARM, b"old", ttl=7200)).id)
    overlay.run_for(3.0)
    ring = sorted(overlay.living, key=lambda peer: peer.contact.id)
    at = next(n for n, peer in enumerate(ring) if covers(peer.core.holdings.held, index))
    giver, entry, other = (ring[(at + by) % len(ring)] for by in range(3))
    client = client_of(overlay, entry, other)
    cut = overlay.faults.partition([entry.contact], [giver.contact, other.contact])
    overlay.run(giver.leave())
    key = index << (overlay.config.bits - SPACE.curve.index_bits)
    for _ in range(2000):
        if entry.core.node.owns(key):
            break
        overlay.run_for(0.005)
    deleting = overlay.kernel.spawn(deleted(client))
    overlay.run_for(0.2)
    assert not deleting.done()
    runtime = client._session.runtime
    (end,) = (one for one in runtime.ends if one.contact.address == entry.address)
    runtime.lose(end, "its client hears nothing any more")
    assert overlay.kernel.run_until(deleting)
    assert client.peer_address == other.address
    stored = overlay.run(client.store(ALARM, b"new", ttl=7200))
    cut.heal()
    overlay.run_for(10.0)
    assert primary_of(overlay, stored.id) is entry
    assert found_by(overlay, overlay.client()) == {stored.id}
