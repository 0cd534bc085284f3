"""A freeze that is over before it could be answered leaves nothing behind.

Law of this file: a stranger asks a peer to freeze what it holds, while a change of that waits.
"""

from __future__ import annotations

import random

import pytest

from chord import RemoteFault
from meteor.wire.operations import Freeze
from tests.meteor.copies_world import assert_whole_within, build, store_some
from tests.meteor.test_copy_keeper import Stranger

WAITS_S = 5.0
"""Longer than a freeze lasts."""


def test_what_is_frozen_again_and_again_is_remembered_while_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of each freeze that a change outlasted, its epoch was remembered for ever."""
    overlay = build(3, 6, disk_s=0.001)
    store_some(overlay, overlay.client(), random.Random(3), 1)
    assert_whole_within(overlay)
    peer, stranger = overlay.peers[2], Stranger(overlay)
    giving, (interval, *_) = peer.core._handoff._giving, peer.core.holdings.held

    async def waits() -> None:
        await peer.runtime.sleep(WAITS_S)

    monkeypatch.setattr(peer.core.replication, "barrier", waits)
    for _ in range(3):
        reply = stranger.ask(peer, Freeze(interval, 0))
        assert isinstance(reply, RemoteFault), "a grant that is none would be asked for in vain"
        assert not peer.core.holdings.is_frozen((interval,))
    overlay.run_for(WAITS_S)
    assert giving._frozen_at == {}
