"""Who has the last word in its attic alone can be taken over from: it is on the shelf for that."""

from __future__ import annotations

import random
from typing import Any

from chord import Contact, replace
from meteor.keeping.placement import Admission
from meteor.wire.copy_messages import Instate, Instated
from meteor.wire.record_id import stem_of
from meteor.wire.view import View
from sim.runtime import SimRuntime
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    is_shown,
    primary_of,
    store_some,
    view_of,
)

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
