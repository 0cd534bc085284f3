"""A record that goes to and fro leaves word in one place again and again: the last one counts."""

from __future__ import annotations

from dataclasses import replace

from meteor.keeping.placement import GONE, MOVED, Admission, key_of
from meteor.rendezvous.changes import TOMBSTONE_MS
from tests.meteor.test_shelf import World, carried

PERIOD_S = 86_400.0


def test_a_later_word_in_the_place_of_an_earlier_one_has_its_whole_time() -> None:
    """When the time of the first one was over, the last one was forgotten: what a peer that was
    down has of the record came back, and old ids led nowhere."""
    world = World()
    here = carried("it", "type=a temperature=1")
    first = replace(
        here, kind=MOVED, blob=b"", version=2, moved_to="it.elsewhere", ttl_ms=TOMBSTONE_MS
    )
    world.run(world.shelf.admit([first], Admission()))
    world.kernel.run(until_s=world.kernel.now() + PERIOD_S)
    last = replace(first, version=4)
    world.run(world.shelf.admit([last], Admission()))
    world.kernel.run(until_s=world.kernel.now() + TOMBSTONE_MS / 1000 - PERIOD_S / 2)
    assert world.shelf.stones_over(100) == []
    known = world.shelf.find(key_of(last))
    assert known is not None
    assert known.carried.version == 4
    world.kernel.run(until_s=world.kernel.now() + PERIOD_S)
    assert world.shelf.stones_over(100) == [key_of(last)]


def test_many_words_in_one_place_are_remembered_as_one() -> None:
    """For thirty days each took some room, though only the last one was there."""
    world = World()
    here = carried("it", "type=a temperature=1")
    for version in range(2, 2002, 2):
        word = replace(
            here, kind=MOVED, blob=b"", version=version, moved_to="x", ttl_ms=TOMBSTONE_MS
        )
        world.run(world.shelf.admit([word], Admission()))
    assert len(world.shelf.table._stones) <= 64


def test_a_tombstone_that_comes_and_goes_is_remembered_once() -> None:
    """Who is a copy now and then gets all tombstones each time, and lets go of them: for thirty
    days each time took some room.  Whoever sends one rounds its time down."""
    world = World()
    here = carried("it", "type=a temperature=1")
    stone = replace(here, kind=GONE, blob=b"", version=2, ttl_ms=TOMBSTONE_MS)
    for times in range(500):
        world.run(world.shelf.admit([replace(stone, ttl_ms=TOMBSTONE_MS - times)], Admission()))
        if times < 499:
            world.run(world.shelf.erase(world.shelf.forget_outside(())))
    assert len(world.shelf.table._stones) <= 64
    world.kernel.run(until_s=world.kernel.now() + TOMBSTONE_MS / 1000 - PERIOD_S)
    assert world.shelf.stones_over(100) == []
    world.kernel.run(until_s=world.kernel.now() + PERIOD_S)
    assert world.shelf.stones_over(100) == [key_of(stone)]
    assert world.shelf.stones_over(100) == []


def test_what_ends_earlier_than_what_was_there_is_over_in_time() -> None:
    """It is noted anew, and what was noted before names it no second time."""
    world = World()
    here = carried("it", "type=a temperature=1")
    long = replace(here, kind=MOVED, blob=b"", version=2, moved_to="x", ttl_ms=TOMBSTONE_MS)
    short = replace(long, version=4, ttl_ms=1000 * int(PERIOD_S))
    world.run(world.shelf.admit([long], Admission()))
    world.run(world.shelf.erase(world.shelf.forget_outside(())))
    world.run(world.shelf.admit([short], Admission()))
    world.kernel.run(until_s=world.kernel.now() + PERIOD_S + 1.0)
    assert world.shelf.stones_over(100) == [key_of(short)]
    world.run(world.shelf.drop([key_of(short)]))
    world.run(world.shelf.admit([long], Admission()))
    world.kernel.run(until_s=world.kernel.now() + TOMBSTONE_MS / 1000 + 1.0)
    assert world.shelf.stones_over(100) == [key_of(long)]
    assert world.shelf.stones_over(100) == []


def test_what_one_delete_took_is_remembered_once_as_well() -> None:
    """Of what it took this peer holds some, and has copies of others now and then: whoever asks
    what that was went through all that ever came."""
    world = World()
    stays, goes = (
        replace(
            carried(name, "type=a temperature=1"), kind=GONE, blob=b"", version=2,
            ttl_ms=TOMBSTONE_MS, operation=b"delete",
        )
        for name in ("stays", "goes")
    )  # fmt: skip
    world.run(world.shelf.admit([stays], Admission()))
    for _ in range(500):
        world.run(world.shelf.admit([goes], Admission()))
        asked = world.shelf.buried(b"delete")
        assert [key_of(one.carried) for one in asked] == [key_of(stays), key_of(goes)]
        world.run(world.shelf.erase(world.shelf.forget([key_of(goes)])))
    assert [key_of(one.carried) for one in world.shelf.buried(b"delete")] == [key_of(stays)]
    assert len(world.shelf.table._graves[b"delete"].keys) <= 128


def test_who_asks_what_a_delete_took_hears_of_it_though_most_of_it_goes_meanwhile() -> None:
    world = World()
    stones = [
        replace(
            carried(f"s{number:03}", "type=a temperature=1"), kind=GONE, blob=b"", version=2,
            ttl_ms=TOMBSTONE_MS, operation=b"delete",
        )
        for number in range(300)
    ]  # fmt: skip
    world.run(world.shelf.admit(stones[:-1], Admission()))
    asked = world.shelf.buried(b"delete")
    assert key_of(next(asked).carried) == key_of(stones[0])
    not_begun = world.shelf.buried(b"delete")
    world.run(world.shelf.erase(world.shelf.forget([key_of(one) for one in stones[1:-2]])))
    world.run(world.shelf.admit(stones[-1:], Admission()))
    assert [key_of(one.carried) for one in asked] == [key_of(stones[-2])]
    assert [key_of(one.carried) for one in not_begun] == [key_of(stones[0]), key_of(stones[-2])]
