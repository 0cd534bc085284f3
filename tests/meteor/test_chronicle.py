"""What began, as one peer was told: index by index against a dumb twin, and where it stands against
what nobody else is left to contradict."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import Contact, replace
from meteor import profile
from meteor.keeping.chronicle import (
    CHRONICLE_MAX,
    HOLDERS_MAX,
    PIECES_MAX,
    Chronicle,
    Heard,
    Tried,
)
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Begun
from meteor.wire.view import EPOCHS, View
from squid import Interval, Intervals, intersect, merge
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
    restart_all,
    seeds,
    view_of,
)

SIZE = 10
LOST_AT = 4
"""What began before this epoch is lost with the past; a later view is what lost it."""
PEERS = [Contact(n, f"peer-{n}") for n in range(3)]

spans = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)).map(
    lambda ends: (min(ends), max(ends))
)
parts = st.lists(spans, min_size=1, max_size=2).map(lambda found: merge(tuple(found)))
views = st.builds(
    lambda primary, number, epoch, part, lost: View(
        primary, number, epoch, part, (), intersect(part, lost)
    ),
    st.sampled_from(PEERS), st.integers(1, 2), st.integers(1, 5), parts,
    st.lists(spans, max_size=1).map(lambda found: merge(tuple(found))),
)  # fmt: skip


def indexes(part: Intervals) -> set[int]:
    return {index for first, last in part for index in range(first, last + 1)}


def each(index: int) -> tuple[Interval, ...]:
    return ((index, index),)


Rank = tuple[int, tuple[int, int]]
Twin = list[tuple[set[Rank], Rank | None]]


def told_by(said: list[View | Intervals]) -> tuple[Chronicle, Twin]:
    """The thing itself, and its dumb twin: by index, the latest view that began with all of the
    past, those that were lost since, and a later one that had not all of it."""
    subject = Chronicle()
    twin: Twin = [(set(), None)] * SIZE
    for one in said:
        for index in range(SIZE):
            known, since_lost = twin[index]
            if not isinstance(one, View):
                if index in indexes(one) and since_lost is not None and since_lost[0] < LOST_AT:
                    twin[index] = known | {since_lost}, None
                continue
            rank = (one.epoch, one.key)
            if index not in indexes(one.intervals) or any(rank <= other for other in known):
                continue
            if index not in indexes(one.lost):
                later = since_lost is not None and since_lost > rank
                twin[index] = {rank}, since_lost if later else None
            elif since_lost is None or rank > since_lost:
                twin[index] = known, rank
        if isinstance(one, View):
            subject.note(one)
        else:
            subject.lose(one, LOST_AT)
    return subject, twin


@given(st.lists(st.one_of(views, parts), max_size=8))
def test_of_every_index_the_latest_is_known_and_what_came_since_it_was_lost(
    said: list[View | Intervals],
) -> None:
    told, twin = told_by(said)
    again = Chronicle()
    again.restore(told.written())
    assert not told.unwritten
    for index, (known, since_lost) in enumerate(twin):
        for subject in (told, again):
            assert {(one.epoch, one.key) for one in subject.of(each(index))} == known
            every = {(one.epoch, one.key) for one in subject.all_of(each(index))}
            assert every == known | ({since_lost} if since_lost is not None else set())
        for epoch in range(7):
            later = any(rank[0] > epoch for rank in known)
            assert bool(told.after(each(index), epoch)) == later


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
    torn = tuple((2 * n, 2 * n) for n in range(PIECES_MAX + 1))
    subject.note(View(PEERS[0], 1, 1 << 30, torn, ()))
    subject.note(View(PEERS[0], 1, 1 << 30, ((0, 1000),), (), torn))
    assert len(subject) == CHRONICLE_MAX
    heard = Heard()
    heard.note(torn, 7)
    assert heard.of(((1, 1),)) == ((7, ((1, 1),)),)
    crowd = tuple(Contact(n, f"peer-{n}") for n in range(100))
    subject.note(View(PEERS[0], 1, 1 << 30, ((0, 1000),), crowd))
    assert [len(one.copies) for one in subject.of(((0, 1000),))] == [HOLDERS_MAX]
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


class LostTwice:
    """All holders of a record fell; heirs took its interval as lost and acknowledged another one,
    and fell as well."""

    def __init__(self, seed: int, waits_s: float = 8.0) -> None:
        self.overlay = overlay = build(seed, 10, disk_s=0.001)
        probe = profile(draw_data(random.Random(seed)))
        early = overlay.run(overlay.client().store(probe, b"early", id="early", ttl=7200)).id
        assert_whole_within(overlay)
        self.first = [primary_of(overlay, early), *copies_of(overlay, early)]
        client = client_away_from(overlay, early)
        crash(*self.first)
        overlay.run_for(8.0)
        late = overlay.run(client.store(probe, b"late", id="late", ttl=7200)).id
        overlay.run_for(3.0)
        self.second = [primary_of(overlay, late), *copies_of(overlay, late)]
        self.client = client_away_from(overlay, late)
        crash(*self.second)
        overlay.run_for(waits_s)
        self.expected = {early, late}


@pytest.mark.parametrize("seed", seeds(2, 12))
def test_what_was_acknowledged_between_two_losses_is_not_absent_without_a_word(seed: int) -> None:
    """All holders are down, heirs take the interval as lost and acknowledge under it, and fall for
    good; it is lost again, and the first ones come back with all of the past before the first."""
    world = LostTwice(seed)
    for peer in world.first:
        world.overlay.run(world.overlay.restart(peer))
    ends_s = world.overlay.kernel.now() + 12.0
    while world.overlay.kernel.now() < ends_s:
        assert not assert_never_silently_partial(world.overlay, world.client, world.expected)
        world.overlay.run_for(0.5)


@pytest.mark.parametrize("seed", seeds(2, 12))
def test_the_first_holders_do_not_go_on_where_heirs_of_nothing_acknowledged(seed: int) -> None:
    """The first ones come back before anybody took it as lost again: they have all of the past, but
    not what was acknowledged since."""
    world = LostTwice(seed, waits_s=0.0)
    restart_all(world.overlay, world.first)
    ends_s = world.overlay.kernel.now() + 12.0
    while world.overlay.kernel.now() < ends_s:
        assert not assert_never_silently_partial(world.overlay, world.client, world.expected)
        world.overlay.run_for(0.5)


@pytest.mark.parametrize("seed", seeds(2, 6))
@pytest.mark.parametrize("turned", [False, True])
def test_what_was_lost_twice_is_whole_when_all_are_back(seed: int, turned: bool) -> None:
    """Whoever had the past, and whoever acknowledged since that was lost, in either order."""
    world = LostTwice(seed)
    overlay, first, second = world.overlay, world.first, world.second
    for peer in (*second, *first) if turned else (*first, *second):
        overlay.run(overlay.restart(peer))
        assert_never_silently_partial(overlay, world.client, world.expected)
    assert_whole_within(overlay, 40)
    assert ask(overlay, overlay.client()) == (world.expected, True)


def test_a_copy_does_not_step_up_after_what_it_was_told_of() -> None:
    overlay = build(1, 8, disk_s=0.001)
    copy = overlay.peers[3]
    view = next(one.view for one in copy.core.views.copies.values())
    later = View(Contact(5, "10.9.9.9:1"), 7, 1 << 60, view.intervals, ())
    neighbours = copy.core._handoff.later
    assert not overlay.run(neighbours.known(view))
    copy.core.views.chronicle.note(later)
    assert overlay.run(neighbours.known(view))


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
    assert again.core.views.next_epoch() > 1 << 40, "it begins nothing below what it remembers"


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


def test_what_was_tried_and_never_began_is_told_by_number_and_epoch() -> None:
    tried = Tried()
    for epoch in range(1, CHRONICLE_MAX + 3):
        tried.note(View(PEERS[0], 7, epoch, ((0, 4),), ()))
    assert tried.of(((5, 9),)) == ()
    assert tried.of(((4, 9),)) == tuple((7, epoch) for epoch in range(3, CHRONICLE_MAX + 3))


def test_a_view_that_was_given_up_is_no_word_of_the_past_if_it_found_that() -> None:
    lost = View(PEERS[0], 7, 4, ((0, 4),), (), lost=((2, 3),))
    tried = Tried()
    tried.note_next(replace(lost, epoch=5), lost)
    tried.note_next(replace(lost, epoch=6, lost=()), None)
    assert tried.of(((0, 9),)) == ()
    tried.note_next(replace(lost, epoch=7, lost=((3, 3),)), lost)
    assert tried.of(((0, 9),)) == ((7, 7),)
    assert tried.next_of(((0, 9),)) == ((7, 5), (7, 7))


def test_what_was_tried_stands_for_is_known_of_the_last_ones_alone() -> None:
    tried, had = Tried(), View(PEERS[1], 1, 1, ((0, 4),), ())
    for number in range(1, CHRONICLE_MAX + 3):
        tried.hear(number, ())
        tried.note(View(PEERS[0], number, number, ((0, 4),), ()), had)
    known = [number for number in range(1, CHRONICLE_MAX + 3) if tried.stands_for(number)]
    assert known == list(range(3, CHRONICLE_MAX + 3))


def test_a_next_epoch_stands_for_what_was_before_it_and_what_its_copies_kept_then() -> None:
    """Also who took one that was tried before it, and said so then."""
    before, kept = View(PEERS[0], 7, 4, ((0, 9),), ()), View(PEERS[1], 3, 3, ((5, 12),), ())
    tried = Tried()
    tried.note_next(replace(before, epoch=5), before, (kept,))
    tried.note_next(replace(before, number=6, epoch=6), before, ())
    within = replace(kept, intervals=((5, 9),))
    assert tried.next_stands_for(5) == tried.next_stands_for(6) == (before, within)
    assert tried.next_stands_for(7) == ()
    cut = tuple(replace(one, intervals=((8, 9),)) for one in (before, kept))
    assert tried.all_that_stand_for(((8, 20),)) == ((5, cut), (6, cut))


def test_it_stands_for_nothing_where_a_copy_did_not_say_what_it_kept() -> None:
    before = View(PEERS[0], 7, 4, ((0, 9),), ())
    tried = Tried()
    tried.note_next(replace(before, epoch=5), before, None)
    tried.note_next(replace(before, epoch=6), before, ())
    assert tried.next_stands_for(5) == tried.next_stands_for(6) == ()
    began = replace(before, epoch=7)  # what nobody said by then is in no later one either
    tried.begin(began)
    tried.note_next(replace(before, epoch=8), began, ())
    assert tried.next_stands_for(8) == (began,)


def test_nor_for_what_its_primary_had_since_in_a_later_epoch() -> None:
    before = View(PEERS[0], 7, 4, ((0, 9),), ())
    views = Views(PEERS[0].id)
    views.tried.note_next(replace(before, epoch=5), before, ())
    views.put_own(replace(before, epoch=6, intervals=((0, 3),)))
    assert views.tried.next_stands_for(5) == (replace(before, intervals=((4, 9),)),)
    views.put_own(replace(before, number=8, epoch=8, intervals=((4, 9),)))
    assert views.tried.next_stands_for(5) == ()
    assert views.tried.next_of(((0, 9),)) == ((7, 5),)
