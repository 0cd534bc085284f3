"""`attach` over real sockets and by a peer itself: another client object takes up what stands."""

from __future__ import annotations

import meteor
from tests.meteor.building import SPACE

ALARMS = "type=alarm temperature=50..60"


async def test_a_client_attaches_over_sockets_after_the_peer_of_the_first_one_died() -> None:
    async with meteor.LocalOverlay(peers=4, space=SPACE, transport="websocket") as overlay:
        addresses = [peer.address for peer in overlay.peers]
        async with meteor.connect(addresses[0]) as sensor:
            async with meteor.connect(addresses[2]) as first:
                interest = await first.notify_data(ALARMS)
                await sensor.store("type=alarm temperature=51", "51")
                assert (await interest.recv(timeout=10)).text == "51"
                full_id = await interest.detach()
            await overlay.peers[2].crash()
            await sensor.store("type=alarm temperature=52", "52")
            async with meteor.connect(addresses[1]) as second:
                again = await second.attach(full_id)
                await sensor.store("type=alarm temperature=53", "53")
                told = [(await again.recv(timeout=10)).text for _ in range(3)]
                assert sorted(told) == ["51", "52", "53"]


async def test_a_peer_attaches_to_what_a_client_left_and_a_client_to_what_a_peer_left() -> None:
    async with meteor.LocalOverlay(peers=3, space=SPACE) as overlay:
        client = await overlay.connect()
        interest = await client.notify_data(ALARMS)
        await interest.detach()
        await client.store("type=alarm temperature=51", "51")
        embedded = await overlay.peers[1].attach(interest.id)
        assert (await embedded.recv(timeout=10)).text == "51"
        await embedded.detach()
        again = await client.attach(interest.id)
        assert (await again.recv(timeout=10)).text == "51"
