"""A watch that was posted after an interest went hears nothing of it, whoever comes to have their
place."""

from __future__ import annotations

import pytest

from meteor import Interest, Watch
from meteor.wire.record_id import stem_of
from tests.meteor.copies_world import build, crash
from tests.meteor.test_told_by_an_heir import LONG, OVENS, client_of, matcher_of


@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=LONG) for seed in range(4, 20))])
def test_an_heir_tells_a_later_watch_nothing_of_an_interest_that_went(seed: int) -> None:
    """What went a moment ago was told of to every watch that would have met it."""
    overlay = build(seed, 8, disk_s=0.0)
    matcher, heir, _, far = matcher_of(overlay)
    poster, client = client_of(overlay, heir), client_of(overlay, far)

    async def asked() -> Interest:
        return await poster.notify_data(OVENS, id="first", ttl=3600)

    async def watched() -> Watch:
        return await client.notify_interest("type=oven temperature=* humidity=*", ttl=3600)

    interest = overlay.run(asked())
    overlay.run_for(2.0)
    overlay.run(interest.close())
    overlay.run_for(2.0)
    watch = overlay.run(watched())
    overlay.run_for(2.0)
    crash(matcher)
    overlay.run_for(15.0)
    told = []
    while (one := watch.take_now()) is not None:
        told.append((one.kind, stem_of(one.id)))
    assert told == []
