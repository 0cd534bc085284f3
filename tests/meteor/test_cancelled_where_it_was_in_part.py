"""What is cancelled by an id under which it went on elsewhere: a part of that place may have it
still, where the replace did not come.
"""

from __future__ import annotations

import pytest

from meteor import Incomplete
from meteor.wire.record_id import stem_of
from sim.simulated_peer import SimPeer
from squid import HandOn, Intervals, Work
from tests.meteor.copies_world import ask, assert_whole_within, build, primary_of

WIDE, POINT = "type=lamp temperature=-40..120", "type=lamp temperature=7 humidity=50"


def silence(peer: SimPeer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can say nothing of what it has."""

    async def performed(_: HandOn, part: Intervals) -> Work:
        return Work(missing=part)

    monkeypatch.setattr(peer.core.point, "perform", performed)
    monkeypatch.setattr(peer.core.point, "answer", lambda _, part: Work(missing=part))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_part_that_could_not_be_asked_is_missing(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = build(seed, 9, disk_s=0.001)
    assert_whole_within(overlay)
    client = overlay.client()
    new = overlay.run(client.store(POINT, ttl=7200)).id
    old = overlay.run(client.store(WIDE, ttl=7200)).id
    at_new = primary_of(overlay, new)
    overlay.run(client.cancel(new))
    placed = primary_of(overlay, old).core.shelf.find(("", stem_of(old)))
    assert placed is not None
    *_, silent = [
        one
        for one in overlay.peers
        if one is not at_new and one.core.shelf.meets(placed.carried, one.core.holdings.held)
    ]
    with monkeypatch.context() as patch:
        silence(silent, patch)
        with pytest.raises(Incomplete):
            overlay.run(client.replace(old, POINT, ttl=7200, timeout=0.6))
        receipt = overlay.run(client.cancel(old, allow_partial=True))
    found, complete = ask(overlay, client)
    assert not receipt.complete or (found, complete) == (set(), True)
    overlay.run(client.cancel(old))
    assert ask(overlay, client) == (set(), True)
