"""A client that acknowledges a million notices in one message holds nobody up: lines of Python are
counted, as a clock would say how busy the machine is.
"""

from __future__ import annotations

from meteor import Client, Interest
from meteor.wire import codec
from meteor.wire.messages import AcknowledgeAll, Arrived
from meteor.wire.packers import FEW_MAX
from sim.overlay import Overlay, SimPeer
from tests.hostile.test_hostile_costs import lines_of
from tests.meteor.building import SPACE

LINES_MAX = 100_000


def told_by(overlay: Overlay, client: Client, interest: Interest) -> SimPeer:
    """Who has told the client of something."""
    overlay.run(client.store("type=light temperature=25", b"x"))
    assert overlay.run(interest.recv(timeout=5)).data == b"x"
    stem = interest.id.partition(".")[0]
    return next(one for one in overlay.peers if one.core.telling._outbox.knows(stem))


def test_a_million_notices_are_not_looked_at_in_one_turn() -> None:
    overlay = Overlay(peers=3, space=SPACE, seed=1)
    client = overlay.client()
    interest = overlay.run(client.notify_data("type=light"))
    peer = told_by(overlay, client, interest)
    arrived = Arrived(interest.id.partition(".")[0], ("a",) * FEW_MAX)
    said = AcknowledgeAll((arrived,) * FEW_MAX, peer.contact)
    message = codec.decode(codec.encode(said))  # it fits a frame
    telling = peer.core.telling
    lines = lines_of(lambda: telling._on_acknowledge_all(client._runtime.contact, message, 0.0))
    assert lines < LINES_MAX
