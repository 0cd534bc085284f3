"""Of an interest whose place moved to another peer, and that ended there, nothing is left here."""

from __future__ import annotations

from meteor import Client, Interest
from sim.overlay import Overlay
from squid import HilbertCurve
from tests.meteor.building import SPACE
from tests.meteor.copies_world import index_of, primary_of

LAMP = "type=lamp temperature=1 humidity=2"
IDS = [one << 156 for one in (1, 4, 8, 12, 15)]


def place_of(id: str, curve: HilbertCurve) -> int:
    """The identifier on the ring where a record lies."""
    return index_of(id) << (160 - curve.index_bits)


async def told(client: Client, names: list[str]) -> list[Interest]:
    """Interests that were told of something."""
    interests = [await client.notify_data(LAMP, id=name, ttl=3000) for name in names]
    await client.store(LAMP, b"1", ttl=2)
    for one in interests:
        assert (await one.recv(timeout=5)).data == b"1"
    return interests


async def close(interests: list[Interest]) -> None:
    for one in interests:
        await one.close()


def test_streams_of_interests_that_ended_elsewhere_are_let_go_of() -> None:
    overlay = Overlay(peers=len(IDS), space=SPACE, seed=1, ids=IDS)
    probe = overlay.run(overlay.client().store(LAMP, b"x", ttl=5)).id
    first = primary_of(overlay, probe)
    client = overlay.client(peer=(overlay.living.index(first) + 2) % len(IDS))
    overlay.run_for(6.0)
    interests = overlay.run(told(client, ["a", "b", "c"]))
    overlay.run_for(3.0)
    streams = first.core.telling._outbox._streams
    assert len(streams) == len(interests)
    joiner = overlay.run(overlay.add_peer(place_of(probe, SPACE.curve) + 1))
    assert primary_of(overlay, probe) is joiner
    overlay.run(close(interests))
    overlay.run_for(10.0)
    assert not streams
    overlay.run(joiner.leave())
    overlay.run_for(10.0)
    assert not streams
    assert not first.core.telling._marked
