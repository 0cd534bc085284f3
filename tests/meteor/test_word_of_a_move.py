"""A word of a move hides the earlier version at the old place as long as that may come back."""

from __future__ import annotations

import random

import pytest

from meteor import profile
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    index_of,
    store_some,
)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_was_replaced_shortly_and_deleted_does_not_come_back(seed: int) -> None:
    """A copy was down before it was replaced by what lives shorter, and that was deleted: the
    tombstone lies at the new place, and at the old one nothing was left when the word was over."""
    overlay, drawn = build(seed, 9), random.Random(seed)
    (first,) = store_some(overlay, overlay.client(), drawn, 1)
    assert_whole_within(overlay)
    ancient = copies_of(overlay, first)[0]
    client = client_away_from(overlay, first)
    ancient.crash()
    assert_whole_within(overlay)
    receipt = overlay.run(client.replace(first, profile(draw_data(drawn)), b"y", ttl=10.0))
    assert index_of(receipt.id) != index_of(first)
    assert overlay.run(client.cancel(receipt.id)).matches == 1
    assert ask(overlay, client) == (set(), True)
    overlay.run_for(15.0)  # the word is over
    overlay.run(overlay.restart(ancient))
    overlay.run_for(60.0)
    assert ask(overlay, client) == (set(), True)
