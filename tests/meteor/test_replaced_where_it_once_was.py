"""What is replaced by one of its ids, to be where it was once, leaves wherever it went since."""

from __future__ import annotations

import random
from typing import Any

import pytest

from meteor import Client
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE

PLACES = [(20, 20), (70, 70), (95, 95), (0, 40), (30, 80)]
LOOKS = range(0, 100, 5)


def profile(place: tuple[int, int]) -> str:
    return f"type=lamp temperature={place[0]}..{place[1]}"


async def seen(client: Client) -> dict[int, list[str]]:
    """What is found from each of these degrees to the next."""
    return {
        low: [match.text for match in await client.retrieve(profile((low, low + 4)))]
        for low in LOOKS
    }


def alone_at(place: tuple[int, int], text: str) -> dict[int, list[str]]:
    return {low: [text] if place[0] <= low + 4 and low <= place[1] else [] for low in LOOKS}


@pytest.mark.parametrize("seed", range(1, 9))
def test_it_is_found_by_its_newest_content_alone(seed: int) -> None:
    """By the id of a place, to that place, it left nothing: it was found by the content before,
    too, until its ttl ran out, and a cancel left it there: three of these walks ended so."""
    overlay, stream = (
        Overlay(codec=wire_codec(), peers=8, space=SPACE, seed=seed),
        random.Random(seed),
    )
    clients = [overlay.client(peer=1), overlay.client(peer=4)]

    async def scenario() -> None:
        ids = [(await clients[0].store(profile(PLACES[0]), "0")).id]
        for number in range(1, 8):
            place, client = stream.choice(PLACES), stream.choice(clients)
            receipt = await client.replace(stream.choice(ids), profile(place), str(number))
            ids.append(receipt.id)
            assert await seen(clients[0]) == alone_at(place, str(number))
        assert (await clients[1].cancel(stream.choice(ids))).matches == 1
        assert await clients[0].retrieve("type=lamp") == []

    overlay.run(scenario())


def test_so_it_does_where_the_first_peer_that_was_asked_falls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever is asked next finds it at its place already, and lets it leave the other one."""
    overlay = Overlay(codec=wire_codec(), peers=8, space=SPACE, seed=3)
    client, other = overlay.client(peer=1), overlay.client(peer=4)
    falling = overlay.peers[1]

    async def fall(*_: Any) -> Any:
        falling.crash()
        await overlay.kernel.sleep(60)

    monkeypatch.setattr(falling.core.entry._amending, "_leave", fall)

    async def scenario() -> None:
        first = await other.store(profile((20, 20)), "1")
        await other.replace(first.id, profile((70, 70)), "2")
        await client.replace(first.id, profile((20, 20)), "3")
        assert not falling.alive
        assert await seen(other) == alone_at((20, 20), "3")

    overlay.run(scenario())
