"""A replace is halfway as its record is deleted at the old place, and who answers for the new one
comes by that tombstone, as a copy of the old one that it has just become.

It lets go of the new content, and so do its own copies, which have no part in the old place: else
whoever takes over from them has back what was deleted.
"""

from __future__ import annotations

import random

import pytest

from chord import replace
from meteor import profile
from meteor.keeping.placement import GONE, Admission
from meteor.wire.record_id import stem_of
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    drawn_elsewhere,
    is_shown,
    primary_of,
    seeds,
)


@pytest.mark.parametrize("seed", seeds(6))
def test_its_own_copies_let_go_of_it_as_well(seed: int) -> None:
    overlay, drawn = build(seed, 8, disk_s=0.001), random.Random(seed)
    client = overlay.client()
    old_id = overlay.run(client.store(profile(draw_data(drawn)), b"1", ttl=7200)).id
    assert_whole_within(overlay, 30)
    old = primary_of(overlay, old_id)
    placed = old.core.shelf.find(("", stem_of(old_id)))
    assert placed is not None
    was = placed.carried
    at_old = overlay.client(peer=list(overlay.living).index(old))
    elsewhere = drawn_elsewhere(overlay, drawn, at_old, old)
    new_id = overlay.run(client.replace(old_id, elsewhere, b"2", ttl=7200)).id
    new, copies = primary_of(overlay, new_id), copies_of(overlay, new_id)
    assert all(is_shown(one, new_id) for one in (new, *copies))
    stone = replace(was, kind=GONE, blob=b"")
    overlay.run(new.core.shelf.admit([stone], Admission()))
    overlay.run_for(1.5)
    assert not [one.address for one in (new, *copies) if is_shown(one, new_id)]
