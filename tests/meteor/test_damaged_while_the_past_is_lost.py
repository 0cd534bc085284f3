"""A peer whose journal rotted, and that is back before those who have what it had: its journal is
not made whole by what it holds as lost."""

from __future__ import annotations

import random

from meteor.keeping.shelf_journal import VIEWS_KEY
from tests.meteor.copies_world import ask, assert_whole_within, build, crash, store_some


def test_what_a_peer_knows_nothing_of_may_have_begun_while_its_past_is_lost() -> None:
    """Started once more, it was taken for one that remembers all: a view of its own, of which it
    knew nothing any more, would never have begun."""
    overlay = build(3, 3, disk_s=0.001)
    stored = set(store_some(overlay, overlay.client(), random.Random(3), 12))
    assert_whole_within(overlay)
    first, *others = overlay.peers
    crash(first, *others)
    assert overlay.disk is not None
    overlay.disk.damage(first.address, VIEWS_KEY)
    for _ in range(2):
        first = overlay.run(overlay.restart(first))
        overlay.run_for(60.0)
        assert first.core.views.lost(), "nobody else is there"
        assert first.core.views.damaged
        first.crash()
    first = overlay.run(overlay.restart(first))
    for one in others:
        overlay.run(overlay.restart(one))
    assert_whole_within(overlay, 60)
    overlay.run_for(60.0)
    assert ask(overlay, overlay.client()) == (stored, True)
    first.crash()
    first = overlay.run(overlay.restart(first))
    assert not first.core.views.damaged, "all of it is here again"
