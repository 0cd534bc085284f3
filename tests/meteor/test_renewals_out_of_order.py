"""A renewal that comes late, after a newer one was acknowledged, takes nothing back."""

from __future__ import annotations

from chord import replace
from meteor.wire import codec
from meteor.wire.codec import wire_codec
from meteor.wire.operations import Operation, Route
from meteor.wire.record_id import split_id
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.notified_world import opened


def renew(overlay: Overlay, full_id: str, stamp: int, ttl_s: int, route: Route) -> None:
    """As the entry peer of a client carries it out."""
    operation = Operation("renew", full_id, stamp, "", ttl_s * 1000, route=route)
    box = split_id(full_id, SPACE.curve)[1]
    router = overlay.peers[0].core.router
    outcome = overlay.run(router.disseminate(box, codec.encode(operation), timeout_s=5))
    assert outcome.complete


def test_the_try_of_an_earlier_renewal_that_comes_last_shortens_no_life() -> None:
    """The first was issued again as its holder was slow; then came a longer one, and last what was
    left of the first: the data was gone long before the time that was acknowledged."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    client = overlay.client(peer=2)
    full_id = overlay.run(client.store("type=alarm temperature=55", b"kept", ttl=5)).id
    stamps = client._session.next_version(), client._session.next_version()
    route = Route(overlay.peers[2].contact, client._session.runtime.contact.id)
    renew(overlay, full_id, stamps[1], 1000, route)
    renew(overlay, full_id, stamps[0], 10, route)
    overlay.run_for(60)
    assert [one.data for one in overlay.run(client.retrieve("type=alarm").all())] == [b"kept"]


def test_a_late_renewal_does_not_lead_notices_to_where_their_client_was_linked_before() -> None:
    """Its link broke while a renewal was under way, and it is linked to another peer now."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    client = overlay.client(peer=2)
    interest = overlay.run(opened(client, "type=alarm temperature=50..60", ttl=3600))
    stamps = client._session.next_version(), client._session.next_version()
    here = Route(overlay.peers[2].contact, client._session.runtime.contact.id)
    renew(overlay, interest.id, stamps[1], 3600, here)
    renew(overlay, interest.id, stamps[0], 3600, replace(here, peer=overlay.peers[4].contact))
    overlay.run(overlay.client(peer=1).store("type=alarm temperature=55", b"new"))
    assert overlay.run(interest.recv(timeout=60)).data == b"new"
