"""A client or a peer that is closed by what it calls: a handler of an interest, a callback."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import meteor
from tests.meteor.fake_peer import SPACE

STOP = "type=stop"


async def test_a_handler_that_closes_its_client_goes_on_behind_that() -> None:
    async with asyncio.timeout(10), meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        client, other = await overlay.connect(), await overlay.connect()
        ended: asyncio.Queue[str] = asyncio.Queue()

        async def stop(_: meteor.Notification) -> None:
            await client.close()
            await asyncio.sleep(0)
            ended.put_nowait("closed")

        interest = await client.notify_data(STOP, handler=stop)
        await other.store(STOP)
        assert await ended.get() == "closed"
        assert not client.connected
        assert interest.state == "closed"


async def test_a_handler_is_called_no_more_once_it_closed_its_client() -> None:
    async with asyncio.timeout(10), meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        client, other = await overlay.connect(), await overlay.connect()
        called: list[meteor.Notification] = []
        goes_on = asyncio.Event()

        async def stop(notification: meteor.Notification) -> None:
            called.append(notification)
            await goes_on.wait()
            await client.close()

        interest = await client.notify_data(STOP, handler=stop)
        for _ in range(3):
            await other.store(STOP)
        while len(interest._items) < 2:  # noqa: ASYNC110 - what is looked at raises no event
            await asyncio.sleep(0.002)
        tasks = asyncio.all_tasks()
        goes_on.set()
        while client._runtime._owned:  # type: ignore[attr-defined]  # noqa: ASYNC110
            await asyncio.sleep(0.002)
        assert len(called) == 1
        assert asyncio.all_tasks() <= tasks


async def test_a_callback_that_closes_its_client_goes_on_behind_that() -> None:
    async with asyncio.timeout(10), meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        client, ended = await overlay.connect(), asyncio.Event()

        async def stop(_: meteor.MeteorError) -> None:
            await client.close()
            await asyncio.sleep(0)
            ended.set()

        client.callbacks.on_disconnected = stop
        await overlay.peers[0].crash()
        await ended.wait()


async def test_a_peer_that_its_own_handler_closes_has_stopped() -> None:
    async with asyncio.timeout(10), meteor.LocalOverlay(peers=2, space=SPACE) as overlay:
        peer, other = overlay.peers

        async def stop(_: meteor.Notification) -> None:
            await peer.close()

        await peer.notify_data(STOP, handler=stop)
        await other.store(STOP)
        await peer.wait_closed()


async def test_who_closes_from_outside_ends_a_handler_that_closed_and_went_on() -> None:
    async with asyncio.timeout(10), meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        other = await overlay.connect()
        closed = asyncio.Event()
        seen: list[Any] = []

        async def stop(_: meteor.Notification) -> None:
            await client.close()
            closed.set()
            try:
                await asyncio.Event().wait()
            finally:
                seen.append("ended")

        async with await overlay.connect() as client:
            await client.notify_data(STOP, handler=stop)
            await other.store(STOP)
            await closed.wait()
        assert seen == ["ended"]


@pytest.mark.sockets
async def test_a_close_that_was_cancelled_is_made_good_by_the_next() -> None:
    """The cancelled one left its sockets open, and the next said that it was cancelled itself."""
    async with asyncio.timeout(20), meteor.Peer(space=SPACE, seed=1) as peer:
        for turns in range(1, 12):
            client = await meteor.connect(peer.address)
            closing = asyncio.create_task(client.close())
            for _ in range(turns):
                await asyncio.sleep(0)
            closing.cancel()
            await asyncio.wait([closing])
            await client.close()


@pytest.mark.sockets
def test_what_stands_behind_a_close_is_done_also_where_the_loop_ends() -> None:
    done: list[str] = []

    async def use(address: str, connected: asyncio.Event) -> None:
        client = await meteor.connect(address)
        connected.set()
        try:
            await asyncio.Event().wait()
        finally:
            await client.close()
            done.append("saved")

    async def program() -> None:
        peer, connected = await meteor.Peer(space=SPACE, seed=1).start(), asyncio.Event()
        using.append(asyncio.create_task(use(peer.address, connected)))
        await connected.wait()

    using: list[asyncio.Task[None]] = []
    asyncio.run(program())
    assert done == ["saved"]
