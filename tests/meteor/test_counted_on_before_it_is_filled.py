"""A copy falls, a record of its journal is damaged, and it is back before its primary has noticed;
another copy falls, so the primary begins a next epoch, in which it still counts on the first one.

That one has not got the record back yet: it is no whole copy, and should all others fall then, it
does not answer as if that had never been there.
"""

from __future__ import annotations

import random

import pytest

from meteor import Client, MeteorError
from meteor.keeping.placement import journal_key
from meteor.keeping.views import Views
from meteor.wire.record_id import stem_of
from meteor.wire.view import View
from sim.overlay import Overlay, SimPeer
from squid import covers
from tests.meteor.copies_world import (
    assert_never_silently_partial,
    assert_whole_within,
    build,
    copies_of,
    crash,
    index_of,
    primary_of,
    seeds,
    store_some,
    view_of,
)
from tests.meteor.test_takeover import PEERS

FOUND = [10, 17, 18, 48]
"""The record was silently absent."""
WITHIN_S = 3.0


def back_in_a_moment(overlay: Overlay, fallen: SimPeer) -> SimPeer:
    """Started again, without waiting until it has its place."""
    again = overlay.reincarnate(fallen)

    async def back() -> None:
        try:
            await overlay.rejoin(again)
        except MeteorError as error:
            print(f"{again.address} could not start: {error}")

    overlay.kernel.spawn(back())
    return again


def renew_meanwhile(overlay: Overlay, client: Client, record: str) -> None:
    """So that its primary notices at once who is gone."""

    async def renew() -> None:
        for _ in range(3):
            try:
                await client.renew(record, ttl=7300, timeout=0.5)
            except MeteorError as error:
                print(f"not renewed: {error}")

    overlay.kernel.spawn(renew())


@pytest.mark.parametrize("seed", [*FOUND, *seeds(2, 40)])
def test_who_has_lost_a_record_is_filled_before_it_is_counted_on(seed: int) -> None:
    drawn = random.Random(seed)
    overlay = build(seed, drawn.choice([4, 5, 6]), disk_s=0.002)
    stored = store_some(overlay, overlay.client(), drawn, 8)
    assert_whole_within(overlay, 30)
    record = drawn.choice(stored)
    primary, copies = primary_of(overlay, record), copies_of(overlay, record)
    drawn.shuffle(copies)
    torn, other = copies
    assert overlay.disk is not None
    overlay.disk.damage(torn.address, journal_key(("", stem_of(record))))
    crash(torn)
    overlay.run_for(drawn.choice([0, 0, 0.01]))
    crash(other)
    again = back_in_a_moment(overlay, torn)
    client = overlay.client(peer=overlay.living.index(primary))
    renew_meanwhile(overlay, client, record)
    view, until_s = None, overlay.kernel.now() + WITHIN_S
    while view is None and overlay.kernel.now() < until_s:
        overlay.run_for(0.001)
        whole = [copy.view for copy in again.core.views.copies.values() if copy.whole]
        view = next((one for one in whole if covers(one.intervals, index_of(record))), None)
    holders = (view or view_of(overlay, record)).holder_ids
    crash(*(one for one in overlay.living if one is not again and one.contact.id in holders))
    overlay.run_for(5.0)
    assert_never_silently_partial(overlay, overlay.client(), [record], may=stored)


def test_what_is_torn_is_in_sync_with_nothing_and_what_was_had_since_is() -> None:
    primary, copy, third = PEERS[:3]
    had = View(primary, 5, 5, ((0, 9),), (copy, third))
    later, last = (View(primary, 5, epoch, ((0, 9),), (copy,)) for epoch in (6, 7))
    for whole in (True, False):
        views = Views.of(copy)
        views.restore([had], whole=whole)
        assert views.in_sync(later, had.epoch) == whole
        assert views.has_all_of(had.intervals, primary.id, had.epoch) == whole
        views.put(later)
        views.retire(later.key)
        assert views.in_sync(last, later.epoch)
        assert views.has_all_of(had.intervals, primary.id, later.epoch)
        assert views.sound([had, later]) == ((5, 6) if whole else (6,))
