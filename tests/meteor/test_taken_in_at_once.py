"""Two holders' words on one record that a shelf takes in at once: what is durable is what shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from meteor.keeping.placement import GONE, Admission, key_of
from tests.meteor.test_shelf import World, carried


@pytest.mark.parametrize("kind", [GONE, "data"])
def test_what_shows_is_what_a_restart_finds(kind: str) -> None:
    """A copy is being filled: the delete, or the next version, was sent to it before it showed at
    its primary, and then a page that still had the record as it was.  Both are on their way to the
    disk together; the page, whose word does not count, is written last."""
    world = World()
    before = carried("it", "type=a temperature=1", number=3)
    after = carried("it", "type=a temperature=1", version=2, number=4)
    if kind == GONE:
        after = replace(before, kind=GONE, blob=b"", number=4)
    world.run(world.shelf.admit([after], Admission()), world.shelf.admit([before], Admission()))
    shown = world.shelf.find(key_of(after))
    assert shown is not None
    assert (shown.carried.kind, shown.carried.version) == (kind, after.version)
    found = world.restarted().find(key_of(after))
    assert found is not None
    assert (found.carried.kind, found.carried.version) == (kind, after.version)
