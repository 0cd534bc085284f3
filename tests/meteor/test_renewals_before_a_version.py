"""A renewal that comes late, after a newer version of its record: it is of the one before."""

from __future__ import annotations

from chord import replace
from meteor.wire.codec import wire_codec
from meteor.wire.operations import Route
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.copies_world import assert_whole_within, build, crash, primary_of
from tests.meteor.notified_world import opened
from tests.meteor.test_renewals_out_of_order import renew


def test_the_try_of_a_renewal_that_comes_after_a_replace_shortens_no_life() -> None:
    """It was issued before the data was replaced in its place, for a long time."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    client = overlay.client(peer=2)
    full_id = overlay.run(client.store("type=alarm temperature=55", b"before", ttl=60)).id
    stamp = client._session.next_version()
    route = Route(overlay.peers[2].contact, client._session.runtime.contact.id)
    after = overlay.run(client.replace(full_id, "type=alarm temperature=55", b"after", ttl=1000))
    renew(overlay, after.id, stamp, 10, route)
    overlay.run_for(60)
    assert [one.data for one in overlay.run(client.retrieve("type=alarm").all())] == [b"after"]


def test_a_renewal_before_a_replace_does_not_lead_notices_to_where_their_client_was() -> None:
    """Its link broke while the renewal was under way; at the new link the interest was replaced."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    client = overlay.client(peer=2)
    interest = overlay.run(opened(client, "type=alarm temperature=50..60", ttl=3600))
    stamp = client._session.next_version()
    here = Route(overlay.peers[2].contact, client._session.runtime.contact.id)
    overlay.run(interest.replace("type=alarm temperature=50..60"))
    renew(overlay, interest.id, stamp, 3600, replace(here, peer=overlay.peers[4].contact))
    overlay.run(overlay.client(peer=1).store("type=alarm temperature=55", b"new"))
    assert overlay.run(interest.recv(timeout=60)).data == b"new"


def test_what_a_late_renewal_adds_is_at_the_copies_as_well() -> None:
    """Two clients renew one record, and the clock of the second one is behind: its renewal, a
    longer one, was acknowledged, and no copy took it as it has no later stamp."""
    overlay = build(3, 6)
    client = overlay.client()
    full_id = overlay.run(client.store("type=alarm temperature=55", b"kept", ttl=5)).id
    assert_whole_within(overlay)
    stamps = client._session.next_version(), client._session.next_version()
    route = Route(overlay.peers[0].contact, client._session.runtime.contact.id)
    renew(overlay, full_id, stamps[1], 10, route)
    renew(overlay, full_id, stamps[0], 1000, route)
    crash(primary_of(overlay, full_id))
    overlay.run_for(30)
    asking = overlay.client(peer=overlay.living.index(overlay.living[0]))
    found = overlay.run(asking.retrieve("type=alarm").all())
    assert [one.data for one in found] == [b"kept"]
