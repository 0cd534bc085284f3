"""What lives shorter than it takes to write it down still meets what is there."""

from __future__ import annotations

from meteor.wire.record_id import stem_of
from tests.meteor.copies_world import assert_whole_within, build, copies_of, primary_of
from tests.meteor.notified_world import Listener, opened

LAMP = "type=lamp temperature=1 humidity=2"


def test_an_interest_is_told_of_data_that_ran_out_as_it_was_written() -> None:
    """While a silent copy is evicted, for instance: its receipt said complete, and nobody was told
    of it; what has no time to live at all would have met the interest."""
    overlay = build(1, 4, disk_s=0.001)
    assert_whole_within(overlay)
    sensor, other = overlay.client(), overlay.client(peer=1)
    listener = Listener(other, overlay.run(opened(other, LAMP, ttl=600))).listen()
    assert overlay.disk is not None
    overlay.disk.write_latency_s = 0.4
    receipt = overlay.run(sensor.store(LAMP, b"x", ttl=0.3))
    overlay.disk.write_latency_s = 0.001
    assert receipt.complete
    overlay.run_for(5.0)
    assert listener.came == [stem_of(receipt.id)]


def test_it_takes_the_place_of_the_version_before_it_at_all_holders() -> None:
    """The primary went on with the earlier one, its copies had let go of it."""
    overlay = build(1, 4, disk_s=0.001)
    assert_whole_within(overlay)
    sensor = overlay.client()
    overlay.run(sensor.store(LAMP, b"before", id="it", ttl=600))
    assert overlay.disk is not None
    overlay.disk.write_latency_s = 0.2
    receipt = overlay.run(sensor.store(LAMP, b"after", id="it", ttl=0.15))
    overlay.disk.write_latency_s = 0.001
    overlay.run_for(2.0)
    for holder in (primary_of(overlay, receipt.id), *copies_of(overlay, receipt.id)):
        assert holder.core.shelf.find(("", "it")) is None
        assert b"r:\0it" not in overlay.disk._content[holder.address]
