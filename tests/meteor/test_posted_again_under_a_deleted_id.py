"""What was deleted is posted again under the same id, at another place.

Delete wins over every version (DESIGN section 4).  Who answered for the new place, and knew of no
delete, said that it is stored; a copy of his that had the tombstone took nothing, and so it was
there by the others alone, or went a moment later.
"""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from meteor import Profile, Refused, profile
from sim.overlay import Overlay
from tests.meteor.building import draw_data
from tests.meteor.copies_world import ask, assert_whole_within, build, flaws, seeds, view_of


def two_places(overlay: Overlay, drawn: random.Random) -> tuple[Profile, Profile]:
    """Of the second one the primary is no holder of the first, though one of its copies is."""
    client = overlay.client()
    found = [profile(draw_data(drawn)) for _ in range(40)]
    probes = [overlay.run(client.store(one, b"z", ttl=7200)).id for one in found]
    views = [view_of(overlay, probe) for probe in probes]
    for probe in probes:
        overlay.run(client.cancel(probe))
    for (first, had), (second, has) in permutations(zip(found, views, strict=True), 2):
        if has.primary.id not in had.holder_ids and set(has.holder_ids) & set(had.holder_ids):
            return first, second
    raise AssertionError("no such places")


@pytest.mark.parametrize("seed", seeds(6))
def test_it_is_refused_where_a_copy_knows_of_it(seed: int) -> None:
    overlay, drawn = build(seed, 8), random.Random(seed)
    assert_whole_within(overlay)
    first, second = two_places(overlay, drawn)
    client = overlay.client()
    receipt = overlay.run(client.store(first, b"x", id="s1", ttl=7200))
    assert overlay.run(client.cancel(receipt.id)).matches == 1
    with pytest.raises(Refused) as told:
        overlay.run(client.store(second, b"y", id="s1", ttl=7200))
    assert told.value.rule == "deleted"
    assert ask(overlay, client) == (set(), True)
    overlay.run_for(20.0)
    assert flaws(overlay) == []
    assert ask(overlay, client) == (set(), True)
