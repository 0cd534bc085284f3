"""Who has the last word in its attic alone can be taken over from: it is on the shelf for that."""

from __future__ import annotations

import random
from typing import Any

import pytest

from chord import Contact, replace
from meteor.keeping.placement import Admission
from meteor.wire.copy_messages import Instate, Instated, Learn
from meteor.wire.record_id import stem_of
from meteor.wire.view import View
from sim.runtime import SimRuntime
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    crash,
    is_shown,
    primary_of,
    restart_all,
    store_some,
    view_of,
)
from tests.meteor.test_copy_keeper import Stranger

HEIR, FALLEN = Contact(99, "10.9.9.9:1"), Contact(98, "10.9.9.8:1")


def test_an_heir_is_not_refused_for_ever_by_who_has_the_past_in_its_attic() -> None:
    """It had cleared its shelf for a view without that past, which is gone since.  Nobody held the
    interval any more, as nobody else had anything of it."""
    overlay = build(3, 6, disk_s=0.001)
    (record,) = store_some(overlay, overlay.client(), random.Random(3), 1)
    assert_whole_within(overlay)
    part, holders = view_of(overlay, record).intervals, view_of(overlay, record).holder_ids
    peer = next(one for one in overlay.peers if one.contact.id not in holders)
    placed = primary_of(overlay, record).core.shelf.find(("", stem_of(record)))
    assert placed is not None
    runtime = SimRuntime(overlay.kernel, overlay.network, HEIR)
    past = View(FALLEN, 7, 1 << 40, part, (peer.contact,))
    keeper, views, shelf = peer.core._keeper, peer.core.views, peer.core.shelf

    async def take_over() -> Any:
        keeper.expect(part)
        views.remember(past)
        await shelf.admit([shelf.outgoing(placed.carried)], Admission())
        await keeper.clear(part)
        assert not is_shown(peer, record)
        heir = replace(past, primary=HEIR, number=8, epoch=1 << 41)
        return await runtime.call(peer.contact, Instate(heir, past.epoch), 6.0)

    reply = overlay.run(take_over())
    assert isinstance(reply, Instated)
    assert reply.known
    assert is_shown(peer, record)
    assert views.copies[HEIR.id, 8].whole
    runtime.close()


@pytest.mark.parametrize("seed", range(1, 9))
def test_who_begins_a_ring_by_it_has_it_on_its_shelf_first(seed: int) -> None:
    """It fell as it was about to be a copy of one who had lost the past, which had not said that it
    began.  Back alone, it held all and showed nothing until it had merged its own attic."""
    overlay = build(seed, 1, disk_s=0.01)
    stored = store_some(overlay, overlay.client(), random.Random(seed), 40)
    (peer,) = overlay.living
    stranger, (view,) = Stranger(overlay), peer.core.views.own.values()
    later = stranger.view(view.intervals, view.epoch + (1 << 30), lost=view.intervals)
    for message in (Instate(later), Learn(replace(later, copies=(peer.contact,)))):
        assert stranger.ask(peer, message).known
    assert peer.core.views.stored
    crash(peer)
    restart_all(overlay, [peer])
    assert ask(overlay, overlay.client()) == ({*stored}, True)
