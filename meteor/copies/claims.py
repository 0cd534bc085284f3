"""Claims: how much one peer says of an interval, and how much is heard.

Law of this file: pure.  Whoever asks lays all that it is told side by side, piece by piece, which
costs far more than saying it.  A peer of ours says the latest of what it had, where that is very
much; more is said by nobody who means it, and is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from meteor.keeping.chronicle import CHRONICLE_MAX
from meteor.wire.operations import ClaimAnswer
from meteor.wire.view import Ended, View

NAMED_MAX: Final = 128
"""Intervals of all views that one answer speaks of: six times what was ever seen, of peers that
were started again and again."""
COPIES_MAX: Final = 8 * NAMED_MAX
"""Of all their copies."""
ENDED_MAX: Final = 512
"""Of all ended views that are on its shelf, and of those that are with what it had."""
NOTES_MAX: Final = 2 * CHRONICLE_MAX
"""Of anything else."""

Had = tuple[View, tuple[Ended, ...]]
"""A view that a peer had a part in, and of which ended ones all content is with it."""


def latest(had: Sequence[Had], beside: Iterable[View]) -> list[Had]:
    """For what of all that a peer had there is room `beside` what it has."""
    named, ended = sum(len(one.intervals) for one in beside), 0
    found: dict[int, Had] = {}
    for at in sorted(range(len(had)), key=lambda at: -had[at][0].epoch):
        view, with_it = had[at]
        named += len(view.intervals)
        ended += sum(len(one.intervals) for one in with_it)
        if named > NAMED_MAX:
            break
        found[at] = view, with_it if ended <= ENDED_MAX else ()
    return [found[at] for at in sorted(found)]


def last_noted(ended: Sequence[Ended]) -> tuple[Ended, ...]:
    """The same of ended views, of which the last stands last."""
    count = room = 0
    for one in reversed(ended):
        room += len(one.intervals)
        if room > ENDED_MAX:
            break
        count += 1
    return tuple(ended[len(ended) - count :])


def is_too_much(answer: ClaimAnswer) -> bool:
    """Whether this is more than a peer has to say."""
    views = (*answer.copies, *answer.former, *answer.learning, *answer.gave)
    notes = (answer.begun, answer.heard, answer.tried, answer.passed_over, answer.gifts)
    before = [one.settled for one in views if one.settled is not None]
    return (
        sum(max(len(one.intervals), 1) for one in views) > NAMED_MAX
        or sum(max(len(one.intervals), 1) for one in before) > NAMED_MAX
        or sum(len(one.copies) for one in before) > COPIES_MAX
        or sum(len(one.copies) for one in views) > COPIES_MAX
        or _count(answer.taken_in) > ENDED_MAX
        or _count(chain(*answer.former_taken_in)) > ENDED_MAX
        or any(len(some) > NOTES_MAX for some in (*notes, answer.stands_for, answer.elsewhere))
    )


def _count(ended: Iterable[Ended]) -> int:
    return sum(max(len(one.intervals), 1) for one in ended)
