"""A watch is told by an heir that an interest is gone: nothing is left there to derive it from."""

from __future__ import annotations

import pytest

from meteor import Interest, Watch
from meteor.wire.record_id import stem_of
from tests.meteor.copies_world import build, crash
from tests.meteor.test_told_by_an_heir import LONG, OVENS, client_of, matcher_of


@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=LONG) for seed in range(4, 20))])
def test_a_watch_hears_of_the_end_of_an_interest_by_an_heir(seed: int) -> None:
    """It was deleted when its matcher had just fallen: who came after that had it from another of
    its places, and had nothing to delete any more.  The watch said that somebody was interested
    until it was renewed (`meteor-sim scenario clients-that-move --seed 4`)."""
    overlay = build(seed, 8, disk_s=0.0)
    matcher, heir, _, far = matcher_of(overlay)
    poster, client = client_of(overlay, heir), client_of(overlay, far)

    async def watched() -> Watch:
        return await client.notify_interest("type=oven temperature=* humidity=*", ttl=3600)

    async def asked() -> Interest:
        return await poster.notify_data(OVENS, id="first", ttl=3600)

    watch = overlay.run(watched())
    interest = overlay.run(asked())
    overlay.run_for(5.0)
    assert watch.active
    crash(matcher)
    overlay.run(interest.close())
    overlay.run_for(15.0)
    told = []
    while (one := watch.take_now()) is not None:
        told.append((one.kind, stem_of(one.id)))
    assert told == [("appeared", "first"), ("gone", "first")]
    assert not watch.active
