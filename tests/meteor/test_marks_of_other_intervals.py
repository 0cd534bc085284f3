"""What a peer heard as a copy of one interval says nothing of another one, which it fetches."""

from __future__ import annotations

import random

from meteor import profile
from meteor.wire.messages import Notice
from squid import covers
from tests.meteor.copies_world import assert_whole_within, build, crash
from tests.meteor.notified_world import matcher_of, opened
from tests.meteor.test_overlay_notifications import readings_of


def test_an_heir_that_was_a_copy_of_another_interval_tells_what_nobody_acknowledged() -> None:
    """A joiner is a copy of its predecessor's, and hears how far clients are there.  That one takes
    over an interval of a peer that had not made the joiner a copy yet, and falls as well."""
    overlay, drawn = build(1, disk_s=0.001), random.Random(1)
    sensor, client = overlay.client(peer=7), overlay.client(peer=6)
    ring = sorted(overlay.peers, key=lambda peer: peer.contact.id)
    first, second, third = ring[2:5]
    interest = overlay.run(opened(client, "temperature=-40..125 humidity>=0"))
    (late,) = readings_of(overlay, first, drawn, 1)
    hear = client._session.handlers[Notice]
    client._session.handlers[Notice] = lambda *_: None  # it comes, and is lost on the way
    overlay.run(sensor.store(profile(late), b"late"))
    overlay.run_for(0.1)
    client._session.handlers[Notice] = hear
    for one in readings_of(overlay, second, drawn, 10):
        overlay.run(sensor.store(profile(one), b"before"))
        overlay.run(interest.recv(timeout=10))
    client._session.handlers[Notice] = lambda *_: None
    assert_whole_within(overlay)
    joins_at = (second.contact.id + third.contact.id) // 2
    first.core._tending._shunned[joins_at] = overlay.kernel.now() + 3600.0  # it was silent there
    heir = overlay.run(overlay.add_peer(joins_at))
    overlay.run_for(5)
    assert heir.core._keeper.marks.of(second.contact.id).watermarks
    gained = first.core.holdings.held[-1]
    crash(first)
    while not covers(second.core.holdings.held, gained[0]):
        overlay.run_for(0.001)
    crash(second)
    overlay.run_for(10)
    assert matcher_of(overlay, late) is heir
    client._session.handlers[Notice] = hear
    assert overlay.run(interest.recv(timeout=60)).data == b"late"
