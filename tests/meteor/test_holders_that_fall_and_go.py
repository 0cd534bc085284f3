"""Of who has a part of the ring some fall, and some go to other places of it, within milliseconds:
with everybody back all of it is known again, wherever that is by then."""

from __future__ import annotations

import random
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import pytest

from meteor import MeteorError, profile
from sim.overlay import Overlay
from squid import covers
from tests.meteor import copies_world
from tests.meteor.building import draw_data
from tests.meteor.copies_world import assert_whole_within, build, index_of, seeds
from tests.meteor.test_falling_one_by_one import start

PEERS, RECORDS = 14, 20
GAPS_S = (0, 0.003, 0.01, 0.02, 0.03)
FOUND = {
    38: "a copy that went had noted what an heir never began, and the heir went as well",
    133: "the same; the heir went before it asked anybody again",
}


async def tried(work: Coroutine[Any, Any, object]) -> None:
    with suppress(MeteorError):
        await work


def disturb(overlay: Overlay, drawn: random.Random, index: int) -> None:
    """Whoever has an index falls, goes, or stays, as is drawn."""
    views = [
        view for peer in overlay.living for view in peer.core.views.own.values()
        if covers(view.intervals, index)
    ]  # fmt: skip
    if not views:
        overlay.run_for(2.0)
        return
    holders = [peer for peer in overlay.living if peer.contact.id in views[0].holder_ids]
    drawn.shuffle(holders)
    for holder in holders:
        what = drawn.random()
        if what < 0.45:
            holder.crash()
        elif what < 0.95:
            overlay.kernel.spawn(tried(overlay.move(holder, drawn.getrandbits(160))))
        overlay.run_for(drawn.choice(GAPS_S))
    overlay.run_for(drawn.choice([0.5, 4, 8]))


@pytest.mark.parametrize("seed", [*FOUND, *seeds(2, 100)])
def test_what_they_had_is_there_again(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies_world, "COPIES", 3)
    drawn = random.Random(seed)
    overlay = build(seed, PEERS, disk_s=drawn.choice([0.001, 0.004]))
    assert_whole_within(overlay, 30)
    client = overlay.client()
    ids = [
        overlay.run(client.store(profile(draw_data(drawn)), b"x", ttl=7200)).id
        for _ in range(RECORDS)
    ]
    for _ in range(3):
        disturb(overlay, drawn, index_of(drawn.choice(ids)))
    overlay.run_for(6.0)
    for _ in range(2):
        start(overlay, [peer for peer in overlay.peers if not peer.alive])
    assert_whole_within(overlay, 60)
    answer = overlay.client().retrieve("type=*", everywhere=True, timeout=8)
    assert set(ids) <= {match.id for match in overlay.run(answer.all())}
