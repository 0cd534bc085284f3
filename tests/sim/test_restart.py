"""Peers that are held, crash and come back under the same journal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from meteor import KeywordSpace, Number, Word
from meteor.wire.codec import wire_codec
from sim import Kernel, Overlay, SimDisk

SPACE = KeywordSpace("plain", [Word("type"), Number("value", 0, 1000)])


def stored(overlay: Overlay, count: int) -> set[str]:
    client = overlay.client()

    async def store_all() -> set[str]:
        return {
            (await client.store(f"type=reading value={number}", b"x")).id
            for number in range(0, 1000, 1000 // count)
        }

    return overlay.run(store_all())


def found(overlay: Overlay) -> set[str]:
    client = overlay.client()
    matches = overlay.run(client.retrieve("type=reading", allow_partial=True).all())
    return {match.id for match in matches}


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_restarted_peer_brings_back_what_it_held(on_disk: bool) -> None:
    kernel = Kernel(3)
    overlay = Overlay(
        8, space=SPACE, seed=3, kernel=kernel, codec=wire_codec(), copies=1,
        disk=SimDisk(kernel) if on_disk else None,
    )  # fmt: skip
    everything = stored(overlay, 100)
    holder = next(peer for peer in overlay.peers[1:] if peer.core.state().data > 5)
    holder.crash()
    overlay.run_for(10.0)
    assert found(overlay) < everything
    again = overlay.run(overlay.restart(holder))
    assert again.incarnation == 1
    assert again.contact == replace(holder.contact, incarnation=1)
    assert overlay.living.count(again) == 1
    overlay.run_for(10.0)
    assert found(overlay) == everything


def test_a_peer_held_for_a_moment_is_missed_by_nobody() -> None:
    overlay = Overlay(8, space=SPACE, seed=4, codec=wire_codec())
    everything = stored(overlay, 50)
    overlay.run_for(5.0)
    overlay.peers[4].pause()
    overlay.run_for(1.0)
    overlay.peers[4].resume()
    overlay.run_for(5.0)
    assert found(overlay) == everything
    assert not any(peer.core.holdings.lost for peer in overlay.living)
