"""A copy that lays down what it had, as the past of that is lost to another primary, confirms
nothing that was not laid down with it.

Law of this file: what a primary writes is on its way to the copy's disk as a stranger, who calls
the past of the interval lost, makes that peer its own copy.
"""

from __future__ import annotations

import random

import pytest

from arms import DATA
from meteor import profile
from meteor.keeping.placement import GONE
from meteor.wire.copy_messages import Instated, Keep, Learn
from meteor.wire.operations import Pull
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    index_of,
    primary_of,
    view_of,
)
from tests.meteor.test_copy_keeper import Stranger, wire

DISK_S, CALL_S = 0.01, 5.0


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_delete_that_is_not_laid_down_with_the_rest_is_not_confirmed(seed: int) -> None:
    """Whoever took in what the copy had of the former view, up to its end as it said, got what had
    been deleted by then, and the delete was acknowledged."""
    overlay = build(seed, 8, disk_s=DISK_S)
    assert_whole_within(overlay)
    data = profile(draw_data(random.Random(seed)))
    record = overlay.run(overlay.client().store(data, b"x", ttl=7200)).id
    primary, view = primary_of(overlay, record), view_of(overlay, record)
    copy, part = copies_of(overlay, record)[0], ((index_of(record),) * 2,)
    stone = wire(record, primary, kind=GONE, blob=b"")
    keep = primary.runtime.call(copy.contact, Keep(part, (stone,)), CALL_S)
    keeping, stranger = overlay.kernel.spawn(keep), Stranger(overlay)
    overlay.run_for(DISK_S / 2)
    lost = stranger.view(part, view.epoch + (1 << 30), lost=part)
    assert stranger.ask(copy, Learn(lost)) == Instated()
    reply = overlay.kernel.run_until(keeping)
    former = stranger.ask(copy, Pull(part[0], 0, view.epoch, primary.contact.id))
    assert former.whole
    assert [one.kind for one in former.carried] == [DATA]
    assert not reply.known
    assert [one.primary for one in reply.newer] == [stranger.contact]
