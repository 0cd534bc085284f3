"""What comes from another holder shows when it is said to be here, whatever this peer tries."""

from __future__ import annotations

from dataclasses import replace

from meteor.keeping.placement import GONE, Admission, key_of
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
