"""Owners are vouched for anew beside the posts that go straight to them, and only while the own
peer reaches them; in virtual time."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Contact, Deferred, KnownArc, RemoteFault
from meteor.client.requests import Requests
from meteor.copies.config import CopiesConfig
from meteor.rendezvous.fair_queue import DoorLimits
from meteor.rendezvous.vouching import VOUCHED_MAX
from meteor.wire.messages import PostReply, Vouch, Vouched
from sim.overlay import SimPeer
from squid import covers
from tests.meteor.building import SPACE
from tests.meteor.copies_world import index_of, seeds
from tests.meteor.test_shortcuts import STRICT, Sensor, shortcuts_of, straight

EVERY_S = 0.1
"""A sensor that reads so often has its owner vouched for anew in time."""


def own_peer_of(sensor: Sensor) -> SimPeer:
    address = sensor.client.peer_address
    return next(peer for peer in sensor.overlay.living if peer.address == address)


def read_often(sensor: Sensor, count: int) -> int:
    """Store so often; how many of these went straight."""
    before = straight(sensor.client)
    for _ in range(count):
        sensor.overlay.run_for(EVERY_S)
        sensor.store()
    return straight(sensor.client) - before


@pytest.mark.parametrize("seed", seeds(3, 20))
def test_who_posts_often_goes_straight_every_time(seed: int) -> None:
    sensor = Sensor(seed)
    sensor.open()
    assert read_often(sensor, 30) == 30
    sensor.assert_all_is_there()


def test_who_posts_rarely_has_nobody_asked() -> None:
    sensor = Sensor(4)
    sensor.open()
    sensor.overlay.run_for(1.0)
    before = straight(sensor.client)
    sensor.store()
    assert straight(sensor.client) == before, "it was vouched for no more"
    sensor.store()
    assert straight(sensor.client) == before + 1, "the post that went round asked for that"


@pytest.mark.parametrize("one_way", [False, True])
@pytest.mark.parametrize("seed", seeds(3, 20))
def test_an_owner_that_the_own_peer_reaches_no_more_is_vouched_for_no_more(
    seed: int, one_way: bool
) -> None:
    """The client reaches it all the while."""
    sensor = Sensor(seed)
    sensor.open()
    assert read_often(sensor, 5) == 5
    own_peer, known = sensor.client._session.uplink.peer, shortcuts_of(sensor.client)
    assert own_peer is not None
    owner, began_s = sensor.owner.contact, sensor.overlay.kernel.now()
    others = [peer.contact for peer in sensor.overlay.living if peer is not sensor.owner]
    assert known.is_vouched_for(owner, own_peer)
    # one way: what the owner says arrives nowhere among the peers; what they say arrives there
    cut = sensor.overlay.faults.partition([owner], others, one_way=one_way)
    while sensor.overlay.kernel.now() - began_s < 3.0:
        sensor.overlay.run_for(EVERY_S)
        sensor.overlay.kernel.spawn(_read(sensor))
        past_s = sensor.overlay.kernel.now() - began_s
        if past_s > CopiesConfig().vouches_s:
            assert not known.is_vouched_for(owner, own_peer)
        if past_s > 2 * CopiesConfig().vouches_s:
            assert not known.counts(owner, own_peer)
    cut.heal()
    sensor.overlay.run_for(40.0)
    sensor.assert_all_is_there()


async def _read(sensor: Sensor) -> None:
    """A question: an owner that is cut off answers those for a second."""
    found = await sensor.client.retrieve(sensor.reading, timeout=60).all()
    assert {match.id for match in found} == sensor.stored


def test_a_peer_of_an_earlier_release_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown message would end the link.  Every few posts go round there, as they did."""
    sensor = Sensor(5)
    own_peer, asked = own_peer_of(sensor), list[object]()
    monkeypatch.setitem(own_peer.core._handlers, Vouch, lambda *said: asked.append(said))
    sensor.client._session.uplink.vouches = False  # as its greeting would leave it
    sensor.open()
    assert 10 <= read_often(sensor, 20) < 20
    assert not asked
    sensor.assert_all_is_there()


