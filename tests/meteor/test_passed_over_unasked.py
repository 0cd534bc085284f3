"""A view passes over a primary that it knows nothing of: what that one's copies keep outlasts it.

Whoever was cut off steps up with an older copy, in a later epoch.  The primary in between remembers
what it had; falls it before it was asked, its copies are the last that have it (found by
`meteor-sim scenario storm --seed 1`, where an interval was named for ever).
"""

from __future__ import annotations

import random

from meteor.wire.copy_messages import Instate, Instated
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    crash,
    store_some,
    view_of,
)
from tests.meteor.test_copy_keeper import Stranger


def test_a_copy_of_the_primary_that_was_passed_over_still_has_it_all() -> None:
    overlay = build(3, 6, disk_s=0.001)
    stored = store_some(overlay, overlay.client(), random.Random(3), 12)
    assert_whole_within(overlay)
    copy, view = copies_of(overlay, stored[0])[0], view_of(overlay, stored[0])
    later = view.epoch + (1 << 32)
    crash(*(one for one in overlay.living if one is not copy))
    stranger = Stranger(overlay)
    reply = stranger.ask(copy, Instate(stranger.view(view.intervals, later)))
    assert isinstance(reply, Instated)
    assert [one.primary for one in reply.beside] == [view.primary]
    overlay.run_for(3.0)  # what is kept for nobody any more is forgotten meanwhile
    assert copy.core.views.has_all_of(view.intervals, view.primary.id, view.epoch)
    assert copy.core.shelf.find(("", stored[0].partition(".")[0])) is not None
