"""A row of the journal is damaged, and something is written in its place: the rest is there, and
the peer still does not know what it had lost."""

from __future__ import annotations

import pytest

from meteor.keeping.placement import Admission, journal_key, key_of
from meteor.keeping.shelf_journal import VIEWS_KEY, Restored
from meteor.keeping.views import Views
from meteor.wire.view import View
from tests.meteor.test_shelf import EVERYTHING, HERE, World, carried

ONE = carried("it", "type=a temperature=1", ttl_ms=60_000)


def restart(world: World) -> Restored:
    world.shelf = world.new_shelf(world.disk.journal("shelf"))
    (restored,) = world.run(world.shelf.restore())
    assert isinstance(restored, Restored)
    return restored


@pytest.mark.parametrize("key", [VIEWS_KEY, journal_key(key_of(ONE))])
def test_a_peer_that_is_started_twice_still_says_that_it_lost_something(key: bytes) -> None:
    """It took what it had for proof again: that an epoch of which it knows nothing never began, or
    that it has all of one, of which it had been given an earlier version of a record."""
    world, views = World(), Views()
    views.put_own(View(HERE, 1, 1, EVERYTHING, ()))
    world.run(world.shelf.admit([ONE], Admission()), world.shelf.note(views))
    world.disk.damage("shelf", key)
    for _ in range(2):
        restored = restart(world)
        assert not restored.whole
        assert restored.remembers == (key != VIEWS_KEY), "what it had a part in"
        world.run(world.shelf.admit([ONE], Admission()), world.shelf.note(Views()))
    world.run(world.shelf.rewrite(Views()))
    assert restart(world).whole


def test_who_forgot_what_it_had_a_part_in_has_forgotten_it_as_a_record_is_lost_besides() -> None:
    world, views = World(), Views()
    views.put_own(View(HERE, 1, 1, EVERYTHING, ()))
    world.run(world.shelf.admit([ONE], Admission()), world.shelf.note(views))
    for key in (VIEWS_KEY, journal_key(key_of(ONE))):
        world.disk.damage("shelf", key)
        assert not restart(world).remembers
        world.run(world.shelf.note(views))
    assert not restart(world).remembers
