"""Notifications while the peers die that matched them, or lead to their client (copies = 3).

Exactly once at the client object, whoever dies (DESIGN section 4).  A sensor that knows which of
its readings are selected is the twin.
"""

from __future__ import annotations

import random

import pytest

from meteor import profile
from meteor.wire.messages import Notice
from sim.overlay import Overlay, SimPeer
from sim.runtime import SimRuntime
from tests.meteor.building import Attributes
from tests.meteor.copies_world import assert_whole_within, build, crash, restart_all, seeds
from tests.meteor.notified_world import (
    INTERESTS,
    Listener,
    Sensor,
    assert_exactly_once,
    matcher_of,
    opened,
    victims,
)

PEERS = 8


def world(seed: int) -> tuple[Overlay, Sensor, Listener]:
    """An interest that finds five readings there already."""
    overlay, drawn = build(seed, PEERS), random.Random(seed)
    selector = drawn.choice(INTERESTS)
    sensor = Sensor(overlay.client(peer=1), drawn, selector)
    for _ in range(5):
        overlay.run(sensor.store(sensor.draw()))
    client = overlay.client(peer=drawn.randrange(PEERS))
    interest = overlay.run(opened(client, selector))
    return overlay, sensor, Listener(client, interest).listen()


@pytest.mark.parametrize("who", ["matcher", "own", "both"])
@pytest.mark.parametrize("seed", seeds(2))
def test_a_notification_comes_exactly_once_whoever_dies(seed: int, who: str) -> None:
    overlay, sensor, listener = world(seed)
    drawn = random.Random(f"{seed} {who}")
    for _ in range(4):
        attributes = sensor.draw()
        storing = overlay.kernel.spawn(sensor.store(attributes))
        overlay.run_for(drawn.choice([0.0, 0.001, 0.003, 0.01, 0.05, 1.0]))
        fallen = victims(overlay, who, listener.client, attributes)
        crash(*fallen)
        overlay.kernel.run_until(storing)
        overlay.run(sensor.store(sensor.draw()))
        overlay.run_for(drawn.choice([0.5, 3.0]))
        restart_all(overlay, fallen)
        assert_whole_within(overlay)
    assert_exactly_once(overlay, sensor, listener)


@pytest.mark.parametrize("who", ["matcher", "own", "both"])
@pytest.mark.parametrize("seed", seeds(1))
def test_a_client_that_was_held_misses_nothing(seed: int, who: str) -> None:
    """Its notices wait so long that the copies hear how far it is; then who has them dies."""
    overlay, sensor, listener = world(seed)
    drawn = random.Random(f"{seed} {who} held")
    overlay.run_for(drawn.choice([0.0, 3.0]))
    runtime = listener.client._session.runtime
    assert isinstance(runtime, SimRuntime)
    runtime.pause()
    attributes = sensor.draw()
    for _ in range(6):
        overlay.run(sensor.store(sensor.draw()))
    overlay.run(sensor.store(attributes))
    overlay.run_for(drawn.choice([0.1, 3.0, 5.0]))
    crash(*victims(overlay, who, listener.client, attributes))
    overlay.run_for(drawn.choice([0.1, 3.0]))
    runtime.resume()
    assert_exactly_once(overlay, sensor, listener)


def readings_of(
    overlay: Overlay, peer: SimPeer, drawn: random.Random, count: int
) -> list[Attributes]:
    """Readings that a peer answers for."""
    found: list[Attributes] = []
    while len(found) < count:
        reading: Attributes = {
            "type": drawn.choice("abcdefghijklmnopqrstuvwxyz"),
            "temperature": drawn.uniform(-40, 125),
            "humidity": drawn.randrange(101),
        }
        if matcher_of(overlay, reading) is peer:
            found.append(reading)
    return found


def test_an_heir_with_numbers_of_its_own_tells_what_nobody_acknowledged() -> None:
    """The interest lies at the heir with a lower number than at the peer that dies: what the copies
    heard of that one's watermark must not hide the pairs that it never got through."""
    overlay, drawn = build(1, PEERS), random.Random(1)
    ring = sorted(overlay.peers, key=lambda peer: peer.contact.id)
    busy, dies = ring[1], ring[3]
    sensor, client = overlay.client(peer=7), overlay.client(peer=6)
    (reading,) = readings_of(overlay, dies, drawn, 1)
    overlay.run(sensor.store(profile(reading), b"x"))
    for one in readings_of(overlay, busy, drawn, 40):
        overlay.run(sensor.store(profile(one), b"x"))
    hear = client._session.handlers[Notice]
    client._session.handlers[Notice] = lambda *_: None  # it comes, and is lost on the way
    interest = overlay.run(opened(client, "temperature=-40..125 humidity>=0"))
    overlay.run_for(5)
    crash(dies, ring[4])
    overlay.run_for(5)
    client._session.handlers[Notice] = hear
    told = {overlay.run(interest.recv(timeout=60)).data for _ in range(41)}
    assert told == {b"x"}
