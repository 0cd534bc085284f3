"""How far clients of interests that are gone were takes no room from those that are there."""

from __future__ import annotations

import pytest

from meteor.copies import their_marks
from meteor.wire.record_id import stem_of
from tests.meteor.copies_world import assert_whole_within, build, copies_of, primary_of
from tests.meteor.notified_world import Listener, opened

LAMP = "type=lamp temperature=1 humidity=2"


def test_a_copy_knows_how_far_a_client_is_after_many_interests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each interest that ever was kept its mark at the copies; with 65,536 of them no new one had
    room, and whoever took over told each client of everything once more."""
    monkeypatch.setattr(their_marks, "MARKS_MAX", 8)
    overlay = build(1, 4, disk_s=0.001)
    assert_whole_within(overlay)
    sensor, other = overlay.client(), overlay.client(peer=1)
    for _ in range(10):
        overlay.run(overlay.run(opened(other, LAMP, ttl=600)).close())
    interest = overlay.run(opened(other, LAMP, ttl=600))
    listener = Listener(other, interest).listen()
    overlay.run(sensor.store(LAMP, b"x", ttl=600))
    overlay.run_for(6.0)
    listener.assert_once()
    assert listener.came
    primary = primary_of(overlay, interest.id)
    for copy in copies_of(overlay, interest.id):
        marks = copy.core._keeper.marks.of(primary.contact.id)
        assert marks.acknowledged(("", stem_of(interest.id))) > 0
