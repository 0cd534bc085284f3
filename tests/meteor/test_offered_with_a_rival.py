"""A copy that is offered what it keeps, with a rival in it, is worth as much when nothing comes of
that: `meteor-sim scenario storm --seed 2`."""

from __future__ import annotations

import random

from chord import replace
from meteor.wire.view import Rival, View
from sim.overlay import Overlay, SimPeer
from squid import intersect
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    is_shown,
    primary_of,
    store_some,
    view_of,
)


def doubted() -> tuple[Overlay, SimPeer, SimPeer, View, str]:
    """A primary whose view names a rival of all that it has, one of its copies, and a record."""
    overlay = build(3, 6)
    (stored,) = store_some(overlay, overlay.client(), random.Random(3), 1)
    assert_whole_within(overlay)
    peer, view = primary_of(overlay, stored), view_of(overlay, stored)
    other = next(one for one in overlay.peers if one.contact.id not in view.holder_ids)
    rival = Rival(view.intervals, view.epoch + (1 << 60), (other.contact,))
    overlay.run(peer.core.replication.rival(view.number, add=(rival,)))
    return overlay, peer, copies_of(overlay, stored)[0], view_of(overlay, stored), stored


def test_a_copy_stays_whole_where_its_giver_has_no_time_for_it() -> None:
    """The leaver had been frozen by somebody who crashed.  Its last copy was offered the interval
    again and again, laid down what it had for that each time, and was no proof when it left."""
    overlay, giver, copy, view, stored = doubted()
    assert copy.core.views.copies[view.key].whole
    giver.core.holdings.freeze(view.intervals[0])
    take = copy.core._handoff.pulling.take(view.intervals[0], giver.contact, view.intervals)
    assert overlay.run(take) is False
    assert copy.core.views.copies[view.key].whole
    assert is_shown(copy, stored)
    assert not copy.core.views.stored


def test_it_takes_the_interval_with_its_rival_all_the_same() -> None:
    overlay, giver, copy, view, stored = doubted()
    take = copy.core._handoff.pulling.take(view.intervals[0], giver.contact, view.intervals)
    assert overlay.run(take) is True
    assert is_shown(copy, stored)
    (taken,) = copy.core.views.touching(view.intervals[:1])
    assert intersect(taken.unknown, view.intervals[:1]) == view.intervals[:1]


def test_what_is_kept_of_an_earlier_life_of_the_giver_is_laid_down() -> None:
    """It lost the past since: what lay here is not shown with what it has."""
    overlay, giver, copy, view, _ = doubted()
    giver.core.holdings.freeze(view.intervals[0])
    kept = copy.core.views.copies[view.key]
    earlier = replace(giver.contact, incarnation=giver.contact.incarnation + 1)
    copy.core.views.copies[view.key] = replace(kept, view=replace(kept.view, primary=earlier))
    take = copy.core._handoff.pulling.take(view.intervals[0], giver.contact, view.intervals)
    assert overlay.run(take) is False
    assert view.key not in copy.core.views.copies
    assert [one.view.primary for one in copy.core.views.stored] == [earlier]


def test_what_another_went_on_after_is_laid_down() -> None:
    """The giver has the interval from that one again, and lost what it had of it before: both in
    one life."""
    overlay, giver, copy, view, _ = doubted()
    giver.core.holdings.freeze(view.intervals[0])
    other = next(one for one in overlay.peers if one.contact.id not in view.holder_ids)
    later = replace(
        view, primary=other.contact, epoch=view.epoch + 1, copies=(), lost=(), rivals=()
    )
    copy.core.views.chronicle.note(later)
    take = copy.core._handoff.pulling.take(view.intervals[0], giver.contact, view.intervals)
    assert overlay.run(take) is False
    assert view.key not in copy.core.views.copies
    assert [one.view.primary for one in copy.core.views.stored] == [giver.contact]
