"""Straight to the owner, in virtual time: what is posted again and again goes there without the
client's own peer, and whatever becomes of that owner, nothing acknowledged is lost by it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from chord import Contact, KnownArc
from meteor import Client, Profile, parse_policy, profile
from meteor.client.config import ClientConfig
from meteor.client.requests import Requests
from meteor.client.shortcuts import (
    AVOIDED_S,
    IDLE_S,
    POSTS,
    SILENT_S,
    Shortcuts,
)
from meteor.wire.messages import Post, PostReply
from sim.overlay import SimPeer
from squid import Box
from tests.meteor.building import SPACE
from tests.meteor.copies_world import ask, build, index_of, primary_of, seeds

PEERS = 8


STRICT = parse_policy("""
default = "allow"
[[quotas]]
name = "all"
who = ["anyone"]
profiles = 1000
""")


def shortcuts_of(client: Client) -> Shortcuts:
    return client._session._requests.shortcuts


def straight(client: Client) -> int:
    """How many posts of a client went straight."""
    return shortcuts_of(client).posts


class Sensor:
    """A client that stores at one place, which is another peer's than its own."""

    def __init__(self, seed: int, config: ClientConfig | None = None) -> None:
        self.overlay, self.drawn = build(seed, PEERS, disk_s=0.001), random.Random(seed)
        temperature, humidity = self.drawn.uniform(-40, 125), self.drawn.randrange(101)
        self.reading: Profile = profile(
            {"type": "light", "temperature": temperature, "humidity": humidity}
        )
        first = self.overlay.run(self.overlay.client().store(self.reading, b"0"))
        self.owner: SimPeer = primary_of(self.overlay, first.id)
        self.stored = {first.id}
        number = self.overlay.living.index(self.owner)
        away = self.drawn.choice([one for one in range(PEERS) if one != number])
        self.client = self.overlay.client(peer=away, config=config)

    def store(self, count: int = 1) -> None:
        """All of them are acknowledged."""
        for _ in range(count):
            receipt = self.overlay.run(self.client.store(self.reading, b"x", ttl=7200))
            assert receipt.complete
            self.stored.add(receipt.id)

    def open(self) -> None:
        """Post until it goes straight."""
        self.store(POSTS + 1)
        self.overlay.run_for(1.0)
        before = straight(self.client)
        self.store()
        assert straight(self.client) == before, "its own peer is asked whether it reaches the owner"
        self.store()
        assert straight(self.client) == before + 1

    def assert_all_is_there(self) -> None:
        for client in (self.client, self.overlay.client()):
            assert ask(self.overlay, client) == (self.stored, True)


@pytest.mark.parametrize("seed", seeds(3, 20))
def test_what_is_posted_again_and_again_goes_straight(seed: int) -> None:
    sensor = Sensor(seed)
    sensor.store(POSTS)
    assert not straight(sensor.client), "who posts rarely has one link"
    sensor.open()
    before = straight(sensor.client)
    found = sensor.overlay.run(sensor.client.retrieve(sensor.reading).all())
    assert {match.id for match in found} == sensor.stored
    assert straight(sensor.client) == before + 1
    own = sensor.client._runtime.contact
    assert own not in sensor.owner.core.entry.clients, "it is the client of its own peer"
    assert sensor.client.peer_address != sensor.owner.address
    sensor.assert_all_is_there()


@pytest.mark.parametrize("seed", seeds(3, 20))
@pytest.mark.parametrize("how", ["crash", "pause", "leave"])
def test_an_owner_that_goes_costs_nothing(how: str, seed: int) -> None:
    sensor = Sensor(seed)
    sensor.open()
    overlay, began_s = sensor.overlay, sensor.overlay.kernel.now()
    if how == "leave":
        overlay.run(sensor.owner.leave())
    else:
        getattr(sensor.owner, how)()
    sensor.store()
    if how == "crash":
        assert overlay.kernel.now() - began_s < 5.0
    sensor.store(3)
    if how == "pause":
        sensor.owner.resume()
    overlay.run_for(20.0)
    sensor.assert_all_is_there()


def test_a_question_does_not_wait_long_for_an_owner_that_stands_still() -> None:
    sensor = Sensor(5)
    sensor.open()
    sensor.owner.pause()
    began_s = sensor.overlay.kernel.now()
    found = sensor.overlay.run(sensor.client.retrieve(sensor.reading).all())
    assert {match.id for match in found} == sensor.stored
    assert sensor.overlay.kernel.now() - began_s < SILENT_S + 0.5


def test_the_own_peer_may_go_while_the_straight_way_stays() -> None:
    sensor = Sensor(2)
    sensor.open()
    address = sensor.client.peer_address
    next(peer for peer in sensor.overlay.living if peer.address == address).crash()
    sensor.store(5)
    sensor.overlay.run_for(20.0)
    sensor.assert_all_is_there()


def test_what_stays_in_touch_or_counts_goes_by_the_own_peer() -> None:
    sensor = Sensor(3)
    sensor.open()
    overlay, client, before = sensor.overlay, sensor.client, straight(sensor.client)
    receipt = overlay.run(client.delete_data(sensor.reading))
    assert receipt.matches == len(sensor.stored)
    interest = overlay.run(client.notify_data(sensor.reading))
    assert straight(client) == before
    sensor.stored.clear()
    sensor.store()
    assert overlay.run(anext(interest)).id in sensor.stored
    assert straight(client) == before + 1


def test_where_there_is_a_policy_nobody_comes_straight() -> None:
    sensor = Sensor(4)
    sensor.open()
    sensor.owner.core.gatekeeper.install(STRICT)
    before = straight(sensor.client)
    sensor.store(2)
    assert straight(sensor.client) == before + 1, "it was sent round, and asked no more"
    for peer in sensor.overlay.living:
        peer.core.gatekeeper.install(STRICT)
    sensor.overlay.run_for(AVOIDED_S)
    sensor.store(3 * POSTS)
    assert straight(sensor.client) == before + 1, "its own peer names nobody"
    sensor.assert_all_is_there()


