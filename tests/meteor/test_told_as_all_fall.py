"""What a peer tells its clients while its ring falls, or was just started again and has lost it.

A change that found nothing to write was answered at once, though what it found may have been here
alone: who tried it before got no answer, as nobody else could keep it.  And what came while a past
was lost was shown again as that was lost once more, though a later view had had all of it, and the
deletes that followed.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable
from dataclasses import replace

import pytest

from chord import Contact
from meteor import Client, Incomplete, profile
from meteor.copies.config import CopiesConfig
from meteor.keeping.known_views import KnownViews
from meteor.wire.view import View
from sim.overlay import Overlay, SimPeer
from squid import covers
from tests.meteor import copies_world
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    crash,
    index_of,
    is_shown,
    primary_of,
    restart_all,
    store_some,
    view_of,
)

FALLING_S = CopiesConfig().falling_s


def stored(peers: int, seed: int) -> tuple[Overlay, str, SimPeer, Client]:
    """A ring with one record, its primary, and a client there."""
    overlay, drawn = build(seed, peers, disk_s=0.001), random.Random(seed)
    (record,) = store_some(overlay, overlay.client(), drawn, 1)
    assert_whole_within(overlay)
    primary = primary_of(overlay, record)
    return overlay, record, primary, overlay.client(peer=overlay.peers.index(primary))


def takes_s(overlay: Overlay, change: Awaitable[object]) -> float:
    began_s = overlay.kernel.now()
    overlay.run(change)  # type: ignore[arg-type]
    return overlay.kernel.now() - began_s


# -- what finds nothing to write


def test_what_was_written_here_alone_is_not_said_to_be_so_already() -> None:
    overlay, record, primary, client = stored(3, 1)
    crash(*(peer for peer in overlay.peers if peer is not primary))
    for _ in range(3):  # the second finds what the first one wrote
        with pytest.raises(Incomplete):
            overlay.run(client.cancel(record, timeout=0.4))
    overlay.run_for(FALLING_S)
    overlay.run(client.cancel(record, timeout=0.4))
    assert not is_shown(primary, record)


def test_nor_does_a_delete_find_nothing() -> None:
    overlay, record, primary, client = stored(3, 1)
    crash(*(peer for peer in overlay.peers if peer is not primary))
    for _ in range(3):
        with pytest.raises(Incomplete):
            overlay.run(client.delete_data("type=*", everywhere=True, timeout=0.4))
    overlay.run_for(FALLING_S)
    assert overlay.run(client.delete_data("type=*", everywhere=True, timeout=0.4)).complete
    assert not is_shown(primary, record)


def test_it_is_told_as_soon_as_it_may_be() -> None:
    """Not by the client's next attempt."""
    overlay, record, primary, client = stored(3, 1)
    crash(*(peer for peer in overlay.peers if peer is not primary))
    with pytest.raises(Incomplete):
        overlay.run(client.cancel(record, timeout=0.4))
    began_s = overlay.kernel.now()
    overlay.run(client.cancel(record, timeout=20))
    assert overlay.kernel.now() - began_s < FALLING_S


def test_what_is_to_change_nothing_waits_for_nobody() -> None:
    overlay, record, primary, client = stored(3, 1)
    crash(*(peer for peer in overlay.peers if peer is not primary))
    with pytest.raises(Incomplete):
        overlay.run(client.renew(record, ttl=9000, timeout=0.4))
    asked = client.delete_data("type=*", everywhere=True, dry_run=True, timeout=0.4)
    assert overlay.run(asked).matches == 1


# -- who is falling


@pytest.mark.parametrize(("peers", "waits"), [(4, True), (5, True), (6, False)])
def test_two_that_go_one_after_the_other_are_waited_for_where_few_are_left(
    peers: int, waits: bool
) -> None:
    """The first was a copy, the second took its place; k that are left may be all that fall yet."""
    overlay, record, _, client = stored(peers, 2)
    first = copies_of(overlay, record)[0]
    crash(first)
    overlay.run_for(0.3)
    second = next(one for one in copies_of(overlay, record) if one is not first)
    assert overlay.run(client.renew(record, ttl=7300)).complete
    crash(second)
    spent_s = takes_s(overlay, client.renew(record, ttl=7400, timeout=20))
    assert (spent_s >= FALLING_S - 0.5) is waits, spent_s