def test_what_is_named_with_an_owner_is_learned() -> None:
    """A point may have another owner by then: that one is gone to, and not vouched for yet where
    nothing went there before."""
    sensor = Sensor(6)
    sensor.open()
    known, other = shortcuts_of(sensor.client), Contact.at("10.9.9.9:1")
    own_peer, named = own_peer_of(sensor), sensor.client._session.uplink.peer
    assert named is not None

    async def elsewhere(message: Vouch) -> Vouched:
        arc = own_peer.core.node.owner_of(message.points[0] << 160 - SPACE.curve.index_bits)
        assert arc is not None
        return Vouched((KnownArc(other, arc.arc),), 0.3)

    own_peer.core._handlers[Vouch] = lambda _, message, __: Deferred(elsewhere(message))
    read_often(sensor, 3)
    key = index_of(min(sensor.stored)) << 160 - SPACE.curve.index_bits
    assert known.owner_of(key) in {other, sensor.owner.contact}
    assert not known.counts(other, named)
    sensor.assert_all_is_there()


class Asker:
    """Asks a peer to vouch, as a client would."""

    def __init__(self, sensor: Sensor) -> None:
        self.sensor, self.peer = sensor, own_peer_of(sensor)

    def ask(self, *points: int) -> Vouched:
        runtime = self.sensor.client._runtime
        reply = self.sensor.overlay.run(runtime.call(self.peer.contact, Vouch(points), 5.0))
        assert isinstance(reply, Vouched)
        return reply


def test_each_owner_is_named_once_and_the_peer_itself_as_well() -> None:
    sensor = Sensor(7)
    sensor.open()
    asker, theirs = Asker(sensor), index_of(min(sensor.stored))
    mine = asker.peer.core.holdings.held[0][0]
    reply = asker.ask(theirs, mine, theirs, SPACE.curve.size)
    assert {one.owner for one in reply.owners} == {asker.peer.contact, sensor.owner.contact}
    assert len(reply.owners) == 2
    assert not any(one.heirs for one in reply.owners)
    assert reply.for_s == asker.peer.core.copies_config.vouches_s


def test_too_many_at_once_are_refused() -> None:
    sensor = Sensor(8)
    asker = Asker(sensor)
    with pytest.raises(RemoteFault, match=f"at most {VOUCHED_MAX}"):
        asker.ask(*range(VOUCHED_MAX + 1))


def test_where_there_is_a_policy_nobody_is_vouched_for() -> None:
    sensor = Sensor(9)
    asker = Asker(sensor)
    asker.peer.core.gatekeeper.install(STRICT)
    assert asker.ask(index_of(min(sensor.stored))) == Vouched()


def test_a_word_that_waited_at_the_peer_is_no_sign_of_life() -> None:
    """The peer was held; what it reads first when it goes on is what an owner sent before that."""
    sensor = Sensor(10)
    sensor.open()
    asker, owner = Asker(sensor), sensor.owner
    assert covers(owner.core.holdings.held, index_of(min(sensor.stored)))
    asker.peer.pause()
    owner.runtime.send(asker.peer.contact, PostReply("x", True, (), 0, 0))
    sensor.overlay.run_for(0.05)
    owner.pause()
    asked = sensor.overlay.kernel.spawn(
        sensor.client._runtime.call(asker.peer.contact, Vouch((index_of(min(sensor.stored)),)), 5.0)
    )
    sensor.overlay.run_for(0.05)
    asker.peer.resume()
    assert sensor.overlay.kernel.run_until(asked).owners == ()
    owner.resume()


def test_posts_wait_for_no_vouching(monkeypatch: pytest.MonkeyPatch) -> None:
    """The own peer stands still; what goes straight comes back as ever while it is vouched for."""
    sensor = Sensor(11)
    sensor.open()
    asked, attempt = list[str](), Requests._attempt

    async def seen(self: Requests, peer: Contact, *rest: Any) -> PostReply:
        asked.append(peer.address)
        return await attempt(self, peer, *rest)

    monkeypatch.setattr(Requests, "_attempt", seen)
    sensor.overlay.run_for(EVERY_S)
    own_peer = own_peer_of(sensor)
    own_peer.pause()
    sensor.store()
    assert asked == [sensor.owner.address]
    own_peer.resume()


def test_who_asks_very_often_waits_for_his_turn() -> None:
    """A question is small, and makes a peer ask 64 others."""
    sensor = Sensor(12)
    sensor.open()
    asker, runtime = Asker(sensor), sensor.client._runtime
    question = Vouch((index_of(min(sensor.stored)),))
    asked = [
        sensor.overlay.kernel.spawn(runtime.call(asker.peer.contact, question, 30.0))
        for _ in range(3 * DoorLimits().each)
    ]
    door = asker.peer.core.entry._door
    most = 0
    for _ in range(200):
        sensor.overlay.run_for(0.0001)
        most = max(most, door.waiting)
    assert most > 0
    assert door._in_progress <= DoorLimits().each
    for one in asked:
        assert sensor.overlay.kernel.run_until(one).owners
