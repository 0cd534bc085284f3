"""`once`: what one client is to be told of a single time is told by an heir, too."""

from __future__ import annotations

from random import Random

import pytest

from meteor import profile
from meteor.wire.record_id import stem_of
from tests.meteor.copies_world import crash
from tests.meteor.notified_world import SETTLED_S
from tests.meteor.test_marks_of_several_holders import CELL, LONG, Slow, deaf
from tests.meteor.test_overlay_notifications import readings_of


@pytest.mark.parametrize(
    ("seed", "how"),
    [
        (3, "crashes"),
        pytest.param(3, "leaves", marks=LONG),
        pytest.param(4, "crashes", marks=LONG),
        pytest.param(4, "leaves", marks=LONG),
    ],
)
def test_an_heir_tells_once_of_what_its_primary_did_not_get_through(seed: int, how: str) -> None:
    """Something else came in between: how far the client is lies beyond the interest's number, and
    yet it was told of nothing."""
    slow = Slow(seed)
    overlay = slow.overlay
    interest = overlay.run(slow.client.notify_data(CELL, once=True, ttl=600).__aenter__())
    for one in readings_of(overlay, slow.matcher, Random(seed), 5):
        overlay.run(slow.poster.store(profile(one), b"x", ttl=7200))
    hear_again = deaf(slow.client)
    overlay.run(slow.poster.store(CELL, b"x", id="first", ttl=7200))
    overlay.run_for(5.0)  # the copies have heard how far the client is
    if how == "leaves":
        overlay.run(slow.matcher.leave())
    else:
        crash(slow.matcher)
    overlay.run_for(2.0)
    hear_again()
    overlay.run_for(SETTLED_S)
    told = interest.take_now()
    assert told is not None
    assert stem_of(told.id) == "first"
    assert interest.take_now() is None
