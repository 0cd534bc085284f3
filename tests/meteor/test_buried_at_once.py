"""What was deleted, and leaves the place where it lived, is asked for once, and holds nobody up.

Law of this file: simulated overlays; a peer has the tombstones of data whose former versions live
elsewhere, as after replaces that came halfway, and were deleted then.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from chord import replace
from meteor.keeping.placement import GONE, MOVED
from meteor.rendezvous.finishing import AT_ONCE
from meteor.wire.operations import Carried
from meteor.wire.record_id import stem_of
from sim.overlay import Overlay, SimPeer
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    is_shown,
    primary_of,
    store_some,
)


def placed(overlay: Overlay, record_id: str) -> Carried:
    found = primary_of(overlay, record_id).core.shelf.find(("", stem_of(record_id)))
    assert found is not None
    return found.carried


def elsewhere(record_id: str, other_id: str) -> str:
    """Its id at the place of another one."""
    return f"{stem_of(record_id)}.{other_id.partition('.')[2]}"


@pytest.mark.parametrize("seed", range(1, 9))
def test_what_left_is_not_asked_for_again(seed: int) -> None:
    """It was asked to leave four times more, for half a minute, as nobody knew of it any more."""
    overlay = build(seed, 6, disk_s=0.001)
    client = overlay.client()
    record, other = store_some(overlay, client, random.Random(seed), 2)
    assert_whole_within(overlay)
    carried, entry = placed(overlay, record), overlay.living[0].core.entry
    word = replace(
        carried, id=elsewhere(record, other), kind=MOVED, moved_to=record, blob=b"", route=None,
        version=carried.version - 1,
    )  # fmt: skip
    began_s = overlay.kernel.now()
    overlay.run(entry.bury(word, carried.version + 1))
    assert overlay.kernel.now() - began_s < 1.0
    assert ask(overlay, client) == ({other}, True)


@pytest.mark.parametrize("seed", range(1, 9))
def test_many_leave_as_fast_as_a_few(seed: int) -> None:
    """Sixteen are under way at a time, each for half a minute: the others lived on where they were,
    and what was to be finished beside them stayed missing."""
    overlay = build(seed, 8, disk_s=0.001)
    client = overlay.client()
    stored = store_some(overlay, client, random.Random(seed), 8 * AT_ONCE)
    assert_whole_within(overlay)
    own, others = max(
        ((one, elsewhere_than(primary_of(overlay, one), stored)) for one in stored),
        key=lambda found: len(found[1]),
    )
    assert len(others) > 2 * AT_ONCE
    peer = primary_of(overlay, own)
    for record in others:
        note_deleted(peer, placed(overlay, record), elsewhere(record, own))
    overlay.run_for(6.0)
    found, complete = ask(overlay, client)
    assert complete
    assert found == {*stored} - {*others}


def elsewhere_than(peer: SimPeer, stored: Sequence[str]) -> list[str]:
    """What it does not have."""
    return [one for one in stored if not is_shown(peer, one)]


def note_deleted(peer: SimPeer, old: Carried, new_id: str) -> None:
    """It is halfway to another place, and was deleted there."""
    core = peer.core
    core.point.halfway.note(old, peer.runtime.now())
    core.shelf.show(replace(old, id=new_id, kind=GONE, blob=b"", route=None))
