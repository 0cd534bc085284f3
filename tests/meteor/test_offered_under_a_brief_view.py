"""Who is offered what another peer had says that it has all of it only under a view that lasts: the
other one forgets it then, and should that one be restarted, nobody else can show the past.

Found in a ring of six that fell and came back: one that had just begun a brief view took in what
the last primary offered, gave that view up, and the interval was lost with everybody back.
"""

from __future__ import annotations

import pytest

from chord import RemoteFault, replace
from meteor.keeping.views import Views
from meteor.wire.operations import Inherit, Inherited
from meteor.wire.view import Ended, View
from sim.overlay import SimPeer
from squid import Interval
from tests.meteor.copies_world import assert_whole_within, build, index_of, primary_of, store_some


class Offer:
    """One peer is about to offer another one a part of what that holds."""

    def __init__(self) -> None:
        self.overlay = build(5, 6, disk_s=0.001)
        stored = store_some(
            self.overlay, self.overlay.client(), self.overlay.kernel.random("x"), 10
        )
        assert_whole_within(self.overlay)
        self.owner: SimPeer = primary_of(self.overlay, stored[0])
        self.part: Interval = (index_of(stored[0]),) * 2
        holders = self.owner.core.views.holders_of((self.part,))
        self.giver = next(one for one in self.overlay.living if one.contact.id not in holders)
        had = View(self.giver.contact, 3, 3, (self.part,), ())
        self.giver.core.views.remember(had)

    def reply(self) -> object:
        """What comes of it."""
        offer = Inherit(self.part, (Ended(self.giver.contact.id, 3, (self.part,)),))
        call = self.giver.runtime.call(self.owner.contact, offer, 5.0)
        try:
            return self.overlay.run(call)
        except RemoteFault as fault:
            return fault.kind


def test_an_offer_is_taken_under_a_view_that_lasts() -> None:
    assert isinstance(Offer().reply(), Inherited)


def test_under_a_brief_view_nothing_is_taken() -> None:
    offer = Offer()
    views = offer.owner.core.views
    for view in views.touching((offer.part,)):
        views.own[view.number] = replace(view, settled=view.as_settled())
    assert offer.reply() == "Moved"


def test_nor_where_the_view_ends_as_it_is_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    offer = Offer()
    write = offer.owner.core.shelf.note

    async def note(views: Views) -> None:
        await write(views)
        views.demote((offer.part,))

    monkeypatch.setattr(offer.owner.core.shelf, "note", note)
    assert offer.reply() == "Moved"
