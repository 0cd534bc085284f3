"""Which ended views' content is here: against a list of everything that was said."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chord import Contact, replace
from meteor.keeping.taken_in import NOTES_MAX, TakenIn
from meteor.keeping.views import Views
from meteor.wire import codec
from meteor.wire.copy_messages import ViewsNote
from meteor.wire.view import View
from squid import Interval, Intervals, merge

SIZE = 10

spans = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)).map(
    lambda ends: (min(ends), max(ends))
)
parts = st.lists(spans, max_size=2).map(lambda found: merge(tuple(found)))
notes = st.tuples(
    st.just("note"), st.integers(0, 1), st.integers(1, 4), parts, st.sampled_from([0, 0, 1, 2, 4])
)
ends = st.tuples(st.sampled_from(["forget", "keep only"]), parts)


def indexes(part: Intervals) -> set[int]:
    return {index for first, last in part for index in range(first, last + 1)}


def intervals(some: set[int]) -> tuple[Interval, ...]:
    return merge(tuple((index, index) for index in some))


Twin = dict[tuple[int, int, int], set[int]]


def taken_in_by(done: list[tuple[Any, ...]]) -> tuple[TakenIn, Twin]:
    """The thing itself, and its dumb twin: indexes by primary, epoch and since when."""
    subject = TakenIn()
    twin: Twin = {}
    for what, *said in done:
        if what == "note":
            primary_id, epoch, part, since = said
            subject.note(primary_id, epoch, part, since)
            twin.setdefault((primary_id, epoch, since), set()).update(indexes(part))
            continue
        (part,) = said
        gone = indexes(part)
        if what == "forget":
            subject.forget(part)
        else:
            subject.keep_only(part)
            gone = set(range(SIZE)) - gone
        for had in twin.values():
            had.difference_update(gone)
    return subject, twin


@given(st.lists(st.one_of(notes, ends), max_size=10))
def test_what_is_here_is_what_the_twin_has_also_after_a_restart(
    done: list[tuple[Any, ...]],
) -> None:
    subject, twin = taken_in_by(done)
    again = TakenIn()
    again.restore(subject.ended())
    for primary_id in (0, 1):
        for epoch in range(1, 5):
            had = [
                part for (one, last, since), part in twin.items()
                if one == primary_id and since <= epoch <= last
            ]  # fmt: skip
            expected = intervals(set().union(*had))
            assert subject.of(primary_id, epoch) == expected
            assert again.of(primary_id, epoch) == expected


def test_a_later_epoch_of_a_primary_says_what_earlier_ones_did() -> None:
    subject = TakenIn()
    for epoch in range(1, 3 * NOTES_MAX):
        subject.note(7, epoch, ((0, 9),))
    assert len(subject) == 1
    for primary_id in range(3 * NOTES_MAX):
        subject.note(primary_id, 1, ((0, 9),))
    assert len(subject) == NOTES_MAX


def test_a_journal_of_before_is_read_as_without_any() -> None:
    """Its note had four fields."""
    before = b"\x01\x92\xa9ViewsNote\x94" + 4 * b"\x90"
    assert codec.decode(before) == ViewsNote()
    assert ViewsNote().taken_in == ()


def test_a_primary_that_lost_the_past_and_began_anew_does_not_speak_for_what_it_had() -> None:
    """It had been passed over by a peer that was alone, and was given the interval back: a copy of
    its new view counted for the past of the old one, which was dropped (a seed of a cut, 30)."""
    views, part, primary = Views(1), ((0, 9),), Contact(7, "seven")
    anew = View(primary, 20, 21, part, (Contact(1, "one"),), lost=part)
    views.put(anew)
    assert views.has_all_of(part, 7, 21)
    assert views.has_all_of(part, 7, 20)
    assert not views.has_all_of(part, 7, 12)
    renumbered = Views(2)
    renumbered.put(replace(anew, number=25))
    assert renumbered.has_all_of(part, 7, 21), "what is left has a number later than its epoch"
    views.put(replace(anew, primary=Contact(8, "eight"), number=30, epoch=30, lost=()))
    assert views.taken_in.of(7, 21) == part
    assert views.taken_in.of(7, 12) == ()
