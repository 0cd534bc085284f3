"""What comes from another holder shows when it is said to be here, whatever this peer tries."""

from __future__ import annotations

from dataclasses import replace

from meteor.keeping.placement import GONE, MOVED, Admission, key_of
from tests.meteor.test_shelf import World, carried


def test_a_delete_of_another_holder_shows_while_the_same_one_waits_for_a_copy_here() -> None:
    """It was taken for known, and whoever held the interval from then on answered without it, until
    its own copies had been given up."""
    world = World()
    kept = carried("it", "type=a temperature=1", number=1)
    world.run(world.shelf.admit([kept], Admission()))
    stone = replace(kept, kind=GONE, blob=b"", ttl_ms=10**9)
    begun = world.shelf.begin([replace(stone, ttl_ms=10**9 + world.shelf.wall_ms())])
    world.run(world.shelf.commit(begun))
    world.run(world.shelf.admit([replace(stone, number=9)], Admission()))
    assert world.shelf.store.get(*key_of(kept)) is None
    for one in begun:
        world.shelf.show(one)
    world.shelf.end(begun)
    for _ in range(2):
        known = world.shelf.find(key_of(kept))
        assert known is not None
        assert known.carried.kind == GONE
        world.shelf = world.restarted()


def test_what_another_holder_has_is_no_news_while_the_same_is_on_its_way_here() -> None:
    world = World()
    offered = carried("it", "type=a temperature=1", version=2)
    begun = world.shelf.begin([replace(offered, ttl_ms=offered.ttl_ms + world.shelf.wall_ms())])
    assert world.shelf.news([offered, replace(offered, version=1)]) == []
    assert [one.version for one in world.shelf.news([replace(offered, version=3)])] == [3]
    world.shelf.end(begun)
    assert len(world.shelf.news([offered])) == 1


def test_what_moved_on_is_no_news_where_it_was() -> None:
    world = World()
    was = carried("it", "type=a temperature=1", version=1)
    word = replace(was, kind=MOVED, version=2, blob=b"", moved_to="elsewhere")
    world.run(world.shelf.admit([word], Admission()))
    assert world.shelf.news([was]) == []
    assert [one.version for one in world.shelf.news([replace(was, version=2)])] == [2]
