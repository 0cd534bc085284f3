"""What takes the place of something that would have lived longer keeps that away to its end."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from meteor import Client, profile
from meteor.keeping.outlived import SPARE_MS
from meteor.keeping.placement import MOVED, Admission, key_of
from meteor.rendezvous.task import refusal
from meteor.wire import codec
from meteor.wire.operations import Carried, Operation
from meteor.wire.record_id import split_id, stem_of
from sim.overlay import Overlay
from tests.meteor.building import SPACE, draw_data
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    is_shown,
    primary_of,
    restart_all,
    seeds,
)
from tests.meteor.test_shelf import World, carried

SHORT_S = 10.0
BACK_WITHIN_S = 60.0


def shorten(overlay: Overlay, client: Client, text: str, record_id: str, how: str) -> None:
    """Let a record live for some seconds from now on, where it is."""
    if how == "renewed":
        assert overlay.run(client.renew(record_id, ttl=SHORT_S)).matches == 1
    else:
        receipt = overlay.run(client.replace(record_id, profile(text), b"y", ttl=SHORT_S))
        assert receipt.id == record_id


@pytest.mark.parametrize("how", ["renewed", "replaced"])
@pytest.mark.parametrize("seed", seeds(1, 3))
@pytest.mark.parametrize("others_fell", [False, True])
def test_what_was_shortened_does_not_live_on_with_a_copy_that_was_down(
    seed: int, how: str, *, others_fell: bool
) -> None:
    """It had what was there before, for its whole time, and nobody knew better any more."""
    overlay, text = build(seed, 9), draw_data(random.Random(seed))
    first = overlay.run(overlay.client().store(profile(text), b"x", ttl=7200)).id
    assert_whole_within(overlay)
    ancient = copies_of(overlay, first)[0]
    client = client_away_from(overlay, first)
    ancient.crash()
    assert_whole_within(overlay)
    shorten(overlay, client, text, first, how)
    assert len(ask(overlay, client)[0]) == 1
    overlay.run_for(SHORT_S + 5.0)
    assert ask(overlay, client) == (set(), True)
    if others_fell:
        crash(*overlay.living)
        restart_all(overlay, overlay.peers)
        client = overlay.client()
    else:
        overlay.run(overlay.restart(ancient))
    overlay.run_for(BACK_WITHIN_S)
    assert ask(overlay, client) == (set(), True)
    assert_whole_within(overlay)


@pytest.mark.parametrize(
    "seed", [2, *(pytest.param(seed, marks=pytest.mark.long) for seed in (13, *range(14, 24), 25))]
)
def test_what_the_other_side_of_a_partition_shortened_does_not_live_on(seed: int) -> None:
    """The side that wrote the later version never had the one before; who had that fell before the
    two met again."""
    overlay, drawn = build(seed, 9, disk_s=0.001), random.Random(seed)
    text = draw_data(drawn)
    assert_whole_within(overlay)
    peers = drawn.sample(overlay.peers, 9)
    sides = peers[:4], peers[4:]
    clients = [overlay.client(peer=overlay.peers.index(side[0])) for side in sides]
    cut = overlay.faults.partition(*([peer.contact for peer in side] for side in sides))
    overlay.run_for(8.0)
    first = overlay.run(clients[0].store(profile(text), b"x", id="it", ttl=7200)).id
    overlay.run_for(3.0)
    having = [one for one in sides[0] if one.core.shelf.find(("", "it")) is not None]
    ancient = next(one for one in having if one is not sides[0][0])
    ancient.crash()
    second = overlay.run(clients[1].store(profile(text), b"y", id="it", ttl=90)).id
    assert first == second
    cut.heal()
    assert_whole_within(overlay, BACK_WITHIN_S)
    overlay.run_for(90.0)
    assert ask(overlay, clients[1]) == (set(), True)
    overlay.run(overlay.restart(ancient))
    overlay.run_for(BACK_WITHIN_S)
    assert ask(overlay, clients[1]) == (set(), True)


def test_what_is_posted_again_after_it_ran_out_is_at_all_copies() -> None:
    """An interest is, under its version, where a part of its region did not say whether it is there
    still.  Its copies had word of the renewal that had shortened it, and took it for what was there
    before that."""
    overlay = build(1, 9, disk_s=0.001)
    client = overlay.client()
    record = overlay.run(client.store("type=lamp temperature=1 humidity=2", b"x", ttl=7200)).id
    known = primary_of(overlay, record).core.shelf.find(("", stem_of(record)))
    assert known is not None
    posted = known.carried
    assert overlay.run(client.renew(record, ttl=5)).matches == 1
    assert_whole_within(overlay)
    overlay.run_for(8.0)
    assert ask(overlay, client) == (set(), True)
    again = Operation("store", record, posted.version, "", 600_000, document=posted.blob)
    box = split_id(record, SPACE.curve)[1]
    router = overlay.peers[0].core.router
    assert overlay.run(router.disseminate(box, codec.encode(again), timeout_s=5)).complete
    for peer in [primary_of(overlay, record), *copies_of(overlay, record)]:
        assert is_shown(peer, record)
    assert ask(overlay, client) == ({record}, True)


def shown(world: World, *changes: Carried) -> list[Carried]:
    """Write changes down and let them show, as whoever answers for them does."""

    async def write() -> list[Carried]:
        written = []
        for one in changes:
            local = replace(one, ttl_ms=one.ttl_ms + world.shelf.wall_ms())
            written += await world.shelf.write([local])
            for each in written:
                world.shelf.show(each)
        return written

    (written,) = world.run(write())
    assert isinstance(written, list)
    return written


def test_the_word_is_there_after_a_restart_and_ends_with_what_it_keeps_away() -> None:
    world = World()
    long = carried("it", "type=a temperature=1", ttl_ms=3_600_000)
    short = replace(long, version=2, ttl_ms=1000)
    word = shown(world, long, short)[-1]
    assert (word.kind, word.version, word.moved_to) == (MOVED, 2, "")
    assert world.shelf.store.get(*key_of(short)) is not None
    world.kernel.run(until_s=world.kernel.now() + 2.0)
    world.run(world.shelf.drop([one.key for one in world.shelf.store.expire(world.kernel.now())]))
    for _ in range(2):
        world.run(world.shelf.admit([long], Admission()))
        assert world.shelf.find(key_of(long)) is None
        assert world.shelf.find(key_of(word)) is not None
        world.shelf = world.restarted()
    world.kernel.run(until_s=world.kernel.now() + 3600 * 1.01 + SPARE_MS / 1000)
    assert world.shelf.stones_over(10) == [key_of(word)]


def test_what_comes_to_a_copy_together_with_its_word_is_there_after_a_restart() -> None:
    """The word takes from the journal what it found there; that had its identity by then."""
    world, beside = World(), World()
    long = carried("it", "type=a temperature=1", ttl_ms=3_600_000)
    short = replace(long, version=2, ttl_ms=60_000)
    sent = [beside.shelf.outgoing(one) for one in shown(beside, long, short)[1:]]
    assert [one.kind for one in sent] == ["data", MOVED]
    world.run(world.shelf.admit([long], Admission()))
    world.run(world.shelf.admit(sent, Admission()))
    for shelf in (world.shelf, world.restarted()):
        known = shelf.find(key_of(short))
        assert known is not None
        assert known.carried.version == 2
        assert shelf.find(key_of(sent[1])) is not None


def test_a_word_stands_as_long_as_the_longest_of_those_that_it_keeps_away() -> None:
    """Of three versions each lives shorter than the one before."""
    world = World()
    first = carried("it", "type=a temperature=1", ttl_ms=3_600_000)
    second = replace(first, version=2, ttl_ms=600_000)
    third = replace(first, version=3, ttl_ms=1000)
    word = shown(world, first, second, third)[-1]
    assert (word.kind, word.version) == (MOVED, 3)
    assert word.ttl_ms >= world.shelf.wall_ms() + 3_600_000 - 1000


def test_what_lives_longer_than_the_one_before_leaves_no_word() -> None:
    world = World()
    first = carried("it", "type=a temperature=1", ttl_ms=60_000)
    shown(world, first, replace(first, version=2), replace(first, version=3, ttl_ms=90_000))
    assert len(world.shelf.table) == 1


def test_a_repeated_post_is_not_refused_for_the_word_that_it_left() -> None:
    world = World()
    long = carried("it", "type=a temperature=1", ttl_ms=3_600_000)
    short = replace(long, version=2, ttl_ms=60_000)
    word = shown(world, long, short)[-1]
    assert refusal(short, world.shelf.find(key_of(word))) == ""
    assert refusal(long, world.shelf.find(key_of(word))) == "older"
