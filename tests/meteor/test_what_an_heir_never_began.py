"""What a peer of a former life had noted of a view that never began is forgotten once its primary
says so: that one may go to another place, and nobody could say it then."""

from __future__ import annotations

import pytest

from chord import Contact
from meteor.keeping.views import Views
from meteor.wire.view import View

HERE, FALLEN, HEIR = (Contact(n, f"10.0.0.{n}:7400") for n in (1, 2, 3))
BEFORE = View(FALLEN, 7, 7, ((0, 9),), (HERE,))
NEVER = View(HEIR, 9, 9, ((0, 5),), (HERE,))
SAID = {(NEVER.key, NEVER.epoch)}


def had(*, in_the_attic: bool = False) -> Views:
    views = Views()
    views.remember(BEFORE)
    views.remember(NEVER)
    views.taken_in.note(FALLEN.id, BEFORE.epoch, BEFORE.intervals)
    if in_the_attic:
        views.store(BEFORE, 1)
        views.store(NEVER, 2)
    return views


@pytest.mark.parametrize("in_the_attic", [False, True])
def test_it_is_what_it_took_over_that_is_evidence(in_the_attic: bool) -> None:
    views = had(in_the_attic=in_the_attic)
    views.forget_unbegun(())
    assert views.remembered() == [BEFORE, NEVER], "nobody says so"
    views.forget_unbegun({(NEVER.key, NEVER.epoch + 1)})
    assert views.remembered() == [BEFORE, NEVER], "another epoch"
    views.forget_unbegun(SAID)
    assert views.remembered() == [BEFORE]


def test_it_stays_where_nothing_else_says_what_it_took_over() -> None:
    views = Views()
    views.remember(NEVER)
    views.forget_unbegun(SAID)
    assert views.remembered() == [NEVER]
    views.remember(BEFORE)
    views.forget_unbegun(SAID)
    assert views.remembered() == [NEVER, BEFORE], "not all of that is noted to be with it"


def test_it_stays_where_another_part_alone_is_known() -> None:
    views = Views()
    views.remember(View(FALLEN, 7, 7, ((4, 9),), (HERE,)))
    views.remember(NEVER)
    views.taken_in.note(FALLEN.id, 7, ((0, 9),))
    views.forget_unbegun(SAID)
    assert NEVER in views.remembered()
