"""A change that was under way as its place went to another peer is no news beside what came from
there since."""

from __future__ import annotations

import random

import pytest

from chord import replace
from meteor.copies.copying import Superseded
from meteor.keeping.placement import Admission, key_of
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    index_of,
    primary_of,
    store_some,
)


def test_what_was_under_way_does_not_take_the_place_of_a_tombstone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A renewal waits for a silent copy; meanwhile the next primary, whose copy this peer is now,
    has the record deleted.  As it gave up, this peer showed the renewal in its place, and gave it
    to whoever it gave anything to."""
    overlay = build(1, 5, disk_s=0.001)
    (stored,) = store_some(overlay, overlay.client(), random.Random(1), 1)
    assert_whole_within(overlay)
    peer = primary_of(overlay, stored)
    shelf, replication = peer.core.shelf, peer.core.replication
    (placed,) = (one for one in shelf.table if one.carried.id == stored)
    carried, key = placed.carried, key_of(placed.carried)

    async def passed_over(*_: object) -> None:
        await overlay.living[0].runtime.sleep(0.5)
        raise Superseded("another peer's meanwhile")

    monkeypatch.setattr(replication.copying, "_replicate", passed_over)
    renewed = replace(carried, renewed=carried.renewed + 1)
    part = ((index_of(stored), index_of(stored)),)
    keeping = overlay.kernel.spawn(replication.keep([renewed], part, overlay.kernel.now() + 5.0))
    overlay.run_for(0.1)
    stone = replace(carried, kind="gone", blob=b"", route=None, ttl_ms=10**9, number=9)
    overlay.run(shelf.admit([stone], Admission()))
    known = shelf.find(key)
    assert known is not None
    assert known.carried.kind == "gone"
    with pytest.raises(Superseded):
        overlay.kernel.run_until(keeping)
    known = shelf.find(key)
    assert known is not None
    assert known.carried.kind == "gone"
    assert [one.kind for one in shelf.page(part[0], 0).carried] == ["gone"]
