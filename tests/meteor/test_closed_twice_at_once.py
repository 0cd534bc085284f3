"""A peer or client that two close at once: neither cuts the other off, or is told of it."""

from __future__ import annotations

import asyncio
from threading import Barrier, Thread

import pytest

import meteor
import meteor.sync
from meteor.sync.loop_thread import LoopThread
from tests.meteor.fake_peer import SPACE

STORED = 200
EVERYTHING = "type=*"


def profile(at: int) -> str:
    return f"type={chr(ord('a') + at % 26)}x{at}"


async def test_of_two_that_close_a_peer_neither_cuts_the_other_off() -> None:
    async with (
        asyncio.timeout(30),
        meteor.LocalOverlay(peers=3, space=SPACE, copies=1) as overlay,
    ):
        client = await overlay.connect()
        for at in range(STORED):
            await client.store(profile(at), b"x" * 1000)
        leaving = overlay.peers[1]
        await asyncio.gather(leaving.close(), leaving.close())
        await leaving.wait_closed()
        answer = client.retrieve(EVERYTHING, everywhere=True, allow_partial=True)
        assert (len(await answer.all()), answer.complete) == (STORED, True)


async def test_who_stops_a_peer_without_a_word_waits_for_nobody() -> None:
    async with (
        asyncio.timeout(30),
        meteor.LocalOverlay(peers=3, space=SPACE, copies=1) as overlay,
    ):
        leaving = overlay.peers[1]
        handed_over = asyncio.Event()

        async def never(_: float) -> None:
            await handed_over.wait()

        leaving.core.leave = never  # type: ignore[method-assign]
        closing = asyncio.create_task(leaving.close())
        await asyncio.sleep(0)
        await leaving.crash()
        assert not leaving.serving
        handed_over.set()
        await closing


def test_two_threads_close_a_peer_at_once() -> None:
    with meteor.sync.Peer(space=SPACE, copies=1) as stays:
        leaves = meteor.sync.Peer(space=SPACE, copies=1, join=[stays.address]).start()
        for at in range(STORED):
            stays.store(profile(at), b"x" * 1000)
        together, failed = Barrier(2), list[Exception]()

        def close() -> None:
            together.wait()
            try:
                leaves.close()
            except Exception as error:
                failed.append(error)

        threads = [Thread(target=close) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        answer = stays.retrieve(EVERYTHING, everywhere=True, allow_partial=True)
        assert (len(answer.all()), answer.complete) == (STORED, True)


def test_a_client_is_closed_as_its_overlay_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with meteor.sync.LocalOverlay(peers=1, space=SPACE) as overlay:
        client = overlay.connect()

        def closed_since(thread: LoopThread) -> bool:
            thread.stop()
            return True

        monkeypatch.setattr(LoopThread, "is_alive", property(closed_since))
        client.close()
        client.close()
