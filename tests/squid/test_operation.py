"""An operation at its origin: which reports settle it."""

from __future__ import annotations

from chord import Contact, replace
from squid import Box, HilbertCurve
from squid.messages import Report, ResultFrame
from squid.operation import PAGES_MAX, PARTS_MAX, OriginatedOperation

CURVE = HilbertCurve(2, 3)
EVERYTHING = ((0, CURVE.size - 1),)
HOLDER = Contact(1, "a:1")


def operation() -> OriginatedOperation:
    return OriginatedOperation(CURVE, Box((0, 0), (7, 7)), EVERYTHING, None)


def report(attempt: int, *, found: bool) -> Report:
    covered, missing = (EVERYTHING, ()) if found else ((), EVERYTHING)
    return Report(b"", attempt, attempt, covered, missing, frames=0, hops=1, body=b"")


def test_what_is_reported_missing_settles_it() -> None:
    asked = operation()
    asked.take_report(HOLDER, report(0, found=False))
    assert asked.settled
    assert asked.outcome().missing == EVERYTHING


def test_what_was_missing_for_an_earlier_attempt_does_not() -> None:
    """A holder that was frozen, or late, says so when its second is over: it is asked again."""
    asked = operation()
    asked.begin(1)
    asked.take_report(HOLDER, report(0, found=False))
    assert not asked.settled
    asked.take_report(HOLDER, report(1, found=True))
    assert asked.outcome().complete


def test_what_was_found_for_an_earlier_attempt_counts() -> None:
    asked = operation()
    asked.begin(1)
    asked.take_report(HOLDER, report(0, found=True))
    assert asked.outcome().complete


def test_an_answer_that_does_not_reach_back_to_its_beginning_is_none() -> None:
    """Who was started since the question began knows nothing of what left before."""
    asked = OriginatedOperation(CURVE, Box((0, 0), (7, 7)), EVERYTHING, None, began_s=10.0)
    late = replace(report(0, found=True), speaks_for_s=1.0)
    asked.take_report(HOLDER, late, now=11.5)
    outcome = asked.outcome()
    assert asked.settled
    assert not outcome.complete
    assert (outcome.missing, outcome.is_outlived) == (EVERYTHING, True)


def test_an_answer_that_reaches_back_to_its_beginning_counts() -> None:
    asked = OriginatedOperation(CURVE, Box((0, 0), (7, 7)), EVERYTHING, None, began_s=10.0)
    asked.take_report(HOLDER, replace(report(0, found=True), speaks_for_s=1.0), now=11.0)
    assert asked.outcome().complete
    assert not asked.outcome().is_outlived


def test_what_another_one_answered_is_not_outlived() -> None:
    asked = OriginatedOperation(CURVE, Box((0, 0), (7, 7)), EVERYTHING, None, began_s=10.0)
    asked.take_report(HOLDER, replace(report(0, found=True), speaks_for_s=1.0), now=11.5)
    asked.begin(1)
    asked.take_report(HOLDER, replace(report(1, found=True), speaks_for_s=9.0), now=12.0)
    assert asked.outcome().complete
    assert not asked.outcome().is_outlived


def test_an_earlier_attempt_that_does_not_reach_back_leaves_it_open() -> None:
    asked = OriginatedOperation(CURVE, Box((0, 0), (7, 7)), EVERYTHING, None, began_s=10.0)
    asked.begin(1)
    asked.take_report(HOLDER, replace(report(0, found=True), speaks_for_s=1.0), now=11.5)
    assert not asked.settled


def test_what_two_lives_of_a_peer_report_is_told_apart() -> None:
    """Who was started anew counts its parts from the first one again: a page of the life before
    would stand for one of the present life that is not here."""
    asked = operation()
    now = replace(HOLDER, incarnation=HOLDER.incarnation + 1)
    page = ResultFrame(b"", 0, 1, 0, b"")
    one_page = replace(report(0, found=True), part=1, frames=1)
    asked.take_frame(HOLDER, page)
    asked.take_report(now, one_page)
    assert not asked.settled
    asked.take_frame(now, page)
    assert asked.outcome().complete


def test_a_new_life_is_heard_where_the_one_before_had_reported() -> None:
    """Half of it was reported before the restart, under the number of what comes now."""
    asked = operation()
    middle = CURVE.size // 2
    first, second = ((0, middle - 1),), ((middle, CURVE.size - 1),)
    whole = replace(report(0, found=True), part=1)
    asked.take_report(HOLDER, replace(whole, covered=first))
    asked.take_report(replace(HOLDER, incarnation=1), replace(whole, covered=second))
    assert asked.outcome().complete


def test_a_peer_that_invents_parts_takes_no_memory_with_each() -> None:
    """An account, and a report, was kept of every number that it made up."""
    asked = operation()
    invented = replace(report(0, found=True), frames=1)
    for number in range(2 * PARTS_MAX):
        asked.take_report(HOLDER, replace(invented, part=number))
        asked.take_frame(HOLDER, ResultFrame(b"", 0, 5 * PARTS_MAX + number, 1, b""))
    assert len(asked._waiting) <= PARTS_MAX
    assert len(asked._ledger._accounts) <= PARTS_MAX
    asked.take_report(replace(HOLDER, id=2), report(0, found=True))
    assert asked.outcome().complete


def test_a_peer_that_goes_on_sending_pages_takes_no_memory_with_each() -> None:
    """The number of each was kept, and each was passed on, for as long as somebody asked."""
    pages: list[Contact] = []

    def on_frame(sender: Contact, _: bytes) -> None:
        pages.append(sender)

    asked = OriginatedOperation(CURVE, Box((0, 0), (7, 7)), EVERYTHING, on_frame)
    for number in range(PAGES_MAX + 1000):
        asked.take_frame(HOLDER, ResultFrame(b"", 0, number % 3, number, b""))
    seen = [account.frames_seen for account in asked._ledger._accounts.values()]
    assert sum(map(len, seen)) == len(pages) == PAGES_MAX
    other = replace(HOLDER, id=2)
    asked.take_frame(other, ResultFrame(b"", 0, 0, 0, b""))
    asked.take_report(other, replace(report(0, found=True), frames=1))
    assert pages[-1] is other
    assert asked.outcome().complete
