"""What an heir tells of: what lies in several places has a number of its own at each of them, and a
mark that was drawn at one says nothing of another."""

from __future__ import annotations

from random import Random

import pytest

from meteor import Client, Interest, Profile, Watch, profile
from meteor.wire.record_id import stem_of
from sim.overlay import Overlay, SimPeer
from squid import covers
from tests.meteor.building import SPACE
from tests.meteor.copies_world import build, crash
from tests.meteor.notified_world import Listener
from tests.meteor.security.signers import ALICE, BOB
from tests.meteor.test_overlay_notifications import readings_of

LONG = pytest.mark.long
"""What is looked at in long runs only."""
OVENS = "type=oven temperature=-40..125 humidity=0..100"
"""Lies in several places."""
BUSY = 40
"""Readings of the peer that the matcher keeps copies for: by them its numbers are ahead."""
LOWEST = SPACE.curve.next_match(SPACE.box(Profile.parse(OVENS, SPACE).subject_terms(SPACE)), 0)


def matcher_of(overlay: Overlay) -> tuple[SimPeer, SimPeer, SimPeer, SimPeer]:
    """Who matches what lies in several places, its heir, one that it keeps copies for, and one far
    from all."""
    ring = sorted(overlay.living, key=lambda peer: peer.contact.id)
    assert LOWEST is not None
    at = next(n for n, peer in enumerate(ring) if covers(peer.core.holdings.held, LOWEST))
    matcher, heir, before, far = (ring[(at + by) % len(ring)] for by in (0, 1, -2, 4))
    return matcher, heir, before, far


def client_of(overlay: Overlay, peer: SimPeer) -> Client:
    return overlay.client(peer=overlay.living.index(peer))


def keep_busy(overlay: Overlay, peer: SimPeer, seed: int) -> set[str]:
    """Store some readings at one peer; their stems."""
    client = client_of(overlay, peer)
    for number, reading in enumerate(readings_of(overlay, peer, Random(seed), BUSY)):
        overlay.run(client.store(profile(reading), b"x", id=f"busy{number}", ttl=7200))
    return {f"busy{number}" for number in range(BUSY)}


async def opened(client: Client, ttl: float = 300) -> Interest:
    return await client.notify_data("temperature=-40..125 humidity>=0", ttl=ttl)


@pytest.mark.parametrize(
    ("seed", "how"),
    [
        (3, "leaves"),
        pytest.param(3, "crashes", marks=LONG),
        pytest.param(7, "leaves", marks=LONG),
        pytest.param(7, "crashes", marks=LONG),
    ],
)
def test_data_with_ranges_is_told_of_by_an_heir(seed: int, how: str) -> None:
    overlay = build(seed, 8, disk_s=0.0)
    matcher, heir, before, far = matcher_of(overlay)
    poster, client = client_of(overlay, heir), client_of(overlay, far)
    listener = Listener(client, overlay.run(opened(client))).listen()
    sure = keep_busy(overlay, before, seed)
    overlay.run(poster.store(OVENS, b"1", id="first", ttl=7200))
    overlay.run_for(5.0)
    away = overlay.faults.partition([client._session.runtime.contact])
    assert overlay.run(poster.store(OVENS, b"2", id="second", ttl=7200)).complete
    if how == "leaves":
        overlay.run(matcher.leave())
    else:
        crash(matcher)
    overlay.run_for(30.0)
    away.heal()
    overlay.run_for(60.0)
    listener.assert_once()
    assert set(listener.came) == sure | {"first", "second"}


@pytest.mark.parametrize("seed", [3, pytest.param(7, marks=LONG)])
def test_a_watch_is_told_of_interests_by_an_heir(seed: int) -> None:
    overlay = build(seed, 8, disk_s=0.0)
    matcher, heir, before, far = matcher_of(overlay)
    poster, client = client_of(overlay, heir), client_of(overlay, far)

    async def watched() -> Watch:
        return await client.notify_interest("type=oven temperature=* humidity=*", ttl=300)

    async def asked(name: str) -> Interest:
        return await poster.notify_data(OVENS, id=name, ttl=600)

    watch = overlay.run(watched())
    keep_busy(overlay, before, seed)
    first = overlay.run(asked("first"))
    overlay.run_for(5.0)
    away = overlay.faults.partition([client._session.runtime.contact])
    overlay.run(asked("second"))
    overlay.run(matcher.leave())
    overlay.run_for(30.0)
    away.heal()
    overlay.run_for(60.0)
    told = []
    while (one := watch.take_now()) is not None:
        told.append((one.kind, stem_of(one.id)))
    assert sorted(told) == [("appeared", "first"), ("appeared", "second")]
    overlay.run(first.close())
    overlay.run_for(2.0)
    assert watch.active


def test_a_watch_tells_two_owners_of_one_name_apart() -> None:
    overlay = build(1, 4, disk_s=0.0)
    lamp = overlay.client()
    alice, bob = overlay.client(peer=1, identity=ALICE), overlay.client(peer=2, identity=BOB)

    async def scenario() -> None:
        watch = await lamp.notify_interest("type=lamp temperature=* humidity=*")
        await alice.notify_data("type=lamp", id="alarm")
        other = await bob.notify_data("type=lamp", id="alarm")
        await lamp._runtime.sleep(1.0)
        assert watch.active
        await other.close()
        await lamp._runtime.sleep(1.0)
        assert watch.active

    overlay.run(scenario())


@pytest.mark.parametrize("seed", [2, pytest.param(1, marks=LONG)])
def test_who_attaches_is_told_of_all_though_the_matcher_falls_at_once(seed: int) -> None:
    """More than one window of notices lives there, and the client before had acknowledged all."""
    count = 300
    overlay = build(seed, 8, disk_s=0.001)
    ring = sorted(overlay.living, key=lambda peer: peer.contact.id)
    matcher, sensor, first = ring[3], overlay.client(peer=7), overlay.client(peer=6)
    listener = Listener(first, overlay.run(opened(first, ttl=60))).listen()
    stems = {f"d{number}" for number in range(count)}
    for number, reading in enumerate(readings_of(overlay, matcher, Random(seed), count)):
        overlay.run(sensor.store(profile(reading), b"x", id=f"d{number}", ttl=7200))
    overlay.run_for(6.0)
    assert set(listener.came) == stems
    id = listener.interest.id
    assert id is not None
    first.abandon()
    overlay.run_for(1.0)
    second = client_of(overlay, next(peer for peer in overlay.living if peer is not matcher))

    async def attached() -> Interest:
        return await second.attach(id, queue=10_000)

    again = Listener(second, overlay.run(attached())).listen()
    crash(matcher)
    overlay.run_for(70.0)
    again.assert_once()
    assert set(again.came) == stems