@pytest.mark.parametrize("which", range(3))
def test_who_had_nothing_with_the_one_that_is_left_is_missed_as_well(
    which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what was lost with them it knew no holder: it was told of at once, by a single peer."""
    monkeypatch.setattr(copies_world, "COPIES", 2)
    overlay, record, primary, _ = stored(5, 2)
    (copy,) = copies_of(overlay, record)
    left = [one for one in overlay.peers if one not in {primary, copy}][which]
    crash(*(one for one in overlay.peers if one is not left))
    overlay.run_for(0.1)
    assert left.core.views.lost()
    again = profile(draw_data(random.Random(2)))  # where the first one was
    spent_s = takes_s(overlay, overlay.client(peer=0).store(again, b"y", timeout=20))
    assert FALLING_S - 0.5 <= spent_s < 20
    assert covers(left.core.views.lost(), index_of(record))


@pytest.mark.parametrize("seed", range(1, 7))
def test_who_is_back_is_not_one_that_went(seed: int) -> None:
    """Though nothing that this one answers for is with it."""
    overlay, *_ = stored(5, seed)
    first, second = overlay.peers[:2]
    crash(first)
    overlay.run_for(0.2)
    restart_all(overlay, [first])
    assert_whole_within(overlay)
    left = [one for one in overlay.living if one not in (first, second)]
    crash(second)
    overlay.run_for(0.2)
    for one in left:
        witnesses = one.core.replication._witnesses
        witnesses._forget_who_is_back()
        assert not {peer.contact.id for peer in overlay.living} & set(witnesses._dead)


def test_what_became_too_few_as_it_was_written_shows_where_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the journal alone it was not there until its peer was started again: a delete that came
    meanwhile passed it by, and it was shown after that."""
    overlay, record, primary, client = stored(3, 6)
    copying, said = primary.core.replication.copying, [False, True]
    primary.core.views.company = 3
    monkeypatch.setattr(copying, "_too_few", lambda _: said.pop(0))
    with pytest.raises(Incomplete):
        overlay.run(client.cancel(record, timeout=0.4))
    assert said == []
    assert not is_shown(primary, record)
    assert not any(is_shown(one, record) for one in copies_of(overlay, record))


def test_one_that_goes_is_waited_for_by_nobody() -> None:
    overlay, record, _, client = stored(4, 3)
    crash(copies_of(overlay, record)[0])
    assert takes_s(overlay, client.renew(record, ttl=7300, timeout=20)) < 1


@pytest.mark.parametrize("peers", [3, 4, 5])
def test_nor_are_those_that_leave(peers: int) -> None:
    """One after the other; others have all that they had."""
    for seed in range(1, 4):
        overlay, _, primary, _ = stored(peers, seed)
        going = [peer for peer in overlay.peers if peer is not primary][:2]
        for peer in going:
            overlay.run(peer.leave())
            overlay.run_for(0.5)
        client, drawn = overlay.client(peer=overlay.living.index(primary)), random.Random(seed)
        for _ in range(4):
            data = profile(draw_data(drawn))
            assert takes_s(overlay, client.store(data, b"y", ttl=7200, timeout=20)) < 0.3


def test_two_that_go_long_apart_are_waited_for_by_nobody() -> None:
    overlay, record, _, client = stored(5, 4)
    for _ in range(2):
        overlay.run_for(FALLING_S + 2)
        crash(copies_of(overlay, record)[0])
        assert takes_s(overlay, client.renew(record, ttl=7300, timeout=20)) < 1


def test_who_had_it_before_an_heir_counts_among_those_that_went() -> None:
    """Of its own copies an heir that had none would not know who is gone."""
    overlay, record, primary, _ = stored(3, 5)
    replication, view = primary.core.replication, view_of(overlay, record)
    gone, present = (Contact(1, "peer-1"), Contact(2, "peer-2")), view.copies
    for had, waits in ((gone, True), (gone[:1], False), (present, False)):
        adopted = replace(view_of(overlay, record), copies=had)
        primary.core.views.give(view.intervals)  # an heir takes over what it does not hold
        take = primary.core._handoff._take(view.intervals, adopted, present, (), lost=False)
        overlay.run(take)
        assert replication.lacks(view_of(overlay, record)) is waits
        overlay.run_for(FALLING_S)


def test_who_is_silent_went_though_the_ring_names_it_yet() -> None:
    """One is given up as it does not answer, the other as it does not agree to that."""
    overlay, record, primary, _ = stored(5, 6)
    one, other = copies_of(overlay, record)
    one.pause()
    other.pause()
    overlay.run(primary.core.replication.evict(one.contact))
    while not (view := view_of(overlay, record)).copies:
        overlay.run_for(0.01)
    assert {one.contact, other.contact} & set(primary.core.node.successors)
    assert primary.core.replication.lacks(view)
    primary.core.replication.note_left(one.contact)  # one that is gone for good had said so before
    assert not primary.core.replication.lacks(view)


# -- what came since a past was lost

ONE, OTHER = Contact(1, "peer-1"), Contact(2, "peer-2")
PART = ((0, 99),)
SINCE = View(ONE, 4, 4, PART, (), lost=((0, 49),))


def remembering(*views: View) -> KnownViews:
    known = KnownViews()
    known.former = list(views)
    return known


def test_what_came_since_a_past_was_lost_counts_where_nothing_is_known_later() -> None:
    earlier = View(OTHER, 3, 3, PART, ())
    assert remembering(SINCE, earlier).since_lost(SINCE, ((10, 99),)) == ((10, 49),)


def test_it_does_not_where_a_later_view_had_its_past() -> None:
    later = View(OTHER, 5, 5, ((0, 19),), ())
    lost_too = View(OTHER, 6, 6, ((0, 29),), (), lost=((0, 29),))
    assert remembering(SINCE, later).since_lost(SINCE, PART) == ((20, 49),)
    assert remembering(lost_too).since_lost(SINCE, PART, [later]) == ((20, 49),)
