"""Renewals that another author's clock, or an impatient caller, comes between.

An interest that somebody whose clock is ahead had renewed by its id, or that was attached where the
clock is behind, was never told again once its client had changed its peer: that client's renewals
counted as late, and with them where it is now.  And one that was renewed for a shorter time, by a
caller who did not wait for the answer, ran out long before its client renewed it again.
"""

from __future__ import annotations

import pytest

from meteor import Client, Interest, Timeout
from meteor.wire.record_id import stem_of
from sim.overlay import Overlay
from tests.meteor.copies_world import build, crash, seeds

FIRE = "type=alarm temperature=20 humidity=50"


def told(overlay: Overlay, interest: Interest, poster: Client) -> str:
    """What it is told of when something is stored now."""
    assert interest.state == "active"
    assert not interest.missing
    overlay.run(poster.store(FIRE, b"x", ttl=7200, id="fire"))

    async def receive() -> str:
        return stem_of((await interest.recv(timeout=120.0)).id)

    return overlay.run(receive())


def change_peer(overlay: Overlay, client: Client) -> None:
    crash(next(peer for peer in overlay.living if peer.address == client.peer_address))
    overlay.run_for(20.0)
    assert client.connected


@pytest.mark.parametrize("ahead_s", [0, 3600])
@pytest.mark.parametrize("seed", seeds(1, 6))
def test_who_is_told_follows_the_client_whoever_renewed_it(seed: int, ahead_s: int) -> None:
    overlay = build(seed, 8, disk_s=0.0)
    client, poster = overlay.client(), overlay.client(peer=3)
    clock_us = int((overlay.wall_clock() + ahead_s) * 1_000_000)
    other = overlay.client(peer=5, first_version=clock_us)

    async def open_it() -> Interest:
        return await client.notify_data("type=alarm", ttl=300)

    interest = overlay.run(open_it())
    overlay.run(other.renew(interest.id, ttl=300))
    change_peer(overlay, client)
    assert told(overlay, interest, poster) == "fire"


@pytest.mark.parametrize("seed", seeds(1, 6))
def test_an_interest_is_attached_where_the_clock_is_behind(seed: int) -> None:
    overlay = build(seed, 8, disk_s=0.0)
    before, poster = overlay.client(peer=5), overlay.client(peer=3)
    clock_us = int((overlay.wall_clock() - 300) * 1_000_000)
    behind = overlay.client(peer=0, first_version=clock_us)

    async def attach() -> Interest:
        interest = await before.notify_data("type=alarm", ttl=3600)
        return await behind.attach(await interest.detach(), ttl=3600)

    interest = overlay.run(attach())
    overlay.run_for(5.0)
    change_peer(overlay, behind)
    assert told(overlay, interest, poster) == "fire"


@pytest.mark.parametrize("ttl_s", [6.0, 7200.0])
@pytest.mark.parametrize("how", ["cancelled", "timeout"])
@pytest.mark.parametrize("seed", seeds(1, 6))
def test_a_renewal_that_nobody_waits_for_leaves_the_interest_alive(
    seed: int, how: str, ttl_s: float
) -> None:
    overlay = build(seed, 8, disk_s=0.0)
    client, poster = overlay.client(), overlay.client(peer=3)

    async def open_it() -> Interest:
        return await client.notify_data("type=alarm", ttl=3600)

    async def renew_in_vain() -> None:
        with pytest.raises(Timeout):
            await interest.renew(ttl_s, timeout=1.0)

    interest = overlay.run(open_it())
    if how == "cancelled":
        renewing = overlay.kernel.spawn(interest.renew(ttl_s))
        overlay.run_for(0.0008)
        assert not renewing.done()
        renewing.cancel()
    else:
        own = next(peer for peer in overlay.living if peer.address == client.peer_address)
        there = [client._session.runtime.contact]
        cut = overlay.faults.partition([own.contact], there, one_way=True)
        overlay.run(renew_in_vain())
        cut.heal()
    overlay.run_for(30.0)
    assert told(overlay, interest, poster) == "fire"
