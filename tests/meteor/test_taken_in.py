"""Which ended views' content is here: against a list of everything that was said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from meteor.keeping.taken_in import NOTES_MAX, TakenIn
from meteor.wire import codec
from meteor.wire.copy_messages import ViewsNote
from squid import Interval, Intervals, merge

SIZE = 10

spans = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)).map(
    lambda ends: (min(ends), max(ends))
)
parts = st.lists(spans, max_size=2).map(lambda found: merge(tuple(found)))
notes = st.tuples(st.just("note"), st.integers(0, 1), st.integers(1, 4), parts)
ends = st.tuples(st.sampled_from(["forget", "keep only"]), parts)


def indexes(part: Intervals) -> set[int]:
    return {index for first, last in part for index in range(first, last + 1)}


def intervals(some: set[int]) -> tuple[Interval, ...]:
    return merge(tuple((index, index) for index in some))


def taken_in_by(done: list[tuple[object, ...]]) -> tuple[TakenIn, dict[tuple[int, int], set[int]]]:
    """The thing itself, and its dumb twin: indexes by primary and epoch."""
    subject = TakenIn()
    twin: dict[tuple[int, int], set[int]] = {}
    for what, *said in done:
        if what == "note":
            primary_id, epoch, part = said
            subject.note(primary_id, epoch, part)  # type: ignore[arg-type]
            twin.setdefault((primary_id, epoch), set()).update(indexes(part))  # type: ignore[arg-type]
            continue
        (part,) = said
        gone = indexes(part)  # type: ignore[arg-type]
        if what == "forget":
            subject.forget(part)  # type: ignore[arg-type]
        else:
            subject.keep_only(part)  # type: ignore[arg-type]
            gone = set(range(SIZE)) - gone
        for had in twin.values():
            had.difference_update(gone)
    return subject, twin


@given(st.lists(st.one_of(notes, ends), max_size=10))
def test_what_is_here_is_what_the_twin_has_also_after_a_restart(
    done: list[tuple[object, ...]],
) -> None:
    subject, twin = taken_in_by(done)
    again = TakenIn()
    again.restore(subject.ended())
    for primary_id in (0, 1):
        for epoch in range(1, 5):
            had = [part for (one, at), part in twin.items() if one == primary_id and at >= epoch]
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
