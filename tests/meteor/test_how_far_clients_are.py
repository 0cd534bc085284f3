"""Watermarks that go wherever an interval goes: none may hide a pair that no client acknowledged.

A mark says how far one version of an interest was told, in the numbers of who drew it.
"""

from __future__ import annotations

import random

from arms import Rendezvous
from meteor import profile
from meteor.admission import place
from meteor.keeping.holdings import Holdings
from meteor.keeping.placement import Admission, key_of
from meteor.rendezvous.telling import Telling
from meteor.wire.messages import Notice
from meteor.wire.record_id import make_id
from sim.network import Network
from sim.runtime import SimRuntime
from tests.meteor.building import SPACE, Attributes
from tests.meteor.copies_world import build, crash, index_of
from tests.meteor.notified_world import matcher_of, opened
from tests.meteor.test_overlay_notifications import readings_of
from tests.meteor.test_shelf import EVERYTHING, HERE, World, carried


class Teller(World):
    """A shelf whose clients are told."""

    def __init__(self) -> None:
        super().__init__()
        self.holdings = Holdings()
        runtime = SimRuntime(self.kernel, Network(self.kernel), HERE)
        rendezvous = Rendezvous(self.shelf.store, random.Random(1))
        self.telling = Telling(runtime, self.shelf, self.holdings, rendezvous)

    def gain(self, admission: Admission) -> None:
        """Everything is held here from now on, and its pairs are told of."""
        self.holdings.gain(EVERYTHING)
        self.telling.derive(EVERYTHING, admission)
        self.kernel.run(until_s=self.kernel.now() + 1.0)

    def pending(self, stem: str) -> set[str]:
        stream = self.telling._outbox._streams.get(stem)
        return set() if stream is None else set(stream.pending)


def test_what_is_written_after_a_gain_has_a_number_above_how_far_clients_are() -> None:
    """Else the watermark of the giver, whose other intervals had later numbers, covers it as soon
    as this peer falls."""
    teller, admission = Teller(), Admission()
    asks = carried("asks", "temperature=0..10", kind="interest", number=3, acknowledged=50)
    teller.run(teller.shelf.admit([asks], admission))
    teller.gain(admission)
    ((written,),) = teller.run(teller.shelf.write([carried("new", "type=a temperature=3")]))
    assert written.number > admission.acknowledged(("", "asks"))


def test_a_hand_off_does_not_say_acknowledged_what_is_not() -> None:
    """The interest was renewed when its client had all up to 50; then came, with another interval,
    a pair of an earlier number."""
    teller, other = Teller(), Admission()
    asks = carried("asks", "temperature=0..10", kind="interest", number=3, acknowledged=50)
    late = carried("late", "type=a temperature=3", number=20)
    teller.run(teller.shelf.admit([asks], Admission()))
    teller.run(teller.shelf.admit([late], other))
    teller.gain(other)
    assert teller.pending("asks") == {"asks:late:1"}
    page = teller.shelf.page(EVERYTHING[0], 0)
    marks = {one.id.partition(".")[0]: one.acknowledged for one in page.carried}
    assert marks["asks"] < 20, "whoever takes it tells of the pair"


def test_a_new_version_of_an_interest_travels_without_how_far_the_one_before_was() -> None:
    """The pairs of what it asks for now may have earlier numbers."""
    teller, admission = Teller(), Admission()
    asks = carried("asks", "temperature=0..10", kind="interest", number=3, acknowledged=50)
    teller.run(teller.shelf.admit([asks], admission))
    teller.gain(admission)
    assert teller.shelf.outgoing(asks).acknowledged == 50
    again = carried("asks", "temperature=0..90", kind="interest", number=60, version=2)
    assert teller.shelf.outgoing(again).acknowledged == 0
    came = Admission()
    came.enter(key_of(asks), asks)
    came.enter(key_of(again), teller.shelf.outgoing(again))
    assert came.acknowledged(("", "asks")) == 0


def test_what_an_interest_asks_for_since_it_was_replaced_is_told_by_an_heir() -> None:
    """Its primary falls before the client has heard of what lay there already."""
    overlay, drawn = build(1), random.Random(1)
    sensor, client = overlay.client(peer=7), overlay.client(peer=6)
    dies = sorted(overlay.peers, key=lambda peer: peer.contact.id)[3]
    readings = readings_of(overlay, dies, drawn, 30)
    dry = [one for one in readings if int(one["humidity"]) <= 50][:5]
    (wet, *_) = [one for one in readings if int(one["humidity"]) > 60]
    overlay.run(sensor.store(profile(wet), b"wet"))
    interest = overlay.run(opened(client, "temperature=-40..125 humidity<=50"))
    for one in dry:
        overlay.run(sensor.store(profile(one), b"dry"))
        assert overlay.run(interest.recv(timeout=10)).data == b"dry"
    overlay.run_for(5)  # the copies have heard how far the client is
    hear = client._session.handlers[Notice]
    client._session.handlers[Notice] = lambda *_: None  # it comes, and is lost on the way
    overlay.run(interest.replace("temperature=-40..125 humidity>=0"))
    crash(dies)
    overlay.run_for(5)
    client._session.handlers[Notice] = hear
    assert overlay.run(interest.recv(timeout=60)).data == b"wet"


def _index_of(reading: Attributes) -> int:
    box = place(profile(reading).typed(SPACE), "store", SPACE, everywhere=False)
    return index_of(make_id("x", box, SPACE.curve))


def test_an_heir_of_a_joiner_tells_what_it_had_not_got_through() -> None:
    """The joiner's interval is quiet: its giver's other interval had later numbers, and so had the
    watermark that came with the interest."""
    overlay, drawn = build(1), random.Random(1)
    sensor, client = overlay.client(peer=7), overlay.client(peer=6)
    giver = sorted(overlay.peers, key=lambda peer: peer.contact.id)[3]
    interest = overlay.run(opened(client, "temperature=-40..125 humidity>=0"))
    readings = sorted(readings_of(overlay, giver, drawn, 20), key=_index_of)
    for one in readings[10:]:
        overlay.run(sensor.store(profile(one), b"before"))
        assert overlay.run(interest.recv(timeout=10)).data == b"before"
    shift = 160 - SPACE.curve.index_bits
    joiner = overlay.run(overlay.add_peer(_index_of(readings[9]) << shift))
    overlay.run_for(8)  # it holds its part, and its copies have heard how far the client is
    reading = readings[0]
    assert matcher_of(overlay, reading) is joiner
    hear = client._session.handlers[Notice]
    client._session.handlers[Notice] = lambda *_: None  # it comes, and is lost on the way
    overlay.run(sensor.store(profile(reading), b"after"))
    crash(joiner)
    overlay.run_for(5)
    client._session.handlers[Notice] = hear
    assert overlay.run(interest.recv(timeout=60)).data == b"after"
