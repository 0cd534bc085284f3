"""What ran out, or was forgotten, is as if it had never been there: what is posted then is kept."""

from __future__ import annotations

from dataclasses import replace

from meteor.keeping.placement import GONE, Admission, key_of
from tests.meteor.test_shelf import World, carried


def test_a_copy_keeps_what_is_posted_again_as_it_was_just_over() -> None:
    """The same version, of which the one before was not swept yet: the copy said that it has it,
    swept it, and took it for expired from then on."""
    world = World()
    before = carried("it", "type=a temperature=1", number=3, ttl_ms=1000)
    world.run(world.shelf.admit([before], Admission()))
    world.kernel.run(until_s=world.kernel.now() + 1.5)
    again = replace(before, number=9, ttl_ms=60_000)
    world.run(world.shelf.admit([again], Admission()))
    over = world.shelf.store.expire(world.kernel.now())
    world.run(world.shelf.drop([record.key for record in over]))
    assert world.shelf.store.get(*key_of(again)) is not None
    assert world.restarted().find(key_of(again)) is not None


def test_what_was_deleted_under_a_tombstone_that_is_forgotten_can_be_posted_again() -> None:
    """The past of an interval was lost, and its tombstones with it: a name is free there.  Who had
    one of them in memory kept the new record in its table, and answered nobody with it."""
    world = World()
    before = carried("it", "type=a temperature=1", number=3)
    stone = replace(before, kind=GONE, blob=b"", ttl_ms=10**9, number=4)
    world.run(world.shelf.admit([stone], Admission()))
    world.run(world.shelf.erase(world.shelf.forget([key_of(stone)])))
    again = replace(before, version=7, number=9)
    world.run(world.shelf.admit([again], Admission()))
    assert world.shelf.find(key_of(again)) is not None
    assert world.shelf.store.get(*key_of(again)) is not None
