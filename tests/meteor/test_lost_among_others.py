"""A notice that was lost is sent again, also while others of its stream come and are taken."""

from __future__ import annotations

import pytest

from meteor.rendezvous.outbox import RETRY_S, Outbox
from tests.meteor.test_holdings import notice

LOST = "i:d1:1"


@pytest.mark.parametrize("at_once", [True, False])
def test_what_was_lost_does_not_wait_until_nothing_else_comes(at_once: bool) -> None:
    """Every notice that left put off the time at which those before it were sent again."""
    outbox, now, left = Outbox(), 0.0, list[str]()
    for number in range(1, 9):
        one = notice(number)
        if outbox.add(one, number, now if at_once else None):
            left.append(one.id)
        left += [late.id for late in outbox.due("i", now)]
        now += RETRY_S / 2
        if number > 1:
            outbox.acknowledge("i", (one.id,))
    assert left.count(LOST) > 1


def test_what_is_taken_in_time_is_not_sent_again() -> None:
    """However long others go on to come, and however many are under way at any moment."""
    outbox, now, left = Outbox(), 0.0, list[str]()
    for number in range(1, 40):
        one = notice(number)
        if outbox.add(one, number, now):
            left.append(one.id)
        left += [late.id for late in outbox.due("i", now)]
        now += RETRY_S / 4
        outbox.acknowledge("i", (notice(number - 2).id,))
    assert len(left) == len(set(left))
