"""The client on an event loop, against real peers: cancellation, fail-over, and the way out."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import meteor
from meteor.links.address import checked_address
from tests.meteor.asking import HOT

ROOT = Path(__file__).parent.parent.parent
SPACE = meteor.KeywordSpace(
    "building", [meteor.Word("type"), meteor.Number("temperature", -40, 125)], bits=16
)

LEAVE_WITHOUT_CLOSING = """
import asyncio, meteor

space = meteor.KeywordSpace("s", [meteor.Word("type"), meteor.Number("temperature", -40, 125)])

async def main():
    peer = await meteor.Peer(space=space).start()
    client = await meteor.connect(peer.address)
    interest = await client.notify_data("temperature>=80")
    waiting = asyncio.create_task(interest.recv())
    await client.store("type=t temperature=20")
    standing = client.retrieve("temperature>=80", ttl=60)
    assert await standing.all() == []
    print("leaving")

asyncio.run(main())
"""


async def test_cancelling_a_wait_leaves_the_stream_whole() -> None:
    async with meteor.LocalOverlay(peers=3, space=SPACE) as overlay:
        client = await overlay.connect()
        interest = await client.notify_data("temperature>=80")
        waiting = asyncio.create_task(interest.recv())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await client.store(HOT, b"one")
        assert (await interest.recv(timeout=10)).data == b"one"


async def test_cancelling_a_post_or_an_answer_leaves_the_client_whole() -> None:
    async with meteor.LocalOverlay(peers=3, space=SPACE) as overlay:
        client = await overlay.connect()
        await client.store(HOT, b"one")
        answer = client.retrieve("temperature>=80")
        for awaitable in (
            answer.all(),
            client.store(HOT),
            client.renew((await client.store(HOT)).id),
        ):
            task = asyncio.ensure_future(awaitable)
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert await answer.all(), "the answer was still on its way"
        opening = asyncio.ensure_future(awaited(client.notify_data("temperature>=80")))
        await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert not client._session.streams
        await client.store(HOT)


async def awaited(interest: meteor.Interest) -> meteor.Interest:
    return await interest


async def test_a_client_survives_the_crash_of_its_peer() -> None:
    async with meteor.LocalOverlay(peers=4, space=SPACE) as overlay:
        client, sensor = await overlay.connect(0), await overlay.connect(1)
        moved = asyncio.Event()
        client.callbacks.on_reconnected = lambda _: moved.set()
        client.callbacks.on_error = lambda _: None  # the crashed arc is missing: not the point here
        interest = await client.notify_data("type=t temperature=99")
        before = client.peer_address
        await overlay.peers[0].crash()
        await asyncio.wait_for(moved.wait(), 10)
        assert client.peer_address != before
        await sensor.store(HOT, b"hot", allow_partial=True)
        received = await interest.recv(timeout=10)
        assert received.data == b"hot"


async def test_an_embedded_peer_has_every_verb() -> None:
    async with meteor.Peer(space=SPACE) as peer:
        await peer.store(HOT, b"one")
        assert [match.data for match in await peer.retrieve("temperature>=80")] == [b"one"]
        interest = await peer.notify_data("temperature>=80")
        assert (await interest.recv(timeout=10)).data == b"one"
        watch = await peer.notify_interest(HOT)
        await watch.wait_active(timeout=10)
        await interest.close()
        await watch.wait_idle(timeout=10)
        assert (await peer.delete_data("temperature>=80")).matches == 1


@pytest.mark.sockets
async def test_connect_can_be_awaited_or_entered() -> None:
    async with meteor.Peer(space=SPACE) as peer:
        client = await meteor.connect(peer.address)
        assert client.space.digest == SPACE.digest
        await client.close()
        async with meteor.connect("127.0.0.1:9", peer.address) as client:
            await client.store(HOT)
        assert not client.connected
        with pytest.raises(meteor.NotConnected, match=r"127\.0\.0\.1:9"):
            await meteor.connect("127.0.0.1:9")
        with pytest.raises(meteor.SpaceMismatch):
            await meteor.connect(
                peer.address, space=meteor.KeywordSpace("other", [meteor.Word("kind")])
            )


@pytest.mark.parametrize(
    "address", ["", "host", "host:", ":7400", "host:x", "host:0", "host:65536", "host:-1", "host:٣"]
)
def test_an_address_is_host_and_port(address: str) -> None:
    with pytest.raises(ValueError, match="host:port"):
        meteor.connect(address)
    assert checked_address("connect", "[::1]:7400") == "[::1]:7400"


def test_connect_needs_an_address() -> None:
    with pytest.raises(ValueError, match="at least one"):
        meteor.connect()


@pytest.mark.sockets
@pytest.mark.processes
def test_the_interpreter_leaves_without_close_or_warning() -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", LEAVE_WITHOUT_CLOSING],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "leaving\n", "")


async def test_a_turn_that_comes_at_once_is_not_missed() -> None:
    """Requests that wait at the door behind another client's begin also where their turn comes
    before they have begun to wait for it."""
    async with meteor.LocalOverlay(peers=2, space=SPACE) as overlay:
        first = await overlay.connect()
        receipts = first.post_many([meteor.Message(HOT) for _ in range(500)], concurrency=8)
        for _ in range(50):
            await anext(receipts)
        receipts.close()
        second = await overlay.connect()

        async def post_some() -> None:
            for number in range(25):
                await second.store(f"type=t temperature={number}")

        await asyncio.gather(*(post_some() for _ in range(4)))
