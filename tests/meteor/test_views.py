"""Views against a dumb twin that knows for every index of a tiny curve who has it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meteor.keeping.views import BEFORE_MAX, COPIES_MAX, FORMER_MAX, Views
from meteor.wire.view import Copy, View
from squid import Intervals
from tests.meteor.views_twin import (
    HERE,
    OTHERS,
    Twin,
    after,
    carry_out,
    histories,
    indexes,
    parts,
    views,
)

FEWER = settings(max_examples=settings().max_examples // 2)


@given(histories)
def test_what_is_had_is_that_of_the_twin(done: list[tuple[str, Any]]) -> None:
    subject, twin = after(done)
    assert subject.own == {number: had.as_view() for number, had in twin.own.items()}
    assert subject.former == [had.as_view() for had in twin.former]
    assert subject.copies == {
        key: Copy(had.as_view(), had.whole, tuple(one.as_view() for one in had.before))
        for key, had in twin.copies.items()
    }


@FEWER
@given(histories, parts)
def test_questions_are_answered_as_by_the_twin(
    done: list[tuple[str, Any]], part: Intervals
) -> None:
    subject, twin = after(done)
    some, everything = indexes(part), twin.all()
    own = twin.own.values()
    assert indexes(subject.held()) == frozenset().union(*(had.has for had in own))
    assert indexes(subject.lost()) == frozenset().union(*(had.lost for had in own))
    assert indexes(subject.kept()) == frozenset().union(*(had.has for had in everything))
    assert subject.touching(part) == [had.as_view() for had in own if had.has & some]
    assert subject.is_former(part) == any(had.has & some for had in twin.former)
    for primary in OTHERS:
        mine = [had for had in twin.copies.values() if had.view.primary == primary]
        for whole in (True, False):
            counted = [had.has for had in mine if had.whole or not whole]
            kept = subject.kept_for(primary.id, whole=whole)
            assert indexes(kept) == frozenset().union(*counted)
    for epoch in range(5):
        assert list(subject.later_than(part, epoch)) == [
            had.as_view() for had in everything if had.has & some and had.view.epoch > epoch
        ]


@FEWER
@given(histories, views(tuple(OTHERS)))
def test_what_stands_against_a_view_is_what_is_later_or_mine(
    done: list[tuple[str, Any]], view: View
) -> None:
    subject, twin = after(done)
    some = indexes(view.intervals)
    against = [had.as_view() for had in twin.own.values() if had.has & some]
    against += [
        had.as_view()
        for had in (*twin.copies.values(), *twin.former)
        if had.has & some and had.view.key != view.key and had.view.epoch >= view.epoch
    ]
    known = twin.copies.get(view.key)
    if known is not None and known.view.epoch > view.epoch:
        against.append(known.as_view())
    assert list(subject.newer(view)) == against


@FEWER
@given(histories, views(tuple(OTHERS)))
def test_primaries_that_end_with_a_view_are_told_once(
    done: list[tuple[str, Any]], view: View
) -> None:
    subject, twin = after(done)
    ended = {
        had.view.primary
        for had in twin.copies.values()
        if had.has & indexes(view.intervals)
        and had.view.epoch < view.epoch
        and had.view.primary != view.primary
    }
    assert subject.passed_over_by(view) == tuple(sorted(ended, key=lambda one: one.id))


@FEWER
@given(histories, views(tuple(OTHERS)), st.integers(0, 4))
def test_a_copy_is_in_sync_when_every_index_is_vouched_for(
    done: list[tuple[str, Any]], view: View, adopted: int
) -> None:
    """By the content it is filled with, or an epoch not before the adopted one, its losses out."""
    subject, twin = after(done)
    filled = twin.copies.get(view.key)
    vouched = set() if filled is None else set(filled.has)
    there = [had for had in twin.copies.values() if had.whole]
    for had in (*there, *twin.former, *twin.own.values()):
        if adopted and had.view.epoch >= adopted:
            vouched |= had.has - (had.lost - indexes(view.lost))
    assert subject.in_sync(view, adopted) == (indexes(view.intervals) <= vouched)


@FEWER
@given(histories)
def test_epochs_only_grow_and_the_next_is_beyond_all_that_are_known(
    done: list[tuple[str, Any]],
) -> None:
    subject, twin, before = Views(), Twin(), 0
    for change, value in done:
        carry_out(subject, twin, change, value)
        assert subject.next_epoch() >= before
        before = subject.next_epoch()
        known = [*subject.own.values(), *subject.former]
        known += [copy.view for copy in subject.copies.values()]
        assert all(view.epoch < before for view in known)


@FEWER
@given(histories)
def test_no_index_is_in_two_own_views(done: list[tuple[str, Any]]) -> None:
    subject, _ = after(done)
    own = [index for view in subject.own.values() for index in indexes(view.intervals)]
    assert len(own) == len(set(own))


@FEWER
@given(histories, views(tuple(OTHERS)))
def test_a_learner_answers_for_nothing_and_keeps_what_it_had(
    done: list[tuple[str, Any]], view: View
) -> None:
    subject, _ = after(done)
    others = {key: copy for key, copy in subject.copies.items() if key != view.key}
    subject.learn(view)
    assert {key: copy for key, copy in subject.copies.items() if key != view.key} == others
    assert not subject.copies[view.key].whole


@given(views(tuple(OTHERS)), parts)
def test_a_view_is_cut_into_what_lies_within_and_what_does_not(view: View, part: Intervals) -> None:
    within, without = view.within(part), view.without(part)
    some = indexes(view.intervals)
    assert indexes(within.intervals if within else ()) == some & indexes(part)
    assert indexes(without.intervals if without else ()) == some - indexes(part)
    for cut in (within, without):
        if cut is not None:
            assert indexes(cut.lost) == indexes(view.lost) & indexes(cut.intervals)
            assert (cut.key, cut.epoch, cut.copies) == (view.key, view.epoch, view.copies)


def test_a_damaged_journal_is_evidence_of_nothing() -> None:
    subject = Views()
    view = View(OTHERS[0], 1, 4, ((0, 5),), (HERE,))
    subject.restore((view,), whole=False)
    assert subject.damaged
    assert subject.former == [view]
    assert subject.next_epoch() > view.epoch


@pytest.mark.parametrize("how", ["learn", "retire"])
def test_what_others_say_takes_bounded_room(how: str) -> None:
    subject = Views()
    for number in range(2 * max(COPIES_MAX, FORMER_MAX)):
        view = View(OTHERS[0], number, 1, ((0, 5),), (HERE,))
        subject.learn(view)
        if how == "retire":
            subject.put(view)
            subject.retire(view.key)
    assert len(subject.copies) == (COPIES_MAX if how == "learn" else 0)
    assert len(subject.former) == (FORMER_MAX if how == "retire" else 0)


def test_what_is_laid_down_is_former_and_what_was_coming_in_is_nothing() -> None:
    views = Views()
    whole, other = (View(peer, 1, 5, ((0, 5),), (HERE,)) for peer in OTHERS)
    views.put(replace(whole, intervals=((0, 3),)))
    views.learn(replace(other, intervals=((2, 5),)))
    views.lay_down(((3, 4),))
    assert [view.intervals for view in views.former] == [((3, 3),)]
    assert views.present() == ((0, 2),)
    assert views.kept() == ((0, 3),)


def test_content_in_the_attic_is_evidence_and_not_kept_on_the_shelf() -> None:
    views, had = Views(), View(OTHERS[0], 1, 7, ((0, 3),), (HERE,))
    views.restore([had], whole=True)
    views.store(had, 4)
    assert views.remembered() == [had]
    assert views.kept() == ()
    assert views.lots_of(7, ((3, 5),)) == [4]
    assert views.lots_of(6, ((3, 5),)) == []
    assert views.newer(replace(had, number=9, epoch=6, primary=OTHERS[1])) == (had,)
    assert not views.in_sync(replace(had, number=9), 7), "its content does not show"
    views.forget_stored(((2, 3),))
    assert [one.view.intervals for one in views.stored] == [((0, 1),)]
    views.bring_back(7, ((0, 0),))
    assert views.kept() == ((0, 0),), "only what is on the shelf again"
    assert [one.view.intervals for one in views.stored] == [((1, 1),)]
    views.bring_back(7, ((0, 3),))
    assert views.stored == []
    assert views.kept() == ((0, 1),)


def test_a_copy_counts_in_the_life_and_at_the_address_in_which_it_was_filled() -> None:
    view = View(HERE, 1, 1, ((0, 3),), (OTHERS[0],))
    assert view.counts_on(OTHERS[0])
    assert not view.counts_on(OTHERS[1])
    assert not view.counts_on(replace(OTHERS[0], incarnation=1))
    assert not view.counts_on(replace(OTHERS[0], address="granted its identifier"))


def test_a_copy_remembers_what_its_view_took_the_place_of_until_that_has_begun() -> None:
    one, other = OTHERS
    views = Views()
    first = View(one, 1, 1, ((0, 5),), (HERE,))
    second = View(other, 2, 2, ((0, 3),), (HERE,))
    views.put(first)
    assert views.copies[first.key].before == ()
    views.put(second)
    assert views.copies[second.key].before == (first.within(((0, 3),)),)
    later = replace(second, epoch=3, copies=(HERE, one))
    views.put(later)
    assert views.copies[second.key].before == (first.within(((0, 3),)),), "its own epochs are not"
    views.note_begun(other.id, 2)
    assert views.copies[second.key].before, "the epoch that was noted last has not begun"
    views.note_begun(other.id, 4)
    assert views.copies[second.key].before, "another view of the same primary has"
    views.note_begun(other.id, 3)
    assert views.copies[second.key].before == ()


def test_what_views_took_the_place_of_is_bounded() -> None:
    views = Views()
    for epoch in range(1, 2 * BEFORE_MAX + 2):
        views.put(View(OTHERS[epoch % 2], epoch, epoch, ((0, 5),), (HERE,)))
    (copy,) = views.copies.values()
    assert [one.epoch for one in copy.before] == list(range(BEFORE_MAX + 1, 2 * BEFORE_MAX + 1))
