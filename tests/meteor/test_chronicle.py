"""What began, as one peer was told: index by index against a dumb twin, and where it stands against
what nobody else is left to contradict."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import Contact
from meteor import profile
from meteor.keeping.chronicle import CHRONICLE_MAX, Chronicle, Heard
from meteor.wire.copy_messages import Begun
from meteor.wire.view import EPOCHS, View
from squid import Interval, Intervals, merge
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    primary_of,
    seeds,
    view_of,
)

SIZE = 10
PEERS = [Contact(n, f"peer-{n}") for n in range(3)]

spans = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)).map(
    lambda ends: (min(ends), max(ends))
)
parts = st.lists(spans, min_size=1, max_size=2).map(lambda found: merge(tuple(found)))
lost = st.lists(spans, max_size=1).map(lambda found: merge(tuple(found)))
views = st.builds(
    View, st.sampled_from(PEERS), st.integers(1, 2), st.integers(1, 5), parts, st.just(()), lost
)


def indexes(part: Intervals) -> set[int]:
    return {index for first, last in part for index in range(first, last + 1)}


def each(index: int) -> tuple[Interval, ...]:
    return ((index, index),)


@given(st.lists(views, max_size=8))
def test_of_every_index_the_latest_that_did_not_call_it_lost_is_known(said: list[View]) -> None:
    told, again = Chronicle(), Chronicle()
    for view in said:
        told.note(view)
    again.restore(told.written())
    assert not told.unwritten
    for index in range(SIZE):
        ranks = [(one.epoch, one.key) for one in said
                 if index in indexes(one.intervals) - indexes(one.lost)]  # fmt: skip
        for subject in (told, again):
            known = [(one.epoch, one.key) for one in subject.of(each(index))]
            assert known == ([max(ranks)] if ranks else [])
        for epoch in range(7):
            later = bool(ranks) and max(ranks)[0] > epoch
            assert told.after(each(index), epoch) == (each(index) if later else ())


@given(st.lists(st.tuples(parts, st.integers(1, 5)), max_size=8))
def test_of_every_index_the_latest_word_is_known(said: list[tuple[Intervals, int]]) -> None:
    subject = Heard()
    for part, epoch in said:
        subject.note(part, epoch)
    for index in range(SIZE):
        epochs = [epoch for part, epoch in said if index in indexes(part)]
        assert max(epoch for epoch, _ in subject.of(each(index))) == max(epochs, default=0)


def test_what_is_forgotten_counts_as_heard_everywhere() -> None:
    """To have heard of too much names an interval too often; of too little, not at all."""
    subject = Heard()
    for n in range(CHRONICLE_MAX + 5):
        subject.note(((2 * n, 2 * n),), n + 1)
    assert subject.of(((1, 1),)) == ((5, ((1, 1),)),)
    assert max(epoch for epoch, _ in subject.of(((8, 10),))) == 6


def test_no_more_is_remembered_than_its_bound_and_no_nonsense() -> None:
    subject = Chronicle()
    for n in range(2 * CHRONICLE_MAX):
        subject.note(View(PEERS[0], n, n + 1, ((2 * n, 2 * n),), ()))
    assert len(subject) == CHRONICLE_MAX
    subject.note(View(PEERS[0], 1, EPOCHS, ((0, 1000),), ()))
    assert len(subject) == CHRONICLE_MAX
    assert subject.after(((0, 1000),), EPOCHS - 1) == ()


@pytest.mark.parametrize("seed", seeds(3, 12))
def test_holders_of_an_epoch_that_passed_are_no_last_word_though_nobody_else_is_left(
    seed: int,
) -> None:
    """Both copies of an interval fall, its primary goes on with recruits and acknowledges a store
    and a delete; then primary and recruits fall for good, and the first two come back."""
    overlay = build(seed, 9, disk_s=0.001)
    probe = profile(draw_data(random.Random(seed)))
    client = overlay.client()
    early = overlay.run(client.store(probe, b"early", id="early", ttl=7200)).id
    deleted = overlay.run(client.store(probe, b"x", id="deleted", ttl=7200)).id
    assert_whole_within(overlay)
    first = copies_of(overlay, early)
    crash(*first)
    assert_whole_within(overlay)
    client = client_away_from(overlay, early)
    assert overlay.run(client.cancel(deleted)).matches == 1
    late = overlay.run(client.store(probe, b"late", id="late", ttl=7200)).id
    last = [primary_of(overlay, early), *copies_of(overlay, early)]
    assert not {one.contact.id for one in first} & view_of(overlay, early).holder_ids
    crash(*last)
    for peer in first:
        overlay.run(overlay.restart(peer))
    ends_s = overlay.kernel.now() + 12.0
    while overlay.kernel.now() < ends_s:
        complete = assert_never_silently_partial(overlay, client, {early, late})
        overlay.run_for(0.3)
    assert not complete
    for peer in last:
        overlay.run(overlay.restart(peer))
    assert_whole_within(overlay, 60)
    assert ask(overlay, client) == ({early, late}, True)


def test_who_was_told_writes_it_down() -> None:
    overlay = build(1, 6, disk_s=0.001)
    teller, hearer = overlay.peers[0], overlay.peers[3]
    view = View(Contact(5, "10.9.9.9:1"), 7, 1 << 40, ((0, 9),), ())
    teller.runtime.send(hearer.contact, Begun((view,)))
    overlay.run_for(2.0)
    assert hearer.core.views.chronicle.after(((0, 9),), 1 << 39) == ((0, 9),)
    assert hearer.core.views.next_epoch() > 1 << 40
    hearer.crash()
    again = overlay.run(overlay.restart(hearer))
    assert again.core.views.chronicle.after(((0, 9),), 1 << 39) == ((0, 9),)


def test_a_primary_that_hears_of_something_later_goes_on_after_it() -> None:
    """Whoever remembers that would else not believe in what is acknowledged here."""
    overlay = build(2, 6, disk_s=0.001)
    teller, hearer = overlay.peers[0], overlay.peers[3]
    (mine, *_) = hearer.core.views.own.values()
    view = View(Contact(5, "10.9.9.9:1"), 7, mine.epoch + (1 << 30), mine.intervals[:1], ())
    teller.runtime.send(hearer.contact, Begun((view,)))
    overlay.run_for(3.0)
    assert hearer.core.views.own[mine.number].epoch > view.epoch
    assert_whole_within(overlay)
