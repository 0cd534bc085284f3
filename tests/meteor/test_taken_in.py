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
from meteor.wire.view import Ended, View
from squid import Interval, Intervals, merge

SIZE = 10
HERE, *OTHERS = [Contact(n, f"peer-{n}") for n in range(3)]

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


def test_what_could_be_shown_of_the_shelf_can_be_shown_of_the_attic() -> None:
    """Another primary names what was taken in as a rival, by its epoch."""
    views, had = Views(), View(OTHERS[1], 5, 7, ((0, 3),), (HERE,))
    views.restore([had], whole=True)
    rival_id, part = OTHERS[0].id, ((0, 3),)
    views.taken_in.note(rival_id, 3, ((0, 9),), 2)
    views.taken_in.note(rival_id, 9, ((5, 9),))
    views.store(had, 4)
    views.taken_in.forget(((0, 9),))
    assert views.lots_for(part, 7, had.primary.id) == ([4], True)
    assert views.lots_for(part, 3, rival_id) == ([4], True)
    assert views.lots_for(((2, 2),), 2, rival_id) == ([4], True)
    assert views.lots_for(part, 6, had.primary.id) == ([4], True), "it is the same view"
    for of, epoch, whose in (
        (part, 4, had.primary.id), (part, 1, rival_id), (part, 4, rival_id),
        (((2, 4),), 3, rival_id), (((5, 6),), 9, rival_id), (part, 3, None),
    ):  # fmt: skip
        assert views.lots_for(of, epoch, whose) == ([], False)
    assert views.lots_taken_in([4], ((2, 9),)) == (Ended(rival_id, 3, ((2, 3),), 2),)
    assert views.lots_taken_in([5], part) == ()
    views.taken_in.note(rival_id, 3, part)
    assert views.lots_for(part, 3, rival_id) == ([], False), "it is on the shelf"
    again = Views()
    again.restore((), views.stored, whole=False)
    assert again.lots_for(part, 3, rival_id) == ([], False), "the journal was damaged"


def test_it_is_shown_from_the_earliest_epoch_on_from_which_nothing_is_left_out() -> None:
    """Counted from its last epoch alone it was not what had begun earlier: the past behind that
    was named for ever, where it had been lost, and then once more (k = 2)."""
    views, part, primary = Views(), ((0, 9),), Contact(7, "seven")
    had = View(primary, 17, 25, part, (HERE,), lost=part)
    views.restore([had], whole=True)
    views.taken_in.note(7, 12, part, 9)
    assert views.shown_since(part, 7, 25) == 17, "9 to 12 do not reach so far"
    assert views.shown_since(part, 7, 12) == 9
    views.taken_in.note(7, 30, ((0, 4),))
    assert views.shown_since(((0, 4),), 7, 25) == 0
    assert views.shown_since(((0, 5),), 7, 25) == 17
    assert views.shown_since(part, 8, 25) == 25
    assert views.stored_since(part, 25) == 25
    views.store(had, 3)
    assert views.stored_since(part, 25) == 17
    assert views.stored_since(((0, 10),), 25) == 25, "not all of that"
    assert views.stored_since(part, 24) == 24


def test_what_a_peer_goes_on_with_it_can_still_show_where_no_copy_lacks_it() -> None:
    had = View(HERE, 3, 5, ((0, 5),), ())
    anew = View(HERE, 9, 9, ((0, 7),), (), lost=((4, 5),))
    copied = replace(anew, copies=(OTHERS[0],))
    shown = ((0, 3),)
    for view, adopted_epoch, known in ((anew, 8, shown), (copied, 8, ()), (copied, 5, shown)):
        views = Views()
        views.restore([had], whole=True)
        views.go_on_with(view, adopted_epoch)
        for epoch in range(2, 7):
            assert views.taken_in.of(HERE.id, epoch) == (known if 3 <= epoch <= 5 else ())
        assert [one.intervals for one in views.former] == [((4, 5),)]
    views = Views()
    views.restore([had], whole=False)
    views.go_on_with(anew, 5)
    assert len(views.taken_in) == 0, "the journal was damaged"
