"""A renewal was under way as its record ran out: the record is as if it had always been there."""

from __future__ import annotations

from meteor.wire.record_id import stem_of
from tests.meteor.copies_world import assert_whole_within, build, primary_of
from tests.meteor.notified_world import Listener, opened


def test_an_interest_that_came_meanwhile_is_told_of_it() -> None:
    """It was written down as the data was over, and nobody looked at the two again."""
    overlay = build(1, 4, disk_s=0.001)
    assert_whole_within(overlay)
    sensor, other = overlay.client(), overlay.client(peer=1)
    stored = overlay.run(sensor.store("type=lamp temperature=1 humidity=2", b"x", ttl=2)).id
    assert overlay.disk is not None
    overlay.run_for(1.5)
    overlay.disk.write_latency_s = 0.4
    opening = overlay.kernel.spawn(opened(other, "type=lamp temperature=1 humidity=2", ttl=600))
    overlay.run_for(0.3)
    renewing = overlay.kernel.spawn(sensor.renew(stored, ttl=600))
    overlay.kernel.run_until(opening)
    overlay.kernel.run_until(renewing)
    overlay.disk.write_latency_s = 0.001
    listener = Listener(other, opening.result()).listen()
    overlay.run_for(5.0)
    assert primary_of(overlay, stored).core.shelf.find(("", stem_of(stored))) is not None
    assert listener.came == [stem_of(stored)]
