"""What a primary gained a moment ago: its copies have not heard that clients lack pairs of it."""

from __future__ import annotations

import random

import pytest

from meteor import profile
from meteor.wire.messages import Notice
from tests.meteor.copies_world import assert_whole_within, build, crash
from tests.meteor.notified_world import matcher_of, opened
from tests.meteor.test_overlay_notifications import readings_of


@pytest.mark.parametrize("later_s", [0.0, 5.0])
def test_an_heir_of_who_gained_an_interval_a_moment_ago_tells_what_came_with_it(
    later_s: float,
) -> None:
    overlay, drawn = build(1), random.Random(1)
    sensor, client = overlay.client(peer=7), overlay.client(peer=6)
    ring = sorted(overlay.peers, key=lambda peer: peer.contact.id)
    leaves, dies = ring[2], ring[3]
    interest = overlay.run(opened(client, "temperature=-40..125 humidity>=0"))
    (late,) = readings_of(overlay, leaves, drawn, 1)
    hear = client._session.handlers[Notice]
    client._session.handlers[Notice] = lambda *_: None  # it comes, and is lost on the way
    overlay.run(sensor.store(profile(late), b"late"))
    overlay.run_for(0.1)
    client._session.handlers[Notice] = hear
    for one in readings_of(overlay, dies, drawn, 10):
        overlay.run(sensor.store(profile(one), b"before"))
        overlay.run(interest.recv(timeout=10))
    client._session.handlers[Notice] = lambda *_: None
    assert_whole_within(overlay)
    tending = dies.core._tending
    overlay.run_for(2.5)
    began_s = tending._marked_s
    while tending._marked_s == began_s:
        overlay.run_for(0.01)
    overlay.run(leaves.leave())
    assert matcher_of(overlay, late) is dies
    assert overlay.kernel.now() - tending._marked_s < 2.0
    overlay.run_for(later_s)
    crash(dies)
    overlay.run_for(5)
    client._session.handlers[Notice] = hear
    assert overlay.run(interest.recv(timeout=60)).data == b"late"
