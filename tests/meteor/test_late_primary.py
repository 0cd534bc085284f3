"""A primary whose own loop is late gives up none of its copies: the silence may be its own."""

from __future__ import annotations

import random

import pytest

from meteor import Client
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    primary_of,
    seeds,
    store_some,
    view_of,
)


async def renew(client: Client, record_id: str) -> None:
    await client.renew(record_id, ttl=9000)


@pytest.mark.parametrize("seed", seeds(2))
def test_a_primary_that_is_late_itself_evicts_nobody_until_it_is_not(seed: int) -> None:
    overlay, drawn = build(seed, 6), random.Random(seed)
    (stored,) = store_some(overlay, overlay.client(), drawn, 1)
    assert_whole_within(overlay)
    client, primary = client_away_from(overlay, stored), primary_of(overlay, stored)
    copy, epoch = copies_of(overlay, stored)[0], view_of(overlay, stored).epoch
    copy.pause()
    primary.runtime.lateness = lambda: 0.5  # type: ignore[method-assign]
    renewal = overlay.kernel.spawn(renew(client, stored))
    overlay.run_for(2.0)
    assert view_of(overlay, stored).epoch == epoch
    assert view_of(overlay, stored).has_copy(copy.contact.id)
    assert not renewal.done(), "acknowledged though a holder has not got it"
    primary.runtime.lateness = lambda: 0.0  # type: ignore[method-assign]
    overlay.kernel.run_until(renewal)
    assert view_of(overlay, stored).epoch > epoch
    copy.resume()
    assert_whole_within(overlay)
    assert ask(overlay, client) == ({stored}, True)
