"""A mark that came with a record of another holder, in whose numbers it was drawn."""

from __future__ import annotations

from meteor.keeping.placement import Admission
from tests.meteor.test_how_far_clients_are import Teller
from tests.meteor.test_shelf import EVERYTHING, carried


def test_a_taker_tells_what_came_while_it_was_pulling() -> None:
    """The interest lies at the giver as another peer's copy, too, whose renewal came first; its
    client had up to 50 there, and the giver's own numbers are lower."""
    giver, taker, came = Teller(), Teller(), Admission()
    giver.gain(Admission())
    asks = carried("asks", "temperature=0..10", kind="interest", number=3, acknowledged=50)
    giver.run(giver.shelf.admit([asks], Admission()))
    first = giver.shelf.page(EVERYTHING[0], 0)
    taker.run(taker.shelf.admit(first.carried, came))
    late = carried("late", "type=a temperature=3", ttl_ms=giver.shelf.wall_ms() + 60_000)
    ((written,),) = giver.run(giver.shelf.write([late]))
    giver.shelf.take_in(written, None)
    last = giver.shelf.page(EVERYTHING[0], first.cursor)
    taker.run(taker.shelf.admit(last.carried, came))
    taker.gain(came)
    assert taker.pending("asks") == {"asks:late:1"}


def test_after_a_restart_numbers_go_on_above_what_clients_had() -> None:
    """What had the later numbers is over."""
    before = Teller()
    asks = carried("asks", "temperature=0..10", kind="interest", number=3, acknowledged=50)
    before.run(before.shelf.admit([asks], Admission()))
    again = before.restarted()
    ((written,),) = before.run(again.write([carried("late", "type=a temperature=3")]))
    assert written.number > 50
