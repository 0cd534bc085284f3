"""What one answer to a claim may say, and what it costs to weigh what all say.

Law of this file: answers as hostile peers, and as ours, would give them; work is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import Contact, replace
from meteor.copies import takeover
from meteor.copies.claims import (
    COPIES_MAX,
    ENDED_MAX,
    NAMED_MAX,
    NOTES_MAX,
    Had,
    is_too_much,
    last_noted,
    latest,
)
from meteor.wire.operations import ClaimAnswer
from meteor.wire.view import Ended, View
from tests.meteor.takeover_twin import any_views, ended, taken_in
from tests.meteor.test_many_to_ask import NOTHING, PART, Asking, others

HOLDER = Contact(9, "10.0.0.9:1")


def views(count: int, *, copies: int = 0) -> tuple[View, ...]:
    """Of pieces that lie apart."""
    kept = tuple(others(copies))
    return tuple(View(HOLDER, n + 1, n + 1, ((2 * n, 2 * n),), kept) for n in range(count))


def notes(count: int) -> tuple[Ended, ...]:
    return tuple(Ended(n + 1, 1, (PART,)) for n in range(count))


def brief(**before: Any) -> tuple[View, ...]:
    """One that stands for that."""
    (view,) = views(1)
    return (replace(view, settled=replace(view.as_settled(), **before)),)


TOO_MUCH = {
    "copies": {"copies": views(NAMED_MAX + 1)},
    "former": {"former": views(NAMED_MAX + 1)},
    "learning": {"learning": views(NAMED_MAX + 1)},
    "gave": {"gave": views(NAMED_MAX + 1)},
    "both": {"copies": views(NAMED_MAX), "gave": views(1)},
    "intervals": {"former": (replace(views(1)[0], intervals=((1, 1),) * (NAMED_MAX + 1)),)},
    "holders": {"copies": views(NAMED_MAX, copies=1 + COPIES_MAX // NAMED_MAX)},
    "stands for intervals": {"copies": brief(intervals=((1, 1),) * (NAMED_MAX + 1))},
    "stands for holders": {"copies": brief(copies=tuple(others(COPIES_MAX + 1)))},
    "taken in": {"taken_in": notes(ENDED_MAX + 1)},
    "taken in before": {"former_taken_in": (notes(ENDED_MAX), notes(1))},
    "begun": {"begun": views(NOTES_MAX + 1)},
    "heard": {"heard": ((1, (PART,)),) * (NOTES_MAX + 1)},
    "tried": {"tried": ((1, 1),) * (NOTES_MAX + 1)},
    "elsewhere": {"elsewhere": tuple(others(NOTES_MAX + 1))},
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_who_says_more_says_nothing(what: str) -> None:
    """Two answers of 143 KB took half a minute, in which the peer served nobody."""
    fields: dict[str, object] = TOO_MUCH[what]
    answer = replace(NOTHING, **fields)
    assert is_too_much(answer)
    first, second = others(2)
    asking = Asking({first: answer, second: NOTHING})
    found = asking.ask([first, second])
    assert found.evidence == []
    assert not found.everybody, "it is as one that is silent"
    assert first.id not in found.answered
    assert not is_too_much(NOTHING)


@given(st.lists(st.tuples(any_views, taken_in), max_size=8), st.lists(any_views, max_size=3))
def test_all_is_said_of_what_is_not_much(had: list[Had], beside: list[View]) -> None:
    assert latest(had, beside) == had


@given(st.lists(ended, max_size=8))
def test_all_is_noted_of_what_is_not_much(some: list[Ended]) -> None:
    assert last_noted(some) == tuple(some)


@given(st.permutations(range(1, NAMED_MAX + 20)), st.integers(0, 2 * NAMED_MAX))
def test_the_latest_is_said_of_what_is_much(epochs: list[int], beside: int) -> None:
    had = [(View(HOLDER, epoch, epoch, (PART,), ()), notes(1)) for epoch in epochs]
    said = latest(had, views(beside))
    room = max(NAMED_MAX - beside, 0)
    assert {view.epoch for view, _ in said} == set(sorted(epochs, reverse=True)[:room])
    assert said == [one for one in had if one in said], "in the order in which it had it"
    answer = replace(NOTHING, copies=views(min(beside, NAMED_MAX)), former=views_of(said))
    assert not is_too_much(answer)


def views_of(said: Iterable[Had]) -> tuple[View, ...]:
    return tuple(view for view, _ in said)


def test_the_last_notes_are_said_of_what_is_much() -> None:
    assert last_noted(notes(ENDED_MAX + 5)) == notes(ENDED_MAX + 5)[5:]
    had = [(view, notes(ENDED_MAX // 2)) for view in views(4)]
    assert [len(with_it) for _, with_it in latest(had, ())] == [
        0,
        0,
        ENDED_MAX // 2,
        ENDED_MAX // 2,
    ]


def test_what_lies_apart_is_weighed_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of so many pieces was held against each view of all of them."""
    looked_at, has_piece = 0, takeover.has_piece

    def counted(*args: object) -> bool:
        nonlocal looked_at
        looked_at += 1
        return has_piece(*args)

    monkeypatch.setattr(takeover, "has_piece", counted)
    monkeypatch.setattr("meteor.copies.evidence.has_piece", counted)
    known = others(8)
    asking = Asking({one: ClaimAnswer((), (), (), True, former=views(NAMED_MAX)) for one in known})
    found = asking.ask(known)
    assert len(found.evidence) == 8 * NAMED_MAX
    asking.heirs.plan(found)
    assert looked_at < 10 * len(found.evidence)
