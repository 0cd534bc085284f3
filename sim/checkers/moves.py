"""What is replaced is found by its new content or by its former one, never by neither (SPEC
section 4).

Law of this file: of a record that is moved and moved again, some write is in every answer that
asks for all the places where it may be, names none of them as missing, and was asked when the first
of these was acknowledged; that the former content is found no more is `sim.checkers.deletion`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim.checkers.recall import SLACK_S
from sim.history import History, Question, Write


def violations(history: History) -> list[str]:
    """Every answer that has a record that moves at none of its places."""
    ways = list(_ways(history))
    return [text for question in history.questions for text in _of(question, ways, history)]


def _ways(history: History) -> Iterator[list[Write]]:
    """The writes of each record that moved, in their order."""
    following = {write.former: write for write in history.writes.values() if write.former}
    for write in history.writes.values():
        if not write.former and write.stem in following:
            way = [write]
            while (after := following.get(way[-1].stem)) is not None:
                way.append(after)
            yield way


def _of(question: Question, ways: Sequence[list[Write]], history: History) -> Iterator[str]:
    found = set(question.found)
    for way in ways:
        maybe = [one for one in way if _may_be_there(one, question)]
        if maybe and _must_be_met(maybe, question, history):
            labels = [one.stem for one in maybe]
            if found.isdisjoint(labels):
                yield (
                    f"value={question.low:g}..{question.high:g} asked at {question.began_s:.3f} s:"
                    f" of {' and '.join(labels)}, one after the other, none is in the answer"
                )


def _may_be_there(write: Write, question: Question) -> bool:
    gone = write.deleted_s is not None and write.deleted_s < question.began_s
    return write.began_s <= question.ended_s and not gone


def _must_be_met(maybe: Sequence[Write], question: Question, history: History) -> bool:
    first, last = maybe[0], maybe[-1]
    if last.delete_began_s is not None and last.delete_began_s <= question.ended_s:
        return False
    if any(one.cleared_s for one in maybe):
        return False  # it may have been deleted where it was, and nowhere else since
    return first.has_time(question.began_s, question.ended_s, SLACK_S) and not any(
        not question.selects(one)
        or question.excuses(one)
        or history.may_be_hidden(one.began_s, one.acknowledged_s or question.ended_s, question)
        for one in maybe
    )
