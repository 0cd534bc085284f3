"""What a shelf says of its load: against counting one by one."""

from __future__ import annotations

import random

import pytest

from chord import Arc, split_id
from meteor.keeping import load
from meteor.keeping.load import COUNT_S, ShelfBurden
from sim import Overlay
from tests.meteor.building import SPACE

BITS = 160
SHIFT = BITS - SPACE.curve.index_bits
RECORDS = 150


@pytest.fixture(scope="module")
def overlay() -> Overlay:
    made = Overlay(peers=1, space=SPACE)
    client = made.client()

    async def fill() -> None:
        for number in range(RECORDS):
            await client.store(f"type=lamp temperature={number % 60} humidity={number % 7}", b"")
        for low in range(5):
            await client.notify_data(
                f"type=lamp temperature={low}..80"
            )  # wide: many peers' business

    made.run(fill())
    return made


def places(overlay: Overlay) -> list[int]:
    """The identifiers under which the points lie."""
    shelf = overlay.peers[0].core.shelf
    return [shelf.placed(record).lowest << SHIFT for record in shelf.store.records("data")]


def burden(overlay: Overlay) -> ShelfBurden:
    peer = overlay.peers[0]
    return ShelfBurden(peer.core.shelf, SPACE.curve, BITS, peer.runtime.now)


def arcs(overlay: Overlay) -> list[Arc]:
    """Arcs that begin and end at records, beside them, and over 0."""
    stream, ends = random.Random(1), places(overlay)
    drawn = [stream.choice(ends) + stream.choice([-1, 0, 1]) for _ in range(60)]
    return [Arc(after, last) for after, last in zip(drawn[::2], drawn[1::2], strict=True)]


def test_points_count_where_they_lie_and_ranges_nowhere(overlay: Overlay) -> None:
    counted = burden(overlay)
    for arc in arcs(overlay):
        assert counted.load(arc) == sum(place in arc for place in places(overlay))
    assert counted.load(Arc(5, 5)) == RECORDS


def test_an_arc_is_cut_where_its_records_say(overlay: Overlay) -> None:
    counted = burden(overlay)
    for arc in arcs(overlay):
        keys = [place for place in places(overlay) if place in arc]
        wanted, cut = split_id(arc, keys, BITS, 1 << SHIFT), counted.split(arc)
        assert cut is None or (cut in arc and cut != arc.last)
        assert cut == wanted or (cut is not None and cut - cut % (1 << SHIFT) == wanted)


def test_a_count_is_kept_for_a_moment(overlay: Overlay) -> None:
    counted, client = burden(overlay), overlay.client()
    before = counted.load(Arc(5, 5))
    receipt = overlay.run(client.store("type=lamp temperature=1 humidity=1", b""))
    assert counted.load(Arc(5, 5)) == before
    overlay.run_for(COUNT_S)
    assert counted.load(Arc(5, 5)) == before + 1
    overlay.run(client.cancel(receipt.id))


def test_of_very_many_records_some_are_looked_at(
    overlay: Overlay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "SAMPLE", 40)
    estimate = burden(overlay).load(Arc(5, 5))
    assert 0.8 * RECORDS <= estimate <= 1.25 * RECORDS
