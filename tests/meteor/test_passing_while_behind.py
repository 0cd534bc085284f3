"""Data that passes is nowhere to be found again: whoever is behind is told of it all the same."""

from __future__ import annotations

import pytest

from meteor import Client
from meteor.rendezvous import outbox
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE

KEPT = 160
PENDING_MAX = 16


def test_what_passes_while_a_client_catches_up_is_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It waited behind the pairs that did not fit, and when its turn came it was looked for in the
    store, where it never was: the client was not told, and nobody was told of that."""

    async def told(client: Client) -> list[bytes]:
        for at in range(KEPT):
            await client.store(f"type=lamp temperature={at % 100}", b"kept", ttl=3600)
        async with client.notify_data("type=lamp", queue=1000, timeout=60) as interest:
            receipt = await client.store("type=lamp temperature=7", b"passing", ttl=0)
            assert receipt.complete
            assert receipt.matches == 1
            return [(await interest.recv(timeout=60)).data for _ in range(KEPT + 1)]

    monkeypatch.setattr(outbox, "PENDING_MAX", PENDING_MAX)
    overlay = Overlay(codec=wire_codec(), peers=1, space=SPACE, seed=5)
    came = overlay.run(told(overlay.client(peer=0)))
    assert sorted(came) == [b"kept"] * KEPT + [b"passing"]


def test_that_an_interest_is_gone_is_told_to_a_watch_that_catches_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is not to be derived again either: the watch took it for alive from then on."""

    async def told(client: Client) -> int:
        interests = [
            await client.notify_data(f"type=lamp temperature={at % 100}") for at in range(KEPT)
        ]
        async with client.notify_interest("type=lamp temperature=*", timeout=60) as watch:
            first = await watch.recv(timeout=60)
            await next(one for one in interests if one.id == first.id).close()
            kinds = [first.kind] + [(await watch.recv(timeout=60)).kind for _ in range(KEPT)]
            return kinds.count("appeared") - kinds.count("gone")

    monkeypatch.setattr(outbox, "PENDING_MAX", PENDING_MAX)
    overlay = Overlay(codec=wire_codec(), peers=1, space=SPACE, seed=5)
    assert overlay.run(told(overlay.client(peer=0))) == KEPT - 1
