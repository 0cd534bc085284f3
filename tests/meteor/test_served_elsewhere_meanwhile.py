"""What is posted or moved by way of a peer that serves no more by then is told by the next one."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Deferred
from meteor.client.client import Client
from meteor.wire.messages import Amend, Post
from tests.meteor.fake_peer import FakeOverlay, FakePeer

LEFT_S = 0.5
"""How long the peer that leaves still answers what it was asked."""


def _leaving(overlay: FakeOverlay, kind: type) -> FakePeer:
    """A peer that says farewell when it is asked this, and is gone once it has answered."""
    leaving = overlay.peers[0]

    async def answer_late(request: Any) -> Any:
        leaving.farewell()
        await leaving.runtime.sleep(LEFT_S)
        client = leaving.clients[0]
        reply = leaving.post if isinstance(request, Post) else leaving.amend
        overlay.kernel.spawn(_crash_soon(leaving))
        return reply(client, request)

    def answer(request: Any) -> Any:
        return Deferred(answer_late(request)) if isinstance(request, kind) else None

    leaving.answer = answer
    return leaving


async def _crash_soon(peer: FakePeer) -> None:
    await peer.runtime.sleep(0.01)
    peer.crash()


async def _two(overlay: FakeOverlay) -> tuple[Client, Client]:
    """A client of the peer that leaves, and one of the other."""
    for _ in range(2):
        overlay.add_peer()
    return await overlay.new_client().open(), await overlay.new_client("p1:1").open()


@pytest.mark.parametrize("keep_alive", [True, False])
def test_an_interest_that_was_posted_there_is_told_at_once(keep_alive: bool) -> None:
    overlay = FakeOverlay()

    async def scenario() -> None:
        client, other = await _two(overlay)
        _leaving(overlay, Post)
        interest = await client.notify_data("temperature>=80", keep_alive=keep_alive)
        assert client.peer_address == "p1:1"
        await client._runtime.sleep(1)
        await other.store("type=t temperature=99", "hot")
        assert (await interest.recv(timeout=1)).text == "hot"

    overlay.run(scenario())


def test_a_standing_retrieve_that_was_posted_there_is_told_at_once() -> None:
    overlay = FakeOverlay()

    async def scenario() -> None:
        client, other = await _two(overlay)
        _leaving(overlay, Post)
        answer = client.retrieve("temperature>=80", ttl=60)
        assert await answer.all() == []
        await client._runtime.sleep(1)
        await other.store("type=t temperature=99", "hot")
        await client._runtime.sleep(1)
        assert [match.text for match in answer.mailbox.items] == ["hot"]
        await answer.close()

    overlay.run(scenario())


def test_an_interest_that_was_moved_there_is_told_at_once() -> None:
    overlay = FakeOverlay()

    async def scenario() -> None:
        client, other = await _two(overlay)
        interest = await client.notify_data("temperature<=0")
        _leaving(overlay, Amend)
        await interest.replace("temperature>=80")
        assert client.peer_address == "p1:1"
        await client._runtime.sleep(1)
        await other.store("type=t temperature=99", "hot")
        assert (await interest.recv(timeout=1)).text == "hot"

    overlay.run(scenario())
