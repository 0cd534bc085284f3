"""An interest that lies at several holders: what one of them says of it, of a renewal or of how far
its client is there, hides nothing that the client was not told of by another one."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from chord import Deferred, replace
from meteor import Client, Interest, Profile, profile
from meteor.keeping.placement import Admission, key_of
from meteor.wire.copy_messages import Keep, Learn, Watermarks
from meteor.wire.messages import Notice, Told
from squid import covers
from tests.meteor.building import SPACE
from tests.meteor.copies_world import build, crash
from tests.meteor.notified_world import SETTLED_S, Listener, opened
from tests.meteor.test_how_far_clients_are import Teller
from tests.meteor.test_overlay_notifications import readings_of
from tests.meteor.test_shelf import carried
from tests.meteor.test_told_by_an_heir import client_of

LONG = pytest.mark.long
"""What is looked at in long runs only."""
CELL = "type=a temperature=38.2 humidity=74"
WIDE = "type=a temperature=-40..125 humidity=0..100"


def deaf(client: Client) -> Callable[[], None]:
    """What its peers tell a client is lost on the way, until it hears again."""
    handlers = client._session.handlers
    heard = [(kind, handlers[kind]) for kind in (Notice, Told)]
    for kind, _ in heard:
        handlers[kind] = lambda *_: None
    return lambda: handlers.update(heard)


@pytest.mark.parametrize("seed", [2, *(pytest.param(seed, marks=LONG) for seed in (1, 4, 6))])
def test_an_heir_tells_what_lay_there_though_the_interest_was_renewed(seed: int) -> None:
    """Who matches is a copy of another holder, that renews it under an earlier number."""
    overlay = build(seed)
    sensor, client = overlay.client(peer=7), overlay.client(peer=6)
    dies = sorted(overlay.peers, key=lambda peer: peer.contact.id)[3]
    readings = readings_of(overlay, dies, Random(seed), 5)
    for number, one in enumerate(readings):
        overlay.run(sensor.store(profile(one), b"x", id=f"d{number}", ttl=7200))
    hear_again = deaf(client)
    interest = overlay.run(opened(client, "temperature=-40..125 humidity>=0", ttl=600))
    overlay.run_for(3.0)
    overlay.run(interest.renew(600))
    overlay.run_for(5.0)  # the copies have heard how far the client is
    crash(dies)
    overlay.run_for(5.0)
    hear_again()
    listener = Listener(client, interest).listen()
    overlay.run_for(SETTLED_S)
    listener.assert_once()
    assert len(listener.came) == len(readings)


def test_a_renewal_by_another_holder_leaves_an_interest_its_number() -> None:
    """Its pairs would be earlier than where it is to be told on from, and none of them due."""
    teller = Teller()
    asks = carried("asks", "temperature=0..10", kind="interest", number=60)
    teller.run(teller.shelf.admit([asks], Admission()))
    renewed = replace(asks, number=3, renewed=2)
    teller.run(teller.shelf.admit([renewed], Admission()))
    placed = teller.shelf.find(("", "asks"))
    assert placed is not None
    assert (placed.carried.renewed, placed.number) == (2, 60)


def test_what_is_brought_to_ones_copies_says_how_far_the_client_is_here() -> None:
    """The other holder had told of all up to 50, and this one not of a pair of an earlier number:
    its heir is to tell of it."""
    teller = Teller()
    asks = carried("asks", "temperature=0..10", kind="interest", number=3)
    late = carried("late", "type=a temperature=3", number=20)
    teller.run(teller.shelf.admit([asks, late], Admission()))
    teller.gain(Admission())
    assert teller.pending("asks") == {"asks:late:1"}
    renewed = replace(asks, renewed=2, acknowledged=50)
    teller.run(teller.shelf.admit([renewed], Admission()))
    placed = teller.shelf.find(("", "asks"))
    assert placed is not None
    (paid,) = teller.shelf.begin([placed.carried])
    assert teller.shelf.outgoing(paid).acknowledged < 20


def test_no_mark_passes_what_is_under_way() -> None:
    """What another holder wrote has a later number, and shows before it."""
    teller = Teller()
    asks = carried("asks", "temperature=0..10", kind="interest", number=1)
    teller.run(teller.shelf.admit([asks], Admission()))
    (waits,) = teller.shelf.begin([carried("waits", "type=a temperature=3")])
    beside = carried("beside", "type=a temperature=0..10", number=9)
    teller.run(teller.shelf.admit([beside], Admission()))
    teller.gain(Admission())
    teller.telling._acknowledge("", "asks", tuple(teller.pending("asks")), 77)
    assert not teller.pending("asks")
    assert teller.telling.watermark("", "asks") < waits.number
    teller.shelf.end([waits])
    assert teller.telling.watermark("", "asks") == beside.number


class Slow:
    """Something waits for a copy that is out of reach for half a second, at a peer that is a copy
    of another holder, which is ahead, of what comes meanwhile."""

    def __init__(self, seed: int, disk_s: float = 0.0) -> None:
        self.overlay = build(seed, 8, disk_s=disk_s)
        ring = sorted(self.overlay.living, key=lambda peer: peer.contact.id)
        cell = Profile.parse(CELL, SPACE).subject_terms(SPACE)
        lowest = SPACE.curve.next_match(SPACE.box(cell), 0)
        assert lowest is not None
        at = next(n for n, peer in enumerate(ring) if covers(peer.core.holdings.held, lowest))
        ring = ring[at:] + ring[:at]
        self.matcher, self.heir, self.copy, self.before = ring[0], ring[1], ring[2], ring[-1]
        self.poster = client_of(self.overlay, self.heir)
        self.client = client_of(self.overlay, ring[4])

    def store_late(self) -> list[bool]:
        """Store what is under way for long; whether it is kept, once that is known."""
        stored: list[bool] = []

        async def store() -> None:
            receipt = await self.poster.store(CELL, b"x", id="late", ttl=7200)
            stored.append(receipt.complete)

        self.overlay.faults.clog(self.matcher.contact, self.copy.contact, 0.5)
        self.overlay.kernel.spawn(store())
        self.overlay.run_for(0.02)
        return stored

    async def store_wide(self) -> None:
        """It lies at all of them, and waits for the copy as well."""
        await self.poster.store(WIDE, b"1", id="wide", ttl=7200)


@pytest.mark.parametrize("after_s", [0.5, *(pytest.param(one, marks=LONG) for one in (0, 1, 1.5))])
def test_an_heir_tells_what_was_under_way_as_its_primary_said_how_far_clients_are(
    after_s: float,
) -> None:
    slow = Slow(3)
    overlay, client = slow.overlay, slow.client
    listener = Listener(client, overlay.run(opened(client, CELL, ttl=600))).listen()
    busy = readings_of(overlay, slow.before, Random(3), 12)
    overlay.run_for(5.0 + after_s)
    stored = slow.store_late()
    for one in busy:
        overlay.run(slow.poster.store(profile(one), b"x", ttl=7200))
    overlay.kernel.spawn(slow.store_wide())
    overlay.run_for(0.15)
    assert (stored, listener.came) == ([], ["wide"])
    hear_again = deaf(client)
    while not stored:
        overlay.run_for(0.01)
    crash(slow.matcher)
    overlay.run_for(1.0)
    hear_again()
    overlay.run_for(SETTLED_S)
    listener.assert_once()
    assert set(listener.came) == {"wide", "late"}


@pytest.mark.parametrize("after_s", [0.5, *(pytest.param(one, marks=LONG) for one in (0, 1, 1.5))])
def test_an_heir_tells_who_attached_as_its_primary_said_how_far_the_one_before_was(
    after_s: float,
) -> None:
    slow = Slow(3)
    overlay, poster = slow.overlay, slow.poster
    second = overlay.client(peer=overlay.living.index(slow.before))
    first = Listener(slow.client, overlay.run(opened(slow.client, CELL, ttl=600))).listen()
    overlay.run_for(5.0 + after_s)
    stems = {f"d{number}" for number in range(4)}
    for stem in sorted(stems):
        overlay.run(poster.store(CELL, b"x", id=stem, ttl=7200))
    overlay.run_for(0.05)
    assert set(first.came) == stems
    first.client.abandon()
    overlay.faults.clog(slow.matcher.contact, slow.copy.contact, 0.5)
    hear_again = deaf(second)

    async def attached() -> Interest:
        return await second.attach(first.interest.id, queue=100)

    interest = overlay.run(attached())
    crash(slow.matcher)
    overlay.run_for(1.0)
    hear_again()
    listener = Listener(second, interest).listen()
    overlay.run_for(SETTLED_S)
    listener.assert_once()
    assert set(listener.came) == stems


def test_a_mark_that_comes_while_a_renewal_is_written_down_is_the_later_one() -> None:
    """Its primary gained an interval, whose pairs are earlier than how far the client was."""
    slow = Slow(3, disk_s=0.01)
    overlay, keeper = slow.overlay, slow.heir.core._keeper
    interest = overlay.run(opened(slow.client, CELL, ttl=600))
    placed = slow.heir.core.shelf.find(("", interest.id.partition(".")[0]))
    assert placed is not None
    one, primary = placed.carried, slow.matcher.contact
    renewed = replace(one, ttl_ms=600_000, renewed=one.version + 1, acknowledged=50)
    reply = keeper._on_keep(primary, Keep(((placed.lowest, placed.lowest),), (renewed,)), 0.0)
    assert isinstance(reply, Deferred)

    async def write_down() -> None:
        await reply.conversation

    overlay.kernel.spawn(write_down())
    overlay.run_for(0.001)
    keeper.marks.on_watermarks(primary, Watermarks((("", interest.id.partition(".")[0], 7),)), 0.0)
    overlay.run_for(0.02)
    assert keeper.marks.of(primary.id).acknowledged(key_of(one)) == 7


def test_who_is_to_be_a_copy_of_what_was_gained_forgets_how_far_clients_were() -> None:
    slow = Slow(3)
    primary, keeper = slow.matcher.contact, slow.heir.core._keeper
    keeper.marks.on_watermarks(primary, Watermarks((("", "asks", 50),)), 0.0)
    assert keeper.marks.of(primary.id).acknowledged(("", "asks")) == 50
    (own,) = slow.matcher.core.views.own.values()
    beyond = tuple(slow.copy.core.holdings.held)
    keeper._on_learn(primary, Learn(replace(own, number=own.number + 1, intervals=beyond)), 0.0)
    assert not keeper.marks.of(primary.id).watermarks