def test_none_are_opened_unless_they_are_wanted() -> None:
    sensor = Sensor(1, ClientConfig(shortcuts_max=0))
    sensor.store(3 * POSTS)
    sensor.overlay.run_for(1.0)
    sensor.store(POSTS)
    assert not straight(sensor.client)
    sensor.assert_all_is_there()


def test_what_nobody_takes_is_closed() -> None:
    sensor = Sensor(6)
    sensor.open()

    def links() -> int:
        return len(sensor.client._runtime.ends)

    assert links() == 2
    sensor.overlay.run_for(1.5 * IDLE_S)
    assert links() == 1
    before = straight(sensor.client)
    sensor.store()
    assert straight(sensor.client) == before
    sensor.open()


def test_an_owner_that_becomes_the_own_peer_keeps_its_link() -> None:
    """A client went over to a peer that it had a shortcut to, and lost it a minute later."""
    sensor = Sensor(7)
    number = sensor.overlay.living.index(sensor.owner)
    # the owner is the next of its list
    sensor.client = client = sensor.overlay.client(peer=number - 1)
    sensor.open()
    next(one for one in sensor.overlay.living if one.address == client.peer_address).crash()
    sensor.store()
    assert client.peer_address == sensor.owner.address
    lost = list[object]()
    client.callbacks.on_disconnected = lost.append
    sensor.overlay.run_for(2 * IDLE_S)
    assert client.connected
    assert not lost
    sensor.assert_all_is_there()


def test_who_comes_to_the_former_owner_is_told_of_the_new_one() -> None:
    """The client goes on while the place changes hands, so that its word is out of date."""
    sensor = Sensor(9)
    sensor.open()
    overlay, one = sensor.overlay, min(sensor.stored)
    key = index_of(one) << 160 - SPACE.curve.index_bits
    known, told = shortcuts_of(sensor.client), list[Contact]()
    learn = known.learn

    def listen(arc: KnownArc) -> None:
        told.append(arc.owner)
        learn(arc)

    known.learn = listen  # type: ignore[method-assign]
    joining = overlay.kernel.spawn(overlay.add_peer(key))
    for _ in range(1000):
        before = straight(sensor.client)
        sensor.store()
        if known.owner_of(key) != sensor.owner.contact:
            break
    assert straight(sensor.client) == before + 1, "the former owner names the new one"
    taker = overlay.kernel.run_until(joining)
    assert told[-1] == known.owner_of(key) == taker.contact
    overlay.run_for(20.0)
    assert primary_of(overlay, one) is taker
    sensor.open()
    sensor.assert_all_is_there()


def test_an_owner_is_vouched_for_by_the_own_peer_and_not_for_long() -> None:
    """What went straight while that held may be answered within twice the time, and not later."""
    sensor = Sensor(11)
    sensor.open()
    known, kernel = shortcuts_of(sensor.client), sensor.overlay.kernel
    owner, own_peer = sensor.owner.contact, Contact.at("10.9.9.9:1")
    known.vouch(owner, own_peer, kernel.now(), 0.3)
    for after_s, may_go, counts in ((0.0, True, True), (0.31, False, True), (0.3, False, False)):
        sensor.overlay.run_for(after_s)
        assert known.is_vouched_for(owner, own_peer) is may_go
        assert known.counts(owner, own_peer) is counts
        for other in (sensor.owner.contact, Contact.at("10.9.9.8:1")):
            assert not known.is_vouched_for(owner, other)
            assert not known.counts(owner, other)


def test_what_is_answered_too_late_is_asked_again_by_the_own_peer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its owner may have been passed over meanwhile by the side that the own peer is on."""
    sensor = Sensor(12)
    sensor.open()
    monkeypatch.setattr("meteor.client.shortcuts.SILENT_S", 10.0)  # else it were given up before
    asked, attempt = list[str](), Requests._attempt

    async def seen(self: Requests, peer: Contact, *rest: Any) -> PostReply:
        asked.append(peer.address)
        return await attempt(self, peer, *rest)

    monkeypatch.setattr(Requests, "_attempt", seen)
    sensor.store()
    assert asked == [sensor.owner.address]
    own_peer = sensor.client.peer_address
    late_s = 2 * sensor.owner.core.copies_config.silence_s
    sensor.overlay.faults.clog(sensor.client._runtime.contact, sensor.owner.contact, late_s)
    sensor.store()
    assert asked[1:] == [sensor.owner.address, own_peer]
    sensor.assert_all_is_there()


def test_a_peer_does_not_name_an_owner_that_has_not_just_answered() -> None:
    """It may be remembered, and on the other side of a cut; that something of it comes does not
    count."""
    sensor = Sensor(13)
    index = index_of(min(sensor.stored))
    point = SPACE.curve.decode(index)
    own_peer = next(one for one in sensor.overlay.living if one is not sensor.owner)
    reply, post = (
        PostReply("x", complete=True, missing=(), matches=1, peers=1),
        Post(1, b"", "x", 1, 60.0, 1.0, asks_owner=True),
    )
    sensor.overlay.run(sensor.overlay.client(
        peer=sensor.overlay.living.index(own_peer)).store(sensor.reading, b"x"))  # fmt: skip
    for answered, owner in ((sensor.owner.contact, sensor.owner.contact), (own_peer.contact, None)):
        named = own_peer.core.entry.vouching.with_owner(post, reply, Box(point, point), [answered])
        assert (named.owner and named.owner.owner) == owner
        assert (named.owner_for_s > 0) is (owner is not None)
