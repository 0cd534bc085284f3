"""What a client's first peer tries again when nobody waits for it any more changes nothing.

The client had it done by another peer, or took it back: a late attempt deleted by overlap what was
stored after the delete was answered, kept again what had run out, and kept an interest whose
opening was cancelled for its whole time to live.  So a peer asks its client before it tries again.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from meteor import Client, Closed
from sim.overlay import Overlay, SimPeer
from sim.runtime import SimRuntime
from tests.meteor.copies_world import assert_whole_within, build, primary_of, seeds
from tests.meteor.test_deletes_late import ALARMS, found_by, places_of

WHERE = "type=alarm temperature=20 humidity=50"
REST_S = 3.0


def lose_links(runtime: SimRuntime, address: str) -> None:
    """What waits in a link goes with it; who goes on dials again."""
    for end in [one for one in runtime.ends if one.contact.address == address]:
        runtime.lose(end, "it says nothing")


def lose_client(client: Client, entry: SimPeer) -> None:
    """A client hears nothing of its peer any more, and goes to another one."""
    runtime = client._session.runtime
    assert isinstance(runtime, SimRuntime)
    lose_links(runtime, entry.address)


def found(overlay: Overlay, client: Client) -> list[str]:
    async def ask() -> list[str]:
        return [one.id for one in await client.retrieve(WHERE)]

    return overlay.run(ask())


@pytest.mark.parametrize("seed", seeds(1, 6))
def test_a_delete_by_overlap_takes_nothing_that_is_stored_after_its_answer(seed: int) -> None:
    overlay = build(seed, 12, disk_s=0.0)
    first = overlay.client()
    places = places_of(overlay, first)
    assert_whole_within(overlay)
    overlay.run(first.delete_data(ALARMS))
    overlay.run_for(REST_S)
    gone = next(peer for peer in overlay.living if peer.address in places)
    entry = next(peer for peer in overlay.living if peer.address not in places)
    client = overlay.client(peer=overlay.living.index(entry))
    overlay.run_for(REST_S)
    cut = overlay.faults.partition([entry.contact], [gone.contact])

    async def delete() -> bool:
        return (await client.delete_data(ALARMS, mode="overlap", timeout=20.0)).complete

    deleting = overlay.kernel.spawn(delete())
    overlay.run_for(0.1)
    lose_client(client, entry)
    assert overlay.kernel.run_until(deleting)
    assert client.peer_address != entry.address
    stored = overlay.run(client.store(places[gone.address], b"new", ttl=7200))
    assert found_by(overlay, client) == {stored.id}
    lose_links(entry.runtime, gone.address)
    cut.heal()
    overlay.run_for(15.0)
    assert found_by(overlay, client) == {stored.id}


@pytest.mark.parametrize("seed", seeds(1, 6))
def test_what_ran_out_is_not_kept_again(seed: int) -> None:
    overlay = build(seed, 10, disk_s=0.0)
    holder = primary_of(overlay, overlay.run(overlay.client().store(WHERE, b"x", ttl=1)).id)
    assert_whole_within(overlay)
    at = next(at for at, peer in enumerate(overlay.living) if peer is not holder)
    entry, client = overlay.living[at], overlay.client(peer=at)
    overlay.run_for(REST_S)
    cut = overlay.faults.partition([entry.contact], [holder.contact])

    async def store() -> bool:
        return (await client.store(WHERE, b"for two seconds", ttl=2, timeout=15)).complete

    storing = overlay.kernel.spawn(store())
    overlay.run_for(0.1)
    lose_client(client, entry)
    assert overlay.kernel.run_until(storing)
    assert client.peer_address != entry.address
    overlay.run_for(2.5)
    assert found(overlay, client) == []
    lose_links(entry.runtime, holder.address)
    cut.heal()
    for _ in range(60):
        overlay.run_for(0.1)
        assert found(overlay, client) == []


@pytest.mark.parametrize("how", ["cancelled", "closed"])
@pytest.mark.parametrize("seed", seeds(3, 12))
def test_an_interest_that_is_not_opened_any_more_is_not_kept(seed: int, how: str) -> None:
    overlay = build(seed, 8, disk_s=0.0)
    holder = primary_of(overlay, overlay.run(overlay.client().store(WHERE, b"x", ttl=60)).id)
    at = next(at for at, peer in enumerate(overlay.living) if peer is not holder)
    client = overlay.client(peer=at)
    assert_whole_within(overlay)
    interest = client.notify_data(WHERE, ttl=86400, timeout=20)
    overlay.faults.vanish(holder.contact)

    async def open_it() -> None:
        with suppress(Closed):
            async with interest:
                pass

    opening = overlay.kernel.spawn(open_it())
    overlay.run_for(0.2)
    assert not opening.done()
    if how == "cancelled":
        opening.cancel()
    else:
        overlay.kernel.spawn(interest.close())
    overlay.run_for(60.0)
    assert interest.state == "closed"
    kept = [peer.core.shelf.store.all_of("interest") for peer in overlay.living]
    assert not any(list(some) for some in kept)
